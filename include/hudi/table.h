/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HUDI_TABLE_H
#define HUDI_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hudi/arrow_c.h"
#include "hudi/context.h"
#include "hudi/timeline.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * A table as it stood when it was opened: properties and timeline of one moment. Reading from it,
 * by several threads too, gives the same rows until it is opened again, as long as no cleaner
 * removes the files underneath. Writes through it see newer commits as well: they look again when
 * they begin.
 */
typedef struct hudi_table hudi_table;

/** @param base_uri  a folder or a URI. @return HUDI_NOT_FOUND when there is no table; HUDI_CORRUPT,
 * HUDI_NOT_IMPLEMENTED (unknown table version), HUDI_IO */
HUDI_EXPORT hudi_status hudi_table_open(hudi_context *context, const char *base_uri,
                                        const hudi_options *options, hudi_table **out,
                                        hudi_error **err);

/**
 * Create an empty table. `schema` is taken over when it has a release callback (it may be freed by
 * the caller otherwise) and has no meta columns. Key, partition and ordering fields, type and
 * version come from `options` (hoodie.table.recordkey.fields,
 * hoodie.datasource.write.partitionpath.field,
 * ...). Fails with HUDI_EXISTS when there is a table.
 */
HUDI_EXPORT hudi_status hudi_table_create(hudi_context *context, const char *base_uri,
                                          struct ArrowSchema *schema, const hudi_options *options,
                                          hudi_error **err);

HUDI_EXPORT void hudi_table_free(hudi_table *table);

/** Accessors; strings belong to the table. */
HUDI_EXPORT const char *hudi_table_uri(const hudi_table *table);
HUDI_EXPORT const char *hudi_table_name(const hudi_table *table);
HUDI_EXPORT const char *hudi_table_type(const hudi_table *table); /* "COPY_ON_WRITE" */
HUDI_EXPORT int hudi_table_version(const hudi_table *table);
/** Properties of hoodie.properties by number, in file order; false past the last. */
HUDI_EXPORT bool hudi_table_property_at(const hudi_table *table, size_t i, const char **key,
                                        const char **value);
HUDI_EXPORT const hudi_timeline *hudi_table_timeline(const hudi_table *table);

/** The table's columns without meta columns, as a fresh schema that the caller releases. */
HUDI_EXPORT hudi_status hudi_table_schema(const hudi_table *table, struct ArrowSchema *out,
                                          hudi_error **err);
/** The same as Avro JSON. Free with hudi_string_free(). */
HUDI_EXPORT hudi_status hudi_table_avro_schema(const hudi_table *table, char **out,
                                               hudi_error **err);
HUDI_EXPORT void hudi_string_free(char *text);

/** Lines "name type" or Avro JSON to an Arrow schema: what --schema takes. */
HUDI_EXPORT hudi_status hudi_schema_parse(const char *text, size_t n_bytes, struct ArrowSchema *out,
                                          hudi_error **err);

/** The latest file slices, sorted by partition and file id. */
typedef struct hudi_file_list hudi_file_list;
HUDI_EXPORT hudi_status hudi_table_files(const hudi_table *table, const char *as_of,
                                         hudi_file_list **out, hudi_error **err);
HUDI_EXPORT size_t hudi_file_list_length(const hudi_file_list *list);
HUDI_EXPORT const char *hudi_file_list_partition(const hudi_file_list *list, size_t i);
HUDI_EXPORT const char *hudi_file_list_file_id(const hudi_file_list *list, size_t i);
HUDI_EXPORT const char *hudi_file_list_instant(const hudi_file_list *list, size_t i);
/** Name of the base file, NULL when the slice has log files only. */
HUDI_EXPORT const char *hudi_file_list_base_file(const hudi_file_list *list, size_t i);
HUDI_EXPORT uint64_t hudi_file_list_base_bytes(const hudi_file_list *list, size_t i);
HUDI_EXPORT size_t hudi_file_list_n_logs(const hudi_file_list *list, size_t i);
HUDI_EXPORT uint64_t hudi_file_list_log_bytes(const hudi_file_list *list, size_t i);
/** Rows in the base file (its footer is read at the first call for it); -1 when it has none. */
HUDI_EXPORT hudi_status hudi_file_list_rows(hudi_file_list *list, size_t i, int64_t *n_rows,
                                            hudi_error **err);
HUDI_EXPORT void hudi_file_list_free(hudi_file_list *list);

#ifdef __cplusplus
}
#endif
#endif
