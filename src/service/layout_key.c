/* SPDX-License-Identifier: Apache-2.0 */
#include "service/layout_key.h"

#include <string.h>
#include <strings.h>

bool hd_layout_parse(const char *text, enum hd_layout *out)
{
    static const char *const NAMES[] = {[HD_LAYOUT_LINEAR] = "linear",
                                        [HD_LAYOUT_Z_ORDER] = "z-order",
                                        [HD_LAYOUT_HILBERT] = "hilbert"};

    *out = HD_LAYOUT_LINEAR;
    if (text == NULL || *text == '\0')
        return true;
    for (size_t i = 0; i < HD_ARRAY_LENGTH(NAMES); i++) {
        if (strcasecmp(text, NAMES[i]) == 0) {
            *out = (enum hd_layout)i;
            return true;
        }
    }
    return false;
}

bool hd_layout_type_ok(const struct hd_type *type)
{
    switch (type->id) {
    case HD_TYPE_BOOL:
    case HD_TYPE_INT32:
    case HD_TYPE_INT64:
    case HD_TYPE_FLOAT:
    case HD_TYPE_DOUBLE:
    case HD_TYPE_STRING:
    case HD_TYPE_BINARY:
    case HD_TYPE_FIXED_BINARY:
    case HD_TYPE_DECIMAL:
    case HD_TYPE_DATE:
    case HD_TYPE_TIME:
    case HD_TYPE_TIMESTAMP:
        return true;
    default:
        return false;
    }
}

/* ---- one value ------------------------------------------------------------------------------ */

static void put_be64(uint8_t *out, uint64_t value)
{
    for (int i = 0; i < 8; i++)
        out[i] = (uint8_t)(value >> (56 - 8 * i));
}

static uint64_t bits_of_integer(int64_t value)
{
    return (uint64_t)value ^ (UINT64_C(1) << 63);
}

/* -0.0 is 0.0, and every NaN is one, greater than all. */
static uint64_t bits_of_double(double value)
{
    uint64_t bits;

    if (value != value)
        return UINT64_MAX;
    value += 0.0;
    memcpy(&bits, &value, sizeof bits);
    return (bits >> 63) != 0 ? ~bits : bits | (UINT64_C(1) << 63);
}

/* The value of a type of fixed size, as big-endian bytes in order; their number. */
static size_t fixed_bytes(const struct hd_view *column, int64_t row, uint8_t out[16])
{
    switch (column->type.id) {
    case HD_TYPE_BOOL:
        put_be64(out, hd_view_bool(column, row) ? UINT64_MAX : 0);
        return 8;
    case HD_TYPE_FLOAT:
        put_be64(out, bits_of_double(hd_view_float(column, row)));
        return 8;
    case HD_TYPE_DOUBLE:
        put_be64(out, bits_of_double(hd_view_double(column, row)));
        return 8;
    case HD_TYPE_DECIMAL: { /* 128 bits, little-endian */
        const struct hd_slice bytes = hd_view_bytes(column, row);

        for (int i = 0; i < 16; i++)
            out[i] = bytes.data[15 - i];
        out[0] ^= 0x80;
        return 16;
    }
    default:
        put_be64(out, bits_of_integer(hd_view_integer(column, row)));
        return 8;
    }
}

static bool is_text(const struct hd_view *column)
{
    return column->type.id == HD_TYPE_STRING || column->type.id == HD_TYPE_BINARY ||
           column->type.id == HD_TYPE_FIXED_BINARY;
}

/* ---- bytes that hd_key_compare() takes as they are ------------------------------------------- */

static hudi_status put_bytes(struct hd_op *op, struct hd_str *out, const uint8_t *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        HD_TRY(hd_str_append_char(op, out, (char)('A' + (bytes[i] >> 4))));
        HD_TRY(hd_str_append_char(op, out, (char)('A' + (bytes[i] & 15))));
    }
    return HUDI_OK;
}

/* '-' null, '0' and the value; texts end with '!', which is before all of their characters. */
static hudi_status put_value(struct hd_op *op, const struct hd_view *column, int64_t row,
                             struct hd_str *out)
{
    uint8_t fixed[16];

    if (hd_view_is_null(column, row))
        return hd_str_append_char(op, out, '-');
    HD_TRY(hd_str_append_char(op, out, '0'));
    if (!is_text(column)) {
        const size_t n = fixed_bytes(column, row, fixed);

        return put_bytes(op, out, fixed, n);
    }
    const struct hd_slice text = hd_view_bytes(column, row);
    HD_TRY(put_bytes(op, out, text.data, text.size));
    return hd_str_append_char(op, out, '!');
}

/* ---- curves --------------------------------------------------------------------------------- */

static uint64_t first_bits(const struct hd_view *column, int64_t row)
{
    uint8_t bytes[16] = {0};
    uint64_t bits = 0;

    if (hd_view_is_null(column, row))
        return 0;
    if (is_text(column)) {
        const struct hd_slice text = hd_view_bytes(column, row);

        if (text.size > 0)
            memcpy(bytes, text.data, text.size < 8 ? text.size : 8);
    } else {
        fixed_bytes(column, row, bytes);
    }
    for (int i = 0; i < 8; i++)
        bits = bits << 8 | bytes[i];
    return bits;
}

/* Of each value its highest bit, then of each the next, and so on. */
static hudi_status interleave(struct hd_op *op, const uint64_t *values, size_t n,
                              struct hd_str *out)
{
    uint8_t byte = 0;
    int filled = 0;

    for (int bit = 63; bit >= 0; bit--) {
        for (size_t i = 0; i < n; i++) {
            byte = (uint8_t)(byte << 1 | (values[i] >> bit & 1));
            if (++filled == 8) {
                HD_TRY(put_bytes(op, out, &byte, 1));
                filled = 0;
            }
        }
    }
    return HUDI_OK;
}

/* A point to its place on the curve, whose bits lie across the values (J. Skilling, 2004). */
static void to_hilbert(uint64_t *x, size_t n)
{
    const uint64_t top = UINT64_C(1) << 63;
    uint64_t t = 0;

    for (uint64_t q = top; q > 1; q >>= 1) {
        const uint64_t low = q - 1;

        for (size_t i = 0; i < n; i++) {
            if ((x[i] & q) != 0) {
                x[0] ^= low;
            } else {
                const uint64_t swap = (x[0] ^ x[i]) & low;

                x[0] ^= swap;
                x[i] ^= swap;
            }
        }
    }
    for (size_t i = 1; i < n; i++)
        x[i] ^= x[i - 1];
    for (uint64_t q = top; q > 1; q >>= 1)
        if ((x[n - 1] & q) != 0)
            t ^= q - 1;
    for (size_t i = 0; i < n; i++)
        x[i] ^= t;
}

hudi_status hd_layout_key(struct hd_op *op, enum hd_layout layout, const struct hd_view *columns,
                          size_t n, int64_t row, struct hd_str *out)
{
    uint64_t values[HD_LAYOUT_MAX_COLUMNS];

    if (layout == HD_LAYOUT_LINEAR) {
        for (size_t i = 0; i < n; i++)
            HD_TRY(put_value(op, &columns[i], row, out));
        return HUDI_OK;
    }
    for (size_t i = 0; i < n && i < HD_LAYOUT_MAX_COLUMNS; i++)
        values[i] = first_bits(&columns[i], row);
    if (layout == HD_LAYOUT_HILBERT)
        to_hilbert(values, n);
    return interleave(op, values, n, out);
}
