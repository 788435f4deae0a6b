/* SPDX-License-Identifier: Apache-2.0 */
#include "arrow/avro_encoder.h"

#include <inttypes.h>
#include <string.h>

#include "arrow/avro_encoder_internal.h"
#include "arrow/cast_internal.h"
#include "arrow/schema.h"
#include "arrow/text.h"
#include "codec/avro.h"

/*
 * Runs programs (see avro_encoder_internal.h), row by row, since records are rows.
 *
 * Invariant: `at` is the end of what is written and `limit` that of the room; out->size is only
 * right after sync_out(). Every write makes sure of its own room.
 */

#define LENGTH_BYTES 4

struct run {
    struct hd_op *op;
    const struct hd_avro_encoder *e;
    struct hd_str *out;
    uint8_t *at;
    uint8_t *limit;
    int64_t row; /* of the batch, for messages */
};

static hudi_status put_steps(struct run *r, uint32_t at, uint32_t end, int64_t row);

/* ---- room ------------------------------------------------------------------------------------ */

static void sync_out(struct run *r)
{
    if (r->at != NULL)
        r->out->size = (size_t)((char *)r->at - r->out->data);
}

static hudi_status grow(struct run *r, size_t n)
{
    sync_out(r);
    HD_TRY(hd_str_reserve(r->op, r->out, n));
    r->at = (uint8_t *)r->out->data + r->out->size;
    r->limit = (uint8_t *)r->out->data + r->out->capacity - 1; /* the NUL */
    return HUDI_OK;
}

static inline hudi_status room(struct run *r, size_t n)
{
    return n <= (size_t)(r->limit - r->at) ? HUDI_OK : grow(r, n);
}

static inline hudi_status put_long(struct run *r, int64_t value)
{
    HD_TRY(room(r, HD_AVRO_LONG_MAX_BYTES));
    r->at += hd_avro_put_long(r->at, value);
    return HUDI_OK;
}

static inline hudi_status put_raw(struct run *r, const void *bytes, size_t n)
{
    HD_TRY(room(r, n));
    if (n > 0)
        memcpy(r->at, bytes, n);
    r->at += n;
    return HUDI_OK;
}

static inline hudi_status put_bytes(struct run *r, struct hd_slice bytes)
{
    HD_TRY(room(r, HD_AVRO_LONG_MAX_BYTES + bytes.size));
    r->at += hd_avro_put_long(r->at, (int64_t)bytes.size);
    if (bytes.size > 0)
        memcpy(r->at, bytes.data, bytes.size);
    r->at += bytes.size;
    return HUDI_OK;
}

/* ---- values ---------------------------------------------------------------------------------- */

static hudi_status misfit(struct run *r, const struct hd_avro_put *step, const struct hd_view *view,
                          int64_t row)
{
    const char *logical = hd_avro_logical_name(step->avro->logical);
    char value[HD_CAST_TEXT_BYTES] = "the value";

    if (view->type.id != HD_TYPE_DICTIONARY)
        hd_cast_value_text(view, row, value);
    return hd_fail(r->op, HUDI_INVALID, "column %s row %" PRId64 ": %s does not fit Avro %s%s%s",
                   step->path, r->row, value, hd_avro_type_name(step->avro->type),
                   logical == NULL ? "" : " ", logical == NULL ? "" : logical);
}

static hudi_status put_symbol(struct run *r, const struct hd_avro_put *step,
                              const struct hd_view *view, int64_t row)
{
    const struct hd_slice text = hd_view_bytes(view, row);

    for (size_t i = 0; i < step->avro->n_symbols; i++) {
        if (hd_slice_equal(text, hd_slice_text(step->avro->symbols[i])))
            return put_long(r, (int64_t)i);
    }
    return misfit(r, step, view, row);
}

