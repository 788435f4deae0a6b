/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_CODEC_HFILE_H
#define HD_CODEC_HFILE_H

#include <stdint.h>

#include "base/op.h"
#include "base/str.h"

/*
 * HFiles of version 3, as HBase's library and Hudi's own writer make them: base files and log
 * blocks of the metadata table (docs/format/metadata-table.md 4). Cells are sorted by the unsigned
 * bytes of their key and packed into blocks; an index has the first key of each block.
 *
 *     data blocks, leaf index blocks | meta blocks, intermediate index blocks
 *     | root index | meta index | file info | trailer of 4096 bytes
 *
 *     block   magic 8 | u32 bytes on disk behind the header | u32 bytes when decompressed
 *             | u64 offset of the previous one | u8 checksum type | u32 bytes per checksum
 *             | u32 bytes on disk with header without checksums | payload | checksums u32 each
 *     cell    u32 key bytes | u32 value bytes | key: u16 n, n bytes, 10 bytes | value | vint
 */
typedef struct hd_hfile hd_hfile;

/** Where the bytes are: in memory, or behind a function that may be called from several threads. */
struct hd_hfile_source {
    struct hd_slice bytes; /* all of the HFile; with read_at: not looked at */
    /** Exactly `n` bytes, which are within base + size. */
    hudi_status (*read_at)(struct hd_op *op, void *self, uint64_t offset, void *into, uint64_t n);
    void *self;
    uint64_t base; /* added to each offset: where the HFile starts */
    uint64_t size; /* of the HFile */
};

/**
 * Read trailer, index and file info; data blocks are read when they are needed. What the source
 * points to must outlive the HFile, which may then be used by several cursors at once.
 * @return HUDI_CORRUPT; HUDI_NOT_IMPLEMENTED for another version, compression (by name) or
 *         encryption; what read_at() returns
 */
hudi_status hd_hfile_open(struct hd_op *op, const struct hd_hfile_source *source, hd_hfile **out);
/** Takes NULL. */
void hd_hfile_close(struct hd_op *op, hd_hfile *hfile);

/** Number of cells, as the trailer says. */
uint64_t hd_hfile_n_cells(const hd_hfile *hfile);

/** A file info value, e.g. of "schema", "minRecordKey"; the HFile's. HUDI_NOT_FOUND sets no error.
 */
hudi_status hd_hfile_info(struct hd_op *op, const hd_hfile *hfile, const char *key,
                          struct hd_slice *out);

/** Append the content of a meta block, e.g. "bloomFilter". HUDI_NOT_FOUND sets no error. */
hudi_status hd_hfile_meta_block(struct hd_op *op, const hd_hfile *hfile, const char *name,
                                struct hd_str *out);

/** A place in an HFile; holds one decompressed block. One thread at a time. */
typedef struct hd_hfile_cursor hd_hfile_cursor;

/** Stands at the first cell. */
hudi_status hd_hfile_cursor_open(struct hd_op *op, const hd_hfile *hfile, hd_hfile_cursor **out);
/** Takes NULL. */
void hd_hfile_cursor_close(struct hd_op *op, hd_hfile_cursor *cursor);

/** Stand at the first cell whose key is `key` or comes after it: with a prefix, at the first that
 * begins with it. Reads one block at most, none when it is at hand. An empty key is before all. */
hudi_status hd_hfile_seek(struct hd_op *op, hd_hfile_cursor *cursor, struct hd_slice key);

/**
 * The cell at the cursor, which then stands at the next one. Both are valid until the next call.
 * @return HUDI_END after the last; HUDI_CORRUPT, also at the end of a walk through all cells when
 *         there were not as many as the trailer says
 */
hudi_status hd_hfile_next(struct hd_op *op, hd_hfile_cursor *cursor, struct hd_slice *key,
                          struct hd_slice *value);

/** The value of `key`; HUDI_NOT_FOUND (no error) without. Cheapest with ascending keys. */
hudi_status hd_hfile_find(struct hd_op *op, hd_hfile_cursor *cursor, struct hd_slice key,
                          struct hd_slice *value);

#endif
