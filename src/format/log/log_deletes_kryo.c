/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Object graphs of Kryo 4, as far as delete blocks of versions 1 and 2 have them
 * (docs/format/log-format.md 4.2). A class stands before what is not of one class by its place; a
 * reference stands before every object that is no number: 0 null, 1 a new one, which gets the next
 * number, k >= 2 number k - 2 again. Equal strings may be the same object or not.
 *
 *     array   class | reference | length + 1 | elements
 *     element class | reference | fields by name
 *     HoodieKey      reference, string partitionPath | reference, string recordKey
 *     DeleteRecord   class, reference, HoodieKey | class, value orderingVal
 */
#include <inttypes.h>
#include <string.h>

#include "arrow/java_text.h"
#include "format/log/log_deletes_internal.h"

/* Class names seen, by their number. A block has one array, two classes in it and those of ordering
 * values. */
#define MAX_NAMES 16
#define MAX_NAME_BYTES 256
#define VARLONG_BYTES 9

/* Numbers of org.apache.avro.util.Utf8 where it is registered; they moved with the releases. */
static const uint32_t UTF8_CLASSES[] = {
    12, /* 0.12 */
    29, /* 0.13 */
    30, /* 0.14, 0.15 */
    45, /* 1.1 */
};

enum object_kind {
    OBJECT_UNFINISHED, /* what refers to it is inside of it, or it is of no kind that can be again
                        */
    OBJECT_STRING,
    OBJECT_KEY,
    OBJECT_RECORD,
    OBJECT_VALUE,
};

struct object {
    enum object_kind kind;
    union {
        struct hd_slice string;
        struct {
            uint32_t path, key; /* of a key: strings by number, NO_OBJECT for null */
        };
        size_t row;                            /* of a record: which delete it is */
        const struct hd_ordering_value *value; /* in the arena */
    };
};

#define NO_OBJECT UINT32_MAX

struct kryo {
    struct hd_cursor in;
    struct hd_log_deletes *deletes;
    char names[MAX_NAMES][MAX_NAME_BYTES];
    uint32_t n_names;
    struct object *objects;
    size_t n_objects;
    size_t capacity;
};

/* ---- primitives --------------------------------------------------------------------------- */

static hudi_status read_varint(struct hd_op *op, struct kryo *k, uint32_t *out)
{
    const uint64_t offset = hd_cursor_offset(&k->in);
    uint64_t value;

    HD_TRY(hd_cursor_varint(op, &k->in, &value));
    if (value > UINT32_MAX)
        return hd_fail(op, HUDI_CORRUPT, "a Kryo number at byte %" PRIu64 " is too large", offset);
    *out = (uint32_t)value;
    return HUDI_OK;
}

/* Seven bits a byte, but eight in the ninth, which is the last one. */
static hudi_status read_varlong(struct hd_op *op, struct kryo *k, uint64_t *out)
{
    *out = 0;
    for (int i = 0; i < VARLONG_BYTES; i++) {
        uint8_t byte;

        HD_TRY(hd_cursor_u8(op, &k->in, &byte));
        if (i == VARLONG_BYTES - 1) {
            *out |= (uint64_t)byte << 7 * i;
            break;
        }
        *out |= (uint64_t)(byte & 0x7f) << 7 * i;
        if ((byte & 0x80) == 0)
            break;
    }
    return HUDI_OK;
}

