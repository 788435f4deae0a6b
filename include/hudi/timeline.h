/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HUDI_TIMELINE_H
#define HUDI_TIMELINE_H

#include <stddef.h>
#include <stdint.h>

#include "hudi/error.h"

#ifdef __cplusplus
extern "C" {
#endif

struct hudi_table;

/** Instants of a table, oldest first. Belongs to what it was asked of. */
typedef struct hudi_timeline hudi_timeline;
typedef struct hudi_instant hudi_instant;

HUDI_EXPORT size_t hudi_timeline_length(const hudi_timeline *timeline);
HUDI_EXPORT const hudi_instant *hudi_timeline_at(const hudi_timeline *timeline, size_t i);

HUDI_EXPORT const char *hudi_instant_time(const hudi_instant *instant);
HUDI_EXPORT const char *hudi_instant_action(const hudi_instant *instant); /* "commit" */
HUDI_EXPORT const char *hudi_instant_state(const hudi_instant *instant);  /* "COMPLETED" */

/** The instants that were archived, as a timeline of its own; free with hudi_timeline_free(). */
HUDI_EXPORT hudi_status hudi_table_archived_timeline(const struct hudi_table *table,
                                                     hudi_timeline **out, hudi_error **err);
HUDI_EXPORT void hudi_timeline_free(hudi_timeline *timeline);

/** What a completed write did; all zero and NULL for others. */
typedef struct hudi_commit_summary {
    const char *operation; /* "UPSERT"; belongs to the timeline */
    int64_t n_files;
    int64_t n_inserts;
    int64_t n_updates;
    int64_t n_deletes;
    int64_t n_written_rows; /* copied ones too */
    int64_t n_written_bytes;
    int64_t n_replaced_groups;
} hudi_commit_summary;
HUDI_EXPORT hudi_status hudi_instant_summary(const struct hudi_table *table,
                                             const hudi_instant *instant, hudi_commit_summary *out,
                                             hudi_error **err);

/** How long an instant took, and what a table service did or plans to do. */
typedef struct hudi_instant_details {
    int64_t
        duration_ms; /* from its first file to its last, by their times; -1: pending, archived */
    /* NULL, or: rollback: the instant undone; restore: the one gone back to; clean: the earliest
     * that stays readable; savepoint: its comment. Belongs to the table. */
    const char *about;
    int64_t n_files;       /* clean, rollback: deleted, or to be; savepoint: kept */
    int64_t n_failed;      /* clean: gone before, or not deleted */
    int64_t n_instants;    /* restore: undone, or to be */
    int64_t n_file_groups; /* pending compaction or clustering: planned */
    const char *by;        /* savepoint: who made it, where that is known; NULL. As `about` */
} hudi_instant_details;
HUDI_EXPORT hudi_status hudi_instant_explain(const struct hudi_table *table,
                                             const hudi_instant *instant, hudi_instant_details *out,
                                             hudi_error **err);

#ifdef __cplusplus
}
#endif
#endif
