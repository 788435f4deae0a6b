/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ENGINE_LOG_MERGE_INTERNAL_H
#define HD_ENGINE_LOG_MERGE_INTERNAL_H

#include "arrow/gather.h"
#include "base/map.h"
#include "engine/slice/entry_spool.h"
#include "engine/slice/log_merge.h"
#include "engine/slice/log_scan.h"
#include "engine/slice/row_entries.h"

/* Between log_merge.c, log_merge_rows.c, merge_batch.c and untouched.c. */

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
    struct hd_row_entries row_entries;
    bool tries_rows; /* entries are being added to these */
    bool is_by_row;  /* they are whole and serve */
    hd_base_reader *base;
    int32_t key_column; /* of the base file */
    int32_t
        key_field; /* number in `read` of the column whose texts are the record keys, -1: none */
    uint64_t first_checked, end_checked; /* rows whose keys were read: they are right */

    /* Of one batch. */
    int64_t *put_rows;    /* of a batch of entries those in `part` */
    int64_t *put_numbers; /* their numbers in the map */
    size_t put_capacity, number_capacity;
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

static inline bool hd_log_merge_tries_rows(const hd_log_merge *merge)
{
    return merge->tries_rows && merge->row_entries.flaw == NULL;
}

/** Before blocks are loaded: shall rows be tried? */
hudi_status hd_log_merge_try_rows(struct hd_op *op, hd_log_merge *merge, hd_base_reader *base);
/** Entries `merge->put_numbers` are those of the rows of `batch`. */
hudi_status hd_log_merge_add_rows(struct hd_op *op, hd_log_merge *merge,
                                  const struct hd_log_batch *batch, int64_t n);
/** All blocks are loaded: do rows serve? */
hudi_status hd_log_merge_settle_rows(struct hd_op *op, hd_log_merge *merge);

/** By row: that the rows of the hits have the keys of their entries, as far as columns tell that
 * are read. @param columns  views of `read` columns of the rows from `first_row` on
 * @return HUDI_CORRUPT when one has not */
hudi_status hd_log_merge_check_hits(struct hd_op *op, hd_log_merge *merge,
                                    const struct hd_view *columns, uint64_t first_row);

/** Number of the key column in the base file; -1: keys cannot be told from one column. */
hudi_status hd_log_merge_key_column(struct hd_op *op, const hd_log_merge *merge,
                                    hd_base_reader *base, int32_t *out);

/** Keys of a row group are in [min, max]; texts of the arena. */
struct hd_key_bounds {
    bool is_known;
    struct hd_slice min, max;
};
hudi_status hd_log_merge_key_bounds(struct hd_op *op, struct hd_arena *arena, hd_base_reader *base,
                                    int32_t row_group, int32_t column, struct hd_key_bounds *out);

/** What becomes of a row of the base file and an entry. */
enum hd_merge_choice hd_log_merge_choose(const struct hd_merge_columns *columns,
                                         const struct hd_merge_side *stored,
                                         const struct hd_merge_side *entry);

/** Does a column of `read` of a row of both come from the entry? */
bool hd_log_merge_takes_entry(const struct hd_merge_columns *columns, int32_t column,
                              const struct hd_merge_side *stored, const struct hd_merge_side *entry,
                              const struct hd_view *entry_views);

#endif