static int64_t of_zigzag(uint64_t value)
{
    return (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
}

/* ---- strings ------------------------------------------------------------------------------ */

/* ASCII, the last byte with its high bit set. */
static hudi_status read_ascii(struct hd_op *op, struct kryo *k, struct hd_slice *out)
{
    struct hd_slice bytes;
    size_t n = 0;
    char *text;

    while (n < hd_cursor_left(&k->in) && (k->in.at[n] & 0x80) == 0)
        n++;
    HD_TRY(hd_cursor_take(op, &k->in, n + 1, &bytes));
    HD_TRY(hd_arena_strndup(op, &k->deletes->arena, bytes.data, bytes.size, &text));
    text[n] = (char)(text[n] & 0x7f);
    *out = hd_slice_of(text, n + 1);
    return HUDI_OK;
}

/* One UTF-16 unit in one to three bytes. */
static hudi_status read_unit(struct hd_op *op, struct kryo *k, uint32_t *out)
{
    const uint64_t offset = hd_cursor_offset(&k->in);
    uint8_t byte, next;
    int n_more;

    HD_TRY(hd_cursor_u8(op, &k->in, &byte));
    n_more = byte < 0x80 ? 0 : (byte & 0xe0) == 0xc0 ? 1 : (byte & 0xf0) == 0xe0 ? 2 : -1;
    *out = n_more <= 0 ? byte : n_more == 1 ? byte & 0x1f : byte & 0x0f;
    for (int i = 0; i < n_more; i++) {
        HD_TRY(hd_cursor_u8(op, &k->in, &next));
        if ((next & 0xc0) != 0x80)
            n_more = -1;
        *out = *out << 6 | (next & 0x3f);
    }
    if (n_more < 0)
        return hd_fail(op, HUDI_CORRUPT, "a Kryo string is no text at byte %" PRIu64, offset);
    return HUDI_OK;
}

static size_t put_utf8(char *out, uint32_t c)
{
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        out[0] = (char)(0xc0 | c >> 6);
        out[1] = (char)(0x80 | (c & 0x3f));
        return 2;
    }
    if (c < 0x10000) {
        out[0] = (char)(0xe0 | c >> 12);
        out[1] = (char)(0x80 | (c >> 6 & 0x3f));
        out[2] = (char)(0x80 | (c & 0x3f));
        return 3;
    }
    out[0] = (char)(0xf0 | c >> 18);
    out[1] = (char)(0x80 | (c >> 12 & 0x3f));
    out[2] = (char)(0x80 | (c >> 6 & 0x3f));
    out[3] = (char)(0x80 | (c & 0x3f));
    return 4;
}

static bool is_high(uint32_t unit)
{
    return unit >= 0xd800 && unit < 0xdc00;
}

static bool is_low(uint32_t unit)
{
    return unit >= 0xdc00 && unit < 0xe000;
}

/* `n_units` UTF-16 units as UTF-8; half of a pair becomes "?", as Java writes it. No unit gets more
 * bytes than it has here. */
static hudi_status read_units(struct hd_op *op, struct kryo *k, uint32_t n_units,
                              struct hd_slice *out)
{
    const size_t left = hd_cursor_left(&k->in);
    uint32_t high = 0, unit;
    size_t n = 0;
    char *text;

    if (n_units > left)
        return hd_fail(op, HUDI_CORRUPT,
                       "a Kryo string of %" PRIu32 " characters at byte %" PRIu64
                       " runs past the end",
                       n_units, hd_cursor_offset(&k->in));
    const size_t most = 3 * (size_t)n_units;
    HD_TRY(hd_arena_array(op, &k->deletes->arena, most < left ? most : left, 1, &text));
    for (uint32_t i = 0; i < n_units; i++) {
        HD_TRY(read_unit(op, k, &unit));
        if (high != 0 && is_low(unit)) {
            n += put_utf8(text + n, 0x10000 + ((high - 0xd800) << 10) + (unit - 0xdc00));
            high = 0;
            continue;
        }
        if (high != 0)
            text[n++] = '?';
        high = is_high(unit) ? unit : 0;
        if (is_low(unit))
            text[n++] = '?';
        else if (high == 0)
            n += put_utf8(text + n, unit);
    }
    if (high != 0)
        text[n++] = '?';
    *out = hd_slice_of(text, n);
    return HUDI_OK;
}

/* `data` NULL for null. */
static hudi_status read_string(struct hd_op *op, struct kryo *k, struct hd_slice *out)
{
    uint32_t length;
    uint8_t byte;
    bool more;

    *out = (struct hd_slice){0};
    HD_TRY(hd_cursor_u8(op, &k->in, &byte));
    if ((byte & 0x80) == 0) {
        k->in.at--;
        return read_ascii(op, k, out);
    }
    length = byte & 0x3f;
    more = (byte & 0x40) != 0;
    for (int shift = 6; more; shift += 7) {
        HD_TRY(hd_cursor_u8(op, &k->in, &byte));
        if (shift > 27 || (shift == 27 && (byte & 0x7f) > 0x0f))
            return hd_fail(op, HUDI_CORRUPT,
                           "the length of a Kryo string at byte %" PRIu64 " is too large",
                           hd_cursor_offset(&k->in));
        length |= (uint32_t)(byte & 0x7f) << shift;
        more = (byte & 0x80) != 0;
    }
    return length == 0 ? HUDI_OK : read_units(op, k, length - 1, out);
}

