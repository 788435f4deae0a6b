/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ENGINE_ROW_SPOOL_H
#define HD_ENGINE_ROW_SPOOL_H

#include "base/cursor.h"
#include "base/op.h"
#include "base/str.h"

/**
 * Records on disk, in numbered buckets: appended in any order, read bucket by bucket in the order
 * they were appended. One file without a name, so that a killed process leaves nothing. In memory
 * there is one buffer a bucket while appending, one a reader while reading. One thread at a time
 * appends; once it is sealed, each thread may read with a reader of its own.
 */
typedef struct hd_row_spool hd_row_spool;

/** `folder` NULL: TMPDIR, else /tmp. */
hudi_status hd_row_spool_new(struct hd_op *op, const char *folder, uint32_t n_buckets,
                             hd_row_spool **out);
void hd_row_spool_free(struct hd_op *op, hd_row_spool *spool);

/** One more bucket, with the next number. */
hudi_status hd_row_spool_add_bucket(struct hd_op *op, hd_row_spool *spool);
uint32_t hd_row_spool_n_buckets(const hd_row_spool *spool);

hudi_status hd_row_spool_append(struct hd_op *op, hd_row_spool *spool, uint32_t bucket,
                                struct hd_slice record);
/** All records are appended: what is buffered goes to the file, the buffers go. */
hudi_status hd_row_spool_seal(struct hd_op *op, hd_row_spool *spool);

/** The same for one bucket that is complete. */
hudi_status hd_row_spool_seal_bucket(struct hd_op *op, hd_row_spool *spool, uint32_t bucket);

/** A place in one bucket. All zero: at the start of bucket 0. */
struct hd_row_spool_reader {
    uint32_t bucket;
    size_t next_chunk;
    struct hd_str packed, plain;
    struct hd_cursor cursor;
};
/** To the start of a bucket. */
void hd_row_spool_reader_start(struct hd_row_spool_reader *reader, uint32_t bucket);
void hd_row_spool_reader_clear(struct hd_row_spool_reader *reader);
/** The bucket's next record, valid until the reader's next call; HUDI_END.
 * @return HUDI_CORRUPT, HUDI_IO */
hudi_status hd_row_spool_reader_next(struct hd_op *op, const hd_row_spool *spool,
                                     struct hd_row_spool_reader *reader, struct hd_slice *out);

/** The same with a reader of the spool's own. */
void hd_row_spool_rewind(hd_row_spool *spool, uint32_t bucket);
hudi_status hd_row_spool_next(struct hd_op *op, hd_row_spool *spool, struct hd_slice *out);

/** Bytes on disk. */
uint64_t hd_row_spool_bytes(const hd_row_spool *spool);

#endif
