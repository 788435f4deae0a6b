/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_CODEC_AVRO_VALUE_H
#define HD_CODEC_AVRO_VALUE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/cursor.h"
#include "base/op.h"
#include "base/str.h"
#include "codec/avro_schema.h"

/*
 * Avro records as trees of values in an arena: for small metadata (plans, commits), never for rows.
 *
 * Reading is by the writer's schema and then by field name, so fields in other places, fields that
 * are new and fields that are gone do no harm: hd_avro_get_*() for what must be there,
 * hd_avro_find_*() for what may be missing or null.
 *
 * Writing: hd_avro_record_new() gives a record with every field at its default, hd_avro_set_*()
 * fills it by name, hd_avro_write_value() encodes it.
 */
struct hd_avro_value {
    enum hd_avro_type type;              /* never HD_AVRO_UNION: the branch stands for it */
    const struct hd_avro_schema *schema; /* of this value; may be NULL in values made to be written
                                            (not for records) */
    union {
        bool boolean;
        int64_t integer;       /* int, long; enum: the symbol's position */
        double real;           /* float, double */
        struct hd_slice bytes; /* bytes, string, fixed: has a NUL behind it when it was read */
        struct {
            struct hd_avro_value *items; /* record: one for each field of `schema` */
            struct hd_slice *keys;       /* map only */
            size_t n_items;
        };
    };
};

/** Read one value of `schema`; everything is copied into the arena.
 * @return HUDI_CORRUPT; allocates a small multiple of the bytes that are left at most */
hudi_status hd_avro_read_value(struct hd_op *op, struct hd_arena *arena,
                               const struct hd_avro_schema *schema, struct hd_cursor *in,
                               struct hd_avro_value *out);

/** Read a container file that holds one record, as timeline files do: parse its schema, read the
 * record. @return HUDI_CORRUPT also for no record or more than one */
hudi_status hd_avro_read_single(struct hd_op *op, struct hd_arena *arena, struct hd_slice file,
                                struct hd_avro_value *out);

/** The field of a record, or NULL when its schema has none of that name or `record` is NULL or no
 * record. A field that is null is a value of type HD_AVRO_NULL. */
const struct hd_avro_value *hd_avro_value_field(const struct hd_avro_value *record,
                                                const char *name);

/** NULL or of type HD_AVRO_NULL. */
static inline bool hd_avro_value_is_null(const struct hd_avro_value *value)
{
    return value == NULL || value->type == HD_AVRO_NULL;
}

/** A map's value, or NULL. The last one, when a key comes twice. */
const struct hd_avro_value *hd_avro_value_lookup(const struct hd_avro_value *map, const char *key);

/** The value itself as a type; `what` names it in the error. Text is string, bytes or an enum's
 * symbol. @return HUDI_CORRUPT for null and other types */
hudi_status hd_avro_as_string(struct hd_op *op, const struct hd_avro_value *value, const char *what,
                              struct hd_slice *out);
hudi_status hd_avro_as_long(struct hd_op *op, const struct hd_avro_value *value, const char *what,
                            int64_t *out);

/** A field that must be there. @return HUDI_CORRUPT when it is missing, null or of another type */
hudi_status hd_avro_get_string(struct hd_op *op, const struct hd_avro_value *record,
                               const char *name, struct hd_slice *out);
hudi_status hd_avro_get_long(struct hd_op *op, const struct hd_avro_value *record, const char *name,
                             int64_t *out);

/** A field that may be missing or null: then `out` is `fallback` (strings: {NULL, 0}; arrays, maps,
 * records: NULL). @return HUDI_CORRUPT when it is of another type */
hudi_status hd_avro_find_string(struct hd_op *op, const struct hd_avro_value *record,
                                const char *name, struct hd_slice *out);
hudi_status hd_avro_find_long(struct hd_op *op, const struct hd_avro_value *record,
                              const char *name, int64_t fallback, int64_t *out);
hudi_status hd_avro_find_double(struct hd_op *op, const struct hd_avro_value *record,
                                const char *name, double fallback, double *out);
