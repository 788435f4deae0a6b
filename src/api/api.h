/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_API_API_H
#define HD_API_API_H

#include "arrow/misfit.h"
#include "base/pool.h"
#include "engine/commit/coordinator.h"
#include "engine/commit/lock_provider.h"
#include "engine/write/writer.h"
#include "format/layout/file_system_view.h"
#include "format/layout/table_snapshot.h"
#include "format/timeline/archived_timeline.h"
#include "hudi/hudi.h"

/*
 * What the public handles are, and how a public call runs: hd_call_begin() checks nothing and makes
 * an op, the call does its work with that op, hd_call_end() turns the op's error into the caller's
 * hudi_error. Nothing else belongs in this folder: each function here checks its arguments, opens
 * an op and calls down.
 */

struct hudi_options {
    struct hd_options options;
};

struct hudi_cancel {
    hd_atomic_bool requested;
};

struct hudi_context {
    struct hd_options options;
    struct hd_budget budget;
    struct hd_log_sink log;
    void (*log_line)(void *self, hudi_log_level level, const char *message);
    void *log_self;
    struct hd_progress_sink progress; /* forwards to the two below */
    void (*report)(void *self, const hudi_progress *progress);
    void *report_self;
    hd_pool *pool;
    hd_input_file *standard_input; /* once it has been read to its end, else NULL */
    struct hd_lock_providers lock_providers;
    struct hd_faults *faults; /* tests' own, NULL outside of them: those of every op */
};

struct hudi_instant {
    const char *time;
    const char *action;
    const char *state;
    const struct hd_instant *active; /* one of the two */
    const struct hd_archived_instant *archived;
};

struct hudi_timeline {
    struct hudi_instant *instants;
    size_t n_instants;
    struct hd_archived_timeline archive; /* of an archived timeline */
    struct hd_arena summaries;           /* strings of summaries given out */
};

struct hudi_table {
    hudi_context *context; /* borrowed */
    struct hd_options options;
    struct hd_table_snapshot snapshot;
    hudi_timeline timeline;
};

/* The coordinator and, for whoever writes in this process, its one writer task. */
struct hudi_write {
    hudi_context *context;
    hd_coordinator *coordinator;
    hd_writer *writer;         /* NULL before the first rows */
    char *input_name;          /* of the file that was opened last, or NULL */
    struct hd_options options; /* table's and write's: for the services after it */
    char *uri;
    bool failed;
};

/** hudi_rows_open() (`context` may be NULL) with somebody to tell of bad records (rows/json_rows.h,
 * store/table_file.h). */
hudi_status hd_rows_open(struct hd_op *op, hudi_context *context, const char *path,
                         const char *format, const struct ArrowSchema *types,
                         const struct hd_left_out *left_out, struct ArrowArrayStream *out);

/** An op that uses the context's budget, log and, when given, the cancel flag. `context` may be
 * NULL. */
void hd_call_begin(struct hd_op *op, hudi_context *context, const hudi_cancel *cancel);

/** End the op; on failure `*err` (may be NULL) gets its error. Returns `status`. */
hudi_status hd_call_end(struct hd_op *op, hudi_status status, hudi_error **err);

/** An argument that a call needs unless it is optional, and bytes to be zeroed when it is an output
 * and the call fails. */
struct hd_argument {
    const char *name;
    void *value;
    size_t n_bytes;
    bool optional;
};

#define HD_ARG(argument)                                                                           \
    {                                                                                              \
        .name = #argument, .value = (void *)(argument)                                             \
    }
#define HD_OUT(argument)                                                                           \
    {                                                                                              \
        .name = #argument, .value = (void *)(argument), .n_bytes = sizeof *(argument)              \
    }

#define HD_OUT_IF_GIVEN(argument)                                                                  \
    {                                                                                              \
        .name = #argument, .value = (void *)(argument), .n_bytes = sizeof *(argument),             \
        .optional = true                                                                           \
    }

/** HUDI_INVALID with an error that names the first of the HD_ARG() and HD_OUT() that is NULL; the
 * other outputs are zeroed then. The first thing of every call that has a status. */
#define HD_CHECK_GIVEN(err, ...)                                                                   \
    hd_check_given(err, __func__, (const struct hd_argument[]){__VA_ARGS__, {.name = NULL}})
hudi_status hd_check_given(hudi_error **err, const char *function,
                           const struct hd_argument *arguments);

/** NULL when no options were given. */
static inline const struct hd_options *hd_options_of(const hudi_options *options)
{
    return options == NULL ? NULL : &options->options;
}

#endif
