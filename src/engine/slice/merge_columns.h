/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ENGINE_MERGE_COLUMNS_H
#define HD_ENGINE_MERGE_COLUMNS_H

#include "engine/record/key_generator.h"
#include "engine/record/merge.h"
#include "engine/slice/log_rules.h"
#include "engine/slice/slice_columns.h"

/* Private to engine/slice: the columns that merging a slice reads, and what decides by them. */

/* What an entry of the log files is (its `mark`). */
enum { HD_MARK_ROW, HD_MARK_DELETE, HD_MARK_DELETE_BY_ARRIVAL };

/**
 * Columns that are read are: meta columns, the table's own, _hoodie_operation. Among the table's
 * are those of the query and its filter, and those that merging goes by. An entry has the same
 * columns, all of them nullable, then the mark; in a slice with partial updates also, for each
 * column that is read, whether the row has a value for it.
 */
struct hd_merge_columns {
    struct hd_slice_query query; /* the caller's, with all columns that are needed */
    int32_t *numbers;            /* query.columns */
    struct hd_slice_columns base;
    int32_t n_read, n_meta, n_data;
    int32_t key;       /* number of _hoodie_record_key in `read`; -1: made of the key fields */
    bool wants_key;    /* it is given out, filtered by, or decides between records, too */
    int32_t operation; /* the last one */
    struct ArrowSchema data;     /* the table's columns among `read` */
    struct ArrowSchema nullable; /* `read`, all nullable */
    struct ArrowSchema entry;
    bool is_partial;
    hd_merger *merger;
    hd_key_generator *keys; /* NULL with `key` */
    struct hd_log_rules rules;
};

static inline int32_t hd_merge_columns_mark(const struct hd_merge_columns *columns)
{
    return columns->n_read;
}

/** Of a column that is read: the number in an entry of whether the row has it. */
static inline int32_t hd_merge_columns_presence(const struct hd_merge_columns *columns, int32_t i)
{
    return columns->n_read + 1 + i;
}

/** @param base  schema of the base file, NULL without; `out->base.file` is bound to it
 * @return HUDI_NOT_IMPLEMENTED for a payload class that is not known */
hudi_status hd_merge_columns_init(struct hd_op *op, const struct hd_slice_query *query,
                                  const struct hd_slice_source *slice,
                                  const struct ArrowSchema *base, struct hd_merge_columns *out);
void hd_merge_columns_clear(struct hd_op *op, struct hd_merge_columns *columns);

/** Make the schema of entries: once it is known whether any block is a partial update. */
hudi_status hd_merge_columns_entry(struct hd_op *op, bool is_partial,
                                   struct hd_merge_columns *columns);

/** From now on _hoodie_record_key, if it may be null, is not read from the base file: it is null in
 * its batches. @param base  schema of the base file */
hudi_status hd_merge_columns_leave_out_key(struct hd_op *op, const struct hd_slice_source *slice,
                                           const struct ArrowSchema *base,
                                           struct hd_merge_columns *columns);

/** Record keys of a batch of `read` columns (of either nullability), as a view into it or into
 * `*made`, which the caller clears. */
hudi_status hd_merge_columns_keys(struct hd_op *op, const struct hd_merge_columns *columns,
                                  const struct ArrowArray *batch, struct hd_arena *arena,
                                  struct ArrowArray *made, struct hd_view *out);

/** A row of a base file, from views of `read`. */
struct hd_merge_side hd_merge_side_of_row(const struct hd_merge_columns *columns,
                                          const struct hd_view *views, int64_t row);

/** A row of entries, from views of `entry`. */
struct hd_merge_side hd_merge_side_of_entry(const struct hd_merge_columns *columns,
                                            const struct hd_view *views, int64_t row);

#endif
