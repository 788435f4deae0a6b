/* SPDX-License-Identifier: Apache-2.0 */
#include "arrow/avro_decoder.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "arrow/array.h"
#include "arrow/avro_decoder_internal.h"
#include "arrow/schema.h"
#include "base/utf8.h"
#include "codec/avro.h"

/*
 * Runs programs (see avro_decoder_internal.h).
 *
 * Invariants
 *  1. Between records every builder below the root struct has as many rows as the root. A record
 *     that fails is taken back by hd_builder_truncate().
 *  2. Steps write in place: room for the rows of a batch and of a block of items is made before.
 *     The root's columns grow together, by doubling, and so do those of a list's items.
 *  3. Nothing is read behind the input's end, and nothing that is allocated is larger than what
 *     the bytes that are there can fill, but for MIN_ROWS.
 */

#define MIN_ROWS 64
#define ITEMS_AT_ONCE 4096 /* of a list, that room is made for ahead of them */
#define MAX_FIRST_ROWS 65536
#define MAX_ZERO_ITEMS 1024 /* items without bytes in one block of a list */
#define SHORT_TEXT 16       /* copied as a whole */

struct run {
    struct hd_op *op;
    struct hd_avro_decoder *d;
    int64_t row;
    bool grown; /* memory was asked for */
};

static hudi_status run_steps(struct run *r, struct hd_avro_input *in, uint32_t at, uint32_t end);

/* ---- values ---------------------------------------------------------------------------------- */

static inline hudi_status put_int(struct run *r, const struct hd_avro_step *step,
                                  struct hd_avro_input *in)
{
    hd_builder *const b = step->to;
    int64_t value;

    if (!hd_avro_input_long(in, &value) || value < INT32_MIN || value > INT32_MAX)
        return hd_avro_step_corrupt(r->op, step, in, "no int");
    ((int32_t *)(uintptr_t)b->values)[b->length] = (int32_t)value;
    hd_builder_close_valid(b);
    return HUDI_OK;
}

static inline hudi_status put_long(struct run *r, const struct hd_avro_step *step,
                                   struct hd_avro_input *in, bool narrow)
{
    hd_builder *const b = step->to;
    int64_t value;

    if (!hd_avro_input_long(in, &value) || (narrow && (value < INT32_MIN || value > INT32_MAX)))
        return hd_avro_step_corrupt(r->op, step, in, narrow ? "no int" : "no long");
    ((int64_t *)(uintptr_t)b->values)[b->length] = value;
    hd_builder_close_valid(b);
    return HUDI_OK;
}

static inline hudi_status put_bool(struct run *r, const struct hd_avro_step *step,
                                   struct hd_avro_input *in)
{
    hd_builder *const b = step->to;

    if (in->at == in->end || *in->at > 1)
        return hd_avro_step_corrupt(r->op, step, in, "no boolean");
    uint8_t *byte = &b->values[b->length >> 3];
    const unsigned bit = 1u << (b->length & 7);
    *byte = (uint8_t)(*in->at++ != 0 ? *byte | bit : *byte & ~bit);
    hd_builder_close_valid(b);
    return HUDI_OK;
}

/* Values of fixed width, as they lie in the record. */
static inline hudi_status put_raw(struct run *r, const struct hd_avro_step *step,
                                  struct hd_avro_input *in, uint64_t width)
{
    hd_builder *const b = step->to;
    const uint8_t *bytes;

    if (!hd_avro_input_take(in, width, &bytes))
        return hd_avro_step_corrupt(r->op, step, in, "value is cut short");
    if (width > 0)
        memcpy(b->values + (uint64_t)b->length * width, bytes, width);
    hd_builder_close_valid(b);
    return HUDI_OK;
}

static inline void close_text(hd_builder *b, size_t size)
{
    b->data_bytes += size;
    ((int32_t *)(uintptr_t)b->values)[b->length + 1] = (int32_t)b->data_bytes;
    hd_builder_close_valid(b);
}

static hudi_status grow_data(struct run *r, const struct hd_avro_step *step, uint64_t n_bytes)
{
    if (n_bytes > INT32_MAX - step->to->data_bytes)
        return hd_fail(r->op, HUDI_INVALID,
                       "column %s: %" PRIu64 " bytes and %" PRIu64 " more do not fit one batch",
                       step->path, step->to->data_bytes, n_bytes);
    r->grown = true;
    return hd_builder_grow_data(r->op, step->to, n_bytes);
}

