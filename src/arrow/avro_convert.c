/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <string.h>

#include "arrow/avro_decoder_internal.h"
#include "arrow/cast_internal.h"
#include "arrow/java_text.h"
#include "arrow/text.h"
#include "base/utf8.h"

/*
 * Values whose column is of another type: rarely many, so they go the way that columns go in
 * arrow/cast.h, by a view of one row, and mean the same.
 */

#define UUID_TEXT_BYTES 36

hudi_status hd_avro_step_corrupt(struct hd_op *op, const struct hd_avro_step *step,
                                 const struct hd_avro_input *in, const char *what)
{
    return hd_fail(op, HUDI_CORRUPT, "column %s: %s at byte %" PRIu64, step->path, what,
                   in->file_offset + (uint64_t)(in->at - in->start));
}

bool hd_avro_decimal_load(struct hd_slice bytes, hd_int128 *out)
{
    if (bytes.size == 0)
        return false;
    const uint8_t sign = bytes.data[0] & 0x80 ? 0xff : 0;
    for (; bytes.size > 16; bytes.size--, bytes.data++) {
        if (bytes.data[0] != sign)
            return false;
    }
    hd_uint128 value = (bytes.data[0] & 0x80) != 0 ? ~(hd_uint128)0 : 0;
    if ((value != 0) != (sign != 0)) /* the bytes left out were needed */
        return false;
    for (size_t i = 0; i < bytes.size; i++)
        value = value << 8 | bytes.data[i];
    *out = (hd_int128)value;
    return true;
}

/* Room for one value without parts, as an array of one row has it. */
struct scalar {
    union {
        int32_t i32;
        int64_t i64;
        float single;
        double real;
        uint8_t decimal[16];
        int32_t offsets[2];
    } u;
};

static bool read_number(struct hd_avro_input *in, const struct hd_avro_step *step,
                        struct scalar *out)
{
    const uint8_t *bytes;
    int64_t value;

    switch (step->avro->type) {
    case HD_AVRO_FLOAT:
        if (!hd_avro_input_take(in, sizeof out->u.single, &bytes))
            return false;
        memcpy(&out->u.single, bytes, sizeof out->u.single);
        return true;
    case HD_AVRO_DOUBLE:
        if (!hd_avro_input_take(in, sizeof out->u.real, &bytes))
            return false;
        memcpy(&out->u.real, bytes, sizeof out->u.real);
        return true;
    case HD_AVRO_INT:
        if (!hd_avro_input_long(in, &value) || value < INT32_MIN || value > INT32_MAX)
            return false;
        out->u.i32 = (int32_t)value;
        return true;
    default:
        return hd_avro_input_long(in, &out->u.i64);
    }
}

static bool read_bytes(struct hd_avro_input *in, const struct hd_avro_schema *avro,
                       struct hd_slice *out)
{
    int64_t symbol;

    switch (avro->type) {
    case HD_AVRO_ENUM:
        if (!hd_avro_input_long(in, &symbol) || symbol < 0 || (uint64_t)symbol >= avro->n_symbols)
            return false;
        *out = hd_slice_text(avro->symbols[symbol]);
        return true;
    case HD_AVRO_FIXED:
        out->size = avro->fixed_bytes;
        return hd_avro_input_take(in, avro->fixed_bytes, &out->data);
    default:
        return hd_avro_input_bytes(in, out);
    }
}

/* The value as row 0 of `view`. */
static bool read_value(struct hd_avro_input *in, const struct hd_avro_step *step,
                       struct scalar *value, struct hd_view *view)
{
    struct hd_slice bytes;
    hd_int128 number;

    *view = (struct hd_view){.type = step->u.from, .length = 1, .values = &value->u};
    switch (step->avro->type) {
    case HD_AVRO_STRING:
    case HD_AVRO_BYTES:
    case HD_AVRO_FIXED:
    case HD_AVRO_ENUM:
        break;
    default:
        return read_number(in, step, value);
    }
    if (!read_bytes(in, step->avro, &bytes) || bytes.size > INT32_MAX)
        return false;
    if (step->u.from.id == HD_TYPE_DECIMAL) {
        if (!hd_avro_decimal_load(bytes, &number))
            return false;
        hd_decimal_store(value->u.decimal, number);
    } else if (step->u.from.id == HD_TYPE_FIXED_BINARY) {
        view->values = bytes.data;
    } else {
        value->u.offsets[0] = 0;
        value->u.offsets[1] = (int32_t)bytes.size;
        view->data = bytes.data;
    }
    return true;
}

