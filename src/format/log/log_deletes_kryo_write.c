/* SPDX-License-Identifier: Apache-2.0 */
/* The object graphs of log_deletes_kryo.c, written: every string in full, as a writer may. */
#include <inttypes.h>
#include <string.h>

#include "arrow/java_text.h"
#include "base/utf8.h"
#include "format/log/log_deletes_internal.h"

/* Texts of 2 to 63 ASCII characters have a form of their own. */
#define MAX_ASCII_BYTES 63
#define KRYO_NEW_OBJECT 1

static hudi_status put_byte(struct hd_op *op, struct hd_str *out, uint32_t byte)
{
    return hd_str_append_char(op, out, (char)(uint8_t)byte);
}

static hudi_status put_varint(struct hd_op *op, struct hd_str *out, uint32_t value)
{
    for (; value >= 0x80; value >>= 7)
        HD_TRY(put_byte(op, out, value | 0x80));
    return put_byte(op, out, value);
}

static uint64_t to_zigzag(int64_t value)
{
    return (uint64_t)value << 1 ^ (uint64_t)(value >> 63);
}

/* Seven bits a byte, eight in the ninth. */
static hudi_status put_varlong(struct hd_op *op, struct hd_str *out, uint64_t value)
{
    int n = 1;

    for (; value >= 0x80 && n < 9; value >>= 7, n++)
        HD_TRY(put_byte(op, out, (uint32_t)value | 0x80));
    return put_byte(op, out, (uint32_t)value);
}

static hudi_status put_be(struct hd_op *op, struct hd_str *out, uint64_t value, int n_bytes)
{
    for (int i = n_bytes - 1; i >= 0; i--)
        HD_TRY(put_byte(op, out, (uint32_t)(value >> 8 * i)));
    return HUDI_OK;
}

/* ---- strings ------------------------------------------------------------------------------ */

static hudi_status put_unit(struct hd_op *op, struct hd_str *out, uint32_t unit)
{
    if (unit < 0x80)
        return put_byte(op, out, unit);
    if (unit < 0x800) {
        HD_TRY(put_byte(op, out, 0xc0 | unit >> 6));
        return put_byte(op, out, 0x80 | (unit & 0x3f));
    }
    HD_TRY(put_byte(op, out, 0xe0 | unit >> 12));
    HD_TRY(put_byte(op, out, 0x80 | (unit >> 6 & 0x3f)));
    return put_byte(op, out, 0x80 | (unit & 0x3f));
}

/* How many UTF-16 units a text has. */
static hudi_status count_units(struct hd_op *op, struct hd_slice text, uint32_t *out)
{
    size_t n_units = 0, at = 0;
    uint32_t c;

    while (at < text.size) {
        const size_t n = hd_utf8_take(hd_slice_of(text.data + at, text.size - at), &c);

        if (n == 0)
            return hd_fail(op, HUDI_INVALID, "a key is not UTF-8 at byte %zu", at);
        at += n;
        n_units += c < 0x10000 ? 1 : 2;
    }
    if (n_units >= INT32_MAX)
        return hd_fail(op, HUDI_INVALID, "a key of %zu characters is too long", n_units);
    *out = (uint32_t)n_units;
    return HUDI_OK;
}

/* Six bits, then seven a byte. */
static hudi_status put_length(struct hd_op *op, struct hd_str *out, uint32_t length)
{
    if (length < 0x40)
        return put_byte(op, out, 0x80 | length);
    HD_TRY(put_byte(op, out, 0xc0 | (length & 0x3f)));
    return put_varint(op, out, length >> 6);
}

static bool is_ascii(struct hd_slice text)
{
    for (size_t i = 0; i < text.size; i++)
        if (text.data[i] >= 0x80)
            return false;
    return true;
}

static hudi_status put_string(struct hd_op *op, struct hd_str *out, struct hd_slice text)
{
    uint32_t n_units, c;

    if (text.size > 1 && text.size <= MAX_ASCII_BYTES && is_ascii(text)) {
        HD_TRY(hd_str_append(op, out, text.data, text.size - 1));
        return put_byte(op, out, 0x80u | text.data[text.size - 1]);
    }
    HD_TRY(count_units(op, text, &n_units));
    HD_TRY(put_length(op, out, n_units + 1));
    for (size_t at = 0; at < text.size;) {
        at += hd_utf8_take(hd_slice_of(text.data + at, text.size - at), &c);
        if (c >= 0x10000) {
            HD_TRY(put_unit(op, out, 0xd800 + ((c - 0x10000) >> 10)));
            c = 0xdc00 + ((c - 0x10000) & 0x3ff);
        }
        HD_TRY(put_unit(op, out, c));
    }
    return HUDI_OK;
}

static hudi_status put_string_object(struct hd_op *op, struct hd_str *out, struct hd_slice text)
{
    HD_TRY(put_byte(op, out, KRYO_NEW_OBJECT));
    return put_string(op, out, text);
}

/* ---- classes ------------------------------------------------------------------------------ */

/* Classes written so far, which have the numbers 0, 1, ... */
struct names {
    const char *names[8];
    uint32_t n;
};

static hudi_status put_class(struct hd_op *op, struct hd_str *out, struct names *names,
                             const char *name)
{
    uint32_t number = 0;

    while (number < names->n && strcmp(names->names[number], name) != 0)
        number++;
    HD_TRY(put_byte(op, out, KRYO_BY_NAME));
    HD_TRY(put_varint(op, out, number));
    if (number < names->n)
        return HUDI_OK;
    names->names[names->n++] = name;
    return put_string(op, out, hd_slice_text(name));
}