static inline hudi_status append_text(struct run *r, const struct hd_avro_step *step,
                                      struct hd_slice text)
{
    hd_builder *const b = step->to;

    if (text.size > b->data_capacity - b->data_bytes)
        HD_TRY(grow_data(r, step, text.size));
    if (text.size > 0)
        memcpy(b->data + b->data_bytes, text.data, text.size);
    close_text(b, text.size);
    return HUDI_OK;
}

/* Texts are mostly short and ASCII: 16 bytes are copied, and looked at, at once. */
static inline hudi_status put_text(struct run *r, const struct hd_avro_step *step,
                                   struct hd_avro_input *in, bool check)
{
    static const uint64_t HIGH_BITS = UINT64_C(0x8080808080808080);
    hd_builder *const b = step->to;
    struct hd_slice text;

    if (!hd_avro_input_bytes(in, &text))
        return hd_avro_step_corrupt(r->op, step, in, "text is cut short");
    if (text.size <= SHORT_TEXT && SHORT_TEXT <= b->data_capacity - b->data_bytes &&
        SHORT_TEXT <= in->end - text.data) {
        uint64_t words[2];
        memcpy(words, text.data, sizeof words);
        memcpy(b->data + b->data_bytes, words, sizeof words);
        const uint64_t high = (words[0] | words[1]) & HIGH_BITS;
        if (check && high != 0 && !hd_utf8_valid(text))
            return hd_avro_step_corrupt(r->op, step, in, "text is not UTF-8");
        close_text(b, text.size);
        return HUDI_OK;
    }
    if (check && !hd_utf8_valid(text))
        return hd_avro_step_corrupt(r->op, step, in, "text is not UTF-8");
    return append_text(r, step, text);
}

static hudi_status put_symbol(struct run *r, const struct hd_avro_step *step,
                              struct hd_avro_input *in)
{
    int64_t symbol;

    if (!hd_avro_input_long(in, &symbol) || symbol < 0 || (uint64_t)symbol >= step->avro->n_symbols)
        return hd_avro_step_corrupt(r->op, step, in, "no symbol of the enum");
    return append_text(r, step, step->u.symbols[symbol]);
}

static hudi_status put_decimal(struct run *r, const struct hd_avro_step *step,
                               struct hd_avro_input *in, bool fixed)
{
    hd_builder *const b = step->to;
    struct hd_slice bytes = {NULL, (size_t)step->u.n_bytes};
    hd_int128 value;

    if (!(fixed ? hd_avro_input_take(in, bytes.size, &bytes.data)
                : hd_avro_input_bytes(in, &bytes)) ||
        bytes.size == 0)
        return hd_avro_step_corrupt(r->op, step, in, "no decimal");
    if (!hd_avro_decimal_load(bytes, &value) || !hd_decimal_fits(value, b->type.precision))
        return hd_fail(r->op, HUDI_INVALID, "column %s: a decimal of more than %d digits",
                       step->path, (int)b->type.precision);
    hd_decimal_store(b->values + (uint64_t)b->length * 16, value);
    hd_builder_close_valid(b);
    return HUDI_OK;
}

/* ---- nulls ----------------------------------------------------------------------------------- */

static hudi_status put_null(struct run *r, const struct hd_avro_step *step)
{
    hd_builder *const b = step->to;

    if (b == NULL) /* passed over */
        return HUDI_OK;
    if (!step->nullable)
        return hd_fail(r->op, HUDI_INVALID, "column %s is null in row %" PRId64 " and takes none",
                       step->path, r->row);
    if (b->validity == NULL || b->n_children > 0) {
        r->grown = r->grown || (b->validity == NULL && b->type.id != HD_TYPE_NULL);
        return hd_builder_append_null(r->op, b);
    }
    /* what is behind the last row is 0: no bit to set */
    if (b->type.id == HD_TYPE_STRING || b->type.id == HD_TYPE_BINARY)
        ((int32_t *)(uintptr_t)b->values)[b->length + 1] = (int32_t)b->data_bytes;
    else if (b->width > 0)
        memset(b->values + (uint64_t)b->length * b->width, 0, b->width);
    b->null_count++;
    b->length++;
    return HUDI_OK;
}

/* Read the position in a union with null; `*null` when it is that. */
static inline hudi_status take_null(struct run *r, const struct hd_avro_step *step,
                                    struct hd_avro_input *in, bool *null)
{
    int64_t branch;

