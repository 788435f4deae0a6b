/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HUDI_LOG_H
#define HUDI_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hudi/arrow_c.h"
#include "hudi/context.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * A look into one log file (of a merge-on-read table, a metadata table, change data, an archived
 * timeline): its blocks one after the other, whatever table they are of. Damage is no failure: it
 * comes as blocks of type "CORRUPT" and a warning in the context's log. Used by one thread.
 */
typedef struct hudi_log_file hudi_log_file;

/** @param uri  a file or its URI. @return HUDI_NOT_FOUND, HUDI_IO */
HUDI_EXPORT hudi_status hudi_log_file_open(hudi_context *context, const char *uri,
                                           hudi_log_file **out, hudi_error **err);
HUDI_EXPORT void hudi_log_file_free(hudi_log_file *log);

/**
 * Go on to the next block, which the accessors below are about. What they return is valid until the
 * next call.
 * @return HUDI_END after the last one (no error); HUDI_NOT_IMPLEMENTED for a block of an unknown
 *         type or log format version, behind which the next call goes on; HUDI_IO
 */
HUDI_EXPORT hudi_status hudi_log_file_next(hudi_log_file *log, hudi_error **err);

/** "COMMAND", "DELETE", "CORRUPT", "AVRO_DATA", "HFILE_DATA", "PARQUET_DATA" or "CDC_DATA". */
HUDI_EXPORT const char *hudi_log_block_type(const hudi_log_file *log);
/** Where the block starts and how many bytes of the file it takes. */
HUDI_EXPORT uint64_t hudi_log_block_offset(const hudi_log_file *log);
HUDI_EXPORT uint64_t hudi_log_block_bytes(const hudi_log_file *log);
HUDI_EXPORT uint64_t hudi_log_block_content_bytes(const hudi_log_file *log);
/** What is wrong with a corrupt block; NULL for others. */
HUDI_EXPORT const char *hudi_log_block_damage(const hudi_log_file *log);
/** Header entries by number, in the order of the file; the key is Hudi's name ("INSTANT_TIME") or
 * a number. false past the last. */
HUDI_EXPORT bool hudi_log_block_header_at(const hudi_log_file *log, size_t i, const char **key,
                                          const char **value);
/** A header's value by Hudi's name, NULL without. */
HUDI_EXPORT const char *hudi_log_block_header(const hudi_log_file *log, const char *key);

/** How many rows the block has (deletes: keys), -1 for command and corrupt blocks; `*version` of
 * its content, 0 where it has none. @return HUDI_CORRUPT, HUDI_NOT_IMPLEMENTED */
HUDI_EXPORT hudi_status hudi_log_block_count(hudi_log_file *log, int64_t *n_rows, int *version,
                                             hudi_error **err);

/**
 * The rows of the block by its own schema, to be released before the next call of
 * hudi_log_file_next(). Of a delete block: record_key, partition_path, ordering_type,
 * ordering_value (text). Fields of several types are left out with a warning.
 * @return HUDI_INVALID for blocks without rows; HUDI_CORRUPT, HUDI_NOT_IMPLEMENTED
 */
HUDI_EXPORT hudi_status hudi_log_block_rows(hudi_log_file *log, hudi_cancel *cancel,
                                            struct ArrowArrayStream *out, hudi_error **err);

#ifdef __cplusplus
}
#endif
#endif
