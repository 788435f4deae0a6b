/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_STORE_BASE_FILE_H
#define HD_STORE_BASE_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "arrow/type.h"
#include "base/op.h"
#include "base/str.h"
#include "hudi/arrow_c.h"
#include "store/input_file.h"
#include "store/output_file.h"

/*
 * Columnar files as batches of canonical Arrow columns, whatever the format: Parquet and ORC,
 * through Arrow C++ (arrow_cpp/parquet.cc, arrow_cpp/orc.cc). Everything C++ ends behind this
 * header.
 */

enum hd_base_file_format { HD_BASE_FILE_PARQUET, HD_BASE_FILE_ORC };

/* ---- reading ------------------------------------------------------------------------------ */

typedef struct hd_base_reader hd_base_reader;

/** Open a file and read its footer. `file` is taken over, also on failure. Reader calls may come
 * from several threads; the batch iterators belong to one each. @return HUDI_CORRUPT, HUDI_IO */
hudi_status hd_base_reader_open(struct hd_op *op, hd_input_file *file,
                                enum hd_base_file_format format, hd_base_reader **out);
void hd_base_reader_close(hd_base_reader *reader);

/** The file itself; the reader's. */
hd_input_file *hd_base_reader_file(hd_base_reader *reader);

/** Canonical schema of the whole file: two-level lists are lists, INT96 is an instant in
 * microseconds, a bare INT64 stays one; see arrow_cpp/parquet_reader.cc and orc.cc. The reader's.
 */
const struct ArrowSchema *hd_base_reader_schema(const hd_base_reader *reader);
int64_t hd_base_reader_n_rows(const hd_base_reader *reader);
int32_t hd_base_reader_n_row_groups(const hd_base_reader *reader);
int64_t hd_base_reader_row_group_rows(const hd_base_reader *reader, int32_t row_group);
/** Compressed bytes of a row group. */
uint64_t hd_base_reader_row_group_bytes(const hd_base_reader *reader, int32_t row_group);

/** A footer key-value (ORC: user metadata); HUDI_NOT_FOUND sets no error. The reader's bytes. */
hudi_status hd_base_reader_key_value(struct hd_op *op, hd_base_reader *reader, const char *key,
                                     struct hd_slice *out);

/** Statistics of one top-level, non-nested column in one row group. Absent is unknown, never "all
 * null". `min` and `max` are one-row arrays of the column's canonical type, to be cleared by the
 * caller; bounds that may be truncated are still bounds (min <= all, max >= all). */
struct hd_column_stats {
    bool has_bounds;
    bool has_null_count;
    int64_t null_count;
    struct ArrowArray min;
    struct ArrowArray max;
};
hudi_status hd_base_reader_column_stats(struct hd_op *op, hd_base_reader *reader, int32_t row_group,
                                        int32_t column, struct hd_column_stats *out);
void hd_column_stats_clear(struct hd_column_stats *stats);

struct hd_base_read_options {
    const int32_t *columns; /* top-level columns in output order; NULL: all */
    int32_t n_columns;
    const int32_t *row_groups; /* ascending; NULL: all */
    int32_t n_row_groups;
    int64_t batch_rows; /* at most; 0: 65,536, fewer where rows are wide */
};

/** Iterate batches (struct arrays of the chosen columns). Rows come in file order; a batch never
 * spans row groups. The reader must outlive the iterator. */
typedef struct hd_base_batches hd_base_batches;
hudi_status hd_base_reader_read(struct hd_op *op, hd_base_reader *reader,
                                const struct hd_base_read_options *options, hd_base_batches **out);
/** @return HUDI_END */
hudi_status hd_base_batches_next(struct hd_op *op, hd_base_batches *batches,
                                 struct ArrowArray *out);
void hd_base_batches_close(hd_base_batches *batches);

/* ---- writing ------------------------------------------------------------------------------ */

