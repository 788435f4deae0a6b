/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HUDI_SERVICE_H
#define HUDI_SERVICE_H

#include <stddef.h>
#include <stdint.h>

#include "hudi/table.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Undo one instant: a pending one, or the newest completed write. Takes the write lock. */
HUDI_EXPORT hudi_status hudi_rollback(hudi_table *table, const char *instant_time,
                                      hudi_error **err);

/* ---- cleaning ------------------------------------------------------------------------------- */

/** How far a clean goes. */
typedef enum hudi_clean_step {
    HUDI_CLEAN_PLAN_AND_RUN = 0, /* finish pending cleans, then plan and run a new one */
    HUDI_CLEAN_SCHEDULE = 1,     /* plan only; nothing while another clean is pending */
    HUDI_CLEAN_RUN = 2,          /* run pending plans only */
    HUDI_CLEAN_DRY_RUN = 3,      /* say what would be planned; nothing is changed */
    HUDI_CLEAN_PENDING = 4       /* list pending plans; nothing is changed */
} hudi_clean_step;

/** Cleans that were run, planned or listed, oldest first. */
typedef struct hudi_cleaning hudi_cleaning;

/**
 * Delete files that no reader needs any more, by hoodie.cleaner.policy and its keys (of the table's
 * options). Never deletes the newest version of a file group, what a savepoint or a plan names,
 * nor, but for KEEP_LATEST_FILE_VERSIONS, what the retained instants read. Takes the write lock.
 * Killed at any point, the next clean goes on with it.
 * @param out  may be NULL
 */
HUDI_EXPORT hudi_status hudi_clean(hudi_table *table, hudi_clean_step step, hudi_cancel *cancel,
                                   hudi_cleaning **out, hudi_error **err);
HUDI_EXPORT size_t hudi_cleaning_length(const hudi_cleaning *cleaning);
/** Of clean `i`: its instant ("" in a dry run) and state ("COMPLETED"). */
HUDI_EXPORT const char *hudi_cleaning_instant(const hudi_cleaning *cleaning, size_t i);
HUDI_EXPORT const char *hudi_cleaning_state(const hudi_cleaning *cleaning, size_t i);
HUDI_EXPORT const char *hudi_cleaning_policy(const hudi_cleaning *cleaning, size_t i);
/** The earliest instant that stays readable; NULL when the policy keeps versions. */
HUDI_EXPORT const char *hudi_cleaning_earliest(const hudi_cleaning *cleaning, size_t i);
/** Files planned, and their bytes (0 for a plan that was made earlier); files deleted, and those
 * that were gone or could not be deleted, once it has run; partitions deleted because they are
 * empty. */
HUDI_EXPORT size_t hudi_cleaning_files(const hudi_cleaning *cleaning, size_t i);
HUDI_EXPORT int64_t hudi_cleaning_bytes(const hudi_cleaning *cleaning, size_t i);
HUDI_EXPORT size_t hudi_cleaning_deleted(const hudi_cleaning *cleaning, size_t i);
HUDI_EXPORT size_t hudi_cleaning_failed(const hudi_cleaning *cleaning, size_t i);
HUDI_EXPORT size_t hudi_cleaning_deleted_partitions(const hudi_cleaning *cleaning, size_t i);
/** The plan: partitions, and names of files in partition `p`. NULL past the last. */
HUDI_EXPORT const char *hudi_cleaning_partition(const hudi_cleaning *cleaning, size_t i, size_t p);
HUDI_EXPORT const char *hudi_cleaning_file(const hudi_cleaning *cleaning, size_t i, size_t p,
                                           size_t f);
HUDI_EXPORT void hudi_cleaning_free(hudi_cleaning *cleaning);

/* ---- compaction ----------------------------------------------------------------------------- */

