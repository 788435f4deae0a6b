/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_FORMAT_TABLE_SCHEMA_H
#define HD_FORMAT_TABLE_SCHEMA_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/op.h"
#include "base/str.h"
#include "hudi/arrow_c.h"

/*
 * The table's schema is Avro JSON in commits; rows are Arrow batches. This is the bridge, with the
 * rules that Hudi's own conversions follow.
 *
 *   Avro                         Arrow (canonical)
 *   boolean int long float double      BOOL INT32 INT64 FLOAT DOUBLE
 *   string, enum, uuid                 STRING          bytes  BINARY
 *   fixed(n)                           FIXED_BINARY(n), decimal on it DECIMAL
 *   date, time-millis, time-micros     DATE, TIME(ms), TIME(us)
 *   timestamp-millis/micros            TIMESTAMP(ms/us, UTC)
 *   local-timestamp-millis/micros      TIMESTAMP(ms/us), no zone
 *   [null, T] or [T, null]             nullable T; other unions are refused, naming the field
 *   array, map, record                 LIST (child "element"), MAP (key/value), STRUCT
 */

#define HD_N_META_COLUMNS 5
#define HD_META_COMMIT_TIME "_hoodie_commit_time"
#define HD_META_COMMIT_SEQNO "_hoodie_commit_seqno"
#define HD_META_RECORD_KEY "_hoodie_record_key"
#define HD_META_PARTITION_PATH "_hoodie_partition_path"
#define HD_META_FILE_NAME "_hoodie_file_name"
#define HD_META_OPERATION "_hoodie_operation"
extern const char *const hd_meta_columns[HD_N_META_COLUMNS];

bool hd_is_meta_column(const char *name); /* the five and _hoodie_operation */

/** Avro JSON text to a struct schema; meta columns in it are kept as they are. HUDI_CORRUPT for bad
 * JSON or Avro, HUDI_NOT_IMPLEMENTED for unions of several types and recursive records. */
hudi_status hd_table_schema_from_avro(struct hd_op *op, const char *avro_json,
                                      struct ArrowSchema *out);

/** Arrow to Avro JSON (compact). Record name and namespace as Hudi's Spark writer forms them for a
 * table `name`: "NAME_record" in "hoodie.NAME"; nested records and fixed get unique names. Nullable
 * fields become ["null", T] with default null. Types must be canonical. HUDI_INVALID for names that
 * Avro forbids: all of them are listed. */
hudi_status hd_table_schema_to_avro(struct hd_op *op, const struct ArrowSchema *schema,
                                    const char *table_name, struct hd_str *out);

/** Avro JSON with the five meta columns in front (and _hoodie_operation when asked), as the
 * footer's parquet.avro.schema wants; those already there are not doubled. */
hudi_status hd_table_schema_add_meta(struct hd_op *op, const char *avro_json, bool operation_column,
                                     struct hd_str *out);

/** Avro JSON without meta columns. Everything else (docs, defaults, unknown properties, names)
 * stays as it was. */
hudi_status hd_table_schema_strip_meta(struct hd_op *op, const char *avro_json, struct hd_str *out);

/** Lines "name type" ("id string not null", "d decimal(10,2)", "tags array<string>",
 * "s struct<a:int,b:map<string,double>>", "at timestamp", "at timestamp_millis", "at
 * timestamp_ntz", "t time", "b binary", Spark SQL's type names) or Avro JSON (first byte '{') to a
 * struct schema. HUDI_INVALID with line and column. */
hudi_status hd_table_schema_parse(struct hd_op *op, struct hd_slice text, struct ArrowSchema *out);

/** Column names that cannot be in a table: empty, not an Avro name ([A-Za-z_][A-Za-z0-9_]*), equal
 * but for case, a meta column's. HUDI_INVALID listing every bad name and why. */
hudi_status hd_table_schema_check_names(struct hd_op *op, const struct ArrowSchema *schema);

/**
 * The schema after writing `incoming` into a table that has `table` (both Avro JSON without meta
 * columns): columns missing in `incoming` stay (they must be nullable or have a default, else
 * HUDI_SCHEMA), new ones are added at the end (must be nullable, made so when Hudi would), types
 * widen by Avro's promotions. `*out` is NULL when the table's schema stays as it is.
 * @return HUDI_SCHEMA naming column and both types for anything lossy.
 */
hudi_status hd_table_schema_evolve(struct hd_op *op, const char *table, const char *incoming,
                                   char **out);

#endif
