/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_FORMAT_TRANSITION_H
#define HD_FORMAT_TRANSITION_H

#include "base/op.h"
#include "format/timeline/timeline.h"

/*
 * The only code that makes data visible: everything before hd_transition_complete() can be lost,
 * everything after it stays. Each call is one file operation that is durable when it returns;
 * killed in between, the file is there in full or not at all. docs/format/timeline.md 3
 */

/** A new instant time: now, later than every instant of `timeline` and than any given out by this
 * process for any table. Sleeps a millisecond where needed; where the timeline is ahead of the
 * clock, one millisecond after its newest instant. HUDI_INVALID when that is no date. */
hudi_status hd_transition_new_time(struct hd_op *op, const struct hd_timeline *timeline,
                                   char out[HD_INSTANT_TIME_BYTES]);

/** Create the requested file (content may be empty). HUDI_EXISTS sets an error. */
hudi_status hd_transition_request(struct hd_op *op, const struct hd_timeline *timeline,
                                  const char *time, enum hd_action action, const void *content,
                                  size_t n);

/** Create the inflight file; the requested one must exist and stays. HUDI_CONFLICT when it does not
 * (somebody rolled the instant back), HUDI_EXISTS; both set an error. */
hudi_status hd_transition_start(struct hd_op *op, const struct hd_timeline *timeline,
                                const char *time, enum hd_action action, const void *content,
                                size_t n);

/** Publish the completed file; the inflight one must exist and stays (else HUDI_CONFLICT).
 * HUDI_EXISTS (no error) when it is there already: committing is idempotent for whoever finds the
 * same content. */
hudi_status hd_transition_complete(struct hd_op *op, const struct hd_timeline *timeline,
                                   const char *time, enum hd_action action, const void *content,
                                   size_t n);

/** Delete inflight, then requested of a pending instant; missing ones are fine. The last step of a
 * rollback. */
hudi_status hd_transition_remove_pending(struct hd_op *op, const struct hd_timeline *timeline,
                                         const struct hd_instant *instant);

/** Delete the inflight file of a pending (log) compaction, clustering or indexing, so that its plan
 * can be run again. HUDI_CONFLICT when there is no requested file. */
hudi_status hd_transition_revert_inflight(struct hd_op *op, const struct hd_timeline *timeline,
                                          const struct hd_instant *instant);

/** Turn a completed write back to inflight (requested and inflight made when missing, completed
 * deleted): the first step of rolling it back. */
hudi_status hd_transition_revert_completed(struct hd_op *op, const struct hd_timeline *timeline,
                                           const struct hd_instant *instant);

/** Delete a savepoint, completed or being made: the completed file first, so that one that is
 * killed half way is none. */
hudi_status hd_transition_remove_savepoint(struct hd_op *op, const struct hd_timeline *timeline,
                                           const struct hd_instant *instant);

/** Delete a rollback that a restore tells of, completed or not: the completed file last, so that
 * one that is killed half way was done. */
hudi_status hd_transition_remove_rollback(struct hd_op *op, const struct hd_timeline *timeline,
                                          const struct hd_instant *instant);

/**
 * Delete the state files of completed instants that have been archived, oldest first in `instants`:
 * first what was pending of all of them, then the completed files, each gone for good before the
 * next. Killed at any point, what is left is completed, and nothing newer is gone than what is
 * left.
 */
hudi_status hd_transition_remove_archived(struct hd_op *op, const struct hd_timeline *timeline,
                                          const struct hd_instant *const *instants, size_t n);

#endif
