/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ENGINE_MERGE_ROWS_H
#define HD_ENGINE_MERGE_ROWS_H

#include "arrow/gather.h"
#include "engine/write/base_sink.h"
#include "engine/write/merge_handle.h"

/**
 * Which rows of a batch of old rows, and of the incoming records that hit them, make up the new
 * rows: as runs for hd_gather(), one list for each kind of column. Sources: 0 the old batch, 1 the
 * incoming batch (one row a hit) or the new values.
 */
struct hd_merge_runs {
    struct hd_run_list kept;    /* key columns: old rows, without the deleted ones */
    struct hd_run_list commit;  /* source 1 is one row: this commit's value */
    struct hd_run_list seqno;   /* source 1: fresh numbers, one for each changed row */
    struct hd_run_list records; /* table columns */
    int64_t n_changed;
    int64_t n_updated; /* changed by taking incoming values */
    int64_t n_deleted;
    bool has_column_merges;        /* rows of both: `records` depends on the column */
    enum hd_merge_choice *choices; /* one a hit of the batch */
    size_t choice_capacity;
};

/** Decide for the hits (row numbers relative to the batch in `rows`, ascending) and make the runs.
 * `stored` and `incoming` are the record columns' views; incoming row i belongs to hits[i]. */
hudi_status hd_merge_runs_make(struct hd_op *op, const struct hd_merge_request *request,
                               const struct hd_view *stored, const struct hd_view *incoming,
                               const struct hd_index_hit *hits, const uint32_t *rows, size_t n_hits,
                               uint32_t n_rows, struct hd_merge_runs *out);

/** `records` for one column of a batch with column merges, into `out` (reset first). */
hudi_status hd_merge_runs_column(struct hd_op *op, const struct hd_merge_request *request,
                                 const struct hd_merge_runs *runs, int32_t column,
                                 const struct hd_view *stored, const struct hd_view *incoming,
                                 const uint32_t *rows, size_t n_hits, uint32_t n_rows,
                                 struct hd_run_list *out);

void hd_merge_runs_clear(struct hd_op *op, struct hd_merge_runs *runs);

#endif