/** How far a compaction goes. */
typedef enum hudi_compact_step {
    HUDI_COMPACT_PLAN_AND_RUN = 0, /* run pending plans, then plan and run a new one */
    HUDI_COMPACT_SCHEDULE = 1,     /* plan only */
    HUDI_COMPACT_RUN = 2,          /* run pending plans only */
    HUDI_COMPACT_DRY_RUN = 3,      /* say what would be planned; nothing is changed */
    HUDI_COMPACT_PENDING = 4       /* list pending plans; nothing is changed */
} hudi_compact_step;

/** Compactions that were run, planned or listed, oldest first. Compactions and clusterings are one
 * type: what is asked of either has one answer under both names. */
typedef struct hudi_rewriting hudi_compaction;

/**
 * Merge the log files of a merge-on-read table into new base files. Which ones, by
 * hoodie.compaction.strategy and its keys (of the table's options); a new plan is made when there
 * is any delta commit since the last compaction, or when it is time by
 * hoodie.compact.inline.trigger.strategy and its keys where one of these is set. Rows and their
 * meta columns stay, but for _hoodie_file_name. Takes the write lock. Killed at any point, the next
 * run goes on with it.
 * @param instant_time  with HUDI_COMPACT_RUN the one plan to run; NULL: all
 * @param out           may be NULL
 * @return HUDI_INVALID for a copy-on-write table or a time that is no pending compaction's
 */
HUDI_EXPORT hudi_status hudi_compact(hudi_table *table, hudi_compact_step step,
                                     const char *instant_time, hudi_cancel *cancel,
                                     hudi_compaction **out, hudi_error **err);
/**
 * Log compaction: merge the blocks of a slice's log files into those of one new log file, where
 * there are hoodie.log.compaction.blocks.threshold files (of the table's options). Base files stay,
 * and rows with all their meta columns. Files written are log files. A run that was killed is
 * rolled back by the next, which plans anew; slices written to after the plan are left as they are.
 * @return HUDI_NOT_IMPLEMENTED for tables of another version than 6; else as hudi_compact()
 */
HUDI_EXPORT hudi_status hudi_compact_logs(hudi_table *table, hudi_compact_step step,
                                          const char *instant_time, hudi_cancel *cancel,
                                          hudi_compaction **out, hudi_error **err);
HUDI_EXPORT size_t hudi_compaction_length(const hudi_compaction *compaction);
/** Of compaction `i`: its instant ("" in a dry run) and state ("COMPLETED"). */
HUDI_EXPORT const char *hudi_compaction_instant(const hudi_compaction *compaction, size_t i);
HUDI_EXPORT const char *hudi_compaction_state(const hudi_compaction *compaction, size_t i);
/** File slices of the plan, and bytes to be read (0 for a plan that was made earlier); base files
 * written, their rows and bytes, once it has run. */
HUDI_EXPORT size_t hudi_compaction_slices(const hudi_compaction *compaction, size_t i);
HUDI_EXPORT int64_t hudi_compaction_bytes(const hudi_compaction *compaction, size_t i);
HUDI_EXPORT size_t hudi_compaction_files(const hudi_compaction *compaction, size_t i);
HUDI_EXPORT int64_t hudi_compaction_rows(const hudi_compaction *compaction, size_t i);
HUDI_EXPORT int64_t hudi_compaction_bytes_written(const hudi_compaction *compaction, size_t i);
/** Slice `s` of the plan: partition, file id, name of the base file (NULL: there is none), and
 * names of log files, NULL past the last. */
HUDI_EXPORT const char *hudi_compaction_partition(const hudi_compaction *compaction, size_t i,
                                                  size_t s);
HUDI_EXPORT const char *hudi_compaction_file_id(const hudi_compaction *compaction, size_t i,
                                                size_t s);
HUDI_EXPORT const char *hudi_compaction_base_file(const hudi_compaction *compaction, size_t i,
                                                  size_t s);
HUDI_EXPORT const char *hudi_compaction_log_file(const hudi_compaction *compaction, size_t i,
                                                 size_t s, size_t f);