/* ---- classes and references --------------------------------------------------------------- */

/* `*name` is set when the class is KRYO_BY_NAME. */
static hudi_status read_class(struct hd_op *op, struct kryo *k, uint32_t *class, const char **name)
{
    struct hd_slice text;
    uint32_t id;

    *name = NULL;
    HD_TRY(read_varint(op, k, class));
    if (*class != KRYO_BY_NAME)
        return HUDI_OK;
    HD_TRY(read_varint(op, k, &id));
    if (id > k->n_names || id >= MAX_NAMES)
        return hd_fail(op, HUDI_CORRUPT,
                       "a Kryo class name has number %" PRIu32 " before byte %" PRIu64, id,
                       hd_cursor_offset(&k->in));
    if (id == k->n_names) {
        HD_TRY(read_string(op, k, &text));
        if (text.size == 0 || text.size >= MAX_NAME_BYTES)
            return hd_fail(op, HUDI_CORRUPT,
                           "a Kryo class name before byte %" PRIu64 " has %zu bytes",
                           hd_cursor_offset(&k->in), text.size);
        memcpy(k->names[id], text.data, text.size);
        k->names[id][text.size] = '\0';
        k->n_names++;
    }
    *name = k->names[id];
    return HUDI_OK;
}

static hudi_status expect_class(struct hd_op *op, struct kryo *k, const char *wanted, bool *is_null)
{
    const char *name;
    uint32_t class;

    HD_TRY(read_class(op, k, &class, &name));
    *is_null = class == KRYO_NULL;
    if (*is_null || (name != NULL && strcmp(name, wanted) == 0))
        return HUDI_OK;
    if (name != NULL)
        return hd_fail(op, HUDI_CORRUPT, "a delete block has a %.200s for a %s", name, wanted);
    return hd_fail(op, HUDI_CORRUPT, "a delete block has Kryo class %" PRIu32 " for a %s", class,
                   wanted);
}

/* The number of the object that follows or is meant, NO_OBJECT for null. A new one is unfinished;
 * one that is meant again is of `kind`. */
static hudi_status read_reference(struct hd_op *op, struct kryo *k, enum object_kind kind,
                                  uint32_t *number, bool *is_new)
{
    uint32_t reference;

    HD_TRY(read_varint(op, k, &reference));
    *is_new = reference == 1;
    if (reference == 0) {
        *number = NO_OBJECT;
        return HUDI_OK;
    }
    if (*is_new) {
        HD_TRY(hd_grow(op, &k->objects, &k->capacity, k->n_objects + 1, sizeof *k->objects));
        *number = (uint32_t)k->n_objects;
        k->objects[k->n_objects++] = (struct object){.kind = OBJECT_UNFINISHED};
        return HUDI_OK;
    }
    *number = reference - 2;
    if (*number >= k->n_objects || k->objects[*number].kind != kind)
        return hd_fail(op, HUDI_CORRUPT,
                       "a Kryo reference before byte %" PRIu64 " to object %" PRIu32
                       " of %zu, or of another class",
                       hd_cursor_offset(&k->in), *number, k->n_objects);
    return HUDI_OK;
}

static hudi_status read_string_object(struct hd_op *op, struct kryo *k, uint32_t *number)
{
    struct hd_slice text;
    bool is_new;

    HD_TRY(read_reference(op, k, OBJECT_STRING, number, &is_new));
    if (!is_new)
        return HUDI_OK;
    HD_TRY(read_string(op, k, &text));
    k->objects[*number] = (struct object){.kind = OBJECT_STRING, .string = text};
    return HUDI_OK;
}

static struct hd_slice string_of(const struct kryo *k, uint32_t number)
{
    return number == NO_OBJECT ? (struct hd_slice){0} : k->objects[number].string;
}

/* ---- ordering values ---------------------------------------------------------------------- */

