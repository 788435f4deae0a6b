/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_CODEC_HFILE_INTERNAL_H
#define HD_CODEC_HFILE_INTERNAL_H

#include "base/arena.h"
#include "base/cursor.h"
#include "codec/compress.h"
#include "codec/hfile.h"

/* Between the files of hfile.h. */

#define HFILE_MAGIC_BYTES 8
#define HFILE_HEADER_BYTES 33
#define HFILE_TRAILER_BYTES 4096

/* An entry of an index: the first key of a block, or a name, and where the block is. */
struct hfile_entry {
    struct hd_slice key; /* in the HFile's arena */
    uint64_t offset;
    uint32_t size; /* on disk, with header and checksums */
};

struct hfile_index {
    struct hfile_entry *entries;
    size_t n;
    size_t capacity;
};

struct hd_hfile {
    struct hd_hfile_source source;
    enum hd_codec codec;
    uint64_t n_cells;
    bool has_mvcc; /* a number stands behind each cell */
    struct hfile_index data;
    struct hfile_index meta;
    struct hd_arena arena; /* keys of the indexes */
    struct hd_str info;    /* the file info's payload */
    struct hd_cursor info_fields;
};

/** Bytes of the HFile, checked to be in it. */
hudi_status hfile_read_at(struct hd_op *op, const struct hd_hfile *hfile, uint64_t offset,
                          void *into, uint64_t n);

/** Append the payload of the block at the cursor, decompressed and checked. `offset` of the cursor
 * is that in the HFile. */
hudi_status hfile_block_take(struct hd_op *op, const struct hd_hfile *hfile, struct hd_cursor *in,
                             const char *magic, struct hd_str *out);

/** The same of the block that an index entry means. */
hudi_status hfile_block_read(struct hd_op *op, const struct hd_hfile *hfile,
                             const struct hfile_entry *entry, const char *magic,
                             struct hd_str *out);

/** Hadoop's variable-length number. */
hudi_status hfile_vint(struct hd_op *op, struct hd_cursor *in, int64_t *out);

#endif
