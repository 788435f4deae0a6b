/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/thrift.h"

#include <inttypes.h>
#include <string.h>

#define LONG_LIST 15 /* the count follows as a varint */
#define MAX_VARINT_BYTES 10

/* ---- parsing ------------------------------------------------------------------------------ */

static hudi_status skip_value(struct hd_op *op, struct hd_cursor *in, uint8_t type, int depth);

static hudi_status take_field(struct hd_op *op, struct hd_cursor *in, int16_t *id, uint8_t *type)
{
    uint8_t head;
    int64_t number = *id;

    HD_TRY(hd_cursor_u8(op, in, &head));
    *type = head & 15;
    if (head == 0)
        return HUDI_OK;
    if (*type == 0)
        return hd_fail(op, HUDI_CORRUPT, "thrift type 0 before byte %" PRIu64,
                       hd_cursor_offset(in));
    if (head >> 4 != 0)
        number += head >> 4;
    else
        HD_TRY(hd_cursor_zigzag(op, in, &number));
    if (number < INT16_MIN || number > INT16_MAX)
        return hd_fail(op, HUDI_CORRUPT, "thrift field %" PRId64 " before byte %" PRIu64, number,
                       hd_cursor_offset(in));
    *id = (int16_t)number;
    return HUDI_OK;
}

/* The least that a value takes in a list or map. */
static size_t least_bytes(uint8_t type)
{
    return type == HD_THRIFT_DOUBLE ? 8 : type == HD_THRIFT_UUID ? 16 : 1;
}

static hudi_status take_list(struct hd_op *op, struct hd_cursor *in, uint8_t *type, uint64_t *n)
{
    uint8_t head;

    HD_TRY(hd_cursor_u8(op, in, &head));
    *type = head & 15;
    *n = head >> 4;
    if (*n == LONG_LIST)
        HD_TRY(hd_cursor_varint(op, in, n));
    return HUDI_OK;
}

static hudi_status check_count(struct hd_op *op, const struct hd_cursor *in, uint64_t n,
                               size_t element_bytes)
{
    if (n > hd_cursor_left(in) / element_bytes)
        return hd_fail(op, HUDI_CORRUPT,
                       "%" PRIu64 " thrift values before byte %" PRIu64 " do not fit %zu bytes", n,
                       hd_cursor_offset(in), hd_cursor_left(in));
    return HUDI_OK;
}

static hudi_status skip_element(struct hd_op *op, struct hd_cursor *in, uint8_t type, int depth)
{
    if (type == HD_THRIFT_TRUE || type == HD_THRIFT_FALSE)
        return hd_cursor_skip(op, in, 1);
    return skip_value(op, in, type, depth);
}

static hudi_status skip_list(struct hd_op *op, struct hd_cursor *in, int depth)
{
    uint8_t type;
    uint64_t n;

    HD_TRY(take_list(op, in, &type, &n));
    HD_TRY(check_count(op, in, n, least_bytes(type)));
    for (uint64_t i = 0; i < n; i++)
        HD_TRY(skip_element(op, in, type, depth));
    return HUDI_OK;
}

static hudi_status skip_map(struct hd_op *op, struct hd_cursor *in, int depth)
{
    uint8_t types;
    uint64_t n;

    HD_TRY(hd_cursor_varint(op, in, &n));
    if (n == 0)
        return HUDI_OK;
    HD_TRY(hd_cursor_u8(op, in, &types));
    HD_TRY(check_count(op, in, n, least_bytes(types >> 4) + least_bytes(types & 15)));
    for (uint64_t i = 0; i < n; i++) {
        HD_TRY(skip_element(op, in, types >> 4, depth));
        HD_TRY(skip_element(op, in, types & 15, depth));
    }
    return HUDI_OK;
}

static hudi_status skip_struct(struct hd_op *op, struct hd_cursor *in, int depth)
{
    int16_t id = 0;
    uint8_t type;

    for (;;) {
        HD_TRY(take_field(op, in, &id, &type));
        if (type == 0)
            return HUDI_OK;
        HD_TRY(skip_value(op, in, type, depth));
    }
}

/* A value of a field: booleans have no bytes. */
static hudi_status skip_value(struct hd_op *op, struct hd_cursor *in, uint8_t type, int depth)
{
    uint64_t n;

    if (depth == HD_THRIFT_MAX_DEPTH)
        return hd_fail(op, HUDI_NOT_IMPLEMENTED, "thrift values nested more than %d deep",
                       HD_THRIFT_MAX_DEPTH);
    switch (type) {
    case HD_THRIFT_TRUE:
    case HD_THRIFT_FALSE:
        return HUDI_OK;
    case HD_THRIFT_I8:
        return hd_cursor_skip(op, in, 1);
    case HD_THRIFT_I16:
    case HD_THRIFT_I32:
    case HD_THRIFT_I64:
        return hd_cursor_varint(op, in, &n);
    case HD_THRIFT_DOUBLE:
    case HD_THRIFT_UUID:
        return hd_cursor_skip(op, in, least_bytes(type));
    case HD_THRIFT_BINARY:
        HD_TRY(hd_cursor_varint(op, in, &n));
        return hd_cursor_skip(op, in, n);
    case HD_THRIFT_LIST:
    case HD_THRIFT_SET:
        return skip_list(op, in, depth + 1);
    case HD_THRIFT_MAP:
        return skip_map(op, in, depth + 1);
    case HD_THRIFT_STRUCT:
        return skip_struct(op, in, depth + 1);
    default:
        return hd_fail(op, HUDI_CORRUPT, "thrift type %u before byte %" PRIu64, type,
                       hd_cursor_offset(in));
    }
}

