/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/json.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <jansson.h>

#include "base/utf8.h"

#define IN_ARRAY 1u /* of a level; else in an object */
#define HAS_ITEMS 2u

/* ---- pieces --------------------------------------------------------------------------------- */

/* What stands for a byte that cannot stand for itself in a string. */
static size_t escape(uint8_t c, char out[6])
{
    static const char SHORT[] = "btn\0fr"; /* from 8 on */
    static const char HEX[] = "0123456789ABCDEF";

    out[0] = '\\';
    if (c == '"' || c == '\\') {
        out[1] = (char)c;
        return 2;
    }
    if (c >= 8 && c <= 13 && c != 11) {
        out[1] = SHORT[c - 8];
        return 2;
    }
    memcpy(out + 1, "u00", 3);
    out[4] = HEX[c >> 4];
    out[5] = HEX[c & 15];
    return 6;
}

hudi_status hd_json_append_string(struct hd_op *op, struct hd_str *out, struct hd_slice text)
{
    size_t size_before = out->size, from = 0, i = 0;

    HD_TRY(hd_str_append_char(op, out, '"'));
    while (i < text.size) {
        uint8_t c = text.data[i];
        if (c >= 0x80) {
            uint32_t v;
            size_t n = hd_utf8_take(hd_slice_of(text.data + i, text.size - i), &v);
            if (n == 0) {
                out->size = size_before;
                out->data[out->size] = '\0';
                return hd_fail(op, HUDI_INVALID, "text of %zu bytes is not UTF-8 at byte %zu",
                               text.size, i);
            }
            i += n;
        } else if (c < ' ' || c == '"' || c == '\\') {
            char escaped[6];
            HD_TRY(hd_str_append(op, out, text.data + from, i - from));
            HD_TRY(hd_str_append(op, out, escaped, escape(c, escaped)));
            from = ++i;
        } else {
            i++;
        }
    }
    if (from < i)
        HD_TRY(hd_str_append(op, out, text.data + from, i - from));
    return hd_str_append_char(op, out, '"');
}

/* Fewest significant digits that read back as `value` (> 0, finite), without zeros at the end, and
 * the decimal exponent of the first. Does not depend on the locale. */
static size_t shortest_digits(double value, char digits[18], int *exponent)
{
    char text[40];

    for (int precision = value < 1e-300 ? 1 : 15; precision <= 17; precision++) {
        snprintf(text, sizeof text, "%.*e", precision - 1, value);
        if (strtod(text, NULL) == value)
            break;
    }
    size_t n = 0;
    const char *c = text;
    for (; *c != 'e'; c++) /* whatever is no digit is the locale's point */
        if (*c >= '0' && *c <= '9')
            digits[n++] = *c;
    *exponent = (int)strtol(c + 1, NULL, 10);
    while (n > 1 && digits[n - 1] == '0')
        n--;
    return n;
}

/* 0.001 to 10,000,000 plain, the others as 1.5E10: the form of Java. */
static size_t format_double(double value, char out[40])
{
    char digits[18];
    int exponent;
    size_t n = shortest_digits(value, digits, &exponent), at = 0;

    if (exponent >= 7 || exponent < -3) {
        const char *fraction = n > 1 ? digits + 1 : "0";
        return (size_t)snprintf(out, 40, "%c.%.*sE%d", digits[0], (int)(n > 1 ? n - 1 : 1),
                                fraction, exponent);
    }
    if (exponent < 0) {
        at = (size_t)snprintf(out, 40, "0.%.*s", -exponent - 1, "00");
        memcpy(out + at, digits, n);
        return at + n;
    }
    for (size_t i = 0; i <= (size_t)exponent; i++)
        out[at++] = i < n ? digits[i] : '0';
    out[at++] = '.';
    if (n <= (size_t)exponent + 1)
        out[at++] = '0';
    for (size_t i = (size_t)exponent + 1; i < n; i++)
        out[at++] = digits[i];
    return at;
}

