/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HUDI_WRITE_H
#define HUDI_WRITE_H

#include <stddef.h>
#include <stdint.h>

#include "hudi/arrow_c.h"
#include "hudi/table.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * One write, one instant: begin, give it rows, commit (or abort). The operation is
 * hoodie.datasource.write.operation: upsert (default), insert, bulk_insert, delete,
 * insert_overwrite, insert_overwrite_table, delete_partition. Columns are matched by name; types as
 * the table has them, or such as widen. Meta columns in the input are ignored.
 *
 * A row without a usable key or partition, or with a value that does not fit its column, fails
 * alone: it is counted, with the first of its kind and a sample kept, and the others are written.
 * Whether they are committed is libhudi.write.ignore.failed's choice (default: no).
 *
 * While a write is open its process holds the table's write lock (.hoodie/.libhudi.lock, the
 * kernel's, released however the process ends); a second writer waits libhudi.write.lock.wait.ms,
 * then fails with HUDI_CONFLICT. Beginning rolls back what a dead writer left.
 */
typedef struct hudi_write hudi_write;
typedef struct hudi_commit hudi_commit;

/** For a table that is to be made for this write: what hudi_write_begin() would refuse of these
 * options, said before there is a table. */
HUDI_EXPORT hudi_status hudi_write_check_new_table(hudi_context *context,
                                                   const hudi_options *options, hudi_error **err);

HUDI_EXPORT hudi_status hudi_write_begin(hudi_table *table, const hudi_options *options,
                                         hudi_write **out, hudi_error **err);

/** The instant of this write. Belongs to `write`. */
HUDI_EXPORT const char *hudi_write_instant(const hudi_write *write);

/** Take rows; may be called several times. The stream is taken, even on failure. After a failure
 * only abort is left. */
HUDI_EXPORT hudi_status hudi_write_stream(hudi_write *write, struct ArrowArrayStream *in,
                                          hudi_cancel *cancel, hudi_error **err);

/**
 * Rows of a file, for the next hudi_write_stream() of this write: hudi_rows_open() with a record
 * that is broken (a line that is no JSON, a CSV row with too few columns) or does not fit its
 * column's type counted as a failed row of the write, by file and line, in place of failing the
 * stream. `write` must outlive the stream.
 */
HUDI_EXPORT hudi_status hudi_write_open_rows(hudi_write *write, const char *path,
                                             const char *format, const struct ArrowSchema *types,
                                             struct ArrowArrayStream *out, hudi_error **err);

/** Write everything out and complete the instant, then run the table services that are due. `write`
 * is freed in any case; when this fails, but for HUDI_SERVICE_FAILED, nothing of it shows and its
 * files are removed (now, or by the next writer). `out` may be NULL.
 * @return HUDI_SERVICE_FAILED when the write is committed, and must not be repeated, but a
 *         compaction or clustering behind it failed
 *         (hoodie.fail.writes.on.inline.table.service.exception): `*out` is given all the same;
 *         HUDI_ROWS_FAILED when single rows could not be written and libhudi.write.ignore.failed is
 *         not set: the error says how many, and of the first ones where and why */
HUDI_EXPORT hudi_status hudi_write_commit(hudi_write *write, hudi_commit **out, hudi_error **err);

/** Undo; takes NULL. */
HUDI_EXPORT void hudi_write_abort(hudi_write *write);

/** What a commit did. Strings belong to the commit. */
/** NULL when nothing was written: no rows, and hoodie.allow.empty.commit is off. */
HUDI_EXPORT const char *hudi_commit_instant(const hudi_commit *commit);
HUDI_EXPORT int64_t hudi_commit_inserts(const hudi_commit *commit);
HUDI_EXPORT int64_t hudi_commit_updates(const hudi_commit *commit);
HUDI_EXPORT int64_t hudi_commit_deletes(const hudi_commit *commit);
HUDI_EXPORT int64_t hudi_commit_files(const hudi_commit *commit);
HUDI_EXPORT int64_t hudi_commit_bytes(const hudi_commit *commit);
HUDI_EXPORT int64_t hudi_commit_failed_rows(const hudi_commit *commit);
/** Failures in the order of the input: where, and why; NULL past the last. The first ten of each
 * task are there, of the others a sample. */
HUDI_EXPORT const char *hudi_commit_failure(const hudi_commit *commit, size_t i);
HUDI_EXPORT void hudi_commit_free(hudi_commit *commit);

/* ---- the three roles apart: for engines whose tasks run elsewhere ---------------------------- */

/**
 * Coordinator: what a writer task needs to know, as versioned bytes. Free with hudi_bytes_free().
 */
HUDI_EXPORT hudi_status hudi_write_task_description(hudi_write *write, void **out, size_t *n_bytes,
                                                    hudi_error **err);

/**
 * Which task must get each row, so that a file group has one owner: for every row of `batch` the
 * number of a task in 0..n_tasks-1 into `tasks` (batch->length entries). Rows of one record key and
 * rows bound for one file group give the same number. `batch` stays the caller's. Computed from the
 * description and the table's files alone, by any process.
 */
typedef struct hudi_tagger hudi_tagger;
HUDI_EXPORT hudi_status hudi_tagger_new(hudi_context *context, const void *description,
                                        size_t n_bytes, uint32_t n_tasks, hudi_tagger **out,
                                        hudi_error **err);
HUDI_EXPORT hudi_status hudi_tagger_tag(hudi_tagger *tagger, const struct ArrowSchema *schema,
                                        const struct ArrowArray *batch, uint32_t *tasks,
                                        hudi_error **err);
HUDI_EXPORT void hudi_tagger_free(hudi_tagger *tagger);

/**
 * Writer task: rows in, files written, a write status out. `attempt` tells tries of one task apart:
 * their file names differ. A task that is freed without close leaves files that the commit removes.
 */
typedef struct hudi_write_task hudi_write_task;
HUDI_EXPORT hudi_status hudi_write_task_open(hudi_context *context, const void *description,
                                             size_t n_bytes, uint32_t task, uint32_t n_tasks,
                                             uint64_t attempt, hudi_write_task **out,
                                             hudi_error **err);
HUDI_EXPORT hudi_status hudi_write_task_stream(hudi_write_task *task, struct ArrowArrayStream *in,
                                               hudi_cancel *cancel, hudi_error **err);
/** Flush and give the task's write status as versioned bytes; frees the task in any case. */
HUDI_EXPORT hudi_status hudi_write_task_close(hudi_write_task *task, void **status, size_t *n_bytes,
                                              hudi_error **err);
HUDI_EXPORT void hudi_write_task_free(hudi_write_task *task);
HUDI_EXPORT void hudi_bytes_free(void *bytes);

/** Coordinator: hand in a task's write status; the same one twice counts once, and of two attempts
 * of one task the later one counts. */
HUDI_EXPORT hudi_status hudi_write_add_status(hudi_write *write, const void *status, size_t n_bytes,
                                              hudi_error **err);

#ifdef __cplusplus
}
#endif
#endif
