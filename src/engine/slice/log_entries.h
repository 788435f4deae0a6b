/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ENGINE_LOG_ENTRIES_H
#define HD_ENGINE_LOG_ENTRIES_H

#include "engine/record/merge.h"
#include "engine/slice/slice_reader.h"

/**
 * The records of a slice's log files merged by key among themselves, deletes too: what log
 * compaction writes in their place. Merged with what stands before or after them, they give what
 * the records gave.
 */
typedef struct hd_log_entries hd_log_entries;

struct hd_log_entry_batch {
    int64_t n;
    struct ArrowArray rows; /* columns of the query's schema; of a delete only the ordering field
                               counts */
    struct ArrowArray keys; /* STRING */
    const bool *is_delete;  /* of a delete block, by row; until the next batch */
    const bool *by_arrival; /* such a delete without ordering value */
};

/** @param query  of all columns of its schema; borrowed, as `slice`, whose base file is not looked
 * at. @return as hd_slice_reader_open(); HUDI_NOT_IMPLEMENTED for partial updates of 1.x */
hudi_status hd_log_entries_open(struct hd_op *op, const struct hd_slice_query *query,
                                const struct hd_slice_source *slice, hd_log_entries **out);
/** The next entries, never none; arrays are the caller's, all zero on failure. @return HUDI_END;
 * HUDI_NOT_IMPLEMENTED for rows of a changelog */
hudi_status hd_log_entries_next(struct hd_op *op, hd_log_entries *entries,
                                struct hd_log_entry_batch *out);
/** Takes NULL. */
void hd_log_entries_close(struct hd_op *op, hd_log_entries *entries);

/** What decides between records, of the table's columns in `rows`. */
const hd_merger *hd_log_entries_merger(const hd_log_entries *entries);
/** Instants of the blocks that were read, in log order, as COMPACTED_BLOCK_TIMES lists them, and
 * the newest of them; "" when no block counts. */
const char *hd_log_entries_instants(const hd_log_entries *entries);
const char *hd_log_entries_newest(const hd_log_entries *entries);
struct hd_slice_merge_stats hd_log_entries_stats(const hd_log_entries *entries);

#endif
