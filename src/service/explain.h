/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_SERVICE_EXPLAIN_H
#define HD_SERVICE_EXPLAIN_H

#include "format/layout/table_snapshot.h"

/** What a service did or plans, and how long an instant took. */
struct hd_instant_report {
    int64_t duration_ms; /* from its first state file to its last, by their times; -1: pending */
    /* In the arena, or NULL. Rollback: the instant undone; restore: the one gone back to; clean:
     * the earliest that stays readable; savepoint: its comment. */
    const char *about;
    int64_t n_files;       /* clean, rollback: deleted, or to be; savepoint: kept */
    int64_t n_failed;      /* clean: gone before, or not deleted */
    int64_t n_instants;    /* restore: undone, or to be */
    int64_t n_file_groups; /* pending compaction or clustering: planned */
    const char *by;        /* in the arena, or NULL. Savepoint: who made it */
};

/** @return HUDI_CORRUPT naming the file; a state file that is gone leaves its part at 0 */
hudi_status hd_instant_explain(struct hd_op *op, const struct hd_timeline *timeline,
                               const struct hd_instant *instant, struct hd_arena *arena,
                               struct hd_instant_report *out);

#endif