static struct hd_slice uuid_text(struct hd_slice bytes, char out[HD_JAVA_TEXT_BYTES])
{
    static const char DIGITS[] = "0123456789abcdef";
    size_t n = 0;

    for (size_t i = 0; i < bytes.size; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            out[n++] = '-';
        out[n++] = DIGITS[bytes.data[i] >> 4];
        out[n++] = DIGITS[bytes.data[i] & 15];
    }
    return hd_slice_of(out, n);
}

static hudi_status append_text(const struct hd_cast_leaf *leaf, hd_builder *to)
{
    const enum hd_type_id from = leaf->from->type.id;
    char scratch[HD_JAVA_TEXT_BYTES];
    struct hd_slice text;

    if (from == HD_TYPE_STRING || from == HD_TYPE_BINARY)
        text = hd_view_bytes(leaf->from, 0);
    else if (from == HD_TYPE_FIXED_BINARY && leaf->to.id == HD_TYPE_STRING)
        text = uuid_text(hd_view_bytes(leaf->from, 0), scratch);
    else if (from == HD_TYPE_FIXED_BINARY)
        text = hd_view_bytes(leaf->from, 0);
    else
        text = hd_java_text(leaf->from, 0, false, scratch);
    if (leaf->to.id == HD_TYPE_STRING && !hd_utf8_valid(text))
        return hd_fail(leaf->op, HUDI_CORRUPT, "column %s: text that is not UTF-8",
                       leaf->path->name);
    return hd_builder_append_bytes(leaf->op, to, text);
}

static hudi_status append_value(const struct hd_cast_leaf *leaf, hd_builder *to, int64_t row)
{
    struct hd_op *op = leaf->op;
    hd_int128 decimal;
    int64_t integer;
    double real;
    float single;

    switch (leaf->to.id) {
    case HD_TYPE_STRING:
    case HD_TYPE_BINARY:
    case HD_TYPE_FIXED_BINARY:
        return append_text(leaf, to);
    case HD_TYPE_DECIMAL:
        if (!hd_cast_value_to_decimal(leaf, 0, &decimal) ||
            !hd_decimal_fits(decimal, leaf->to.precision))
            return hd_cast_misfit_at(leaf, 0, row);
        return hd_builder_append_decimal(op, to, decimal);
    case HD_TYPE_FLOAT:
        if (!hd_cast_value_to_float(leaf->from, 0, &single))
            return hd_cast_misfit_at(leaf, 0, row);
        return hd_builder_append_double(op, to, (double)single);
    case HD_TYPE_DOUBLE:
        if (!hd_cast_value_to_double(leaf->from, 0, &real))
            return hd_cast_misfit_at(leaf, 0, row);
        return hd_builder_append_double(op, to, real);
    default:
        if (!hd_cast_value_to_integer(leaf, 0, &integer) ||
            (to->width == 4 && (integer < INT32_MIN || integer > INT32_MAX)))
            return hd_cast_misfit_at(leaf, 0, row);
        return hd_builder_append_integer(op, to, integer);
    }
}

hudi_status hd_avro_step_convert(struct hd_op *op, const struct hd_avro_step *step,
                                 struct hd_avro_input *in, int64_t row)
{
    const struct hd_cast_path path = {NULL, step->path};
    struct scalar value = {0};
    struct hd_view view;
    const struct hd_cast_leaf leaf = {.op = op,
                                      .path = &path,
                                      .from = &view,
                                      .to = step->to->type,
                                      .to_field = step->wanted,
                                      .rule = HD_CAST_READ};

    if (!read_value(in, step, &value, &view))
        return hd_avro_step_corrupt(op, step, in, hd_avro_type_name(step->avro->type));
    return step->by_text
               ? hd_builder_append_double(op, step->to, hd_java_float_to_double(value.u.single))
               : append_value(&leaf, step->to, row);
}
