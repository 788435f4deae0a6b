/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>
#include <unistd.h>

#include "api/api.h"
#include "base/progress.h"

#ifndef HUDI_VERSION
#define HUDI_VERSION "0.1.0"
#endif

#define THREAD_BYTES (UINT64_C(64) << 20) /* of the budget, for each thread */

const char *hudi_version(void)
{
    return HUDI_VERSION;
}

void hd_call_begin(struct hd_op *op, hudi_context *context, const hudi_cancel *cancel)
{
    hd_op_init(op);
    if (context != NULL) {
        op->budget = &context->budget;
        op->log = context->log;
        op->progress_sink = context->progress;
        op->faults = context->faults;
    }
    if (cancel != NULL)
        op->cancelled = &cancel->requested;
}

hudi_status hd_call_end(struct hd_op *op, hudi_status status, hudi_error **err)
{
    if (err != NULL)
        *err = status == HUDI_OK ? NULL : hd_op_take_error(op);
    hd_op_clear(op);
    return status;
}

hudi_status hd_check_given(hudi_error **err, const char *function,
                           const struct hd_argument *arguments)
{
    const struct hd_argument *missing = arguments;
    struct hd_op op;

    while (missing->name != NULL && (missing->value != NULL || missing->optional))
        missing++;
    if (missing->name == NULL)
        return HUDI_OK;
    for (const struct hd_argument *one = arguments; one->name != NULL; one++)
        if (one->value != NULL && one->n_bytes > 0)
            memset(one->value, 0, one->n_bytes);
    hd_op_init(&op);
    return hd_call_end(&op, hd_fail(&op, HUDI_INVALID, "%s: %s is NULL", function, missing->name),
                       err);
}

static void forward_log(void *self, enum hd_log_level level, const char *message)
{
    static const hudi_log_level LEVELS[] = {[HD_LOG_DEBUG] = HUDI_LOG_DEBUG,
                                            [HD_LOG_INFO] = HUDI_LOG_INFO,
                                            [HD_LOG_WARN] = HUDI_LOG_WARN};
    const hudi_context *context = self;

    context->log_line(context->log_self, LEVELS[level], message);
}

/* No more than the budget has room for: what a thread that reads and writes a file has in Arrow and
 * on its stack does not count against it. */
static size_t n_threads(const struct hd_options *options, uint64_t budget_bytes)
{
    const int64_t wanted = hd_options_int(options, NULL, "libhudi.threads");
    const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    const uint64_t n_affordable = budget_bytes / THREAD_BYTES;
    uint64_t n = 1;

    if (wanted > 0)
        n = (uint64_t)wanted;
    else if (cpus > 0)
        n = (uint64_t)cpus;
    if (n > n_affordable)
        n = n_affordable;
    return n > 0 ? (size_t)n : 1;
}

hudi_status hudi_context_new(const hudi_options *options, hudi_context **out, hudi_error **err)
{
    HD_TRY(HD_CHECK_GIVEN(err, HD_OUT(out)));
    hudi_status status = HUDI_OK;
    struct hd_op op;
    hudi_context *context = NULL;

    *out = NULL;
    hd_call_begin(&op, NULL, NULL);
    HD_TRY_OUT(hd_alloc(&op, sizeof *context, &context));
    if (options != NULL)
        HD_TRY_OUT(hd_options_merge(&op, &context->options, &options->options));
    context->options.lock_providers = &context->lock_providers;
    context->budget.limit_bytes =
        (uint64_t)hd_options_int(&context->options, NULL, "libhudi.memory.budget.bytes");
    HD_TRY_OUT(hd_pool_new(&op, n_threads(&context->options, context->budget.limit_bytes),
                           &context->pool));
    *out = context;
    context = NULL;
out:
    hudi_context_free(context);
    return hd_call_end(&op, status, err);
}

void hudi_context_free(hudi_context *context)
{
    if (context == NULL)
        return;
    hd_pool_free(context->pool);
    hd_input_file_close(context->standard_input);
    hd_options_clear(&context->options);
    hd_lock_providers_clear(&context->lock_providers);
    hd_free(NULL, context);
}

void hudi_context_set_log(hudi_context *context,
                          void (*line)(void *self, hudi_log_level level, const char *message),
                          void *self)
{
    context->log_line = line;
    context->log_self = self;
    context->log = (struct hd_log_sink){.line = line == NULL ? NULL : forward_log, .self = context};
}

/* ---- progress ------------------------------------------------------------------------------- */

/* A hudi_progress is a struct hd_progress. */
static const struct hd_progress *progress_of(const hudi_progress *progress)
{
    return (const void *)progress;
}

static void forward_progress(void *self, const struct hd_progress *progress)
{
    const hudi_context *context = self;

    context->report(context->report_self, (const void *)progress);
}

void hudi_context_set_progress(hudi_context *context,
                               void (*report)(void *self, const hudi_progress *progress),
                               void *self)
{
    context->report = report;
    context->report_self = self;
    context->progress = (struct hd_progress_sink){
        .report = report == NULL ? NULL : forward_progress, .self = context};
}

const char *hudi_progress_what(const hudi_progress *progress)
{
    return progress_of(progress)->what;
}

const char *hudi_progress_unit(const hudi_progress *progress)
{
    return progress_of(progress)->unit;
}

uint64_t hudi_progress_total(const hudi_progress *progress)
{
    return progress_of(progress)->n_total;
}

uint64_t hudi_progress_done(const hudi_progress *progress)
{
    return atomic_load(&progress_of(progress)->n_done);
}

uint64_t hudi_progress_rows(const hudi_progress *progress)
{
    return atomic_load(&progress_of(progress)->n_rows);
}

/* ---------------------------------------------------------------------------------------------- */

hudi_status hudi_context_add_lock_provider(
    hudi_context *context, const char *class_name,
    hudi_status (*lock)(void *self, const char *table_uri, uint64_t wait_ms, void **out,
                        char *message, size_t n_message_bytes),
    bool (*is_held)(void *self, void *lock), void (*unlock)(void *self, void *lock), void *self,
    hudi_error **err)
{
    HD_TRY(HD_CHECK_GIVEN(err, HD_ARG(context), HD_ARG(class_name)));
    struct hd_op op;
    const struct hd_lock_provider provider = {.class_name = (char *)class_name,
                                              .lock = lock,
                                              .is_held = is_held,
                                              .unlock = unlock,
                                              .self = self};

    hd_call_begin(&op, context, NULL);
    return hd_call_end(&op, hd_lock_providers_add(&op, &context->lock_providers, &provider), err);
}

hudi_status hudi_cancel_new(hudi_cancel **out, hudi_error **err)
{
    HD_TRY(HD_CHECK_GIVEN(err, HD_OUT(out)));
    struct hd_op op;

    hd_call_begin(&op, NULL, NULL);
    return hd_call_end(&op, hd_alloc(&op, sizeof **out, out), err);
}

void hudi_cancel_request(hudi_cancel *cancel)
{
    atomic_store(&cancel->requested, true);
}

void hudi_cancel_free(hudi_cancel *cancel)
{
    hd_free(NULL, cancel);
}

void hudi_string_free(char *text)
{
    hd_free(NULL, text);
}

void hudi_bytes_free(void *bytes)
{
    hd_free(NULL, bytes);
}
