/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ENGINE_DISK_RECORD_H
#define HD_ENGINE_DISK_RECORD_H

#include "base/cursor.h"
#include "engine/record/disk_map.h"

/*
 * A group of rows as one record of a store, integers big-endian:
 *
 *     bytes  field
 *     8      CRC-32 of all that follows
 *     8      wall clock when it was written, in ms
 *     4      key length: 4 for each row of the group
 *     4      value length
 *     k      key: where each row ends in the value, once that is plain
 *     v      value: the rows, compressed when that makes them shorter
 *
 * Source: the record of BitCaskDiskMap (Hudi 0.15.0), but that its key is the record's and its
 * value one record.
 */

/** Append a group. On failure `out` is as before. */
hudi_status hd_disk_record_append(struct hd_op *op, const struct hd_disk_group *group,
                                  bool compress, struct hd_str *out);

/** Buffers for decoding; all zero is ready. */
struct hd_disk_record_reader {
    struct hd_str plain;
    uint32_t *ends;
    size_t ends_capacity;
};
void hd_disk_record_reader_clear(struct hd_op *op, struct hd_disk_record_reader *reader);

/** Decode the one record that `in` holds, into the reader's buffers or in place; good until the
 * next call. @return HUDI_CORRUPT when it is not what was written */
hudi_status hd_disk_record_decode(struct hd_op *op, struct hd_disk_record_reader *reader,
                                  struct hd_cursor in, struct hd_disk_group *out);

#endif
