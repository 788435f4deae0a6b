/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ENGINE_LOG_MERGE_INTERNAL_H
#define HD_ENGINE_LOG_MERGE_INTERNAL_H

#include "arrow/gather.h"
#include "base/map.h"
#include "engine/slice/entry_spool.h"
#include "engine/slice/log_merge.h"
#include "engine/slice/log_scan.h"

/* Between log_merge.c and merge_batch.c. */

/* Keys by the upper half of their hash: those in [start, start + width). */
struct hd_key_part {
    uint64_t start, width;
};

#define HD_ALL_KEYS (UINT64_C(1) << 32)

static inline bool hd_key_part_has(const struct hd_key_part *part, struct hd_slice key)
{
    const uint64_t hash = hd_hash_bytes(key.data, key.size) >> 32;

    return hash >= part->start && hash - part->start < part->width;
}

struct hd_log_merge {
    const struct hd_merge_columns *columns;
    const struct hd_slice_source *slice;
    struct hd_log_scan scan;
    hd_spillable_map *map; /* of the keys in `part` */
    struct hd_key_part part;
    hd_entry_spool
        *spool;         /* where the entries are once keys are in parts; NULL: in the log files */
    uint8_t *met;       /* by entry: a row of the base file had its key */
    int64_t next_entry; /* of the rest */
    int64_t rest_rows;  /* of a batch of the rest */
    struct hd_slice_merge_stats stats;
    int64_t n_entries_before, n_spilled_before; /* of the parts before */

    /* Of one batch. */
    int64_t *put_rows; /* of a batch of entries those in `part` */
    size_t put_capacity;
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