    if (in->at < in->end && *in->at <= 2) { /* 0 and 2: the positions 0 and 1 */
        if ((*in->at & 1) == 0) {
            *null = *in->at++ >> 1 == step->null_branch;
            return HUDI_OK;
        }
    } else if (hd_avro_input_long(in, &branch) && (branch == 0 || branch == 1)) {
        *null = branch == step->null_branch;
        return HUDI_OK;
    }
    return hd_avro_step_corrupt(r->op, step, in, "no branch of the union");
}

/* ---- parts ----------------------------------------------------------------------------------- */

/* Header of a block of items, 0 at the end. */
static hudi_status take_block(struct run *r, const struct hd_avro_step *step,
                              struct hd_avro_input *in, uint64_t *n_items)
{
    const uint64_t least = step->u.item_min_bytes;
    const struct hd_avro_input start = *in;
    int64_t count, size;

    if (!hd_avro_input_long(in, &count))
        return hd_avro_step_corrupt(r->op, step, &start, "no count of items");
    *n_items = count < 0 ? 0 - (uint64_t)count : (uint64_t)count;
    uint64_t left = (uint64_t)(in->end - in->at);
    if (count < 0) {
        if (!hd_avro_input_long(in, &size) || size < 0 || size > in->end - in->at)
            return hd_avro_step_corrupt(r->op, step, &start, "no size of items");
        left = (uint64_t)size;
    }
    if (least == 0 ? *n_items > MAX_ZERO_ITEMS : *n_items > left / least)
        return hd_avro_step_corrupt(r->op, step, &start, "more items than bytes");
    return HUDI_OK;
}

/* Room for `n` items more, twice as many as there are when there is none. */
static hudi_status room_for_items(struct run *r, hd_builder *items, uint64_t n)
{
    const int64_t left = items->reserved_rows - items->length;

    if (left >= (int64_t)n)
        return HUDI_OK;
    r->grown = true;
    return hd_builder_reserve(r->op, items,
                              (int64_t)n > items->length ? (int64_t)n : items->length);
}

static hudi_status put_list(struct run *r, const struct hd_avro_step *step, uint32_t at,
                            struct hd_avro_input *in)
{
    hd_builder *const b = step->to;
    const uint32_t end = step->end;
    uint64_t n = 0;

    for (;;) {
        HD_TRY(take_block(r, step, in, &n));
        if (n == 0)
            break;
        for (uint64_t done = 0; done < n;) {
            const uint64_t part = n - done < ITEMS_AT_ONCE ? n - done : ITEMS_AT_ONCE;
            if (b->children[0]->length > INT32_MAX - ITEMS_AT_ONCE)
                return hd_fail(r->op, HUDI_INVALID,
                               "column %s: more than 2^31 items do not fit one batch", step->path);
            for (int64_t i = 0; i < b->n_children; i++)
                HD_TRY(room_for_items(r, b->children[i], part));
            for (uint64_t i = 0; i < part; i++)
                HD_TRY(run_steps(r, in, at + 1, end));
            done += part;
        }
    }
    ((int32_t *)(uintptr_t)b->values)[b->length + 1] = (int32_t)b->children[0]->length;
    hd_builder_close_valid(b);
    return HUDI_OK;
}

static hudi_status run_constant(struct run *r, const struct hd_avro_step *step, uint32_t at)
{
    const struct hd_slice bytes = step->u.constant;
    struct hd_avro_input in = {bytes.data, bytes.data + bytes.size, bytes.data, 0};

    return run_steps(r, &in, at + 1, step->end);
}

static hudi_status refuse(struct run *r, const struct hd_avro_step *step)
{
    struct hd_str type = {0};
    hudi_status status = hd_type_describe(r->op, step->wanted, &type);

    if (status == HUDI_OK)
        status =
            hd_fail(r->op, HUDI_INVALID,
                    "column %s row %" PRId64 ": the branch %s of the union does not fit %s",
                    step->path, r->row, hd_avro_type_name(step->avro->type), hd_str_text(&type));
    hd_str_clear(&type);
    return status;
}

static hudi_status skip_value(struct run *r, const struct hd_avro_step *step,
                              struct hd_avro_input *in)
{
    struct hd_cursor cursor = hd_cursor_over(in->at, (size_t)(in->end - in->at),
                                             in->file_offset + (uint64_t)(in->at - in->start));

