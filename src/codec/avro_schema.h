/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_CODEC_AVRO_SCHEMA_H
#define HD_CODEC_AVRO_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/op.h"
#include "base/str.h"

/*
 * Avro schemas as trees in an arena. Code may build trees of its own: fill the structs, then call
 * hd_avro_schema_finish() on the root before decoding or encoding with them.
 */

enum hd_avro_type {
    HD_AVRO_NULL,
    HD_AVRO_BOOLEAN,
    HD_AVRO_INT,
    HD_AVRO_LONG,
    HD_AVRO_FLOAT,
    HD_AVRO_DOUBLE,
    HD_AVRO_BYTES,
    HD_AVRO_STRING,
    HD_AVRO_RECORD,
    HD_AVRO_ENUM,
    HD_AVRO_ARRAY,
    HD_AVRO_MAP,
    HD_AVRO_UNION,
    HD_AVRO_FIXED,
};

/** What a value means. One that does not fit its type or is unknown is HD_AVRO_PLAIN, and stays in
 * the schema's properties. */
enum hd_avro_logical {
    HD_AVRO_PLAIN,
    HD_AVRO_DATE,                   /* int */
    HD_AVRO_TIME_MILLIS,            /* int */
    HD_AVRO_TIME_MICROS,            /* long, and so on */
    HD_AVRO_TIMESTAMP_MILLIS,       /* UTC */
    HD_AVRO_TIMESTAMP_MICROS,       /* UTC */
    HD_AVRO_TIMESTAMP_NANOS,        /* UTC */
    HD_AVRO_LOCAL_TIMESTAMP_MILLIS, /* wall clock, no zone */
    HD_AVRO_LOCAL_TIMESTAMP_MICROS,
    HD_AVRO_LOCAL_TIMESTAMP_NANOS,
    HD_AVRO_DECIMAL, /* bytes, fixed: two's complement, big-endian */
    HD_AVRO_UUID,    /* string, fixed(16) */
};

/** Nesting of schemas that is read. */
#define HD_AVRO_MAX_DEPTH 64
/** Longest schema text that is read. */
#define HD_AVRO_SCHEMA_MAX_BYTES (16u << 20)

/** An attribute that Avro does not define, e.g. avro.java.string. */
struct hd_avro_property {
    const char *key;
    const char *json; /* compact JSON text */
};

struct hd_avro_properties {
    struct hd_avro_property *entries; /* in the order of the schema text */
    size_t n_entries;
};

struct hd_avro_field {
    const char *name;
    const char *doc;          /* NULL: none */
    const char *default_json; /* compact JSON text; NULL: no default */
    const char *order;        /* "ascending", ...; NULL: not given */
    const char **aliases;
    size_t n_aliases;
    struct hd_avro_schema *schema;
    struct hd_avro_properties properties;
};

struct hd_avro_schema {
    enum hd_avro_type type;
    enum hd_avro_logical logical;
    int32_t precision; /* of a decimal */
    int32_t scale;
    /* record, enum, fixed */
    const char *name;       /* without name space */
    const char *name_space; /* "" for none; always set when `name` is */
    const char *full_name;
    const char *doc; /* NULL: none */
    const char **aliases;
    size_t n_aliases;
    /* record */
    struct hd_avro_field *fields;
    size_t n_fields;
    bool is_error; /* the text said "error" for "record" */
    /* enum */
    const char **symbols;
    size_t n_symbols;
    const char *default_symbol; /* NULL: none */
    /* fixed */
    uint32_t fixed_bytes;
    /* union */
    struct hd_avro_schema **branches;
    size_t n_branches;
    /* array: elements; map: values (keys are strings) */
    struct hd_avro_schema *items;
    struct hd_avro_properties properties;

    /* Set by parse and finish. */
    uint64_t min_bytes;     /* least number of bytes that one value takes; 0: it takes none ever */
    uint64_t n_zero_values; /* values of no bytes inside one value, bounded */
    uint8_t finish_state;
};

/**
 * Parse the JSON text of a schema. A name that is used again is the same node, so the tree may have
 * cycles (through union, array or map).
 * @param out  in `arena`
 * @return HUDI_CORRUPT when the text is no schema: bad JSON, unknown name, name defined twice, more
 *         than HD_AVRO_MAX_DEPTH levels, a record that contains itself directly, a record of
 *         thousands of values without bytes
 */
hudi_status hd_avro_schema_parse(struct hd_op *op, struct hd_arena *arena, struct hd_slice json,
                                 struct hd_avro_schema **out);

/** Check a tree that was built by hand and set its derived fields. @return HUDI_CORRUPT as above */
hudi_status hd_avro_schema_finish(struct hd_op *op, struct hd_avro_schema *root);

/**
 * Append the schema's JSON text, compact, attributes in the order of Avro Java; everything that was
 * parsed is there again. A named type is written out where it comes first, and by name after.
 */
hudi_status hd_avro_schema_format(struct hd_op *op, const struct hd_avro_schema *schema,
                                  struct hd_str *out);

/**
 * As hd_avro_schema_format(), with "avro.java.string":"String" at each string and map: as Hudi has
 * it in its own files. Classes of Avro Java 1.9 and later that were made for such strings fail on a
 * record inside a union whose writer's schema does not say so. Source: Avro's
 * ResolvingGrammarGenerator (1.10.0), which takes the writer's fields there.
 */
hudi_status hd_avro_schema_format_java(struct hd_op *op, const struct hd_avro_schema *schema,
                                       struct hd_str *out);

/** Whether both describe the same bytes and meaning: types, logical types, full names, field names
 * and order, symbols, sizes, defaults; not docs, aliases and properties. */
hudi_status hd_avro_schema_equal(struct hd_op *op, const struct hd_avro_schema *a,
                                 const struct hd_avro_schema *b, bool *equal);

/** A new node of a type without parts (primitives with or without a logical type). */
hudi_status hd_avro_schema_new(struct hd_op *op, struct hd_arena *arena, enum hd_avro_type type,
                               enum hd_avro_logical logical, struct hd_avro_schema **out);

/** A union of null and `schema`, null first. */
hudi_status hd_avro_schema_nullable(struct hd_op *op, struct hd_arena *arena,
                                    struct hd_avro_schema *schema, struct hd_avro_schema **out);

/** The other branch when `schema` is a union of null and one other, `schema` when it is no union,
 * else NULL. `*nullable` (may be NULL) says whether null is possible. */
const struct hd_avro_schema *hd_avro_schema_unwrap(const struct hd_avro_schema *schema,
                                                   bool *nullable);

/** Position of a record's field by name, or -1. */
int64_t hd_avro_schema_field_index(const struct hd_avro_schema *record, struct hd_slice name);
const struct hd_avro_field *hd_avro_schema_field(const struct hd_avro_schema *record,
                                                 const char *name);

/** Whether Avro allows this name for a field or type: [A-Za-z_][A-Za-z0-9_]*. Reading does not
 * insist on it. */
bool hd_avro_name_valid(struct hd_slice name);

/** "record", "int", ...; "decimal", "date", ... (NULL for HD_AVRO_PLAIN). Static. */
const char *hd_avro_type_name(enum hd_avro_type type);
const char *hd_avro_logical_name(enum hd_avro_logical logical);

#endif