hudi_status hd_json_append_double(struct hd_op *op, struct hd_str *out, double value)
{
    char text[40];

    if (isnan(value))
        return hd_str_append_text(op, out, "\"NaN\"");
    if (isinf(value))
        return hd_str_append_text(op, out, value > 0 ? "\"Infinity\"" : "\"-Infinity\"");
    if (signbit(value))
        HD_TRY(hd_str_append_char(op, out, '-'));
    value = fabs(value);
    if (value < 1e7 && value == floor(value))
        return hd_str_printf(op, out, "%" PRIu32 ".0", (uint32_t)value);
    return hd_str_append(op, out, text, format_double(value, text));
}

/* ---- the writer ----------------------------------------------------------------------------- */

void hd_json_writer_init(struct hd_json_writer *json, struct hd_str *out, enum hd_json_style style)
{
    json->out = out;
    json->style = style;
    json->depth = 0;
    json->indent = 0;
    json->have_key = false;
}

static hudi_status new_line(struct hd_op *op, struct hd_json_writer *json)
{
    HD_TRY(hd_str_append_char(op, json->out, '\n'));
    for (unsigned i = 0; i < json->indent; i++)
        HD_TRY(hd_str_append(op, json->out, "  ", 2));
    return HUDI_OK;
}

/* What stands before an item of the innermost level: comma and white space. */
static hudi_status before_item(struct hd_op *op, struct hd_json_writer *json)
{
    uint8_t *level = &json->levels[json->depth - 1];

    if (*level & HAS_ITEMS)
        HD_TRY(hd_str_append_char(op, json->out, ','));
    *level |= HAS_ITEMS;
    if (json->style == HD_JSON_COMPACT)
        return HUDI_OK;
    return *level & IN_ARRAY ? hd_str_append_char(op, json->out, ' ') : new_line(op, json);
}

static hudi_status before_value(struct hd_op *op, struct hd_json_writer *json)
{
    if (json->depth == 0)
        return HUDI_OK;
    if (json->levels[json->depth - 1] & IN_ARRAY)
        return before_item(op, json);
    assert(json->have_key);
    json->have_key = false;
    return HUDI_OK;
}

static hudi_status begin(struct hd_op *op, struct hd_json_writer *json, char bracket, uint8_t level)
{
    if (json->depth == HD_JSON_MAX_DEPTH)
        return hd_fail(op, HUDI_INVALID, "JSON that nests deeper than %d", HD_JSON_MAX_DEPTH);
    HD_TRY(before_value(op, json));
    HD_TRY(hd_str_append_char(op, json->out, bracket));
    json->levels[json->depth++] = level;
    if (level != IN_ARRAY)
        json->indent++;
    return HUDI_OK;
}

hudi_status hd_json_begin_object(struct hd_op *op, struct hd_json_writer *json)
{
    return begin(op, json, '{', 0);
}

hudi_status hd_json_begin_array(struct hd_op *op, struct hd_json_writer *json)
{
    return begin(op, json, '[', IN_ARRAY);
}

hudi_status hd_json_end_object(struct hd_op *op, struct hd_json_writer *json)
{
    assert(json->depth > 0 && !(json->levels[json->depth - 1] & IN_ARRAY) && !json->have_key);
    json->indent--;
    bool has_items = json->levels[--json->depth] & HAS_ITEMS;
    if (json->style == HD_JSON_PRETTY)
        HD_TRY(has_items ? new_line(op, json) : hd_str_append_char(op, json->out, ' '));
    return hd_str_append_char(op, json->out, '}');
}

hudi_status hd_json_end_array(struct hd_op *op, struct hd_json_writer *json)
{
    assert(json->depth > 0 && (json->levels[json->depth - 1] & IN_ARRAY));
    json->depth--;
    if (json->style == HD_JSON_PRETTY)
        HD_TRY(hd_str_append_char(op, json->out, ' '));
    return hd_str_append_char(op, json->out, ']');
}

hudi_status hd_json_key_slice(struct hd_op *op, struct hd_json_writer *json, struct hd_slice key)
{
    assert(json->depth > 0 && !(json->levels[json->depth - 1] & IN_ARRAY) && !json->have_key);
    HD_TRY(before_item(op, json));
    HD_TRY(hd_json_append_string(op, json->out, key));
    json->have_key = true;
    return hd_str_append_text(op, json->out, json->style == HD_JSON_PRETTY ? " : " : ":");
}

