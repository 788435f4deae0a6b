/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ENGINE_WRITE_STATUS_H
#define HD_ENGINE_WRITE_STATUS_H

#include "base/arena.h"
#include "base/op.h"
#include "format/timeline/commit_metadata.h"

/** A record that could not be written, and why. */
struct hd_failed_record {
    const char *key; /* or the row's number in its input when it has no key */
    const char *reason;
    int64_t at; /* its place among what a task was given: they are ordered by it */
};

/**
 * What one attempt of one writer task did: all that the coordinator needs to commit it. All zero is
 * empty and ready. Travels as JSON: {"version":1,"task":..,"attempt":..,"instant":..,"schema":..,
 * "stats":[..],"failed":N,"failures":[{"key":..,"reason":..,"at":..}]}.
 *
 * The first HD_FIRST_FAILURES failures, by their place, are kept. The others are sampled as Hudi
 * samples them: one in ten (hoodie.memory.writestatus.failure.fraction) by random numbers of a
 * fixed seed, at most HD_MAX_FAILURES in all; `n_failed` counts all. Source:
 * WriteStatus.markFailure (Hudi 0.15.0)
 */
#define HD_MAX_FAILURES 100
#define HD_FIRST_FAILURES 10

struct hd_write_status {
    struct hd_arena arena;
    uint32_t task;
    uint64_t attempt;
    const char *instant_time;
    const char *avro_schema; /* of the table after this write; NULL: unchanged, no rows came */
    struct hd_write_stat *stats;
    size_t n_stats;
    size_t stat_capacity;
    int64_t n_failed;
    struct hd_failed_record *failures;
    size_t n_failures;
    size_t failure_capacity;
    uint64_t sampling; /* state of the random numbers of the sample, 0 before the first */
};

/** Add a stat whose strings are in status->arena. */
hudi_status hd_write_status_add(struct hd_op *op, struct hd_write_status *status,
                                const struct hd_write_stat *stat);
/** Count a record that failed; `where` is its key, or where in the input it stands; `at` orders the
 * failures, those of one `at` stay as they came. */
hudi_status hd_write_status_fail(struct hd_op *op, struct hd_write_status *status,
                                 double sampled_fraction, int64_t at, const char *where,
                                 const char *reason);
/** Places: of row `row` (from 0) of all that a writer was given, and of what was left out of its
 * input when `n_rows` rows had been given. */
static inline int64_t hd_failed_row_at(int64_t row)
{
    return 2 * row + 1;
}
static inline int64_t hd_left_out_at(int64_t n_rows)
{
    return 2 * n_rows;
}

/** Add all of another status to this one, copied. */
hudi_status hd_write_status_absorb(struct hd_op *op, struct hd_write_status *status,
                                   const struct hd_write_status *from);
void hd_write_status_clear(struct hd_op *op, struct hd_write_status *status);

hudi_status hd_write_status_encode(struct hd_op *op, const struct hd_write_status *status,
                                   struct hd_str *out);
hudi_status hd_write_status_decode(struct hd_op *op, struct hd_slice bytes,
                                   struct hd_write_status *out);

#endif
