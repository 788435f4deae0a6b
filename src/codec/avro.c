/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/avro.h"

#include <inttypes.h>

#include "codec/avro_internal.h"

/* ---- decoding ------------------------------------------------------------------------------- */

/* Go back to where a value began and fail there. */
static hudi_status fail_at(struct hd_op *op, struct hd_cursor *in, struct hd_cursor start,
                           const char *what, int64_t value)
{
    *in = start;
    return hd_fail(op, HUDI_CORRUPT, "Avro %s %" PRId64 " at byte %" PRIu64, what, value,
                   hd_cursor_offset(in));
}

hudi_status hd_avro_read_int(struct hd_op *op, struct hd_cursor *in, int32_t *out)
{
    const struct hd_cursor start = *in;
    int64_t value;

    HD_TRY(hd_avro_read_long(op, in, &value));
    if (value < INT32_MIN || value > INT32_MAX)
        return fail_at(op, in, start, "int of", value);
    *out = (int32_t)value;
    return HUDI_OK;
}

hudi_status hd_avro_read_boolean(struct hd_op *op, struct hd_cursor *in, bool *out)
{
    const struct hd_cursor start = *in;
    uint8_t value;

    HD_TRY(hd_cursor_u8(op, in, &value));
    if (value > 1)
        return fail_at(op, in, start, "boolean of", value);
    *out = value == 1;
    return HUDI_OK;
}

hudi_status hd_avro_read_float(struct hd_op *op, struct hd_cursor *in, float *out)
{
    uint32_t bits;

    HD_TRY(hd_cursor_u32le(op, in, &bits));
    memcpy(out, &bits, sizeof bits);
    return HUDI_OK;
}

hudi_status hd_avro_read_double(struct hd_op *op, struct hd_cursor *in, double *out)
{
    uint64_t bits;

    HD_TRY(hd_cursor_u64le(op, in, &bits));
    memcpy(out, &bits, sizeof bits);
    return HUDI_OK;
}

hudi_status hd_avro_read_bytes(struct hd_op *op, struct hd_cursor *in, struct hd_slice *out)
{
    const struct hd_cursor start = *in;
    int64_t size;

    HD_TRY(hd_avro_read_long(op, in, &size));
    if (size < 0 || (uint64_t)size > hd_cursor_left(in))
        return fail_at(op, in, start, "string of length", size);
    return hd_cursor_take(op, in, (uint64_t)size, out);
}

hudi_status hd_avro_read_index(struct hd_op *op, struct hd_cursor *in, size_t n, uint32_t *out)
{
    const struct hd_cursor start = *in;
    int64_t value;

    HD_TRY(hd_avro_read_long(op, in, &value));
    if (value < 0 || (uint64_t)value >= n || value > UINT32_MAX)
        return fail_at(op, in, start, "branch or symbol", value);
    *out = (uint32_t)value;
    return HUDI_OK;
}

hudi_status hd_avro_read_block(struct hd_op *op, struct hd_cursor *in, uint64_t item_min_bytes,
                               uint64_t *n_items, uint64_t *n_bytes)
{
    const struct hd_cursor start = *in;
    int64_t count, size = 0;

    HD_TRY(hd_avro_read_long(op, in, &count));
    uint64_t n = count < 0 ? 0 - (uint64_t)count : (uint64_t)count;
    uint64_t left = hd_cursor_left(in);
    if (count < 0) {
        hudi_status status = hd_avro_read_long(op, in, &size);
        left = hd_cursor_left(in);
        if (status != HUDI_OK || size < 0 || (uint64_t)size > left)
            return fail_at(op, in, start, "array block of count", count);
        left = (uint64_t)size;
    }
    if (item_min_bytes == 0 ? n > HD_AVRO_MAX_ZERO_ITEMS : n > left / item_min_bytes)
        return fail_at(op, in, start, "array block of count", count);
    *n_items = n;
    if (n_bytes != NULL)
        *n_bytes = (uint64_t)size;
    return HUDI_OK;
}

static hudi_status skip(struct hd_op *op, const struct hd_avro_schema *schema, struct hd_cursor *in,
                        unsigned depth);

static hudi_status skip_items(struct hd_op *op, const struct hd_avro_schema *schema,
                              struct hd_cursor *in, unsigned depth)
{
    bool is_map = schema->type == HD_AVRO_MAP;
    uint64_t min_bytes = schema->items->min_bytes + is_map, n_items, n_bytes;
    struct hd_slice key;