hudi_status hd_json_key(struct hd_op *op, struct hd_json_writer *json, const char *key)
{
    return hd_json_key_slice(op, json, hd_slice_text(key));
}

hudi_status hd_json_string(struct hd_op *op, struct hd_json_writer *json, struct hd_slice text)
{
    if (text.data == NULL)
        return hd_json_null(op, json);
    HD_TRY(before_value(op, json));
    return hd_json_append_string(op, json->out, text);
}

hudi_status hd_json_text(struct hd_op *op, struct hd_json_writer *json, const char *text)
{
    return hd_json_string(op, json, text == NULL ? hd_slice_of(NULL, 0) : hd_slice_text(text));
}

hudi_status hd_json_int64(struct hd_op *op, struct hd_json_writer *json, int64_t value)
{
    HD_TRY(before_value(op, json));
    return hd_str_printf(op, json->out, "%" PRId64, value);
}

hudi_status hd_json_double(struct hd_op *op, struct hd_json_writer *json, double value)
{
    HD_TRY(before_value(op, json));
    return hd_json_append_double(op, json->out, value);
}

hudi_status hd_json_bool(struct hd_op *op, struct hd_json_writer *json, bool value)
{
    HD_TRY(before_value(op, json));
    return hd_str_append_text(op, json->out, value ? "true" : "false");
}

hudi_status hd_json_null(struct hd_op *op, struct hd_json_writer *json)
{
    HD_TRY(before_value(op, json));
    return hd_str_append_text(op, json->out, "null");
}

hudi_status hd_json_raw(struct hd_op *op, struct hd_json_writer *json, struct hd_slice value)
{
    HD_TRY(before_value(op, json));
    return hd_str_append(op, json->out, value.data, value.size);
}

static hudi_status write_object(struct hd_op *op, struct hd_json_writer *json, const hd_json *value)
{
    struct hd_json_iter iter = {0};
    struct hd_slice key;
    const hd_json *member;

    HD_TRY(hd_json_begin_object(op, json));
    while (hd_json_next(value, &iter, &key, &member)) {
        HD_TRY(hd_json_key_slice(op, json, key));
        HD_TRY(hd_json_value(op, json, member));
    }
    return hd_json_end_object(op, json);
}

/* Recursion is bounded by the writer's depth. */
hudi_status hd_json_value(struct hd_op *op, struct hd_json_writer *json, const hd_json *value)
{
    if (value == NULL)
        return hd_json_null(op, json);
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        return write_object(op, json, value);
    case JSON_ARRAY:
        HD_TRY(hd_json_begin_array(op, json));
        for (size_t i = 0; i < json_array_size(value); i++)
            HD_TRY(hd_json_value(op, json, json_array_get(value, i)));
        return hd_json_end_array(op, json);
    case JSON_STRING:
        return hd_json_string(op, json,
                              hd_slice_of(json_string_value(value), json_string_length(value)));
    case JSON_INTEGER:
        return hd_json_int64(op, json, json_integer_value(value));
    case JSON_REAL:
        return hd_json_double(op, json, json_real_value(value));
    case JSON_TRUE:
        return hd_json_bool(op, json, true);
    case JSON_FALSE:
        return hd_json_bool(op, json, false);
    case JSON_NULL:
        break;
    }
    return hd_json_null(op, json);
}

hudi_status hd_json_put_string(struct hd_op *op, struct hd_json_writer *json, const char *key,
                               struct hd_slice text)
{
    HD_TRY(hd_json_key(op, json, key));
    return hd_json_string(op, json, text);
}

hudi_status hd_json_put_text(struct hd_op *op, struct hd_json_writer *json, const char *key,
                             const char *text)
{
    HD_TRY(hd_json_key(op, json, key));
    return hd_json_text(op, json, text);
}

hudi_status hd_json_put_int64(struct hd_op *op, struct hd_json_writer *json, const char *key,
                              int64_t value)
{
    HD_TRY(hd_json_key(op, json, key));
    return hd_json_int64(op, json, value);
}

hudi_status hd_json_put_bool(struct hd_op *op, struct hd_json_writer *json, const char *key,
                             bool value)
{
    HD_TRY(hd_json_key(op, json, key));
    return hd_json_bool(op, json, value);
}
