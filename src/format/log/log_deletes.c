/* SPDX-License-Identifier: Apache-2.0 */

#include "format/log/log_deletes.h"

#include <inttypes.h>
#include <string.h>

#include "arrow/decimal.h"
#include "codec/avro.h"
#include "format/log/log_deletes_internal.h"
#include "format/log/log_internal.h"

#define HEAD_BYTES 8
#define KRYO_KEYS 1
#define KRYO_RECORDS 2
#define AVRO_LIST 3

const char *hd_ordering_type_name(enum hd_ordering_type type)
{
    static const char *const NAMES[] = {
        [HD_ORDERING_NONE] = "none",
        [HD_ORDERING_BOOLEAN] = "boolean",
        [HD_ORDERING_INT] = "int",
        [HD_ORDERING_LONG] = "long",
        [HD_ORDERING_FLOAT] = "float",
        [HD_ORDERING_DOUBLE] = "double",
        [HD_ORDERING_BYTES] = "bytes",
        [HD_ORDERING_STRING] = "string",
        [HD_ORDERING_DATE] = "date",
        [HD_ORDERING_DECIMAL] = "decimal",
        [HD_ORDERING_TIME_MICROS] = "time_micros",
        [HD_ORDERING_TIMESTAMP_MICROS] = "timestamp_micros",
        [HD_ORDERING_ARRAY] = "array",
    };

    return NAMES[type];
}

void hd_log_deletes_clear(struct hd_op *op, struct hd_log_deletes *deletes)
{
    hd_free(op, deletes->record_keys);
    hd_free(op, deletes->partition_paths);
    hd_free(op, deletes->ordering);
    hd_arena_clear(&deletes->arena);
    *deletes = (struct hd_log_deletes){0};
}

uint64_t hd_log_deletes_bytes(const struct hd_log_deletes *deletes)
{
    const uint64_t row = 2 * sizeof(struct hd_slice) +
                         (deletes->ordering != NULL ? sizeof(struct hd_ordering_value) : 0);

    return deletes->capacity * row + deletes->arena.total_bytes;
}

/* All columns have the same capacity, so that one number tells. */
static hudi_status make_room(struct hd_op *op, struct hd_log_deletes *deletes, bool with_ordering)
{
    size_t keys = deletes->capacity, paths = deletes->capacity, ordering = deletes->capacity;
    const size_t wanted = deletes->capacity < 16 ? 16 : deletes->capacity + deletes->capacity / 2;

    if (deletes->n < deletes->capacity)
        return HUDI_OK;
    HD_TRY(hd_grow(op, &deletes->record_keys, &keys, wanted, sizeof *deletes->record_keys));
    HD_TRY(
        hd_grow(op, &deletes->partition_paths, &paths, wanted, sizeof *deletes->partition_paths));
    if (with_ordering)
        HD_TRY(hd_grow(op, &deletes->ordering, &ordering, wanted, sizeof *deletes->ordering));
    deletes->capacity = wanted;
    return HUDI_OK;
}

hudi_status log_deletes_add(struct hd_op *op, struct hd_log_deletes *deletes, struct hd_slice key,
                            struct hd_slice partition_path,
                            const struct hd_ordering_value *ordering)
{
    HD_TRY(make_room(op, deletes, ordering != NULL));
    deletes->record_keys[deletes->n] = key;
    deletes->partition_paths[deletes->n] = partition_path;
    if (ordering != NULL)
        deletes->ordering[deletes->n] = *ordering;
    deletes->n++;
    return HUDI_OK;
}

/* ---- version 3: reading ------------------------------------------------------------------- */

static hudi_status read_union(struct hd_op *op, struct hd_cursor *in, bool *is_null)
{
    uint32_t branch;

    HD_TRY(hd_avro_read_index(op, in, 2, &branch));
    *is_null = branch == 0;
    return HUDI_OK;
}

static hudi_status read_text(struct hd_op *op, struct hd_cursor *in, struct hd_slice *out)
{
    bool is_null;

    *out = (struct hd_slice){0};
    HD_TRY(read_union(op, in, &is_null));
    return is_null ? HUDI_OK : hd_avro_read_bytes(op, in, out);
}

static hudi_status read_int(struct hd_op *op, struct hd_cursor *in, int64_t *out)
{
    int32_t value;

    HD_TRY(hd_avro_read_int(op, in, &value));
    *out = value;
    return HUDI_OK;
}