hudi_status hd_avro_find_boolean(struct hd_op *op, const struct hd_avro_value *record,
                                 const char *name, bool fallback, bool *out);
/** `type` is HD_AVRO_ARRAY, HD_AVRO_MAP or HD_AVRO_RECORD. */
hudi_status hd_avro_find_container(struct hd_op *op, const struct hd_avro_value *record,
                                   const char *name, enum hd_avro_type type,
                                   const struct hd_avro_value **out);

/* ---- making ------------------------------------------------------------------------------- */

static inline struct hd_avro_value hd_avro_null_value(void)
{
    return (struct hd_avro_value){.type = HD_AVRO_NULL};
}
static inline struct hd_avro_value hd_avro_boolean_value(bool v)
{
    return (struct hd_avro_value){.type = HD_AVRO_BOOLEAN, .boolean = v};
}
static inline struct hd_avro_value hd_avro_long_value(int64_t v)
{
    return (struct hd_avro_value){.type = HD_AVRO_LONG, .integer = v};
}
static inline struct hd_avro_value hd_avro_double_value(double v)
{
    return (struct hd_avro_value){.type = HD_AVRO_DOUBLE, .real = v};
}
/** Not copied: must live until it is written. {NULL, 0} gives null. */
static inline struct hd_avro_value hd_avro_string_value(struct hd_slice v)
{
    return v.data == NULL ? hd_avro_null_value()
                          : (struct hd_avro_value){.type = HD_AVRO_STRING, .bytes = v};
}
static inline struct hd_avro_value hd_avro_bytes_value(struct hd_slice v)
{
    return (struct hd_avro_value){.type = HD_AVRO_BYTES, .bytes = v};
}

/** A record of `schema` (or of the one record branch of that union) whose fields are at their
 * defaults; a field without default is null, which fails when written unless it was set. */
hudi_status hd_avro_record_new(struct hd_op *op, struct hd_arena *arena,
                               const struct hd_avro_schema *schema, struct hd_avro_value *out);

/** An array of `n` nulls to be overwritten; a map likewise, keys too. */
hudi_status hd_avro_array_new(struct hd_op *op, struct hd_arena *arena, size_t n,
                              struct hd_avro_value *out);
hudi_status hd_avro_map_new(struct hd_op *op, struct hd_arena *arena, size_t n,
                            struct hd_avro_value *out);

/** Set a field by name (its parts are not copied). @return HUDI_INTERNAL when the schema has no
 * such field: a fault of the caller's */
hudi_status hd_avro_set(struct hd_op *op, struct hd_avro_value *record, const char *name,
                        struct hd_avro_value value);

/** The schema of a record's field; of an array's or map's items; both look through a nullable
 * union. For record_new() of what goes inside. NULL when there is none. */
const struct hd_avro_schema *hd_avro_schema_of_field(const struct hd_avro_schema *schema,
                                                     const char *name);
const struct hd_avro_schema *hd_avro_schema_of_items(const struct hd_avro_schema *schema);

/** The value of a field's default, or of any JSON in Avro's form for defaults. */
hudi_status hd_avro_value_of_json(struct hd_op *op, struct hd_arena *arena,
                                  const struct hd_avro_schema *schema, struct hd_slice json,
                                  struct hd_avro_value *out);

/**
 * Append the value's bytes in `schema`. A record is matched by field name; a field that it lacks
 * takes the schema's default. Of a union the first branch that fits is taken: same type (records,
 * enums, fixed: same full name when the value has a schema), an integer for int or long or a
 * floating point number.
 * @return HUDI_SCHEMA when the value does not fit
 */
hudi_status hd_avro_write_value(struct hd_op *op, const struct hd_avro_schema *schema,
                                const struct hd_avro_value *value, struct hd_str *out);

/** A container file with this one record, appended: a file of the timeline, whose header has the
 * schema as hd_avro_schema_format_java() gives it. */
hudi_status hd_avro_write_single(struct hd_op *op, const struct hd_avro_schema *schema,
                                 const struct hd_avro_value *record, struct hd_str *out);

#endif
