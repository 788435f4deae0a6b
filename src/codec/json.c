/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/json.h"

#include <inttypes.h>
#include <math.h>

#include <jansson.h>

/* jansson parses and keeps the values; its allocations are its own. */

/* jansson recurses: look at the nesting first. */
static hudi_status check_depth(struct hd_op *op, struct hd_slice text)
{
    size_t depth = 0;
    bool in_string = false;

    for (size_t i = 0; i < text.size; i++) {
        uint8_t c = text.data[i];
        if (in_string) {
            if (c == '\\')
                i++;
            else if (c == '"')
                in_string = false;
        } else if (c == '"') {
            in_string = true;
        } else if (c == '[' || c == '{') {
            if (++depth > HD_JSON_MAX_DEPTH)
                return hd_fail(op, HUDI_CORRUPT, "JSON at byte %zu nests deeper than %d", i,
                               HD_JSON_MAX_DEPTH);
        } else if ((c == ']' || c == '}') && depth > 0) {
            depth--;
        }
    }
    return HUDI_OK;
}

static hudi_status parse(struct hd_op *op, struct hd_slice text, size_t flags, hd_json **out)
{
    json_error_t error;

    *out = NULL;
    if (text.size == 0)
        return hd_fail(op, HUDI_CORRUPT, "an empty text is no JSON");
    HD_TRY(check_depth(op, text));
    HD_TRY(hd_op_fault_point(op, "JSON values"));
    *out = json_loadb((const char *)text.data, text.size, JSON_DECODE_ANY | JSON_ALLOW_NUL | flags,
                      &error);
    if (*out != NULL)
        return HUDI_OK;
    if (json_error_code(&error) == json_error_out_of_memory)
        return hd_fail(op, HUDI_NO_MEMORY, "no memory for %zu bytes of JSON", text.size);
    for (char *c = error.text; *c != '\0'; c++) /* it quotes what is near: one line, text only */
        if ((unsigned char)*c < ' ' || (unsigned char)*c >= 0x7f)
            *c = '?';
    return hd_fail(op, HUDI_CORRUPT, "JSON at byte %d: %s", error.position, error.text);
}

hudi_status hd_json_parse(struct hd_op *op, struct hd_slice text, hd_json **out)
{
    return parse(op, text, 0, out);
}

hudi_status hd_json_parse_unique(struct hd_op *op, struct hd_slice text, hd_json **out)
{
    return parse(op, text, JSON_REJECT_DUPLICATES, out);
}

void hd_json_free(hd_json *document)
{
    json_decref(document);
}

bool hd_json_is_null(const hd_json *value)
{
    return value == NULL || json_is_null(value);
}

bool hd_json_is_object(const hd_json *value)
{
    return json_is_object(value);
}

bool hd_json_is_array(const hd_json *value)
{
    return json_is_array(value);
}

bool hd_json_is_string(const hd_json *value)
{
    return json_is_string(value);
}

bool hd_json_is_bool(const hd_json *value)
{
    return json_is_boolean(value);
}

bool hd_json_is_integer(const hd_json *value)
{
    return json_is_integer(value);
}

bool hd_json_is_number(const hd_json *value)
{
    return json_is_number(value);
}

const hd_json *hd_json_member(const hd_json *object, const char *key)
{
    return json_object_get(object, key);
}

size_t hd_json_length(const hd_json *value)
{
    return json_is_array(value) ? json_array_size(value) : json_object_size(value);
}

const hd_json *hd_json_at(const hd_json *array, size_t i)
{
    return json_array_get(array, i);
}

bool hd_json_next(const hd_json *object, struct hd_json_iter *iter, struct hd_slice *key,
                  const hd_json **value)
{
    hd_json *walked = (hd_json *)(uintptr_t)object; /* jansson's iterators take no const */

    if (!json_is_object(object) || (iter->started && iter->at == NULL))
        return false;
    iter->at = iter->started ? json_object_iter_next(walked, iter->at) : json_object_iter(walked);
    iter->started = true;
    if (iter->at == NULL)
        return false;
    *key = hd_slice_text(json_object_iter_key(iter->at));
    *value = json_object_iter_value(iter->at);
    return true;
}

/* ---- values as types ------------------------------------------------------------------------ */

static const char *kind_of(const hd_json *value)
{
    static const char *const KINDS[] = {"an object", "an array", "a string", "an integer",
                                        "a number",  "true",     "false",    "null"};

    return value == NULL ? "missing" : KINDS[json_typeof(value)];
}

static hudi_status fail_kind(struct hd_op *op, const hd_json *value, const char *what,
                             const char *wanted)
{
    return hd_fail(op, HUDI_CORRUPT, "JSON \"%s\" is %s where %s is expected", what, kind_of(value),
                   wanted);
}

