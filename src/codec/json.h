/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_CODEC_JSON_H
#define HD_CODEC_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/op.h"
#include "base/str.h"

/* ---- reading ------------------------------------------------------------------------------ */

/**
 * A JSON value: a whole document, which the caller owns, or a part of one, which belongs to it.
 * Members keep their order; of two with the same name the last one counts.
 */
typedef struct json_t hd_json;

/** Nesting of objects and arrays that is read and written. */
#define HD_JSON_MAX_DEPTH 256

/**
 * Parse one JSON text (UTF-8, any value at the top, nothing but white space around it).
 * @param out  free with hd_json_free(); NULL on failure
 * @return HUDI_CORRUPT for anything else, more nesting than HD_JSON_MAX_DEPTH, invalid UTF-8,
 *         integers that do not fit 64 bits
 */
hudi_status hd_json_parse(struct hd_op *op, struct hd_slice text, hd_json **out);

/** The same, but two members of one name in an object are HUDI_CORRUPT too: of rows that people
 * hand in nobody knows which one is meant. */
hudi_status hd_json_parse_unique(struct hd_op *op, struct hd_slice text, hd_json **out);

/** The document, not its parts. Takes NULL. */
void hd_json_free(hd_json *document);

bool hd_json_is_null(const hd_json *value); /* also for NULL: no value at all */
bool hd_json_is_object(const hd_json *value);
bool hd_json_is_array(const hd_json *value);
bool hd_json_is_string(const hd_json *value);
bool hd_json_is_bool(const hd_json *value);
bool hd_json_is_integer(const hd_json *value);
bool hd_json_is_number(const hd_json *value);

/** The member `key`, or NULL when there is none or `object` is NULL or no object. */
const hd_json *hd_json_member(const hd_json *object, const char *key);

/** Elements of an array, members of an object, else 0. */
size_t hd_json_length(const hd_json *value);

/** Element `i` of an array, NULL when there is none. */
const hd_json *hd_json_at(const hd_json *array, size_t i);

/** Walk an object's members in their order: start with all zero, false at the end. */
struct hd_json_iter {
    void *at;
    bool started;
};
bool hd_json_next(const hd_json *object, struct hd_json_iter *iter, struct hd_slice *key,
                  const hd_json **value);

/**
 * The value itself as a type. `what` names it in the error. Strings belong to the document and have
 * a NUL behind them (and may contain some). Numbers: an integral real is an integer, an integer is
 * a double.
 * @return HUDI_CORRUPT for null and for other types
 */
hudi_status hd_json_as_string(struct hd_op *op, const hd_json *value, const char *what,
                              struct hd_slice *out);
hudi_status hd_json_as_int64(struct hd_op *op, const hd_json *value, const char *what,
                             int64_t *out);
hudi_status hd_json_as_double(struct hd_op *op, const hd_json *value, const char *what,
                              double *out);
hudi_status hd_json_as_bool(struct hd_op *op, const hd_json *value, const char *what, bool *out);

/** A member that must be there. @return HUDI_CORRUPT when it is missing, null or of another type */
hudi_status hd_json_get_string(struct hd_op *op, const hd_json *object, const char *key,
                               struct hd_slice *out);
hudi_status hd_json_get_int64(struct hd_op *op, const hd_json *object, const char *key,
                              int64_t *out);
hudi_status hd_json_get_double(struct hd_op *op, const hd_json *object, const char *key,
                               double *out);
hudi_status hd_json_get_bool(struct hd_op *op, const hd_json *object, const char *key, bool *out);
hudi_status hd_json_get_object(struct hd_op *op, const hd_json *object, const char *key,
                               const hd_json **out);
hudi_status hd_json_get_array(struct hd_op *op, const hd_json *object, const char *key,
                              const hd_json **out);

/** A member that may be missing or null: then `out` is `fallback` (strings: {NULL, 0}; objects and
 * arrays: NULL). @return HUDI_CORRUPT when it is of another type */
hudi_status hd_json_find_string(struct hd_op *op, const hd_json *object, const char *key,
                                struct hd_slice *out);
hudi_status hd_json_find_int64(struct hd_op *op, const hd_json *object, const char *key,
                               int64_t fallback, int64_t *out);
hudi_status hd_json_find_double(struct hd_op *op, const hd_json *object, const char *key,
                                double fallback, double *out);