HUDI_EXPORT void hudi_compaction_free(hudi_compaction *compaction);

/* ---- clustering ----------------------------------------------------------------------------- */

/** How far a clustering goes. */
typedef enum hudi_cluster_step {
    HUDI_CLUSTER_PLAN_AND_RUN = 0, /* run pending plans, then plan and run a new one */
    HUDI_CLUSTER_SCHEDULE = 1,     /* plan only */
    HUDI_CLUSTER_RUN = 2,          /* run pending plans only */
    HUDI_CLUSTER_DRY_RUN = 3,      /* say what would be planned; nothing is changed */
    HUDI_CLUSTER_PENDING = 4       /* list pending plans; nothing is changed */
} hudi_cluster_step;

/** Clusterings that were run, planned or listed, oldest first. */
typedef struct hudi_rewriting hudi_clustering;

/**
 * Move the rows of small files to new files, sorted by
 * hoodie.clustering.plan.strategy.sort.columns where set; which ones, by the keys of
 * hoodie.clustering.plan.* (of the table's options). Rows and their meta columns stay, but for
 * _hoodie_file_name. While a plan is pending, updates of its file groups are refused. Takes the
 * write lock. Killed at any point, the next run goes on with it.
 * @param instant_time  with HUDI_CLUSTER_RUN the one plan to run; NULL: all
 * @param out           may be NULL
 */
HUDI_EXPORT hudi_status hudi_cluster(hudi_table *table, hudi_cluster_step step,
                                     const char *instant_time, hudi_cancel *cancel,
                                     hudi_clustering **out, hudi_error **err);
HUDI_EXPORT size_t hudi_clustering_length(const hudi_clustering *clustering);
/** Of clustering `i`: its instant ("" in a dry run) and state ("COMPLETED"). */
HUDI_EXPORT const char *hudi_clustering_instant(const hudi_clustering *clustering, size_t i);
HUDI_EXPORT const char *hudi_clustering_state(const hudi_clustering *clustering, size_t i);
/** File slices of the plan, and bytes to be read (0 for a plan that was made earlier); base files
 * written, their rows and bytes, once it has run. */
HUDI_EXPORT size_t hudi_clustering_slices(const hudi_clustering *clustering, size_t i);
HUDI_EXPORT int64_t hudi_clustering_bytes(const hudi_clustering *clustering, size_t i);
HUDI_EXPORT size_t hudi_clustering_files(const hudi_clustering *clustering, size_t i);
HUDI_EXPORT int64_t hudi_clustering_rows(const hudi_clustering *clustering, size_t i);
HUDI_EXPORT int64_t hudi_clustering_bytes_written(const hudi_clustering *clustering, size_t i);
/** Slice `s` of the plan: partition, number of its input group, file id, name of the base file
 * (NULL: there is none), and names of log files, NULL past the last. */
HUDI_EXPORT const char *hudi_clustering_partition(const hudi_clustering *clustering, size_t i,
                                                  size_t s);
HUDI_EXPORT size_t hudi_clustering_group(const hudi_clustering *clustering, size_t i, size_t s);
HUDI_EXPORT const char *hudi_clustering_file_id(const hudi_clustering *clustering, size_t i,
                                                size_t s);
HUDI_EXPORT const char *hudi_clustering_base_file(const hudi_clustering *clustering, size_t i,
                                                  size_t s);
HUDI_EXPORT const char *hudi_clustering_log_file(const hudi_clustering *clustering, size_t i,
                                                 size_t s, size_t f);
HUDI_EXPORT void hudi_clustering_free(hudi_clustering *clustering);

/* ---- savepoints ----------------------------------------------------------------------------- */

/**
 * Keep what the table is as of a completed write of the active timeline: cleans spare its files
 * until the savepoint is dropped. `user` and `comments` are kept with it; NULL: "".
 * @return HUDI_INVALID when there is no such write or a clean has reached it; HUDI_EXISTS
 */