/* All branches but the array. */
static hudi_status read_wrapped(struct hd_op *op, struct hd_cursor *in, enum wrapper_branch branch,
                                struct hd_ordering_value *out)
{
    static const enum hd_ordering_type TYPES[N_WRAPPERS] = {
        [WRAPPER_NULL] = HD_ORDERING_NONE,
        [WRAPPER_BOOLEAN] = HD_ORDERING_BOOLEAN,
        [WRAPPER_INT] = HD_ORDERING_INT,
        [WRAPPER_LONG] = HD_ORDERING_LONG,
        [WRAPPER_FLOAT] = HD_ORDERING_FLOAT,
        [WRAPPER_DOUBLE] = HD_ORDERING_DOUBLE,
        [WRAPPER_BYTES] = HD_ORDERING_BYTES,
        [WRAPPER_STRING] = HD_ORDERING_STRING,
        [WRAPPER_DATE] = HD_ORDERING_DATE,
        [WRAPPER_DECIMAL] = HD_ORDERING_DECIMAL,
        [WRAPPER_TIME_MICROS] = HD_ORDERING_TIME_MICROS,
        [WRAPPER_TIMESTAMP_MICROS] = HD_ORDERING_TIMESTAMP_MICROS,
        [WRAPPER_LOCAL_DATE] = HD_ORDERING_DATE,
    };
    float f;
    bool b;

    *out = (struct hd_ordering_value){.type = TYPES[branch]};
    switch (out->type) {
    case HD_ORDERING_BOOLEAN:
        HD_TRY(hd_avro_read_boolean(op, in, &b));
        out->integer = b;
        return HUDI_OK;
    case HD_ORDERING_INT:
    case HD_ORDERING_DATE:
        return read_int(op, in, &out->integer);
    case HD_ORDERING_LONG:
    case HD_ORDERING_TIME_MICROS:
    case HD_ORDERING_TIMESTAMP_MICROS:
        return hd_avro_read_long(op, in, &out->integer);
    case HD_ORDERING_FLOAT:
        HD_TRY(hd_avro_read_float(op, in, &f));
        out->real = f;
        return HUDI_OK;
    case HD_ORDERING_DOUBLE:
        return hd_avro_read_double(op, in, &out->real);
    case HD_ORDERING_DECIMAL:
        out->scale = WRAPPED_DECIMAL_SCALE;
        return hd_avro_read_bytes(op, in, &out->bytes);
    case HD_ORDERING_BYTES:
    case HD_ORDERING_STRING:
        return hd_avro_read_bytes(op, in, &out->bytes);
    case HD_ORDERING_NONE:
    case HD_ORDERING_ARRAY:
        break;
    }
    return HUDI_OK;
}

/* Values gathered in the heap, then moved to the arena. */
static hudi_status read_items(struct hd_op *op, struct hd_cursor *in, struct hd_arena *arena,
                              struct hd_ordering_value *out)
{
    hudi_status status = HUDI_OK;
    struct hd_ordering_value *items = NULL, *kept;
    size_t n = 0, capacity = 0;
    uint64_t n_block;

    for (;;) {
        HD_TRY_OUT(hd_avro_read_block(op, in, 1, &n_block, NULL));
        if (n_block == 0)
            break;
        for (uint64_t i = 0; i < n_block; i++) {
            uint32_t branch;

            HD_TRY_OUT(hd_grow(op, &items, &capacity, n + 1, sizeof *items));
            HD_TRY_OUT(hd_avro_read_index(op, in, N_WRAPPERS, &branch));
            HD_TRY_OUT(read_wrapped(op, in, (enum wrapper_branch)branch, &items[n]));
            n++;
        }
    }
    HD_TRY_OUT(hd_arena_array(op, arena, n, sizeof *kept, &kept));
    if (n > 0)
        memcpy(kept, items, n * sizeof *kept);
    out->items = kept;
    out->n_items = n;
out:
    hd_free(op, items);
    return status;
}

static hudi_status read_ordering(struct hd_op *op, struct hd_cursor *in, struct hd_arena *arena,
                                 struct hd_ordering_value *out)
{
    uint32_t branch;
    bool is_null;

    HD_TRY(hd_avro_read_index(op, in, N_WRAPPERS, &branch));
    if (branch != WRAPPER_ARRAY)
        return read_wrapped(op, in, (enum wrapper_branch)branch, out);
    *out = (struct hd_ordering_value){.type = HD_ORDERING_NONE};
    HD_TRY(read_union(op, in, &is_null));
    if (is_null)
        return HUDI_OK;
    out->type = HD_ORDERING_ARRAY;
    return read_items(op, in, arena, out);
}

