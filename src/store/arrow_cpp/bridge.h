/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_STORE_ARROW_CPP_BRIDGE_H
#define HD_STORE_ARROW_CPP_BRIDGE_H

/*
 * Everything that passes between the C of store/ and the C++ of arrow_cpp/, readable by both. C++
 * sees an op and our files only as handles. No exception and no C++ type crosses; C++ reports a
 * failure through hd_cpp_fail() exactly like C does through hd_fail().
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hudi/arrow_c.h"
#include "hudi/status.h"

#ifdef __cplusplus
extern "C" {
#endif

struct hd_op;
struct hd_input_file;
struct hd_output_file;

/* ---- C, for C++ --------------------------------------------------------------------------- */

/** hd_fail() with a finished text (cleaned to one line); names `path` when not NULL. */
hudi_status hd_cpp_fail(struct hd_op *op, hudi_status status, const char *path, const char *text);

/** Status of the error that the op has, HUDI_OK without one. */
hudi_status hd_cpp_error(const struct hd_op *op);

/** The fault point of a call into C++; false: the op has an error. */
bool hd_cpp_may_start(struct hd_op *op);

hudi_status hd_cpp_read_at(struct hd_op *op, struct hd_input_file *file, uint64_t offset,
                           void *into, uint64_t n);
uint64_t hd_cpp_input_size(const struct hd_input_file *file);
const char *hd_cpp_input_path(const struct hd_input_file *file);
void hd_cpp_input_close(struct hd_input_file *file);
hudi_status hd_cpp_write(struct hd_op *op, struct hd_output_file *file, const void *bytes,
                         uint64_t n);
uint64_t hd_cpp_output_position(const struct hd_output_file *file);
const char *hd_cpp_output_path(const struct hd_output_file *file);

/* ---- C++, for C --------------------------------------------------------------------------- */

/** What hd_column_stats is made of: types are the file's, not yet canonical. */
struct hd_cpp_stats {
    bool has_bounds;
    bool has_null_count;
    int64_t null_count;
    struct ArrowArray min;
    struct ArrowArray max;
};

/** A columnar format to read. `self` is what open() gave. Reader functions may be called by several
 * threads at once, functions on `batches` by one each. */
struct hd_cpp_reader_ops {
    /** The file stays the caller's and outlives the reader. `schema`: the file's types. */
    hudi_status (*open)(struct hd_op *op, struct hd_input_file *file, void **self,
                        struct ArrowSchema *schema);
    void (*close)(void *self);
    int64_t (*n_rows)(const void *self);
    int32_t (*n_row_groups)(const void *self);
    int64_t (*row_group_rows)(const void *self, int32_t row_group);
    uint64_t (*row_group_bytes)(const void *self, int32_t row_group);
    /** False when there is no such key; bytes are the reader's. */
    bool (*key_value)(const void *self, const char *key, const uint8_t **data, size_t *size);
    hudi_status (*stats)(struct hd_op *op, void *self, int32_t row_group, int32_t column,
                         struct hd_cpp_stats *out);
    /** `columns` (at least one) in output order, each once. */
    hudi_status (*read)(struct hd_op *op, void *self, const int32_t *columns, int32_t n_columns,
                        const int32_t *row_groups, int32_t n_row_groups, int64_t batch_rows,
                        void **batches);
    /** HUDI_END */
    hudi_status (*next)(struct hd_op *op, void *batches, struct ArrowArray *out);
    void (*close_batches)(void *batches);
};

extern const struct hd_cpp_reader_ops hd_parquet_reader_ops; /* parquet_reader.cc */
extern const struct hd_cpp_reader_ops hd_orc_reader_ops;     /* orc.cc */

struct hd_cpp_write_options {
    int32_t codec; /* enum hd_base_codec */
    int32_t codec_level;
    int64_t row_group_rows;
    uint64_t row_group_bytes;
    uint64_t page_bytes;
    bool dictionary;
    const char *root_name;
    const char *const *no_dictionary;
    int32_t n_no_dictionary;
};

/* parquet_writer.cc. The file stays the caller's; `schema` and `batch` too. After a failure only
 * free may follow. */
hudi_status hd_parquet_writer_open(struct hd_op *op, struct hd_output_file *file,
                                   const struct ArrowSchema *schema,
                                   const struct hd_cpp_write_options *options, void **out);
hudi_status hd_parquet_writer_write(struct hd_op *op, void *self, const struct ArrowArray *batch);
uint64_t hd_parquet_writer_bytes(const void *self);
hudi_status hd_parquet_writer_key_value(struct hd_op *op, void *self, const char *key,
                                        const void *value, size_t n);
/** Write what is buffered and the footer. */
hudi_status hd_parquet_writer_finish(struct hd_op *op, void *self);
void hd_parquet_writer_free(void *self);

/* Pieces of a file that C puts together (parquet_copy.h). The bytes given are the writer's, until
 * its next call. */

/** Write what is buffered, not the footer: `*tail` is what a whole file would end with behind its
 * column chunks. The next write starts another section at the file's position of then. */
hudi_status hd_parquet_writer_end_section(struct hd_op *op, void *self, const void **tail,
                                          size_t *n);
/** A file of the same schema and key-values without rows. */
hudi_status hd_parquet_writer_empty_file(struct hd_op *op, void *self, const void **bytes,
                                         size_t *n);
/** A file of one column alone with one row group, as a column of this file would be encoded. */
hudi_status hd_parquet_writer_column_file(struct hd_op *op, void *self, int32_t column,
                                          const struct ArrowArray *values, const void **bytes,
                                          size_t *n);

/** Rows of a whole file, in its own types; one thread at a time. */
struct hd_cpp_table_ops {
    /** HUDI_END */
    hudi_status (*next)(struct hd_op *op, void *self, struct ArrowArray *out);
    void (*close)(void *self);
};

extern const struct hd_cpp_table_ops hd_csv_ops; /* csv.cc */
extern const struct hd_cpp_table_ops hd_ipc_ops; /* ipc.cc */

/* The file stays the caller's and outlives `self`. `types`: see table_file.h; columns of a type
 * that Arrow's CSV reader does not parse to satisfaction come as strings. `skip`: rows with too
 * many or too few columns are left out and given by hd_csv_next_skipped(). */
hudi_status hd_csv_open(struct hd_op *op, struct hd_input_file *file,
                        const struct ArrowSchema *types, bool skip, void **self,
                        struct ArrowSchema *schema);

/** Where a value near the last batch does not fit its column, the batch has texts (strings, binary
 * for columns of strings) in place of given types: its schema. Else without release. */
hudi_status hd_csv_batch_schema(struct hd_op *op, void *self, struct ArrowSchema *out);
/** Number in the file, from 0, of row `i` of the last batch. */
int64_t hd_csv_row(const void *self, int64_t i);
/** A row that was left out before the end of the last batch's chunk; false: no more. `*reason` is
 * valid until the next call. */
bool hd_csv_next_skipped(void *self, int64_t *row, const char **reason);

hudi_status hd_ipc_open(struct hd_op *op, struct hd_input_file *file, void **self,
                        struct ArrowSchema *schema);

/* Writers of text and IPC streams (ipc.cc), used like those of Parquet. */
hudi_status hd_table_writer_open(struct hd_op *op, struct hd_output_file *file, bool csv,
                                 const struct ArrowSchema *schema, void **out);
hudi_status hd_table_writer_write(struct hd_op *op, void *self, const struct ArrowArray *batch);
hudi_status hd_table_writer_finish(struct hd_op *op, void *self);
void hd_table_writer_free(void *self);

#ifdef __cplusplus
}
#endif
#endif