HUDI_EXPORT hudi_status hudi_savepoint(hudi_table *table, const char *instant_time,
                                       const char *user, const char *comments, hudi_error **err);
/** Drop a savepoint; its write stays. */
HUDI_EXPORT hudi_status hudi_savepoint_delete(hudi_table *table, const char *instant_time,
                                              hudi_error **err);

/**
 * Take the table back to what it was after a completed write, for good: every later write is
 * undone. One that was killed is finished first; until then nothing else writes to the table.
 * @param n_undone  writes undone; may be NULL
 */
HUDI_EXPORT hudi_status hudi_restore(hudi_table *table, const char *instant_time,
                                     hudi_cancel *cancel, size_t *n_undone, hudi_error **err);

/* ---- what undoing and savepoints would do --------------------------------------------------- */

/** Instants, in the order in which they would be undone, and what would happen to their files. */
typedef struct hudi_preview hudi_preview;

/**
 * What hudi_rollback(), hudi_restore(), hudi_savepoint() and hudi_savepoint_delete() would do to
 * the table as it stands now. Nothing is written and no lock is taken: the answer holds as long as
 * nobody else writes. What hung before and would be finished first (rollbacks and restores that
 * were begun; with a restore, failed writes) is part of it. The calls refuse what those refuse,
 * with the same status, but for a lock that somebody holds; a call that is refused may have
 * finished what hung before. Data files are told; files of the timeline, markers and temporary
 * files are not. Several threads may ask at once.
 * @param out  set on success, to be freed with hudi_preview_free(); NULL on failure
 * @return as the call itself
 */
HUDI_EXPORT hudi_status hudi_rollback_preview(hudi_table *table, const char *instant_time,
                                              hudi_preview **out, hudi_error **err);
HUDI_EXPORT hudi_status hudi_restore_preview(hudi_table *table, const char *instant_time,
                                             hudi_cancel *cancel, hudi_preview **out,
                                             hudi_error **err);
HUDI_EXPORT hudi_status hudi_savepoint_preview(hudi_table *table, const char *instant_time,
                                               hudi_preview **out, hudi_error **err);
HUDI_EXPORT hudi_status hudi_savepoint_delete_preview(hudi_table *table, const char *instant_time,
                                                      hudi_preview **out, hudi_error **err);
/** Instants: those undone (none: there is nothing to do), or the savepoint. */
HUDI_EXPORT size_t hudi_preview_length(const hudi_preview *preview);
/** Of instant `i`: its time, action ("commit") and state now
 * ("COMPLETED"; "" when there is none: of a savepoint to be made, or of a write of which only files
 * are left). Strings, here and below, live as long as the preview. */
HUDI_EXPORT const char *hudi_preview_instant(const hudi_preview *preview, size_t i);
HUDI_EXPORT const char *hudi_preview_action(const hudi_preview *preview, size_t i);
HUDI_EXPORT const char *hudi_preview_state(const hudi_preview *preview, size_t i);
/** Files of the instant that would be removed, of a savepoint that are or would be kept, and their
 * bytes. */
HUDI_EXPORT size_t hudi_preview_files(const hudi_preview *preview, size_t i);
HUDI_EXPORT int64_t hudi_preview_bytes(const hudi_preview *preview, size_t i);
/** Name of file `f`, and the path of its partition, by which they are sorted. NULL past the last.
 */
HUDI_EXPORT const char *hudi_preview_file(const hudi_preview *preview, size_t i, size_t f,
                                          const char **partition);
/** The same of log files that stay, in which rows of the instant do not count any more: a rollback
 * block would be written in a new log file behind each. */
HUDI_EXPORT const char *hudi_preview_log_file(const hudi_preview *preview, size_t i, size_t f,
                                              const char **partition);
/** Takes NULL. */
HUDI_EXPORT void hudi_preview_free(hudi_preview *preview);

