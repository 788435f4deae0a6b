/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HUDI_OPTIONS_H
#define HUDI_OPTIONS_H

#include <stddef.h>

#include "hudi/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Key-value options of a call. Keys are Hudi's own ("hoodie.datasource.write.operation"), their
 * aliases in Flink ("write.operation"), or libhudi's ("libhudi.threads"): docs/CONFIGURATION.md.
 * Wherever options are taken, NULL means none. Not thread-safe; copied by the calls that take it.
 */
typedef struct hudi_options hudi_options;

HUDI_EXPORT hudi_status hudi_options_new(hudi_options **out, hudi_error **err);

/** Set one option, checked at once. @return HUDI_INVALID for an unknown key or a value that does
 * not fit (the message says what does); HUDI_NOT_IMPLEMENTED for an option that is known and
 * refused. */
HUDI_EXPORT hudi_status hudi_options_set(hudi_options *options, const char *key, const char *value,
                                         hudi_error **err);

/** The value set, or NULL. Belongs to `options`, until its next change. */
HUDI_EXPORT const char *hudi_options_get(const hudi_options *options, const char *key);

HUDI_EXPORT void hudi_options_free(hudi_options *options);

/** Every option there is, by number: name, type ("bool"), default (NULL: none) and help, all
 * static. NULL for a number past the last one. */
typedef struct hudi_option_info hudi_option_info;
HUDI_EXPORT size_t hudi_option_count(void);
HUDI_EXPORT const hudi_option_info *hudi_option_at(size_t i);
HUDI_EXPORT const char *hudi_option_name(const hudi_option_info *info);
HUDI_EXPORT const char *hudi_option_type(const hudi_option_info *info);
HUDI_EXPORT const char *hudi_option_default(const hudi_option_info *info);
HUDI_EXPORT const char *hudi_option_help(const hudi_option_info *info);

#ifdef __cplusplus
}
#endif
#endif
