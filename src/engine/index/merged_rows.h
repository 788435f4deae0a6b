/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ENGINE_MERGED_ROWS_H
#define HD_ENGINE_MERGED_ROWS_H

#include "engine/slice/slice_reader.h"
#include "format/layout/file_system_view.h"
#include "format/layout/table_snapshot.h"

/**
 * Rows of file slices as their log files leave them, for writers to look keys up in and to combine
 * with: the slice reader over a table's present. Read only once open; threads may share it.
 */
struct hd_merged_rows {
    struct hd_slice_query query;
    struct ArrowSchema schema; /* of all columns: stored meta columns, then the table's */
    struct ArrowSchema rows;   /* of the batches */
    struct hd_log_instants instants;
    struct hd_arena arena;
};

/**
 * @param columns    names of those wanted; NULL: all that are stored. A name that the table has not
 *                   is HUDI_NOT_FOUND (no error)
 * @param n_readers  slices that are read at a time
 */
hudi_status hd_merged_rows_open(struct hd_op *op, const struct hd_table_snapshot *table,
                                const struct hd_options *options, const char *const *columns,
                                size_t n_columns, size_t n_readers, struct hd_merged_rows *out);
/** Takes one that is all zero. */
void hd_merged_rows_close(struct hd_op *op, struct hd_merged_rows *rows);

/** A slice being read. */
struct hd_merged_slice {
    struct hd_slice_source source;
    const char **log_paths;
    hd_slice_reader *reader; /* gives batches of hd_merged_rows.rows */
};

/** Open a slice, which must outlive this; as hd_slice_reader_open(). */
hudi_status hd_merged_slice_open(struct hd_op *op, const struct hd_merged_rows *rows,
                                 const struct hd_file_slice *slice, struct hd_merged_slice *out);
/** Takes one that is all zero. */
void hd_merged_slice_close(struct hd_op *op, struct hd_merged_slice *slice);

#endif