    for (;;) {
        HD_TRY(hd_avro_read_block(op, in, min_bytes, &n_items, &n_bytes));
        if (n_items == 0)
            return HUDI_OK;
        if (n_bytes > 0) {
            HD_TRY(hd_cursor_skip(op, in, n_bytes));
            continue;
        }
        for (uint64_t i = 0; i < n_items && min_bytes > 0; i++) {
            if (is_map)
                HD_TRY(hd_avro_read_bytes(op, in, &key));
            HD_TRY(skip(op, schema->items, in, depth + 1));
        }
    }
}

static hudi_status skip(struct hd_op *op, const struct hd_avro_schema *schema, struct hd_cursor *in,
                        unsigned depth)
{
    struct hd_slice bytes;
    int64_t integer;
    uint32_t index = 0;

    if (depth > HD_AVRO_MAX_VALUE_DEPTH)
        return hd_fail(op, HUDI_CORRUPT, "Avro value at byte %" PRIu64 " nests deeper than %d",
                       hd_cursor_offset(in), HD_AVRO_MAX_VALUE_DEPTH);
    switch (schema->type) {
    case HD_AVRO_NULL:
        return HUDI_OK;
    case HD_AVRO_BOOLEAN:
        return hd_cursor_skip(op, in, 1);
    case HD_AVRO_INT:
    case HD_AVRO_LONG:
        return hd_avro_read_long(op, in, &integer);
    case HD_AVRO_FLOAT:
    case HD_AVRO_DOUBLE:
    case HD_AVRO_FIXED:
        return hd_cursor_skip(op, in, schema->min_bytes);
    case HD_AVRO_BYTES:
    case HD_AVRO_STRING:
        return hd_avro_read_bytes(op, in, &bytes);
    case HD_AVRO_ENUM:
        return hd_avro_read_index(op, in, schema->n_symbols, &index);
    case HD_AVRO_ARRAY:
    case HD_AVRO_MAP:
        return skip_items(op, schema, in, depth);
    case HD_AVRO_UNION:
        HD_TRY(hd_avro_read_index(op, in, schema->n_branches, &index));
        return skip(op, schema->branches[index], in, depth + 1);
    case HD_AVRO_RECORD:
        for (size_t i = 0; i < schema->n_fields; i++)
            HD_TRY(skip(op, schema->fields[i].schema, in, depth + 1));
        return HUDI_OK;
    }
    return hd_fail(op, HUDI_INTERNAL, "Avro type %d", (int)schema->type);
}

hudi_status hd_avro_skip(struct hd_op *op, const struct hd_avro_schema *schema,
                         struct hd_cursor *in)
{
    const struct hd_cursor start = *in;
    hudi_status status = skip(op, schema, in, 0);

    if (status != HUDI_OK)
        *in = start;
    return status;
}

/* ---- encoding ------------------------------------------------------------------------------- */

hudi_status hd_avro_write_long(struct hd_op *op, struct hd_str *out, int64_t value)
{
    uint8_t bytes[HD_AVRO_LONG_MAX_BYTES];

    return hd_str_append(op, out, bytes, hd_avro_put_long(bytes, value));
}

hudi_status hd_avro_write_boolean(struct hd_op *op, struct hd_str *out, bool value)
{
    return hd_str_append_char(op, out, value ? 1 : 0);
}

static hudi_status write_le(struct hd_op *op, struct hd_str *out, uint64_t bits, size_t n)
{
    uint8_t bytes[8];

    for (size_t i = 0; i < n; i++)
        bytes[i] = (uint8_t)(bits >> (8 * i));
    return hd_str_append(op, out, bytes, n);
}

hudi_status hd_avro_write_float(struct hd_op *op, struct hd_str *out, float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof bits);
    return write_le(op, out, bits, sizeof bits);
}

hudi_status hd_avro_write_double(struct hd_op *op, struct hd_str *out, double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    return write_le(op, out, bits, sizeof bits);
}

hudi_status hd_avro_write_bytes(struct hd_op *op, struct hd_str *out, struct hd_slice value)
{
    HD_TRY(hd_avro_write_long(op, out, (int64_t)value.size));
    return hd_str_append(op, out, value.data, value.size);
}
