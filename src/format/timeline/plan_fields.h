/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_FORMAT_PLAN_FIELDS_H
#define HD_FORMAT_PLAN_FIELDS_H

#include "codec/avro_value.h"

/* Reading the Avro records of the timeline: texts as C strings in an arena. */

/** NULL for a field that is missing or null. HUDI_CORRUPT for one with a NUL character in it. */
hudi_status hd_plan_find_text(struct hd_op *op, struct hd_arena *arena,
                              const struct hd_avro_value *record, const char *name,
                              const char **out);

/** A value that is text. */
hudi_status hd_plan_text(struct hd_op *op, struct hd_arena *arena,
                         const struct hd_avro_value *value, const char *what, const char **out);

/** An array field's texts; none when it is missing or null. */
hudi_status hd_plan_find_texts(struct hd_op *op, struct hd_arena *arena,
                               const struct hd_avro_value *record, const char *name,
                               const char ***out, size_t *n);

/** A map field's names and sizes; none when it is missing or null. */
hudi_status hd_plan_find_sizes(struct hd_op *op, struct hd_arena *arena,
                               const struct hd_avro_value *record, const char *name,
                               const char ***paths, int64_t **sizes, size_t *n);

/** The array of these texts, the map of these names and sizes: for writing, nothing is copied. */
hudi_status hd_plan_texts_value(struct hd_op *op, struct hd_arena *arena, const char *const *texts,
                                size_t n, struct hd_avro_value *out);
hudi_status hd_plan_sizes_value(struct hd_op *op, struct hd_arena *arena, const char *const *paths,
                                const int64_t *sizes, size_t n, struct hd_avro_value *out);

/**
 * Decode a file of the timeline that holds one record: `read` takes what `out` (zeroed, `n_bytes`)
 * keeps from it into `arena`, which is a field of `out`. On failure all of it is cleared.
 * @return HUDI_CORRUPT, and what `read` returns
 */
hudi_status hd_plan_decode(struct hd_op *op, struct hd_slice bytes,
                           hudi_status (*read)(struct hd_op *op, const struct hd_avro_value *record,
                                               void *out),
                           void *out, size_t n_bytes, struct hd_arena *arena);

/** A file of the timeline with this one record, appended. */
hudi_status hd_plan_file(struct hd_op *op, struct hd_slice schema_json, struct hd_slice record,
                         struct hd_str *out);

/** For writing: a text; the schema of a clean's extraMetadata, which hd_plan_put_savepoints()
 * fills. */
hudi_status hd_plan_put_text(struct hd_op *op, struct hd_str *out, const char *text);
extern const char HD_PLAN_EXTRA_SCHEMA[];

/** A key of a map. */
hudi_status hd_plan_key(struct hd_op *op, struct hd_arena *arena, struct hd_slice key,
                        const char *what, const char **out);

/** The times under savepointed_timestamps of a clean's extraMetadata, comma-separated; NULL when
 * there are none. Writing: the bytes of that (nullable) map with them, or an empty one. */
hudi_status hd_plan_find_savepoints(struct hd_op *op, struct hd_arena *arena,
                                    const struct hd_avro_value *record, const char **out);
hudi_status hd_plan_put_savepoints(struct hd_op *op, struct hd_str *out, const char *savepoints);

/** Last part of a path or URI; what it is when it has none before it. NULL stays NULL. */
const char *hd_plan_file_name(const char *path);

#endif