hudi_status hd_thrift_struct_take(struct hd_op *op, struct hd_arena *arena, struct hd_cursor *in,
                                  struct hd_thrift_struct *out)
{
    struct hd_thrift_field fields[HD_THRIFT_MAX_FIELDS];
    struct hd_cursor at = *in;
    struct hd_thrift_struct taken = {.fields = fields};
    int16_t id = 0;
    uint8_t type;

    *out = (struct hd_thrift_struct){0};
    for (;;) {
        HD_TRY(take_field(op, &at, &id, &type));
        if (type == 0)
            break;
        if (hd_thrift_find(&taken, id) != NULL)
            return hd_fail(op, HUDI_CORRUPT, "thrift field %d twice before byte %" PRIu64, id,
                           hd_cursor_offset(&at));
        if (taken.n_fields == HD_THRIFT_MAX_FIELDS)
            return hd_fail(op, HUDI_NOT_IMPLEMENTED, "a thrift struct of more than %d fields",
                           HD_THRIFT_MAX_FIELDS);
        const struct hd_cursor start = at;
        HD_TRY(skip_value(op, &at, type, 0));
        fields[taken.n_fields++] = (struct hd_thrift_field){id, type, hd_cursor_since(&at, start)};
    }
    HD_TRY(hd_thrift_struct_copy(op, arena, &taken, out));
    *in = at;
    return HUDI_OK;
}

hudi_status hd_thrift_list_take(struct hd_op *op, struct hd_cursor *in, enum hd_thrift_type type,
                                size_t min_bytes, size_t *n)
{
    uint8_t found;
    uint64_t count;

    HD_TRY(take_list(op, in, &found, &count));
    if (count > 0 && found != type)
        return hd_fail(op, HUDI_CORRUPT, "a list of thrift type %u where %u is expected", found,
                       (unsigned)type);
    HD_TRY(check_count(op, in, count, min_bytes));
    *n = (size_t)count;
    return HUDI_OK;
}

/* ---- fields ------------------------------------------------------------------------------- */

const struct hd_thrift_field *hd_thrift_find(const struct hd_thrift_struct *in, int16_t id)
{
    for (size_t i = 0; i < in->n_fields; i++)
        if (in->fields[i].id == id)
            return &in->fields[i];
    return NULL;
}

hudi_status hd_thrift_get(struct hd_op *op, const struct hd_thrift_struct *in, int16_t id,
                          enum hd_thrift_type type, struct hd_slice *out)
{
    const struct hd_thrift_field *field = hd_thrift_find(in, id);

    *out = (struct hd_slice){0};
    if (field == NULL)
        return HUDI_NOT_FOUND;
    if (field->type != type)
        return hd_fail(op, HUDI_CORRUPT, "thrift field %d has type %u where %u is expected", id,
                       field->type, (unsigned)type);
    *out = field->value;
    return HUDI_OK;
}

/* The value has been parsed before: it ends where its varint does. */
static int64_t zigzag_of(struct hd_slice value)
{
    uint64_t bits = 0;

    for (size_t i = 0; i < value.size && i < MAX_VARINT_BYTES; i++)
        bits |= (uint64_t)(value.data[i] & 127) << (7 * i);
    return (int64_t)((bits >> 1) ^ (0 - (bits & 1)));
}

static bool fits(int64_t value, enum hd_thrift_type type)
{
    return type == HD_THRIFT_I16   ? value >= INT16_MIN && value <= INT16_MAX
           : type == HD_THRIFT_I32 ? value >= INT32_MIN && value <= INT32_MAX
                                   : true;
}

hudi_status hd_thrift_get_integer(struct hd_op *op, const struct hd_thrift_struct *in, int16_t id,
                                  enum hd_thrift_type type, int64_t *out)
{
    struct hd_slice value;

    *out = 0;
    HD_TRY(hd_thrift_get(op, in, id, type, &value));
    *out = zigzag_of(value);
    if (!fits(*out, type))
        return hd_fail(op, HUDI_CORRUPT, "thrift field %d is %" PRId64 ", too large for its type",
                       id, *out);
    return HUDI_OK;
}

bool hd_thrift_find_integer(const struct hd_thrift_struct *in, int16_t id, enum hd_thrift_type type,
                            int64_t *out)
{
    const struct hd_thrift_field *field = hd_thrift_find(in, id);

    *out = 0;
    if (field == NULL || field->type != type)
        return false;
    *out = zigzag_of(field->value);
    return fits(*out, type);
}

hudi_status hd_thrift_get_binary(struct hd_op *op, const struct hd_thrift_struct *in, int16_t id,
                                 struct hd_slice *out)
{
    struct hd_slice value;
    uint64_t n;

