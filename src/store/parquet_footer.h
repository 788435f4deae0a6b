/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_STORE_PARQUET_FOOTER_H
#define HD_STORE_PARQUET_FOOTER_H

#include "codec/thrift.h"
#include "store/input_file.h"

/*
 * The footer of a Parquet file, taken apart as far as copying column chunks from file to file needs
 * it; all other fields are kept as the bytes that they are.
 *
 *     "PAR1" | column chunks, page indexes, bloom filters | FileMetaData | u32le its bytes | "PAR1"
 *
 * Field numbers are those of Parquet's parquet.thrift.
 */

enum {
    HD_PARQUET_FILE_SCHEMA = 2,
    HD_PARQUET_FILE_ROWS = 3,
    HD_PARQUET_FILE_ROW_GROUPS = 4,
    HD_PARQUET_FILE_CREATED_BY = 6,
    HD_PARQUET_FILE_COLUMN_ORDERS = 7,
    HD_PARQUET_FILE_ENCRYPTION = 8,
    HD_PARQUET_FILE_SIGNING_KEY = 9,

    HD_PARQUET_GROUP_COLUMNS = 1,
    HD_PARQUET_GROUP_BYTES = 2,
    HD_PARQUET_GROUP_ROWS = 3,
    HD_PARQUET_GROUP_OFFSET = 5,
    HD_PARQUET_GROUP_COMPRESSED_BYTES = 6,
    HD_PARQUET_GROUP_ORDINAL = 7,

    HD_PARQUET_CHUNK_PATH = 1,
    HD_PARQUET_CHUNK_OFFSET = 2,
    HD_PARQUET_CHUNK_META = 3,
    HD_PARQUET_CHUNK_OFFSET_INDEX = 4, /* and its length in 5 */
    HD_PARQUET_CHUNK_COLUMN_INDEX = 6, /* and its length in 7 */
    HD_PARQUET_CHUNK_CRYPTO = 8,
    HD_PARQUET_CHUNK_ENCRYPTED_META = 9,

    HD_PARQUET_META_TYPE = 1,
    HD_PARQUET_META_VALUES = 5,
    HD_PARQUET_META_BYTES = 6,
    HD_PARQUET_META_COMPRESSED_BYTES = 7,
    HD_PARQUET_META_DATA_PAGE = 9,
    HD_PARQUET_META_INDEX_PAGE = 10,
    HD_PARQUET_META_DICTIONARY_PAGE = 11,
    HD_PARQUET_META_BLOOM_FILTER = 14 /* and its length in 15 */
};

/** Bytes of a file. */
struct hd_parquet_extent {
    uint64_t offset;
    uint64_t n_bytes;
};

struct hd_parquet_chunk {
    struct hd_thrift_struct fields; /* ColumnChunk; its meta_data is the next */
    struct hd_thrift_struct meta;   /* ColumnMetaData, without fields where there is none */
};

struct hd_parquet_row_group {
    struct hd_thrift_struct fields;  /* RowGroup; its columns are the next */
    struct hd_parquet_chunk *chunks; /* one a leaf of the schema, in order, if the file is sane */
    size_t n_chunks;
    int64_t n_rows;
};

struct hd_parquet_footer {
    struct hd_arena arena;
    struct hd_thrift_struct fields;  /* FileMetaData; its schema and row groups are the next */
    struct hd_thrift_struct *schema; /* SchemaElements, depth first, the root at 0 */
    size_t n_schema;
    struct hd_parquet_row_group *row_groups;
    size_t n_row_groups;
    uint64_t data_end; /* file offset of the FileMetaData: chunks end before */
};

/** Read the footer of a file. Release with hd_parquet_footer_clear(); all zero on failure.
 * @return HUDI_CORRUPT; HUDI_NOT_IMPLEMENTED for an encrypted footer and beyond the limits of
 * codec/thrift.h; HUDI_IO, HUDI_NO_MEMORY */
hudi_status hd_parquet_footer_read(struct hd_op *op, hd_input_file *file,
                                   struct hd_parquet_footer *out);

/** The same from the file's last bytes (all of it, or what begins anywhere before the footer), of
 * which the first is at `offset` in the file. The bytes must outlive `out`. */
hudi_status hd_parquet_footer_of_tail(struct hd_op *op, struct hd_slice tail, uint64_t offset,
                                      struct hd_parquet_footer *out);

void hd_parquet_footer_clear(struct hd_parquet_footer *footer);

/** Append a row group, or the whole: what was parsed and is not changed comes out as it was. */
hudi_status hd_parquet_row_group_format(struct hd_op *op, const struct hd_parquet_row_group *group,
                                        struct hd_str *out);
hudi_status hd_parquet_footer_format(struct hd_op *op, struct hd_parquet_footer *footer,
                                     struct hd_str *out);

/** Append what stands behind the chunks of a file: FileMetaData with these row groups (encoded, one
 * after the other) instead of its own, length, magic. */
hudi_status hd_parquet_footer_tail(struct hd_op *op, struct hd_parquet_footer *footer,
                                   struct hd_slice row_groups, size_t n_row_groups, int64_t n_rows,
                                   struct hd_str *out);

/** The pages of a chunk. @return HUDI_CORRUPT when they are not within the file's data */
hudi_status hd_parquet_chunk_pages(struct hd_op *op, const struct hd_parquet_footer *footer,
                                   const struct hd_parquet_chunk *chunk,
                                   struct hd_parquet_extent *out);

/** An offset field and the length in the field behind it; no bytes when one is absent or they are
 * not within the file's data. */
struct hd_parquet_extent hd_parquet_extent_get(const struct hd_parquet_footer *footer,
                                               const struct hd_thrift_struct *fields,
                                               int16_t offset_id);

/** Number of the chunk of a top-level column, HUDI_NOT_FOUND (no error) when there is no such
 * column or it is not a single flat one. */
hudi_status hd_parquet_flat_column(struct hd_op *op, const struct hd_parquet_footer *footer,
                                   int32_t column, size_t *chunk);

#endif
