/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HUDI_CONTEXT_H
#define HUDI_CONTEXT_H

#include <stdint.h>

#include "hudi/options.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * What calls share: worker threads (libhudi.threads, default: the CPUs) and the memory budget
 * (libhudi.memory.budget.bytes). May be shared between threads; must outlive everything opened with
 * it.
 */
typedef struct hudi_context hudi_context;

HUDI_EXPORT hudi_status hudi_context_new(const hudi_options *options, hudi_context **out,
                                         hudi_error **err);
HUDI_EXPORT void hudi_context_free(hudi_context *context);

typedef enum hudi_log_level { HUDI_LOG_DEBUG, HUDI_LOG_INFO, HUDI_LOG_WARN } hudi_log_level;

/** Receive log lines (no newline at the end) from any thread; NULL turns them off again. Set before
 * the context is shared. */
HUDI_EXPORT void hudi_context_set_log(hudi_context *context,
                                      void (*line)(void *self, hudi_log_level level,
                                                   const char *message),
                                      void *self);

/** How far a compaction, log compaction, clustering or clean is that a call runs. */
typedef struct hudi_progress hudi_progress;

/** Receive how far it is, at its begin and whenever a part of it is done, from any thread and from
 * several at once; NULL turns that off again. Set before the context is shared. `progress` lives as
 * long as the call of `report`. */
HUDI_EXPORT void
hudi_context_set_progress(hudi_context *context,
                          void (*report)(void *self, const hudi_progress *progress), void *self);
/** What it is ("compaction 20261130201014609"), its units ("file slices"), how many there are and
 * how many are done; rows written so far (0 in a clean). */
HUDI_EXPORT const char *hudi_progress_what(const hudi_progress *progress);
HUDI_EXPORT const char *hudi_progress_unit(const hudi_progress *progress);
HUDI_EXPORT uint64_t hudi_progress_total(const hudi_progress *progress);
HUDI_EXPORT uint64_t hudi_progress_done(const hudi_progress *progress);
HUDI_EXPORT uint64_t hudi_progress_rows(const hudi_progress *progress);

/**
 * Stops a running call: hudi_cancel_request() is async-signal-safe and may come from any thread;
 * the call ends soon with HUDI_CANCELLED and undoes what it had begun.
 */
typedef struct hudi_cancel hudi_cancel;
HUDI_EXPORT hudi_status hudi_cancel_new(hudi_cancel **out, hudi_error **err);
HUDI_EXPORT void hudi_cancel_request(hudi_cancel *cancel);
HUDI_EXPORT void hudi_cancel_free(hudi_cancel *cancel);

/** Version of this library, "0.1.0". Static. */
HUDI_EXPORT const char *hudi_version(void);

#ifdef __cplusplus
}
#endif
#endif