static hudi_status decode_avro(struct hd_op *op, struct hd_cursor in, struct hd_log_deletes *out)
{
    uint64_t n_block;

    for (;;) {
        HD_TRY(hd_avro_read_block(op, &in, 3, &n_block, NULL));
        if (n_block == 0)
            return HUDI_OK;
        for (uint64_t i = 0; i < n_block; i++) {
            struct hd_slice key, path;
            struct hd_ordering_value ordering;

            HD_TRY(read_text(op, &in, &key));
            HD_TRY(read_text(op, &in, &path));
            HD_TRY(read_ordering(op, &in, &out->arena, &ordering));
            HD_TRY(log_deletes_add(op, out, key, path, &ordering));
        }
    }
}

hudi_status hd_log_deletes_decode(struct hd_op *op, struct hd_slice content, uint64_t file_offset,
                                  struct hd_log_deletes *out)
{
    hudi_status status = HUDI_OK;
    struct hd_cursor in = hd_cursor_over(content.data, content.size, file_offset), data;
    struct hd_log_deletes deletes = {0};
    uint32_t n_bytes;

    *out = (struct hd_log_deletes){0};
    HD_TRY(hd_cursor_u32be(op, &in, &deletes.version));
    if (deletes.version < 1 || deletes.version > HD_LOG_MAX_CONTENT_VERSION)
        return hd_fail(op, HUDI_NOT_IMPLEMENTED,
                       "delete block at byte %" PRIu64 " has content version %" PRIu32, file_offset,
                       deletes.version);
    HD_TRY(hd_cursor_u32be(op, &in, &n_bytes));
    HD_TRY(hd_cursor_sub(op, &in, n_bytes, &data));
    HD_TRY_OUT(deletes.version == AVRO_LIST ? decode_avro(op, data, &deletes)
                                            : log_deletes_decode_kryo(op, data, &deletes));
    *out = deletes;
    deletes = (struct hd_log_deletes){0};
out:
    hd_log_deletes_clear(op, &deletes);
    return status;
}

/* ---- writing ------------------------------------------------------------------------------ */

static hudi_status write_text(struct hd_op *op, struct hd_slice text, struct hd_str *out)
{
    HD_TRY(hd_avro_write_long(op, out, 1));
    return hd_avro_write_bytes(op, out, text);
}

static hudi_status write_decimal(struct hd_op *op, const struct hd_ordering_value *value,
                                 struct hd_str *out)
{
    hd_int128 number = 0;
    uint8_t bytes[sizeof number];
    size_t n = 0;

    if (value->bytes.size > sizeof number)
        return hd_fail(op, HUDI_INVALID, "an ordering value has more than 38 digits");
    if (value->bytes.size > 0 && value->bytes.data[0] & 0x80)
        number = -1;
    for (size_t i = 0; i < value->bytes.size; i++)
        number = (hd_int128)((hd_uint128)number << 8 | value->bytes.data[i]);
    if (!hd_decimal_rescale(number, value->scale, WRAPPED_DECIMAL_SCALE, WRAPPED_DECIMAL_PRECISION,
                            HD_ROUND_EXACT, &number))
        return hd_fail(op, HUDI_INVALID,
                       "an ordering value of scale %" PRId32 " does not fit decimal(%d,%d)",
                       value->scale, WRAPPED_DECIMAL_PRECISION, WRAPPED_DECIMAL_SCALE);
    /* As short as two's complement can be. */
    for (;;) {
        n++;
        bytes[sizeof bytes - n] = (uint8_t)number;
        const hd_int128 rest = number >> 8;
        if (rest == ((number & 0x80) != 0 ? -1 : 0))
            break;
        number = rest;
    }
    return hd_avro_write_bytes(op, out, hd_slice_of(bytes + sizeof bytes - n, n));
}

static hudi_status write_wrapped(struct hd_op *op, const struct hd_ordering_value *value,
                                 bool in_array, struct hd_str *out);

static hudi_status write_array(struct hd_op *op, const struct hd_ordering_value *value,
                               struct hd_str *out)
{
    HD_TRY(hd_avro_write_long(op, out, WRAPPER_ARRAY));
    HD_TRY(hd_avro_write_long(op, out, 1));
    if (value->n_items > 0)
        HD_TRY(hd_avro_write_long(op, out, (int64_t)value->n_items));
    for (size_t i = 0; i < value->n_items; i++)
        HD_TRY(write_wrapped(op, &value->items[i], true, out));
    return hd_avro_write_long(op, out, 0);
}

/* Branches in which the value is a long or an int. */
static hudi_status write_integer(struct hd_op *op, enum wrapper_branch branch, int64_t value,
                                 struct hd_str *out)
{
    HD_TRY(hd_avro_write_long(op, out, (int64_t)branch));
    return hd_avro_write_long(op, out, value);
}

