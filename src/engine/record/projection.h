/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ENGINE_PROJECTION_H
#define HD_ENGINE_PROJECTION_H

#include "arrow/cast.h"
#include "base/op.h"
#include "base/str.h"
#include "hudi/arrow_c.h"

/**
 * From the columns a file has to the columns a query or a write wants: missing ones are null, types
 * are promoted, order is the target's. By name, or by the column ids of the internal schema where
 * the table evolves by DDL (docs/format/table-layout.md 8).
 */
typedef struct hd_projection hd_projection;

/**
 * @param target   wanted columns (canonical); nested fields are resolved by name as well
 * @param file     the file's schema
 * @param names    NULL, or for each target column the name it has in the file (schema on read),
 * NULL entries: the column is not in this file even if a column of that name is
 * @return HUDI_SCHEMA naming column, both types and (by hd_fail_path, the caller's) the file
 */
hudi_status hd_projection_new(struct hd_op *op, const struct ArrowSchema *target,
                              const struct ArrowSchema *file, const char *const *names,
                              enum hd_cast_rule rule, hd_projection **out);
void hd_projection_free(hd_projection *projection);

/** File columns to read, in the order hd_projection_apply() expects them; may be empty (then rows
 * are counted by the caller and passed as an empty struct of that length). */
const int32_t *hd_projection_file_columns(const hd_projection *projection, int32_t *n);

/** Convert a struct batch of just those columns (taken over). */
hudi_status hd_projection_apply(struct hd_op *op, hd_projection *projection,
                                struct ArrowArray *batch, struct ArrowArray *out);

/** As hd_projection_apply(), but rows whose values do not fit are added to `misfits`, as by
 * hd_cast_rows(). */
hudi_status hd_projection_apply_rows(struct hd_op *op, hd_projection *projection,
                                     struct ArrowArray *batch, struct hd_misfits *misfits,
                                     struct ArrowArray *out);

/** True when apply() changes nothing: same columns, same types. */
bool hd_projection_is_identity(const hd_projection *projection);

/** The row writer of Flink's releases stores dates and times as bare integers: what they mean only
 * the table's schema says. Is a file's column of that kind? Same bytes, another type.
 * docs/format/observed.md */
bool hd_is_bare_time(const struct hd_type *file, const struct hd_type *table);

/** The schema of a file with such columns as the table has them, by name: what to project from. */
hudi_status hd_stored_schema(struct hd_op *op, const struct ArrowSchema *file,
                             const struct ArrowSchema *table, struct ArrowSchema *out);

/** Does a file have the table's columns, no more, in their order, none under another type than it
 * is read with? What is read of it is what it stores. */
hudi_status hd_reads_as_stored(struct hd_op *op, const struct ArrowSchema *file,
                               const struct ArrowSchema *table, bool *out);

/* ---- schema on read ----------------------------------------------------------------------- */

/** An internal schema (extraMetadata.latest_schema), parsed. */
typedef struct hd_internal_schema hd_internal_schema;
hudi_status hd_internal_schema_parse(struct hd_op *op, struct hd_slice json,
                                     hd_internal_schema **out);
/** The newest schema of a history ({"schemas":[...]}) whose version_id <= `version`; HUDI_NOT_FOUND
 * (no error). */
hudi_status hd_internal_schema_of_history(struct hd_op *op, struct hd_slice json, uint64_t version,
                                          hd_internal_schema **out);
void hd_internal_schema_free(hd_internal_schema *schema);

/** Its version_id: the instant of the DDL that made it, 0 before the first. */
uint64_t hd_internal_schema_version(const hd_internal_schema *schema);

/** For a commit that carries none: columns (with meta columns) get the ids that a conversion gives
 * them. docs/format/table-layout.md 8.2 */
hudi_status hd_internal_schema_of_arrow(struct hd_op *op, const struct ArrowSchema *schema,
                                        hd_internal_schema **out);

/** As Arrow columns (with meta columns when it has them). */
hudi_status hd_internal_schema_to_arrow(struct hd_op *op, const hd_internal_schema *schema,
                                        struct ArrowSchema *out);

/** The schema of a file with the names that the newest schema has for its columns and for the
 * fields below them; what is gone gets a name that nobody asks for. Positions stay. A projection by
 * name from it reads by id at every level; hd_internal_schema_file_names() sees the columns alone.
 */
hudi_status hd_internal_schema_rename(struct hd_op *op, const hd_internal_schema *newest,
                                      const hd_internal_schema *file_schema,
                                      const struct ArrowSchema *file, struct ArrowSchema *out);

/** As hd_internal_schema_rename(), but the columns keep their names: for use with
 * hd_internal_schema_file_names(). */
hudi_status hd_internal_schema_rename_below(struct hd_op *op, const hd_internal_schema *newest,
                                            const hd_internal_schema *file_schema,
                                            const struct ArrowSchema *file,
                                            struct ArrowSchema *out);

/** For every column of `target` the name the same column id has in `file_schema`, or NULL: an array
 * of schema length for hd_projection_new(); free the array with hd_free(), the names belong to
 * `file_schema`. */
hudi_status hd_internal_schema_file_names(struct hd_op *op, const hd_internal_schema *newest,
                                          const hd_internal_schema *file_schema,
                                          const struct ArrowSchema *target, const char ***out);

#endif