hudi_status hd_json_find_bool(struct hd_op *op, const hd_json *object, const char *key,
                              bool fallback, bool *out);
hudi_status hd_json_find_object(struct hd_op *op, const hd_json *object, const char *key,
                                const hd_json **out);
hudi_status hd_json_find_array(struct hd_op *op, const hd_json *object, const char *key,
                               const hd_json **out);

/* ---- writing ------------------------------------------------------------------------------ */

enum hd_json_style {
    HD_JSON_COMPACT, /* no white space */
    HD_JSON_PRETTY,  /* as Jackson's default pretty printer: two blanks, "key" : value */
};

/**
 * Writes one JSON text, or several in a row, to the end of a hd_str. Commas, colons and white space
 * are its business. A call that does not fit (a value in an object without a key, an end without a
 * begin) is our bug and asserts.
 *
 *     struct hd_json_writer json;
 *     hd_json_writer_init(&json, &text, HD_JSON_PRETTY);
 *     HD_TRY(hd_json_begin_object(op, &json));
 *     HD_TRY(hd_json_key(op, &json, "version"));
 *     HD_TRY(hd_json_int64(op, &json, 1));
 *     HD_TRY(hd_json_end_object(op, &json));
 */
struct hd_json_writer {
    struct hd_str *out;
    enum hd_json_style style;
    uint16_t depth;
    uint16_t indent; /* open objects: Jackson indents by those alone */
    bool have_key;   /* a member's key stands, its value does not */
    uint8_t levels[HD_JSON_MAX_DEPTH];
};

void hd_json_writer_init(struct hd_json_writer *json, struct hd_str *out, enum hd_json_style style);

/** @return HUDI_INVALID beyond HD_JSON_MAX_DEPTH; all: HUDI_NO_MEMORY */
hudi_status hd_json_begin_object(struct hd_op *op, struct hd_json_writer *json);
hudi_status hd_json_end_object(struct hd_op *op, struct hd_json_writer *json);
hudi_status hd_json_begin_array(struct hd_op *op, struct hd_json_writer *json);
hudi_status hd_json_end_array(struct hd_op *op, struct hd_json_writer *json);

/** The name of the member that comes next. */
hudi_status hd_json_key(struct hd_op *op, struct hd_json_writer *json, const char *key);
hudi_status hd_json_key_slice(struct hd_op *op, struct hd_json_writer *json, struct hd_slice key);

/** @return HUDI_INVALID for text that is not UTF-8. A NULL text is written as null. */
hudi_status hd_json_string(struct hd_op *op, struct hd_json_writer *json, struct hd_slice text);
hudi_status hd_json_text(struct hd_op *op, struct hd_json_writer *json, const char *text);
hudi_status hd_json_int64(struct hd_op *op, struct hd_json_writer *json, int64_t value);
/** The shortest text that reads back as the same double, with a point or an exponent; NaN and the
 * infinities as the strings "NaN", "Infinity", "-Infinity". */
hudi_status hd_json_double(struct hd_op *op, struct hd_json_writer *json, double value);
hudi_status hd_json_bool(struct hd_op *op, struct hd_json_writer *json, bool value);
hudi_status hd_json_null(struct hd_op *op, struct hd_json_writer *json);
/** Text that is one JSON value already; not looked at, and not indented anew. */
hudi_status hd_json_raw(struct hd_op *op, struct hd_json_writer *json, struct hd_slice value);
/** A parsed value with all that is in it, in the writer's style. */
hudi_status hd_json_value(struct hd_op *op, struct hd_json_writer *json, const hd_json *value);

/* Pairs of key and value, for the many places that write objects of fixed shape. */
hudi_status hd_json_put_string(struct hd_op *op, struct hd_json_writer *json, const char *key,
                               struct hd_slice text);
hudi_status hd_json_put_text(struct hd_op *op, struct hd_json_writer *json, const char *key,
                             const char *text);
hudi_status hd_json_put_int64(struct hd_op *op, struct hd_json_writer *json, const char *key,
                              int64_t value);
hudi_status hd_json_put_bool(struct hd_op *op, struct hd_json_writer *json, const char *key,
                             bool value);

/** Building blocks without a writer: append a quoted and escaped string; a double as above. */
hudi_status hd_json_append_string(struct hd_op *op, struct hd_str *out, struct hd_slice text);
hudi_status hd_json_append_double(struct hd_op *op, struct hd_str *out, double value);

#endif
