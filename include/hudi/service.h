/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HUDI_SERVICE_H
#define HUDI_SERVICE_H

#include <stddef.h>

#include "hudi/table.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Undo one instant: a pending one, or the newest completed write. Takes the write lock. */
HUDI_EXPORT hudi_status hudi_rollback(hudi_table *table, const char *instant_time,
                                      hudi_error **err);

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