enum hd_base_codec {
    HD_BASE_CODEC_UNCOMPRESSED,
    HD_BASE_CODEC_SNAPPY,
    HD_BASE_CODEC_GZIP,
    HD_BASE_CODEC_ZSTD,
    HD_BASE_CODEC_LZ4
};

struct hd_base_write_options {
    enum hd_base_file_format format;
    enum hd_base_codec codec;
    int32_t codec_level;              /* INT32_MIN: the codec's default */
    int64_t row_group_rows;           /* 0: 100,000 */
    uint64_t row_group_bytes;         /* uncompressed, 0: no limit */
    uint64_t page_bytes;              /* 0: 1 MiB */
    bool dictionary;                  /* where it pays: not for columns that look unique */
    const char *root_name;            /* name of the Parquet root message; NULL: "schema" */
    const char *const *no_dictionary; /* columns that are unique anyway (record key, seqno) */
    int32_t n_no_dictionary;
};

typedef struct hd_base_writer hd_base_writer;

/** Start a file with this schema (canonical; string columns may come dictionary-encoded in any
 * batch: pass the dictionary schema in `schema` for those columns). `file` is taken over. Lists are
 * written in the three-level form, decimals as FIXED_LEN_BYTE_ARRAY of minimal size, timestamps in
 * their own unit. @return HUDI_NOT_IMPLEMENTED for ORC */
hudi_status hd_base_writer_open(struct hd_op *op, hd_output_file *file,
                                const struct ArrowSchema *schema,
                                const struct hd_base_write_options *options, hd_base_writer **out);

/** Append rows. `batch` stays the caller's. */
hudi_status hd_base_writer_write(struct hd_op *op, hd_base_writer *writer,
                                 const struct ArrowArray *batch);

/**
 * Whether row groups of `reader` may be copied into this file: the file read is Parquet with the
 * very columns that this writer makes (names, types, annotations, repetition; compression may be
 * another), and its footer and writer raise no doubt. A false sets no error.
 * @return HUDI_IO, HUDI_NO_MEMORY
 */
hudi_status hd_base_writer_can_copy(struct hd_op *op, hd_base_writer *writer,
                                    hd_base_reader *reader, bool *out);

/** Whether copying a row group is worth it: a small one had better be written with the rows around
 * it, or files merged often would end up in crumbs. */
bool hd_base_writer_wants_copy(const hd_base_writer *writer, const hd_base_reader *reader,
                               int32_t row_group);

/** A column of a copied row group that gets other values. */
struct hd_base_replaced_column {
    int32_t column;           /* top-level and flat */
    struct ArrowArray values; /* as many as the row group has rows, of the type in the schema that
                                 the writer was opened with; the caller's */
};

/**
 * Append a row group of a file that can be copied, as the bytes that it is: nothing is decoded but
 * page offsets. It stays a row group of its own; what was written before ends another. Bloom
 * filter, page indexes and statistics come along; replaced columns are encoded anew. Writing and
 * copying may alternate.
 * @return HUDI_CORRUPT, HUDI_IO, HUDI_NO_MEMORY
 */
hudi_status hd_base_writer_copy_row_group(struct hd_op *op, hd_base_writer *writer,
                                          hd_base_reader *reader, int32_t row_group,
                                          const struct hd_base_replaced_column *replaced,
                                          int32_t n_replaced);

/** Bytes in the file so far plus an estimate of what is buffered. */
uint64_t hd_base_writer_bytes(const hd_base_writer *writer);
int64_t hd_base_writer_rows(const hd_base_writer *writer);

/** Put a key-value into the footer; may be called until close. Both are copied. */
hudi_status hd_base_writer_key_value(struct hd_op *op, hd_base_writer *writer, const char *key,
                                     struct hd_slice value);

/** Write the footer, sync, close, free the writer in any case; `*n_bytes` is the file's size. */
hudi_status hd_base_writer_close(struct hd_op *op, hd_base_writer *writer, uint64_t *n_bytes);

/** Delete what was written. Takes NULL. */
void hd_base_writer_abort(hd_base_writer *writer);

#endif