/* ---- ordering values ---------------------------------------------------------------------- */

static hudi_status put_decimal(struct hd_op *op, struct hd_str *out, struct names *names,
                               const struct hd_ordering_value *value)
{
    static const uint8_t ZERO[1];
    const struct hd_slice bytes = value->bytes.size > 0 ? value->bytes : hd_slice_of(ZERO, 1);

    if (bytes.size >= INT32_MAX)
        return hd_fail(op, HUDI_INVALID, "a decimal of %zu bytes is too large", bytes.size);
    HD_TRY(put_class(op, out, names, KRYO_DECIMAL_CLASS));
    HD_TRY(put_byte(op, out, KRYO_NEW_OBJECT));
    HD_TRY(put_varint(op, out, (uint32_t)bytes.size + 1));
    HD_TRY(hd_str_append(op, out, bytes.data, bytes.size));
    return put_varint(op, out, (uint32_t)to_zigzag(value->scale));
}

static hudi_status put_date(struct hd_op *op, struct hd_str *out, struct names *names, int64_t days)
{
    int64_t year;
    int32_t month, day;

    hd_date_of_days(days, &year, &month, &day);
    HD_TRY(put_class(op, out, names, KRYO_DATE_CLASS));
    HD_TRY(put_byte(op, out, KRYO_NEW_OBJECT));
    HD_TRY(put_varint(op, out, (uint32_t)(int32_t)year));
    HD_TRY(put_byte(op, out, (uint32_t)month));
    return put_byte(op, out, (uint32_t)day);
}

static hudi_status put_float(struct hd_op *op, struct hd_str *out, float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof bits);
    HD_TRY(put_byte(op, out, KRYO_FLOAT));
    return put_be(op, out, bits, 4);
}

static hudi_status put_double(struct hd_op *op, struct hd_str *out, double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    HD_TRY(put_byte(op, out, KRYO_DOUBLE));
    return put_be(op, out, bits, 8);
}

static hudi_status put_ordering(struct hd_op *op, struct hd_str *out, struct names *names,
                                const struct hd_ordering_value *value)
{
    switch (value->type) {
    case HD_ORDERING_NONE:
    case HD_ORDERING_INT: {
        const int64_t number = value->type == HD_ORDERING_INT ? value->integer : 0;

        HD_TRY(put_byte(op, out, KRYO_INT));
        return put_varint(op, out, (uint32_t)to_zigzag(number));
    }
    case HD_ORDERING_BOOLEAN:
        HD_TRY(put_byte(op, out, KRYO_BOOLEAN));
        return put_byte(op, out, value->integer != 0);
    case HD_ORDERING_LONG:
    case HD_ORDERING_TIME_MICROS: /* these two are numbers to 0.11 to 0.13 */
    case HD_ORDERING_TIMESTAMP_MICROS:
        HD_TRY(put_byte(op, out, KRYO_LONG));
        return put_varlong(op, out, to_zigzag(value->integer));
    case HD_ORDERING_FLOAT:
        return put_float(op, out, (float)value->real);
    case HD_ORDERING_DOUBLE:
        return put_double(op, out, value->real);
    case HD_ORDERING_STRING:
        HD_TRY(put_byte(op, out, KRYO_STRING));
        return put_string_object(op, out, value->bytes);
    case HD_ORDERING_DATE:
        return put_date(op, out, names, value->integer);
    case HD_ORDERING_DECIMAL:
        return put_decimal(op, out, names, value);
    case HD_ORDERING_BYTES:
    case HD_ORDERING_ARRAY:
        break;
    }
    return hd_fail(op, HUDI_NOT_IMPLEMENTED,
                   "tables before version 6 have no delete blocks with ordering values of type %s",
                   hd_ordering_type_name(value->type));
}

/* ---- the graph ---------------------------------------------------------------------------- */

/* The class of the key stands before. */
static hudi_status put_key(struct hd_op *op, struct hd_str *out,
                           const struct hd_log_deletes *deletes, size_t i)
{
    HD_TRY(put_byte(op, out, KRYO_NEW_OBJECT));
    HD_TRY(put_string_object(op, out, deletes->partition_paths[i]));
    return put_string_object(op, out, deletes->record_keys[i]);
}

hudi_status log_deletes_encode_kryo(struct hd_op *op, bool with_ordering,
                                    const struct hd_log_deletes *deletes, struct hd_str *out)
{
    static const struct hd_ordering_value NONE;
    struct names names = {0};

    if (deletes->n >= INT32_MAX)
        return hd_fail(op, HUDI_INVALID, "%zu deletes are too many for a block", deletes->n);
    HD_TRY(
        put_class(op, out, &names, with_ordering ? KRYO_RECORD_ARRAY_CLASS : KRYO_KEY_ARRAY_CLASS));
    HD_TRY(put_byte(op, out, KRYO_NEW_OBJECT));
    HD_TRY(put_varint(op, out, (uint32_t)deletes->n + 1));
    for (size_t i = 0; i < deletes->n; i++) {
        if (with_ordering) {
            HD_TRY(put_class(op, out, &names, KRYO_RECORD_CLASS));
            HD_TRY(put_byte(op, out, KRYO_NEW_OBJECT));
        }
        HD_TRY(put_class(op, out, &names, KRYO_KEY_CLASS));
        HD_TRY(put_key(op, out, deletes, i));
        if (with_ordering)
            HD_TRY(put_ordering(op, out, &names,
                                deletes->ordering != NULL ? &deletes->ordering[i] : &NONE));
    }
    return HUDI_OK;
}