static int hex_digit(uint8_t c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static hudi_status put_uuid(struct run *r, const struct hd_avro_put *step,
                            const struct hd_view *view, int64_t row)
{
    const struct hd_slice text = hd_view_bytes(view, row);
    uint8_t bytes[16];
    size_t at = 0, n = 0;

    while (text.size == 36 && at < text.size && n < sizeof bytes) {
        if (at == 8 || at == 13 || at == 18 || at == 23) {
            if (text.data[at++] != '-')
                break;
        }
        const int high = hex_digit(text.data[at]), low = hex_digit(text.data[at + 1]);
        if (high < 0 || low < 0)
            break;
        bytes[n++] = (uint8_t)(high << 4 | low);
        at += 2;
    }
    return n == sizeof bytes ? put_raw(r, bytes, n) : misfit(r, step, view, row);
}

/* Big-endian two's complement; on bytes as short as it can be, on fixed of its size. */
static hudi_status put_decimal(struct run *r, const struct hd_avro_put *step, hd_int128 value,
                               const struct hd_view *view, int64_t row)
{
    uint8_t bytes[16];
    size_t first = 0;

    if (!hd_decimal_fits(value, step->to.precision))
        return misfit(r, step, view, row);
    hd_uint128 rest = (hd_uint128)value;
    for (size_t i = sizeof bytes; i-- > 0; rest >>= 8)
        bytes[i] = (uint8_t)rest;
    const uint8_t sign = value < 0 ? 0xff : 0;
    while (first + 1 < sizeof bytes && bytes[first] == sign &&
           ((bytes[first + 1] ^ sign) & 0x80) == 0)
        first++;
    const size_t n = sizeof bytes - first;
    if (step->avro->type == HD_AVRO_BYTES)
        return put_bytes(r, hd_slice_of(bytes + first, n));
    const size_t width = step->avro->fixed_bytes;
    if (n > width)
        return misfit(r, step, view, row);
    HD_TRY(room(r, width));
    memset(r->at, sign, width - n);
    memcpy(r->at + width - n, bytes + first, n);
    r->at += width;
    return HUDI_OK;
}

/* A time or timestamp in another unit, when nothing is lost. */
static bool exact_time(int64_t value, const struct hd_type *from, const struct hd_type *to,
                       int64_t *out)
{
    const int64_t per_second = hd_units_per_second(from->unit);
    const int64_t wanted = hd_units_per_second(to->unit);

    if (wanted >= per_second)
        return !__builtin_mul_overflow(value, wanted / per_second, out);
    *out = value / (per_second / wanted);
    return value % (per_second / wanted) == 0;
}

static hudi_status put_converted(struct run *r, const struct hd_avro_put *step,
                                 const struct hd_view *view, int64_t row)
{
    struct hd_view from = *view;
    float single;
    double real;
    int64_t integer;
    hd_int128 decimal;

    from.type = step->from;
    switch (step->to.id) {
    case HD_TYPE_FLOAT:
        if (!hd_cast_value_to_float(&from, row, &single))
            return misfit(r, step, view, row);
        return put_raw(r, &single, sizeof single);
    case HD_TYPE_DOUBLE:
        if (!hd_cast_value_to_double(&from, row, &real))
            return misfit(r, step, view, row);
        return put_raw(r, &real, sizeof real);
    case HD_TYPE_DECIMAL:
        if (!hd_decimal_rescale(hd_decimal_load(hd_view_bytes(view, row).data), step->from.scale,
                                step->to.scale, step->to.precision, HD_ROUND_EXACT, &decimal))
            return misfit(r, step, view, row);
        return put_decimal(r, step, decimal, view, row);
    case HD_TYPE_TIME:
    case HD_TYPE_TIMESTAMP:
        if (!exact_time(hd_view_integer(view, row), &step->from, &step->to, &integer))
            return misfit(r, step, view, row);
        break;
    default:
        integer = hd_view_integer(&from, row);
        break;
    }
    if (step->avro->type == HD_AVRO_INT && (integer < INT32_MIN || integer > INT32_MAX))
        return misfit(r, step, view, row);
    return put_long(r, integer);
}

/* ---- the loop -------------------------------------------------------------------------------- */

static hudi_status put_list(struct run *r, const struct hd_avro_put *step,
                            const struct hd_view *view, int64_t row)
{
    const uint32_t first = (uint32_t)(step - r->e->steps) + 1;
    int64_t n;
    const int64_t start = hd_view_list(view, row, &n);

    if (n > 0) {
        HD_TRY(put_long(r, n));
        for (int64_t i = 0; i < n; i++)
            HD_TRY(put_steps(r, first, step->end, start + i));
    }
    return put_long(r, 0);
}

static hudi_status put_value(struct run *r, const struct hd_avro_put *step,
                             const struct hd_view *view, int64_t row)
{
    switch ((enum hd_avro_put_code)step->code) {
    case PUT_BOOL:
        HD_TRY(room(r, 1));
        *r->at++ = hd_view_bool(view, row);
        return HUDI_OK;
    case PUT_INT32:
        return put_long(r, hd_view_i32(view, row));
    case PUT_INT64:
        return put_long(r, hd_view_i64(view, row));
    case PUT_FLOAT:
        return put_raw(r, (const float *)view->values + view->offset + row, sizeof(float));
    case PUT_DOUBLE:
        return put_raw(r, (const double *)view->values + view->offset + row, sizeof(double));
    case PUT_TEXT:
        return put_bytes(r, hd_view_bytes(view, row));
    case PUT_FIXED: {
        const struct hd_slice bytes = hd_view_bytes(view, row);
        return put_raw(r, bytes.data, bytes.size);
    }
    case PUT_ENUM:
        return put_symbol(r, step, view, row);
    case PUT_UUID:
        return put_uuid(r, step, view, row);
    case PUT_DECIMAL:
    case PUT_DECIMAL_FIXED:
        return put_decimal(r, step, hd_decimal_load(hd_view_bytes(view, row).data), view, row);
    case PUT_LIST:
    case PUT_MAP:
        return put_list(r, step, view, row);
    case PUT_CONVERT:
        return put_converted(r, step, view, row);
    case PUT_CONSTANT:
    case PUT_NULL:
    case PUT_RECORD:
        break;
    }
    return HUDI_OK;
}

static hudi_status put_null(struct run *r, const struct hd_avro_put *step)
{
    if (step->null_branch == HD_AVRO_NO_BYTES)
        return HUDI_OK;
    if (step->null_branch == HD_AVRO_REFUSED)
        return hd_fail(r->op, HUDI_INVALID,
                       "column %s row %" PRId64 " is null, which its Avro field does not take",
                       step->path, r->row);
    return put_long(r, step->null_branch);
}

static hudi_status put_steps(struct run *r, uint32_t at, uint32_t end, int64_t row)
{
    while (at < end) {
        const struct hd_avro_put *const step = &r->e->steps[at];

        if (step->code == PUT_CONSTANT) {
            HD_TRY(put_raw(r, step->constant.data, step->constant.size));
            at++;
            continue;
        }
        const struct hd_view *const view = r->e->views[step->view];
        if (hd_view_is_null(view, row)) {
            HD_TRY(put_null(r, step));
            at = step->end;
            continue;
        }
        if (step->branch >= 0)
            HD_TRY(put_long(r, step->branch));
        HD_TRY(put_value(r, step, view, row));
        at = step->code == PUT_RECORD ? at + 1 : step->end;
    }
    return HUDI_OK;
}

/* ---- records --------------------------------------------------------------------------------- */

static void put_length(struct run *r, size_t record, size_t size)
{
    uint8_t *at = (uint8_t *)r->out->data + record;

    for (unsigned i = 0; i < LENGTH_BYTES; i++)
        at[i] = (uint8_t)(size >> (8 * (LENGTH_BYTES - 1 - i)));
}

static hudi_status put_record(struct run *r, bool with_length)
{
    HD_TRY(room(r, LENGTH_BYTES));
    const size_t record = (size_t)((char *)r->at - r->out->data);
    if (with_length)
        r->at += LENGTH_BYTES;
    HD_TRY(put_steps(r, 0, (uint32_t)r->e->n_steps, r->row));
    const size_t size = (size_t)((char *)r->at - r->out->data) - record;
    if (!with_length)
        return HUDI_OK;
    if (size - LENGTH_BYTES > INT32_MAX)
        return hd_fail(r->op, HUDI_INVALID, "row %" PRId64 " takes %zu bytes as an Avro record",
                       r->row, size - LENGTH_BYTES);
    put_length(r, record, size - LENGTH_BYTES);
    return HUDI_OK;
}

/* Open the batch and find each slot's column in it. */
static hudi_status open_batch(struct hd_op *op, hd_avro_encoder *e, const struct ArrowArray *batch)
{
    struct hd_view *root;

    hd_arena_reset(&e->batch_arena);
    HD_TRY(hd_arena_alloc(op, &e->batch_arena, sizeof *root, &root));
    HD_TRY(hd_view_open(op, &e->batch_arena, &e->rows, batch, root));
    e->views[0] = root;
    for (size_t i = 1; i < e->n_slots; i++)
        e->views[i] = &e->views[e->slots[i].parent]->children[e->slots[i].child];
    return HUDI_OK;
}

static hudi_status put_records(struct run *r, const int64_t *rows, int64_t n, bool with_lengths)
{
    const int64_t n_rows = r->e->views[0]->length;

    for (int64_t i = 0; i < n; i++) {
        r->row = rows == NULL ? i : rows[i];
        if (r->row < 0 || r->row >= n_rows)
            return hd_fail(r->op, HUDI_INVALID, "row %" PRId64 " of a batch of %" PRId64, r->row,
                           n_rows);
        HD_TRY(put_record(r, with_lengths));
    }
    return HUDI_OK;
}

hudi_status hd_avro_encoder_add(struct hd_op *op, hd_avro_encoder *encoder,
                                const struct ArrowArray *batch, const int64_t *rows, int64_t n,
                                bool with_lengths, struct hd_str *out)
{
    const size_t before = out->size;
    struct run r = {.op = op, .e = encoder, .out = out};

    HD_TRY(open_batch(op, encoder, batch));
    hudi_status status = grow(&r, LENGTH_BYTES);
    if (status == HUDI_OK)
        status = put_records(&r, rows, n, with_lengths);
    sync_out(&r);
    if (status != HUDI_OK)
        out->size = before;
    if (out->data != NULL)
        out->data[out->size] = '\0';
    return status;
}

/* ---- life ------------------------------------------------------------------------------------ */

hudi_status hd_avro_encoder_new(struct hd_op *op, const struct ArrowSchema *rows,
                                const struct hd_avro_schema *writer, hd_avro_encoder **out)
{
    hd_avro_encoder *e = NULL;
    hudi_status status;

    *out = NULL;
    HD_TRY(hd_alloc(op, sizeof *e, &e));
    HD_TRY_OUT(hd_schema_copy(op, rows, &e->rows));
    HD_TRY_OUT(hd_avro_encoder_compile(op, writer, e));
    HD_TRY_OUT(hd_alloc_array(op, e->n_slots, sizeof(void *), &e->views));
    *out = e;
    return HUDI_OK;
out:
    hd_avro_encoder_free(op, e);
    return status;
}

void hd_avro_encoder_free(struct hd_op *op, hd_avro_encoder *encoder)
{
    if (encoder == NULL)
        return;
    hd_schema_clear(&encoder->rows);
    hd_free(op, encoder->steps);
    hd_free(op, encoder->slots);
    hd_free(op, encoder->views);
    hd_arena_clear(&encoder->arena);
    hd_arena_clear(&encoder->batch_arena);
    hd_free(op, encoder);
}