/* ---- archiving ------------------------------------------------------------------------------ */

/** What an archiving did, or would do. All zero and "" when there is nothing to archive. */
typedef struct hudi_archiving hudi_archiving;

/**
 * Move the oldest instants from the active timeline to the archive, once there are more than
 * hoodie.keep.max.commits writes, down to hoodie.keep.min.commits (of the table's options). Readers
 * see no difference. Takes the write lock. Killed at any point, nothing is lost and the next
 * archiving goes on.
 * @param dry_run  not 0: say what would go; nothing is changed
 * @param out      may be NULL
 */
HUDI_EXPORT hudi_status hudi_archive(hudi_table *table, int dry_run, hudi_cancel *cancel,
                                     hudi_archiving **out, hudi_error **err);
/** Instants, the writes among them, and the times of the oldest and the newest. */
HUDI_EXPORT size_t hudi_archiving_instants(const hudi_archiving *archiving);
HUDI_EXPORT size_t hudi_archiving_writes(const hudi_archiving *archiving);
HUDI_EXPORT const char *hudi_archiving_first(const hudi_archiving *archiving);
HUDI_EXPORT const char *hudi_archiving_last(const hudi_archiving *archiving);
HUDI_EXPORT void hudi_archiving_free(hudi_archiving *archiving);

/* ---- verification --------------------------------------------------------------------------- */

/** What a check of the whole table found. */
typedef struct hudi_verification hudi_verification;
/**
 * Check the table as it stands now: timeline, that each file of a completed write is there and of
 * the size it should have, that there are no others, and of each base file rows, keys, key range,
 * bloom filter, commit times and partition. Damage is a finding and no failure; nothing is changed.
 * Writers may be at work meanwhile. With libhudi.verify.quick (of the table's options) only the
 * meta columns are read.
 * @return HUDI_IO, HUDI_CANCELLED, HUDI_NO_MEMORY; HUDI_NOT_FOUND when the table is gone
 */
HUDI_EXPORT hudi_status hudi_verify(const hudi_table *table, hudi_cancel *cancel,
                                    hudi_verification **out, hudi_error **err);
/**
 * Put right what can be put right without losing a row: writes and rollbacks that hang are undone
 * and finished, plans that nobody can read or has acted on dropped, missing partition metafiles
 * made, markers and heartbeats of dead writers deleted. Takes the write lock. `out` has a finding
 * for each thing done; with `dry_run` (not 0) for each that would be, and nothing is changed.
 * @param out  may be NULL
 */
HUDI_EXPORT hudi_status hudi_repair(hudi_table *table, int dry_run, hudi_cancel *cancel,
                                    hudi_verification **out, hudi_error **err);
/** Findings (something is wrong) and notes (worth knowing); each has a kind ("missing-file"), a
 * path or instant, and a sentence. NULL past the last. */
typedef struct hudi_finding hudi_finding;
/** Base files that were opened, those of older file slices among them; rows of the latest ones. */
HUDI_EXPORT size_t hudi_verification_n_files(const hudi_verification *verification);
HUDI_EXPORT int64_t hudi_verification_n_rows(const hudi_verification *verification);
HUDI_EXPORT size_t hudi_verification_n_findings(const hudi_verification *verification);
HUDI_EXPORT const hudi_finding *hudi_verification_finding(const hudi_verification *verification,
                                                          size_t i);
HUDI_EXPORT const hudi_finding *hudi_verification_note(const hudi_verification *verification,
                                                       size_t i);
HUDI_EXPORT const char *hudi_finding_kind(const hudi_finding *finding);
HUDI_EXPORT const char *hudi_finding_where(const hudi_finding *finding);
HUDI_EXPORT const char *hudi_finding_message(const hudi_finding *finding);
HUDI_EXPORT void hudi_verification_free(hudi_verification *verification);

#ifdef __cplusplus
}
#endif
#endif