    hudi_status status = hd_avro_skip(r->op, step->avro, &cursor);
    if (status != HUDI_OK) {
        hudi_error *why = hd_op_take_error(r->op);
        status = hd_fail(r->op, status, "column %s: %s", step->path, hudi_error_message(why));
        hudi_error_free(why);
    }
    in->at = cursor.at;
    return status;
}

static hudi_status run_union(struct run *r, const struct hd_avro_step *step,
                             struct hd_avro_input *in, uint32_t *at)
{
    int64_t branch;

    if (!hd_avro_input_long(in, &branch) || branch < 0 ||
        (uint64_t)branch >= step->avro->n_branches)
        return hd_avro_step_corrupt(r->op, step, in, "no branch of the union");
    *at = step->u.branches[branch];
    return HUDI_OK;
}

/* ---- the loop -------------------------------------------------------------------------------- */

static inline hudi_status skip_plain(struct run *r, const struct hd_avro_step *step,
                                     struct hd_avro_input *in)
{
    struct hd_slice bytes;
    const uint8_t *taken;
    int64_t number;
    bool there;

    switch (step->code) {
    case DO_SKIP_LONG:
        there = hd_avro_input_long(in, &number);
        break;
    case DO_SKIP_BYTES:
        there = hd_avro_input_bytes(in, &bytes);
        break;
    default:
        there = hd_avro_input_take(in, step->u.n_bytes, &taken);
        break;
    }
    return there ? HUDI_OK : hd_avro_step_corrupt(r->op, step, in, "value is cut short");
}

static hudi_status convert(struct run *r, const struct hd_avro_step *step, struct hd_avro_input *in)
{
    const uint64_t capacity = step->to->data_capacity;
    const hudi_status status = hd_avro_step_convert(r->op, step, in, r->row);

    r->grown = r->grown || step->to->data_capacity != capacity;
    return status;
}

static inline hudi_status put_value(struct run *r, const struct hd_avro_step *step,
                                    struct hd_avro_input *in)
{
    switch (step->code) {
    case DO_BOOL:
        return put_bool(r, step, in);
    case DO_INT:
        return put_int(r, step, in);
    case DO_LONG:
        return put_long(r, step, in, false);
    case DO_INT_TO_LONG:
        return put_long(r, step, in, true);
    case DO_FLOAT:
        return put_raw(r, step, in, 4);
    case DO_DOUBLE:
        return put_raw(r, step, in, 8);
    case DO_STRING:
        return put_text(r, step, in, true);
    case DO_BYTES:
        return put_text(r, step, in, false);
    case DO_FIXED:
        return put_raw(r, step, in, step->u.n_bytes);
    case DO_ENUM:
        return put_symbol(r, step, in);
    case DO_DECIMAL:
        return put_decimal(r, step, in, false);
    case DO_DECIMAL_FIXED:
        return put_decimal(r, step, in, true);
    case DO_CONVERT:
        return convert(r, step, in);
    case DO_NULL:
        return put_null(r, step);
    case DO_SKIP:
        return skip_value(r, step, in);
    default:
        return skip_plain(r, step, in);
    }
}

static hudi_status run_steps(struct run *r, struct hd_avro_input *outer, uint32_t at, uint32_t end)
{
    const struct hd_avro_step *const steps = r->d->steps;
    struct hd_avro_input in = *outer;

    while (at < end) {
        const struct hd_avro_step *const step = &steps[at];
        bool null = false;

        if (step->null_branch != HD_AVRO_NOT_NULLABLE) {
            HD_TRY(take_null(r, step, &in, &null));
            if (null) {
                HD_TRY(put_null(r, step));
                at = step->end;
                continue;
            }
        }
        switch (step->code) {
        case DO_OPEN:
            at++;
            break;
        case DO_CLOSE:
            hd_builder_close_valid(step->to);
            at++;
            break;
        case DO_LIST:
        case DO_MAP:
            HD_TRY(put_list(r, step, at, &in));
            at = step->end;
            break;
        case DO_UNION:
            HD_TRY(run_union(r, step, &in, &at));
            break;
        case DO_JUMP:
            at = step->end;
            break;
        case DO_CONSTANT:
            HD_TRY(run_constant(r, step, at));
            at = step->end;
            break;
        case DO_REFUSE:
            return refuse(r, step);
        default:
            HD_TRY(put_value(r, step, &in));
            at++;
            break;
        }
    }
    *outer = in;
    return HUDI_OK;
}