hudi_status hd_json_as_string(struct hd_op *op, const hd_json *value, const char *what,
                              struct hd_slice *out)
{
    *out = hd_slice_of(NULL, 0);
    if (!json_is_string(value))
        return fail_kind(op, value, what, "a string");
    *out = hd_slice_of(json_string_value(value), json_string_length(value));
    return HUDI_OK;
}

hudi_status hd_json_as_int64(struct hd_op *op, const hd_json *value, const char *what, int64_t *out)
{
    *out = 0;
    if (json_is_integer(value)) {
        *out = json_integer_value(value);
        return HUDI_OK;
    }
    double real = json_real_value(value); /* 0 for other types */
    if (!json_is_real(value) || real != floor(real) || fabs(real) >= 0x1p63)
        return fail_kind(op, value, what, "an integer");
    *out = (int64_t)real;
    return HUDI_OK;
}

hudi_status hd_json_as_double(struct hd_op *op, const hd_json *value, const char *what, double *out)
{
    *out = 0;
    if (!json_is_number(value))
        return fail_kind(op, value, what, "a number");
    *out = json_number_value(value);
    return HUDI_OK;
}

hudi_status hd_json_as_bool(struct hd_op *op, const hd_json *value, const char *what, bool *out)
{
    *out = false;
    if (!json_is_boolean(value))
        return fail_kind(op, value, what, "true or false");
    *out = json_is_true(value);
    return HUDI_OK;
}

hudi_status hd_json_get_string(struct hd_op *op, const hd_json *object, const char *key,
                               struct hd_slice *out)
{
    return hd_json_as_string(op, hd_json_member(object, key), key, out);
}

hudi_status hd_json_get_int64(struct hd_op *op, const hd_json *object, const char *key,
                              int64_t *out)
{
    return hd_json_as_int64(op, hd_json_member(object, key), key, out);
}

hudi_status hd_json_get_double(struct hd_op *op, const hd_json *object, const char *key,
                               double *out)
{
    return hd_json_as_double(op, hd_json_member(object, key), key, out);
}

hudi_status hd_json_get_bool(struct hd_op *op, const hd_json *object, const char *key, bool *out)
{
    return hd_json_as_bool(op, hd_json_member(object, key), key, out);
}

hudi_status hd_json_get_object(struct hd_op *op, const hd_json *object, const char *key,
                               const hd_json **out)
{
    *out = hd_json_member(object, key);
    if (!json_is_object(*out)) {
        hudi_status status = fail_kind(op, *out, key, "an object");
        *out = NULL;
        return status;
    }
    return HUDI_OK;
}

hudi_status hd_json_get_array(struct hd_op *op, const hd_json *object, const char *key,
                              const hd_json **out)
{
    *out = hd_json_member(object, key);
    if (!json_is_array(*out)) {
        hudi_status status = fail_kind(op, *out, key, "an array");
        *out = NULL;
        return status;
    }
    return HUDI_OK;
}

hudi_status hd_json_find_string(struct hd_op *op, const hd_json *object, const char *key,
                                struct hd_slice *out)
{
    *out = hd_slice_of(NULL, 0);
    return hd_json_is_null(hd_json_member(object, key)) ? HUDI_OK
                                                        : hd_json_get_string(op, object, key, out);
}

hudi_status hd_json_find_int64(struct hd_op *op, const hd_json *object, const char *key,
                               int64_t fallback, int64_t *out)
{
    *out = fallback;
    return hd_json_is_null(hd_json_member(object, key)) ? HUDI_OK
                                                        : hd_json_get_int64(op, object, key, out);
}

hudi_status hd_json_find_double(struct hd_op *op, const hd_json *object, const char *key,
                                double fallback, double *out)
{
    *out = fallback;
    return hd_json_is_null(hd_json_member(object, key)) ? HUDI_OK
                                                        : hd_json_get_double(op, object, key, out);
}

hudi_status hd_json_find_bool(struct hd_op *op, const hd_json *object, const char *key,
                              bool fallback, bool *out)
{
    *out = fallback;
    return hd_json_is_null(hd_json_member(object, key)) ? HUDI_OK
                                                        : hd_json_get_bool(op, object, key, out);
}

hudi_status hd_json_find_object(struct hd_op *op, const hd_json *object, const char *key,
                                const hd_json **out)
{
    *out = NULL;
    return hd_json_is_null(hd_json_member(object, key)) ? HUDI_OK
                                                        : hd_json_get_object(op, object, key, out);
}

hudi_status hd_json_find_array(struct hd_op *op, const hd_json *object, const char *key,
                               const hd_json **out)
{
    *out = NULL;
    return hd_json_is_null(hd_json_member(object, key)) ? HUDI_OK
                                                        : hd_json_get_array(op, object, key, out);
}