static hudi_status read_byte_string(struct hd_op *op, struct kryo *k, struct hd_slice *out)
{
    uint32_t length;

    HD_TRY(read_varint(op, k, &length));
    if (length == 0)
        return hd_fail(op, HUDI_CORRUPT, "a Kryo byte array before byte %" PRIu64 " is null",
                       hd_cursor_offset(&k->in));
    return hd_cursor_take(op, &k->in, length - 1, out);
}

static hudi_status read_decimal(struct hd_op *op, struct kryo *k, struct hd_ordering_value *out)
{
    uint32_t scale;

    out->type = HD_ORDERING_DECIMAL;
    HD_TRY(read_byte_string(op, k, &out->bytes));
    HD_TRY(read_varint(op, k, &scale));
    out->scale = (int32_t)of_zigzag(scale);
    return HUDI_OK;
}

static hudi_status read_date(struct hd_op *op, struct kryo *k, struct hd_ordering_value *out)
{
    uint32_t year;
    uint8_t month, day;

    out->type = HD_ORDERING_DATE;
    HD_TRY(read_varint(op, k, &year));
    HD_TRY(hd_cursor_u8(op, &k->in, &month));
    HD_TRY(hd_cursor_u8(op, &k->in, &day));
    if (month < 1 || month > 12 || day < 1 || day > 31)
        return hd_fail(op, HUDI_CORRUPT, "a Kryo date before byte %" PRIu64 " is none",
                       hd_cursor_offset(&k->in));
    out->integer = hd_days_of_date((int32_t)year, month, day);
    return HUDI_OK;
}

static hudi_status read_timestamp(struct hd_op *op, struct kryo *k, struct hd_ordering_value *out)
{
    uint64_t millis;

    out->type = HD_ORDERING_TIMESTAMP_MICROS;
    HD_TRY(read_varlong(op, k, &millis));
    if (__builtin_mul_overflow((int64_t)millis, 1000, &out->integer))
        return hd_fail(op, HUDI_CORRUPT, "a Kryo timestamp before byte %" PRIu64 " is too large",
                       hd_cursor_offset(&k->in));
    return HUDI_OK;
}

static hudi_status read_utf8(struct hd_op *op, struct kryo *k, struct hd_ordering_value *out)
{
    out->type = HD_ORDERING_STRING;
    return read_byte_string(op, k, &out->bytes);
}

/* As 0.11 has it, which does not register the class: the fields of the object, by name. Avro 1.8
 * has bytes, length and string (a cache), later ones a hash before the length. */
static hudi_status read_utf8_fields(struct hd_op *op, struct kryo *k, struct hd_ordering_value *out)
{
    uint32_t number, length;
    bool is_new;

    HD_TRY(read_reference(op, k, OBJECT_UNFINISHED, &number, &is_new));
    if (!is_new)
        return hd_fail(op, HUDI_CORRUPT, "a Kryo Utf8 before byte %" PRIu64 " has no bytes",
                       hd_cursor_offset(&k->in));
    HD_TRY(read_utf8(op, k, out));
    HD_TRY(read_varint(op, k, &length));
    if ((uint64_t)of_zigzag(length) != out->bytes.size) {
        HD_TRY(read_varint(op, k, &length));
        if ((uint64_t)of_zigzag(length) != out->bytes.size)
            return hd_fail(op, HUDI_CORRUPT,
                           "a Kryo Utf8 before byte %" PRIu64 " has another length than its bytes",
                           hd_cursor_offset(&k->in));
    }
    return read_string_object(op, k, &number);
}

/* A value that is an object and so may be meant again. */
static hudi_status read_value_object(struct hd_op *op, struct kryo *k,
                                     hudi_status (*read)(struct hd_op *op, struct kryo *k,
                                                         struct hd_ordering_value *out),
                                     struct hd_ordering_value *out)
{
    struct hd_ordering_value *kept;
    uint32_t number;
    bool is_new;

    HD_TRY(read_reference(op, k, OBJECT_VALUE, &number, &is_new));
    if (number == NO_OBJECT)
        return HUDI_OK;
    if (is_new) {
        HD_TRY(read(op, k, out));
        HD_TRY(hd_arena_alloc(op, &k->deletes->arena, sizeof *kept, &kept));
        *kept = *out;
        k->objects[number] = (struct object){.kind = OBJECT_VALUE, .value = kept};
    }
    *out = *k->objects[number].value;
    return HUDI_OK;
}