    *out = (struct hd_slice){0};
    HD_TRY(hd_thrift_get(op, in, id, HD_THRIFT_BINARY, &value));
    struct hd_cursor at = hd_cursor_over(value.data, value.size, 0);
    HD_TRY(hd_cursor_varint(op, &at, &n));
    return hd_cursor_take(op, &at, n, out);
}

bool hd_thrift_same(const struct hd_thrift_struct *a, const struct hd_thrift_struct *b, int16_t id)
{
    const struct hd_thrift_field *in_a = hd_thrift_find(a, id), *in_b = hd_thrift_find(b, id);

    if (in_a == NULL || in_b == NULL)
        return in_a == in_b;
    return in_a->type == in_b->type && hd_slice_equal(in_a->value, in_b->value);
}

hudi_status hd_thrift_struct_copy(struct hd_op *op, struct hd_arena *arena,
                                  const struct hd_thrift_struct *in, struct hd_thrift_struct *out)
{
    struct hd_thrift_field *fields;

    *out = (struct hd_thrift_struct){0};
    HD_TRY(hd_arena_array(op, arena, in->n_fields, sizeof *fields, &fields));
    if (in->n_fields > 0)
        memcpy(fields, in->fields, in->n_fields * sizeof *fields);
    *out = (struct hd_thrift_struct){fields, in->n_fields};
    return HUDI_OK;
}

hudi_status hd_thrift_set(struct hd_op *op, struct hd_arena *arena, struct hd_thrift_struct *in,
                          int16_t id, enum hd_thrift_type type, struct hd_slice value)
{
    const struct hd_thrift_field field = {id, (uint8_t)type, value};
    struct hd_thrift_field *fields;
    size_t at = 0;

    for (size_t i = 0; i < in->n_fields; i++) {
        if (in->fields[i].id == id) {
            in->fields[i] = field;
            return HUDI_OK;
        }
    }
    while (at < in->n_fields && in->fields[at].id < id)
        at++;
    HD_TRY(hd_arena_array(op, arena, in->n_fields + 1, sizeof *fields, &fields));
    for (size_t i = 0; i <= in->n_fields; i++)
        fields[i] = i < at ? in->fields[i] : i == at ? field : in->fields[i - 1];
    *in = (struct hd_thrift_struct){fields, in->n_fields + 1};
    return HUDI_OK;
}

static size_t put_varint(uint64_t value, uint8_t out[MAX_VARINT_BYTES])
{
    size_t n = 0;

    for (; value > 127; value >>= 7)
        out[n++] = (uint8_t)(value | 128);
    out[n++] = (uint8_t)value;
    return n;
}

static size_t put_zigzag(int64_t value, uint8_t out[MAX_VARINT_BYTES])
{
    return put_varint(((uint64_t)value << 1) ^ (value < 0 ? UINT64_MAX : 0), out);
}

hudi_status hd_thrift_set_integer(struct hd_op *op, struct hd_arena *arena,
                                  struct hd_thrift_struct *in, int16_t id, enum hd_thrift_type type,
                                  int64_t value)
{
    uint8_t *bytes;

    HD_TRY(hd_arena_alloc(op, arena, MAX_VARINT_BYTES, &bytes));
    const size_t n = put_zigzag(value, bytes);
    return hd_thrift_set(op, arena, in, id, type, hd_slice_of(bytes, n));
}

void hd_thrift_remove(struct hd_thrift_struct *in, int16_t id)
{
    size_t n = 0;

    for (size_t i = 0; i < in->n_fields; i++)
        if (in->fields[i].id != id)
            in->fields[n++] = in->fields[i];
    in->n_fields = n;
}

/* ---- writing ------------------------------------------------------------------------------ */

hudi_status hd_thrift_append_struct(struct hd_op *op, struct hd_str *out,
                                    const struct hd_thrift_struct *in)
{
    int32_t before = 0;

    for (size_t i = 0; i < in->n_fields; i++) {
        const struct hd_thrift_field *field = &in->fields[i];
        const int32_t delta = field->id - before;
        uint8_t head[1 + MAX_VARINT_BYTES] = {field->type};
        size_t n = 1;

        if (delta >= 1 && delta <= 15)
            head[0] |= (uint8_t)(delta << 4);
        else
            n += put_zigzag(field->id, head + 1);
        HD_TRY(hd_str_append(op, out, head, n));
        HD_TRY(hd_str_append(op, out, field->value.data, field->value.size));
        before = field->id;
    }
    return hd_str_append_char(op, out, '\0');
}

hudi_status hd_thrift_append_list(struct hd_op *op, struct hd_str *out, enum hd_thrift_type type,
                                  size_t n)
{
    uint8_t head[1 + MAX_VARINT_BYTES];
    size_t n_head = 1;

    if (n < LONG_LIST) {
        head[0] = (uint8_t)(n << 4 | (unsigned)type);
    } else {
        head[0] = (uint8_t)(LONG_LIST << 4 | (unsigned)type);
        n_head += put_varint(n, head + 1);
    }
    return hd_str_append(op, out, head, n_head);
}