static hudi_status write_wrapped(struct hd_op *op, const struct hd_ordering_value *value,
                                 bool in_array, struct hd_str *out)
{
    switch (value->type) {
    case HD_ORDERING_NONE:
        return in_array ? hd_avro_write_long(op, out, WRAPPER_NULL)
                        : write_integer(op, WRAPPER_INT, 0, out);
    case HD_ORDERING_BOOLEAN:
        HD_TRY(hd_avro_write_long(op, out, WRAPPER_BOOLEAN));
        return hd_avro_write_boolean(op, out, value->integer != 0);
    case HD_ORDERING_INT:
        return write_integer(op, WRAPPER_INT, value->integer, out);
    case HD_ORDERING_LONG:
        return write_integer(op, WRAPPER_LONG, value->integer, out);
    case HD_ORDERING_DATE: /* java.sql.Date on top, LocalDate inside: what readers know there */
        return write_integer(op, in_array ? WRAPPER_LOCAL_DATE : WRAPPER_DATE, value->integer, out);
    case HD_ORDERING_TIME_MICROS:
        return write_integer(op, WRAPPER_TIME_MICROS, value->integer, out);
    case HD_ORDERING_TIMESTAMP_MICROS:
        return write_integer(op, WRAPPER_TIMESTAMP_MICROS, value->integer, out);
    case HD_ORDERING_FLOAT:
        HD_TRY(hd_avro_write_long(op, out, WRAPPER_FLOAT));
        return hd_avro_write_float(op, out, (float)value->real);
    case HD_ORDERING_DOUBLE:
        HD_TRY(hd_avro_write_long(op, out, WRAPPER_DOUBLE));
        return hd_avro_write_double(op, out, value->real);
    case HD_ORDERING_BYTES:
        HD_TRY(hd_avro_write_long(op, out, WRAPPER_BYTES));
        return hd_avro_write_bytes(op, out, value->bytes);
    case HD_ORDERING_STRING:
        HD_TRY(hd_avro_write_long(op, out, WRAPPER_STRING));
        return hd_avro_write_bytes(op, out, value->bytes);
    case HD_ORDERING_DECIMAL:
        HD_TRY(hd_avro_write_long(op, out, WRAPPER_DECIMAL));
        return write_decimal(op, value, out);
    case HD_ORDERING_ARRAY:
        break;
    }
    if (in_array)
        return hd_fail(op, HUDI_INVALID, "an ordering value is an array in an array");
    return write_array(op, value, out);
}

static hudi_status encode_avro(struct hd_op *op, const struct hd_log_deletes *deletes,
                               struct hd_str *out)
{
    static const struct hd_ordering_value NONE;

    if (deletes->n > 0)
        HD_TRY(hd_avro_write_long(op, out, (int64_t)deletes->n));
    for (size_t i = 0; i < deletes->n; i++) {
        HD_TRY(write_text(op, deletes->record_keys[i], out));
        HD_TRY(write_text(op, deletes->partition_paths[i], out));
        HD_TRY(write_wrapped(op, deletes->ordering != NULL ? &deletes->ordering[i] : &NONE, false,
                             out));
    }
    return hd_avro_write_long(op, out, 0);
}

static void put_u32be(char *at, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        at[i] = (char)(uint8_t)(value >> (24 - 8 * i));
}

hudi_status hd_log_deletes_encode(struct hd_op *op, uint32_t version,
                                  const struct hd_log_deletes *deletes, struct hd_str *out)
{
    const size_t start = out->size;
    hudi_status status;

    if (version < KRYO_KEYS || version > AVRO_LIST)
        return hd_fail(op, HUDI_INVALID, "delete blocks have no version %" PRIu32, version);
    status = hd_str_append(op, out, "\0\0\0\0\0\0\0\0", HEAD_BYTES);
    if (status == HUDI_OK)
        status = version == AVRO_LIST
                     ? encode_avro(op, deletes, out)
                     : log_deletes_encode_kryo(op, version == KRYO_RECORDS, deletes, out);
    if (status == HUDI_OK && out->size - start - HEAD_BYTES > INT32_MAX)
        status = hd_fail(op, HUDI_INVALID, "a delete block of %zu bytes is too large",
                         out->size - start);
    if (status != HUDI_OK) {
        out->size = start;
        if (out->data != NULL)
            out->data[start] = '\0';
        return status;
    }
    put_u32be(out->data + start, version);
    put_u32be(out->data + start + 4, (uint32_t)(out->size - start - HEAD_BYTES));
    return HUDI_OK;
}