static hudi_status read_string_value(struct hd_op *op, struct kryo *k,
                                     struct hd_ordering_value *out)
{
    uint32_t number;

    HD_TRY(read_string_object(op, k, &number));
    out->bytes = string_of(k, number);
    out->type = out->bytes.data == NULL ? HD_ORDERING_NONE : HD_ORDERING_STRING;
    return HUDI_OK;
}

static hudi_status read_named_value(struct hd_op *op, struct kryo *k, const char *name,
                                    struct hd_ordering_value *out)
{
    static const struct {
        const char *name;
        hudi_status (*read)(struct hd_op *op, struct kryo *k, struct hd_ordering_value *out);
    } CLASSES[] = {
        {KRYO_DECIMAL_CLASS, read_decimal},
        {KRYO_DATE_CLASS, read_date},
        {KRYO_TIMESTAMP_CLASS, read_timestamp},
        {KRYO_UTF8_CLASS, read_utf8_fields},
    };

    for (size_t i = 0; i < HD_ARRAY_LENGTH(CLASSES); i++)
        if (strcmp(name, CLASSES[i].name) == 0)
            return read_value_object(op, k, CLASSES[i].read, out);
    return hd_fail(op, HUDI_NOT_IMPLEMENTED, "ordering values of class %.200s are not supported",
                   name);
}

static hudi_status read_float(struct hd_op *op, struct kryo *k, struct hd_ordering_value *out)
{
    uint32_t bits;
    float value;

    out->type = HD_ORDERING_FLOAT;
    HD_TRY(hd_cursor_u32be(op, &k->in, &bits));
    memcpy(&value, &bits, sizeof value);
    out->real = value;
    return HUDI_OK;
}

static hudi_status read_double(struct hd_op *op, struct kryo *k, struct hd_ordering_value *out)
{
    uint64_t bits;

    out->type = HD_ORDERING_DOUBLE;
    HD_TRY(hd_cursor_u64be(op, &k->in, &bits));
    memcpy(&out->real, &bits, sizeof out->real);
    return HUDI_OK;
}

/* int, long, short, byte, boolean */
static hudi_status read_integer(struct hd_op *op, struct kryo *k, uint32_t class,
                                struct hd_ordering_value *out)
{
    uint64_t value;
    uint32_t value32;
    uint16_t value16;
    uint8_t byte;

    out->type = class == KRYO_LONG      ? HD_ORDERING_LONG
                : class == KRYO_BOOLEAN ? HD_ORDERING_BOOLEAN
                                        : HD_ORDERING_INT;
    switch (class) {
    case KRYO_INT:
        HD_TRY(read_varint(op, k, &value32));
        out->integer = of_zigzag(value32);
        return HUDI_OK;
    case KRYO_LONG:
        HD_TRY(read_varlong(op, k, &value));
        out->integer = of_zigzag(value);
        return HUDI_OK;
    case KRYO_SHORT:
        HD_TRY(hd_cursor_u16be(op, &k->in, &value16));
        out->integer = (int16_t)value16;
        return HUDI_OK;
    default:
        HD_TRY(hd_cursor_u8(op, &k->in, &byte));
        out->integer = class == KRYO_BOOLEAN ? byte == 1 : (int8_t)byte;
        return HUDI_OK;
    }
}

static hudi_status read_ordering(struct hd_op *op, struct kryo *k, struct hd_ordering_value *out)
{
    const char *name;
    uint32_t class;

    *out = (struct hd_ordering_value){0};
    HD_TRY(read_class(op, k, &class, &name));
    switch (class) {
    case KRYO_NULL:
        return HUDI_OK;
    case KRYO_BY_NAME:
        return read_named_value(op, k, name, out);
    case KRYO_STRING:
        return read_string_value(op, k, out);
    case KRYO_FLOAT:
        return read_float(op, k, out);
    case KRYO_DOUBLE:
        return read_double(op, k, out);
    case KRYO_INT:
    case KRYO_LONG:
    case KRYO_SHORT:
    case KRYO_BYTE:
    case KRYO_BOOLEAN:
        return read_integer(op, k, class, out);
    default:
        break;
    }
    for (size_t i = 0; i < HD_ARRAY_LENGTH(UTF8_CLASSES); i++)
        if (class == UTF8_CLASSES[i])
            return read_value_object(op, k, read_utf8, out);
    return hd_fail(op, HUDI_NOT_IMPLEMENTED,
                   "ordering values of Kryo class %" PRIu32 " are not supported", class);
}

