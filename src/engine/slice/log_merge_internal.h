/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ENGINE_LOG_MERGE_INTERNAL_H
#define HD_ENGINE_LOG_MERGE_INTERNAL_H

#include "arrow/gather.h"
#include "engine/slice/log_merge.h"

/* Between log_merge.c and merge_batch.c. */

struct hd_log_merge {
    const struct hd_merge_columns *columns;
    hd_spillable_map *map;
    uint8_t *met;       /* by entry: a row of the base file had its key */
    int64_t next_entry; /* of the rest */
    int64_t rest_rows;  /* of a batch of the rest */
    struct hd_slice_merge_stats stats;

    /* Of one batch. */
    int64_t *found; /* by row: its entry, or -1 */
    size_t found_capacity;
    uint32_t *rows; /* rows that have an entry, */
    int64_t *hits;  /* and these entries */
    uint8_t *choices;
    size_t row_capacity, hit_capacity, choice_capacity;
    int64_t n_hits;
    struct hd_run_list runs; /* source 0 the batch, source 1 the entries */
    struct hd_arena arena;
};

/** What becomes of a row of the base file and an entry. */
enum hd_merge_choice hd_log_merge_choose(const struct hd_merge_columns *columns,
                                         const struct hd_merge_side *stored,
                                         const struct hd_merge_side *entry);

/** Does a column of `read` of a row of both come from the entry? */
bool hd_log_merge_takes_entry(const struct hd_merge_columns *columns, int32_t column,
                              const struct hd_merge_side *stored, const struct hd_merge_side *entry,
                              const struct hd_view *entry_views);

#endif