/* ---- records --------------------------------------------------------------------------------- */

/* Room for one row more in the root's columns. */
static hudi_status room_for_row(struct run *r)
{
    hd_builder *const root = r->d->root;

    if (root->length < root->reserved_rows)
        return HUDI_OK;
    const int64_t n = root->length > 0 ? root->length : r->d->first_rows;
    r->grown = true;
    return hd_builder_reserve(r->op, root, n);
}

static hudi_status add_record(struct hd_op *op, hd_avro_decoder *d, struct hd_avro_input *in)
{
    struct run r = {.op = op, .d = d, .row = d->root->length};

    hudi_status status = room_for_row(&r);
    if (status == HUDI_OK) {
        status = run_steps(&r, in, 0, (uint32_t)d->n_steps);
        if (status == HUDI_OK)
            hd_builder_close_valid(d->root);
        else
            hd_builder_truncate(d->root, r.row);
    }
    if (r.grown)
        d->bytes = hd_builder_bytes(d->root);
    return status;
}

hudi_status hd_avro_decoder_add(struct hd_op *op, hd_avro_decoder *decoder, struct hd_slice record)
{
    struct hd_avro_input in = {record.data, record.data + record.size, record.data, 0};

    return add_record(op, decoder, &in);
}

hudi_status hd_avro_decoder_take(struct hd_op *op, hd_avro_decoder *decoder, struct hd_cursor *in)
{
    struct hd_avro_input input = {in->at, in->end, in->start, in->file_offset};

    HD_TRY(add_record(op, decoder, &input));
    in->at = input.at;
    return HUDI_OK;
}

int64_t hd_avro_decoder_n_rows(const hd_avro_decoder *decoder)
{
    return decoder->root->length;
}

uint64_t hd_avro_decoder_bytes(const hd_avro_decoder *decoder)
{
    return decoder->root->length == 0 ? 0 : decoder->bytes;
}

hudi_status hd_avro_decoder_finish(struct hd_op *op, hd_avro_decoder *decoder,
                                   struct ArrowArray *out)
{
    const int64_t n_rows = decoder->root->length;

    if (n_rows > decoder->first_rows)
        decoder->first_rows = n_rows < MAX_FIRST_ROWS ? n_rows : MAX_FIRST_ROWS;
    decoder->bytes = 0;
    return hd_builder_finish(op, decoder->root, out);
}

/* ---- life ------------------------------------------------------------------------------------ */

static hudi_status check_wanted(struct hd_op *op, const struct ArrowSchema *wanted)
{
    struct hd_type type;

    HD_TRY(hd_type_of(op, wanted, &type));
    if (type.id != HD_TYPE_STRUCT)
        return hd_fail(op, HUDI_INVALID, "rows are wanted as \"%s\", not as a struct",
                       wanted->format);
    return HUDI_OK;
}

hudi_status hd_avro_decoder_new_with(struct hd_op *op, const struct hd_avro_schema *writer,
                                     const struct ArrowSchema *wanted,
                                     const struct hd_avro_decoder_options *options,
                                     hd_avro_decoder **out)
{
    static const struct hd_avro_decoder_options none = {0};
    hd_avro_decoder *d = NULL;
    hudi_status status;

    *out = NULL;
    HD_TRY(check_wanted(op, wanted));
    HD_TRY(hd_alloc(op, sizeof *d, &d));
    d->first_rows = MIN_ROWS;
    HD_TRY_OUT(hd_schema_copy(op, wanted, &d->wanted));
    HD_TRY_OUT(hd_builder_new(op, &d->wanted, &d->root));
    HD_TRY_OUT(hd_avro_decoder_compile(op, writer, options == NULL ? &none : options, d));
    *out = d;
    return HUDI_OK;
out:
    hd_avro_decoder_free(op, d);
    return status;
}

hudi_status hd_avro_decoder_new(struct hd_op *op, const struct hd_avro_schema *writer,
                                const struct ArrowSchema *wanted, hd_avro_decoder **out)
{
    return hd_avro_decoder_new_with(op, writer, wanted, NULL, out);
}

void hd_avro_decoder_free(struct hd_op *op, hd_avro_decoder *decoder)
{
    if (decoder == NULL)
        return;
    hd_builder_free(decoder->root);
    hd_schema_clear(&decoder->wanted);
    hd_free(op, decoder->steps);
    hd_arena_clear(&decoder->arena);
    hd_free(op, decoder);
}