/* ---- elements and the array --------------------------------------------------------------- */

/* The class has been read. */
static hudi_status read_key(struct hd_op *op, struct kryo *k, uint32_t *number)
{
    uint32_t path, key;
    bool is_new;

    HD_TRY(read_reference(op, k, OBJECT_KEY, number, &is_new));
    if (!is_new)
        return HUDI_OK;
    HD_TRY(read_string_object(op, k, &path));
    HD_TRY(read_string_object(op, k, &key));
    k->objects[*number] = (struct object){.kind = OBJECT_KEY, .path = path, .key = key};
    return HUDI_OK;
}

static hudi_status add(struct hd_op *op, struct kryo *k, uint32_t key_number,
                       const struct hd_ordering_value *ordering)
{
    struct object key = {.path = NO_OBJECT, .key = NO_OBJECT};

    if (key_number != NO_OBJECT)
        key = k->objects[key_number];
    return log_deletes_add(op, k->deletes, string_of(k, key.key), string_of(k, key.path), ordering);
}

static hudi_status read_key_element(struct hd_op *op, struct kryo *k)
{
    uint32_t number;

    HD_TRY(read_key(op, k, &number));
    return number == NO_OBJECT ? HUDI_OK : add(op, k, number, NULL);
}

static hudi_status read_record_element(struct hd_op *op, struct kryo *k)
{
    struct hd_log_deletes *const deletes = k->deletes;
    struct hd_ordering_value ordering;
    uint32_t number, key = NO_OBJECT;
    bool is_new, no_key;

    HD_TRY(read_reference(op, k, OBJECT_RECORD, &number, &is_new));
    if (number == NO_OBJECT)
        return HUDI_OK;
    if (!is_new) {
        const size_t row = k->objects[number].row;

        ordering = deletes->ordering[row];
        return log_deletes_add(op, deletes, deletes->record_keys[row],
                               deletes->partition_paths[row], &ordering);
    }
    HD_TRY(expect_class(op, k, KRYO_KEY_CLASS, &no_key));
    if (!no_key)
        HD_TRY(read_key(op, k, &key));
    HD_TRY(read_ordering(op, k, &ordering));
    k->objects[number] = (struct object){.kind = OBJECT_RECORD, .row = deletes->n};
    return add(op, k, key, &ordering);
}

static hudi_status read_array(struct hd_op *op, struct kryo *k)
{
    const char *name;
    uint32_t class, number, length;
    bool is_new, is_null;

    HD_TRY(read_class(op, k, &class, &name));
    if (class == KRYO_NULL)
        return HUDI_OK;
    const bool with_ordering = name != NULL && strcmp(name, KRYO_RECORD_ARRAY_CLASS) == 0;
    if (!with_ordering && (name == NULL || strcmp(name, KRYO_KEY_ARRAY_CLASS) != 0))
        return hd_fail(op, HUDI_CORRUPT, "a delete block is no array of keys or delete records");
    HD_TRY(read_reference(op, k, OBJECT_UNFINISHED, &number, &is_new));
    if (number == NO_OBJECT)
        return HUDI_OK;
    HD_TRY(read_varint(op, k, &length));
    for (uint32_t i = 1; i < length; i++) { /* each takes a byte at least */
        HD_TRY(expect_class(op, k, with_ordering ? KRYO_RECORD_CLASS : KRYO_KEY_CLASS, &is_null));
        if (!is_null)
            HD_TRY(with_ordering ? read_record_element(op, k) : read_key_element(op, k));
    }
    return HUDI_OK;
}

hudi_status log_deletes_decode_kryo(struct hd_op *op, struct hd_cursor in,
                                    struct hd_log_deletes *out)
{
    struct kryo k = {.in = in, .deletes = out};
    const hudi_status status = read_array(op, &k);

    hd_free(op, k.objects);
    return status;
}
