/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HUDI_ERROR_H
#define HUDI_ERROR_H

#include <stdbool.h>

#include "hudi/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Why a call failed. Made only on failure, owned by the caller who asked for it, independent of
 * every other handle. May be used from any thread, by one at a time.
 */
typedef struct hudi_error hudi_error;

HUDI_EXPORT hudi_status hudi_error_status(const hudi_error *error);

/** One line, no full stop: the fact and the numbers. Belongs to `error`; never NULL. */
HUDI_EXPORT const char *hudi_error_message(const hudi_error *error);

/** The file or table the message is about, or NULL. Belongs to `error`. */
HUDI_EXPORT const char *hudi_error_path(const hudi_error *error);

/** True when the same call may succeed later (a held lock, a passing I/O fault). */
HUDI_EXPORT bool hudi_error_retriable(const hudi_error *error);

/** Takes NULL. */
HUDI_EXPORT void hudi_error_free(hudi_error *error);

#ifdef __cplusplus
}
#endif
#endif
