/* SPDX-License-Identifier: Apache-2.0 */
/* clang-format off */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/log/log_deletes.h"
#include "log_deletes_vectors.h"
#include "support/fault.h"
#include "support/table.h"

/* ---- contents ------------------------------------------------------------------------------ */

static void append_hex(struct hd_op *op, const char *hex, struct hd_str *out)
{
    for (size_t i = 0; hex[i] != '\0'; i += 2) {
        const char digits[] = {hex[i], hex[i + 1], '\0'};

        test_must(op, hd_str_append_char(op, out, (char)strtoul(digits, NULL, 16)));
    }
}

/* The content of a Kryo graph: version and length in front. */
static void append_kryo(struct hd_op *op, uint8_t version, const char *hex, struct hd_str *out)
{
    const size_t n = strlen(hex) / 2;
    const char head[8] = {0, 0, 0, (char)version, 0, 0, (char)(n >> 8), (char)n};

    test_must(op, hd_str_append(op, out, head, sizeof head));
    append_hex(op, hex, out);
}

static struct hd_log_deletes decode(struct hd_op *op, const struct hd_str *content)
{
    struct hd_log_deletes deletes;

    test_must(op, hd_log_deletes_decode(op, hd_str_slice(content), 1000, &deletes));
    return deletes;
}

static bool is_text(struct hd_slice text, const char *wanted)
{
    if (wanted == NULL)
        return text.data == NULL;
    return text.data != NULL && hd_slice_equal(text, hd_slice_text(wanted));
}

static void expect_key(const struct hd_log_deletes *deletes, size_t i, const char *key,
                       const char *path)
{
    if (!is_text(deletes->record_keys[i], key) || !is_text(deletes->partition_paths[i], path))
        fail_msg("delete %zu has key %.*s in %.*s", i, (int)deletes->record_keys[i].size,
                 (const char *)deletes->record_keys[i].data, (int)deletes->partition_paths[i].size,
                 (const char *)deletes->partition_paths[i].data);
}

/* ---- expected ordering values --------------------------------------------------------------- */

#define INTEGER(t, v)                                                                              \
    {                                                                                              \
        .type = (t), .integer = (v)                                                                \
    }
#define REAL(t, v)                                                                                 \
    {                                                                                              \
        .type = (t), .real = (v)                                                                   \
    }
#define BYTES(t, v, s)                                                                             \
    {                                                                                              \
        .type = (t), .scale = (s), .bytes = {(const uint8_t *)(v), sizeof(v) - 1 }                 \
    }

/* -12345678901234567890.123, -123456789012345.5 and 1e-15 as they are stored. */
#define DECIMAL_A "\xfd\x62\xbd\x49\xb1\x89\x8e\xbd\xbb\x35"
#define DECIMAL_B "\xfe\x71\x16\xf0\x09\x3c\x8c\xc1\xc7\x62\x4a\x40\x00"

static void expect_ordering(const struct hd_ordering_value *value,
                            const struct hd_ordering_value *wanted, size_t i)
{
    bool same = value->type == wanted->type;

    switch (wanted->type) {
    case HD_ORDERING_NONE:
        break;
    case HD_ORDERING_FLOAT:
    case HD_ORDERING_DOUBLE:
        same = same && memcmp(&value->real, &wanted->real, sizeof value->real) == 0;
        break;
    case HD_ORDERING_BYTES:
    case HD_ORDERING_STRING:
    case HD_ORDERING_DECIMAL:
        same = same && value->scale == wanted->scale && hd_slice_equal(value->bytes, wanted->bytes);
        break;
    case HD_ORDERING_ARRAY:
        same = same && value->n_items == wanted->n_items;
        for (size_t j = 0; same && j < wanted->n_items; j++)
            expect_ordering(&value->items[j], &wanted->items[j], i);
        break;
    default:
        same = same && value->integer == wanted->integer;
    }
    if (!same)
        fail_msg("ordering value %zu is of type %s", i, hd_ordering_type_name(value->type));
}

/* Ordering values of RECORDS_015 and RECORDS_011. */
static const struct hd_ordering_value RECORD_VALUES[] = {
    INTEGER(HD_ORDERING_INT, 0),
    INTEGER(HD_ORDERING_INT, -7),
    INTEGER(HD_ORDERING_INT, INT32_MIN),
    INTEGER(HD_ORDERING_LONG, 0),
    INTEGER(HD_ORDERING_LONG, -1),
    INTEGER(HD_ORDERING_LONG, INT64_MAX),
    INTEGER(HD_ORDERING_LONG, INT64_MIN),
    INTEGER(HD_ORDERING_LONG, 1700000000000),
    BYTES(HD_ORDERING_STRING, "str", 0),
    BYTES(HD_ORDERING_STRING, "", 0),
    BYTES(HD_ORDERING_STRING, "\u00fc", 0),
    REAL(HD_ORDERING_FLOAT, 1.5),
    REAL(HD_ORDERING_DOUBLE, -2.5),
    INTEGER(HD_ORDERING_BOOLEAN, 1),
    INTEGER(HD_ORDERING_BOOLEAN, 0),
    INTEGER(HD_ORDERING_INT, -3),   /* byte */
    INTEGER(HD_ORDERING_INT, -300), /* short */
    BYTES(HD_ORDERING_DECIMAL, DECIMAL_A, 3),
    BYTES(HD_ORDERING_DECIMAL, DECIMAL_A, 3), /* the same object again */
    BYTES(HD_ORDERING_DECIMAL, "\0", 0),
    BYTES(HD_ORDERING_DECIMAL, "\1", -5),
    INTEGER(HD_ORDERING_DATE, 19782),   /* 2024-02-29 */
    INTEGER(HD_ORDERING_DATE, -721354), /* -0005-01-01 */
    INTEGER(HD_ORDERING_TIMESTAMP_MICROS, 1700000000123000),
    INTEGER(HD_ORDERING_TIMESTAMP_MICROS, -1000),
    BYTES(HD_ORDERING_STRING, "utf8\u00e9", 0),
    BYTES(HD_ORDERING_STRING, "second", 0),
};
#define N_RECORD_VALUES HD_ARRAY_LENGTH(RECORD_VALUES)

/* Of LIST. */
static const struct hd_ordering_value LIST_VALUES[] = {
    {.type = HD_ORDERING_NONE},
    INTEGER(HD_ORDERING_INT, 0),
    INTEGER(HD_ORDERING_INT, -7),
    INTEGER(HD_ORDERING_INT, INT32_MIN),
    INTEGER(HD_ORDERING_LONG, 0),
    INTEGER(HD_ORDERING_LONG, INT64_MAX),
    INTEGER(HD_ORDERING_LONG, INT64_MIN),
    BYTES(HD_ORDERING_STRING, "str", 0),
    BYTES(HD_ORDERING_STRING, "", 0),
    BYTES(HD_ORDERING_STRING, "\u00fc", 0),
    REAL(HD_ORDERING_FLOAT, 1.5),
    REAL(HD_ORDERING_DOUBLE, -2.5),
    INTEGER(HD_ORDERING_BOOLEAN, 1),
    BYTES(HD_ORDERING_DECIMAL, DECIMAL_B, 15),
    BYTES(HD_ORDERING_DECIMAL, "\1", 15),
    BYTES(HD_ORDERING_DECIMAL, "\0", 15),
    INTEGER(HD_ORDERING_DATE, 19782),
    INTEGER(HD_ORDERING_TIMESTAMP_MICROS, 1700000000123456),
    BYTES(HD_ORDERING_BYTES, "\1\2\xff", 0),
};
#define N_LIST_VALUES HD_ARRAY_LENGTH(LIST_VALUES)

/* ---- reading ------------------------------------------------------------------------------- */

static void keys_of_the_oldest_form_are_read(void **state)
{
    struct hd_op *op = *state;
    struct hd_str content = {0}, long_key = {0};

    for (int i = 0; i < 30; i++)
        test_must(op, hd_str_append_text(op, &long_key, "long-"));
    append_kryo(op, 1, KEYS, &content);
    struct hd_log_deletes deletes = decode(op, &content);
    assert_int_equal(deletes.version, 1);
    assert_int_equal(deletes.n, 7); /* an element is null */
    assert_null(deletes.ordering);
    expect_key(&deletes, 0, "k1", "p/1");
    expect_key(&deletes, 1, "x", "");
    expect_key(&deletes, 2, "\u00e9\U0001F600\u4e2d", "p/1");
    expect_key(&deletes, 3, "same", "p/1");
    expect_key(&deletes, 4, "same", "p/1");
    expect_key(&deletes, 5, long_key.data, "p/1");
    assert_true(hd_slice_equal(deletes.record_keys[6], hd_slice_of("a\0b?", 4)));
    hd_log_deletes_clear(op, &deletes);
    hd_str_clear(&content);
    hd_str_clear(&long_key);
}

/* The examples of docs/format/log-format.md. */
static void the_examples_are_read(void **state)
{
    struct hd_op *op = *state;
    struct hd_str content = {0};

    append_hex(op,
               "000000030000000b"
               "02"
               "02046b33"
               "020261"
               "0400"
               "00",
               &content);
    struct hd_log_deletes deletes = decode(op, &content);
    assert_int_equal(deletes.n, 1);
    expect_key(&deletes, 0, "k3", "a");
    expect_ordering(&deletes.ordering[0], &RECORD_VALUES[0], 0);
    assert_true(hd_ordering_is_by_arrival(&deletes.ordering[0]));
    hd_log_deletes_clear(op, &deletes);
    hd_str_clear(&content);
}

static void expect_records(struct hd_op *op, const struct hd_str *content)
{
    struct hd_log_deletes deletes = decode(op, content);
    const struct hd_ordering_value five = INTEGER(HD_ORDERING_INT, 5);

    assert_int_equal(deletes.version, 2);
    assert_int_equal(deletes.n, N_RECORD_VALUES + 2);
    for (size_t i = 0; i < N_RECORD_VALUES; i++) {
        char key[16];

        (void)snprintf(key, sizeof key, "k%zu", i);
        expect_key(&deletes, i, key, "p/1");
        expect_ordering(&deletes.ordering[i], &RECORD_VALUES[i], i);
        assert_int_equal(hd_ordering_is_by_arrival(&deletes.ordering[i]), i == 0);
    }
    for (size_t i = N_RECORD_VALUES; i < deletes.n; i++) { /* one object, twice */
        expect_key(&deletes, i, "shared", "p/1");
        expect_ordering(&deletes.ordering[i], &five, i);
    }
    assert_true(hd_log_deletes_bytes(&deletes) >= deletes.n * 64);
    hd_log_deletes_clear(op, &deletes);
}

static void records_of_every_release_are_read(void **state)
{
    static const char UTF8_CLASSES[] = {0x0c, 0x1d, 0x1e, 0x2d};
    static const char *const TEXTS[] = {"\x1e\1\7utf8\u00e9", "\x1e\1\7second"};
    struct hd_op *op = *state;
    struct hd_str content = {0};

    append_kryo(op, 2, RECORDS_011, &content);
    expect_records(op, &content);
    content.size = 0;
    append_kryo(op, 2, RECORDS_015, &content);
    for (size_t i = 0; i < sizeof UTF8_CLASSES; i++) {
        for (size_t j = 0; j < HD_ARRAY_LENGTH(TEXTS); j++) {
            char *const at = memmem(content.data, content.size, TEXTS[j] + 1, strlen(TEXTS[j]) - 1);

            assert_non_null(at);
            at[-1] = UTF8_CLASSES[i];
        }
        expect_records(op, &content);
    }
    hd_str_clear(&content);
}

static void records_without_ordering_value_and_no_records_are_read(void **state)
{
    struct hd_op *op = *state;
    struct hd_str content = {0};

    append_kryo(op, 2, RECORDS_NULL, &content);
    struct hd_log_deletes deletes = decode(op, &content);
    assert_int_equal(deletes.n, 1);
    expect_key(&deletes, 0, "n", "");
    assert_int_equal(deletes.ordering[0].type, HD_ORDERING_NONE);
    assert_true(hd_ordering_is_by_arrival(&deletes.ordering[0]));
    hd_log_deletes_clear(op, &deletes);
    content.size = 0;
    append_kryo(op, 2, RECORDS_EMPTY, &content);
    deletes = decode(op, &content);
    assert_int_equal(deletes.n, 0);
    hd_log_deletes_clear(op, &deletes);
    content.size = 0;
    append_hex(op, LIST_EMPTY, &content);
    deletes = decode(op, &content);
    assert_int_equal(deletes.n, 0);
    hd_log_deletes_clear(op, &deletes);
    hd_str_clear(&content);
}

static void lists_are_read(void **state)
{
    struct hd_op *op = *state;
    struct hd_str content = {0};

    append_hex(op, LIST, &content);
    struct hd_log_deletes deletes = decode(op, &content);
    assert_int_equal(deletes.version, 3);
    assert_int_equal(deletes.n, N_LIST_VALUES + 1);
    for (size_t i = 0; i < N_LIST_VALUES; i++) {
        char key[16];

        (void)snprintf(key, sizeof key, "k%zu", i);
        expect_key(&deletes, i, key, "p/1");
        expect_ordering(&deletes.ordering[i], &LIST_VALUES[i], i);
        assert_int_equal(hd_ordering_is_by_arrival(&deletes.ordering[i]), i < 2);
    }
    expect_key(&deletes, N_LIST_VALUES, "", "");
    hd_log_deletes_clear(op, &deletes);
    content.size = 0;
    append_hex(op, LIST_LOCAL_DATE, &content);
    deletes = decode(op, &content);
    expect_ordering(&deletes.ordering[0], &LIST_VALUES[16], 0);
    hd_log_deletes_clear(op, &deletes);
    hd_str_clear(&content);
}

static const struct hd_ordering_value ITEMS[] = {
    INTEGER(HD_ORDERING_INT, 5),      BYTES(HD_ORDERING_STRING, "x", 0),
    INTEGER(HD_ORDERING_DATE, 19782), INTEGER(HD_ORDERING_LONG, 3),
    INTEGER(HD_ORDERING_DATE, 19783),
};

static void arrays_of_ordering_values_are_read(void **state)
{
    const struct hd_ordering_value wanted = {
        .type = HD_ORDERING_ARRAY, .items = ITEMS, .n_items = HD_ARRAY_LENGTH(ITEMS)};
    struct hd_op *op = *state;
    struct hd_str content = {0};

    append_hex(op, LIST_ARRAY, &content);
    struct hd_log_deletes deletes = decode(op, &content);
    assert_int_equal(deletes.n, 1);
    expect_key(&deletes, 0, "ka", "");
    expect_ordering(&deletes.ordering[0], &wanted, 0);
    hd_log_deletes_clear(op, &deletes);
    hd_str_clear(&content);
}

/* ---- writing ------------------------------------------------------------------------------- */

/* What is written reads as it was; for version 3 the bytes are those of Hudi. */
static void lists_are_written_as_hudi_writes_them(void **state)
{
    static const char *const VECTORS[] = {LIST, LIST_EMPTY, LIST_LOCAL_DATE};
    struct hd_op *op = *state;

    for (size_t i = 0; i < HD_ARRAY_LENGTH(VECTORS); i++) {
        struct hd_str content = {0}, written = {0};

        append_hex(op, VECTORS[i], &content);
        struct hd_log_deletes deletes = decode(op, &content);
        test_must(op, hd_str_append_text(op, &written, "front"));
        if (deletes.n > 1) /* none is written as int 0 */
            deletes.ordering[0] = LIST_VALUES[1];
        test_must(op, hd_log_deletes_encode(op, 3, &deletes, &written));
        if (deletes.n > 1) {
            struct hd_log_deletes again;

            test_must(op, hd_log_deletes_decode(op, hd_slice_of(written.data + 5, written.size - 5),
                                                0, &again));
            assert_int_equal(again.n, deletes.n);
            for (size_t j = 0; j < again.n; j++)
                expect_ordering(&again.ordering[j], &deletes.ordering[j], j);
            hd_log_deletes_clear(op, &again);
            /* "00" became "0400": one byte more in the second place, and in the length */
            assert_int_equal(written.size - 5, content.size + 1);
            assert_memory_equal(written.data + 5 + 22, content.data + 21, content.size - 21);
        } else {
            assert_int_equal(written.size - 5, content.size);
            assert_memory_equal(written.data + 5, content.data, content.size);
        }
        hd_log_deletes_clear(op, &deletes);
        hd_str_clear(&content);
        hd_str_clear(&written);
    }
}

static void arrays_are_written(void **state)
{
    const struct hd_ordering_value array = {
        .type = HD_ORDERING_ARRAY, .items = ITEMS, .n_items = 3};
    const struct hd_ordering_value nested = {
        .type = HD_ORDERING_ARRAY, .items = &array, .n_items = 1};
    struct hd_op *op = *state;
    struct hd_str content = {0}, written = {0};

    append_hex(op, LIST_ARRAY, &content);
    struct hd_log_deletes deletes = decode(op, &content);
    deletes.ordering[0] = array;
    test_must(op, hd_log_deletes_encode(op, 3, &deletes, &written));
    /* The first three items are the same bytes; behind them the ends of two arrays. */
    assert_int_equal(written.size, content.size - 6);
    assert_memory_equal(written.data + 18, content.data + 18, written.size - 20);
    deletes.ordering[0] = nested;
    assert_int_equal(hd_log_deletes_encode(op, 3, &deletes, &written), HUDI_INVALID);
    hd_op_clear_error(op);
    assert_int_equal(written.size, content.size - 6);
    deletes.ordering[0] = array;
    assert_int_equal(hd_log_deletes_encode(op, 2, &deletes, &written), HUDI_NOT_IMPLEMENTED);
    hd_op_clear_error(op);
    hd_log_deletes_clear(op, &deletes);
    hd_str_clear(&content);
    hd_str_clear(&written);
}

static void kryo_is_written_and_read_back(void **state)
{
    struct hd_op *op = *state;

    for (uint32_t version = 1; version <= 2; version++) {
        struct hd_str content = {0}, written = {0};

        append_kryo(op, 2, RECORDS_015, &content);
        struct hd_log_deletes deletes = decode(op, &content), again;
        test_must(op, hd_log_deletes_encode(op, version, &deletes, &written));
        again = decode(op, &written);
        assert_int_equal(again.version, version);
        assert_int_equal(again.n, deletes.n);
        for (size_t i = 0; i < again.n; i++) {
            assert_true(hd_slice_equal(again.record_keys[i], deletes.record_keys[i]));
            assert_true(hd_slice_equal(again.partition_paths[i], deletes.partition_paths[i]));
            if (version == 1)
                continue;
            if (deletes.ordering[i].type == HD_ORDERING_TIMESTAMP_MICROS)
                deletes.ordering[i].type = HD_ORDERING_LONG;
            expect_ordering(&again.ordering[i], &deletes.ordering[i], i);
        }
        assert_true((again.ordering == NULL) == (version == 1));
        hd_log_deletes_clear(op, &again);
        hd_log_deletes_clear(op, &deletes);
        hd_str_clear(&content);
        hd_str_clear(&written);
    }
}

/* Two keys, as 0.10.1 writes them, but that it means the path's object again (04). */
static void keys_are_written_as_hudi_writes_them(void **state)
{
    struct hd_slice keys[] = {hd_slice_text("k1"), hd_slice_text("\u00e9")};
    struct hd_slice paths[] = {hd_slice_text("p/1"), hd_slice_text("p/1")};
    const struct hd_log_deletes deletes = {.n = 2, .record_keys = keys, .partition_paths = paths};
    struct hd_op *op = *state;
    struct hd_str wanted = {0}, written = {0};

    append_hex(op, "0000000100000064", &wanted);
    append_hex(op, "0100", &wanted);
    test_must(op, hd_str_append_text(op, &wanted, "[Lorg.apache.hudi.common.model.HoodieKey\xbb"));
    append_hex(op, "01030101", &wanted);
    test_must(op, hd_str_append_text(op, &wanted, "org.apache.hudi.common.model.HoodieKe\xf9"));
    append_hex(op,
               "0101702fb1016bb1"
               "010101"
               "01702fb1"
               "0182c3a9",
               &wanted);
    wanted.data[7] = (char)(wanted.size - 8);
    test_must(op, hd_log_deletes_encode(op, 1, &deletes, &written));
    assert_int_equal(written.size, wanted.size);
    assert_memory_equal(written.data, wanted.data, wanted.size);
    hd_str_clear(&wanted);
    hd_str_clear(&written);
}

static void what_cannot_be_written_is_refused(void **state)
{
    const struct hd_ordering_value big =
        BYTES(HD_ORDERING_DECIMAL, "\x7f\0\0\0\0\0\0\0\0\0\0\0", 0);
    const struct hd_ordering_value fine = BYTES(HD_ORDERING_DECIMAL, "\1", 16);
    const struct hd_ordering_value bytes = BYTES(HD_ORDERING_BYTES, "\1", 0);
    const struct {
        uint32_t version;
        const struct hd_ordering_value *value;
        hudi_status wanted;
    } cases[] = {
        {0, &bytes, HUDI_INVALID}, {4, &bytes, HUDI_INVALID},         {3, &big, HUDI_INVALID},
        {3, &fine, HUDI_INVALID},  {2, &bytes, HUDI_NOT_IMPLEMENTED}, {3, &bytes, HUDI_OK},
        {2, &big, HUDI_OK},
    };
    struct hd_op *op = *state;

    for (size_t i = 0; i < HD_ARRAY_LENGTH(cases); i++) {
        struct hd_slice key = hd_slice_text("k"), path = {0};
        struct hd_ordering_value value = *cases[i].value;
        const struct hd_log_deletes deletes = {
            .n = 1, .record_keys = &key, .partition_paths = &path, .ordering = &value};
        struct hd_str out = {0};

        if (hd_log_deletes_encode(op, cases[i].version, &deletes, &out) != cases[i].wanted)
            fail_msg("case %zu", i);
        assert_true((out.size == 0) == (cases[i].wanted != HUDI_OK));
        hd_op_clear_error(op);
        hd_str_clear(&out);
    }
}

/* ---- hostile bytes ------------------------------------------------------------------------- */

static const struct {
    uint8_t version; /* 3: the vector has its head */
    const char *hex;
} VECTORS[] = {{1, KEYS}, {2, RECORDS_015}, {2, RECORDS_011}, {3, LIST}, {3, LIST_ARRAY}};

static void make_vector(struct hd_op *op, size_t i, struct hd_str *out)
{
    if (VECTORS[i].version == 3)
        append_hex(op, VECTORS[i].hex, out);
    else
        append_kryo(op, VECTORS[i].version, VECTORS[i].hex, out);
}

/* With the length in front mended, so that the end is met inside. */
static void every_cut_is_noticed(void **state)
{
    struct hd_op *op = *state;

    for (size_t i = 0; i < HD_ARRAY_LENGTH(VECTORS); i++) {
        struct hd_str content = {0};

        make_vector(op, i, &content);
        for (size_t n = 0; n < content.size; n++) {
            uint8_t *const cut = malloc(n + 1);
            struct hd_log_deletes deletes;

            memcpy(cut, content.data, n);
            if (n >= 8) {
                cut[6] = (uint8_t)((n - 8) >> 8);
                cut[7] = (uint8_t)(n - 8);
            }
            const hudi_status status = hd_log_deletes_decode(op, hd_slice_of(cut, n), 0, &deletes);
            if (status != HUDI_CORRUPT)
                fail_msg("vector %zu cut to %zu bytes gives %d", i, n, status);
            hd_op_clear_error(op);
            free(cut);
        }
        hd_str_clear(&content);
    }
}

static void every_flip_ends_well(void **state)
{
    struct hd_op *op = *state;

    for (size_t i = 0; i < HD_ARRAY_LENGTH(VECTORS); i++) {
        struct hd_str content = {0};

        make_vector(op, i, &content);
        for (size_t at = 0; at < 8 * content.size; at++) {
            struct hd_log_deletes deletes;

            content.data[at / 8] ^= (char)(1 << at % 8);
            (void)hd_log_deletes_decode(op, hd_str_slice(&content), 0, &deletes);
            hd_op_clear_error(op);
            hd_log_deletes_clear(op, &deletes);
            content.data[at / 8] ^= (char)(1 << at % 8);
        }
        hd_str_clear(&content);
    }
}

static void other_versions_and_classes_are_refused_by_name(void **state)
{
    struct hd_op *op = *state;
    struct hd_str content = {0};
    struct hd_log_deletes deletes;

    append_hex(op, "000000040000000100", &content);
    assert_int_equal(hd_log_deletes_decode(op, hd_str_slice(&content), 77, &deletes),
                     HUDI_NOT_IMPLEMENTED);
    assert_string_equal(hudi_error_message(op->error),
                        "delete block at byte 77 has content version 4");
    hd_op_clear_error(op);
    content.size = 0;
    append_kryo(op, 2, RECORDS_015, &content);
    char *const at = memmem(content.data, content.size, "java.math.BigDecima", 19);
    assert_non_null(at);
    memcpy(at, "java.math.Bigdecima", 19);
    assert_int_equal(hd_log_deletes_decode(op, hd_str_slice(&content), 0, &deletes),
                     HUDI_NOT_IMPLEMENTED);
    assert_string_equal(hudi_error_message(op->error),
                        "ordering values of class java.math.Bigdecimal are not supported");
    hd_op_clear_error(op);
    hd_str_clear(&content);
}

static void survives_every_fault(void **state)
{
    struct hd_op *op = *state;

    for (size_t i = 0; i < HD_ARRAY_LENGTH(VECTORS); i++) {
        struct hd_str content = {0};
        hudi_status status = HUDI_INTERNAL;

        make_vector(op, i, &content);
        for (int nth = 1; status != HUDI_OK; nth++) {
            struct hd_log_deletes deletes;
            struct hd_str out = {0};

            test_fault_arm(op, nth);
            status = hd_log_deletes_decode(op, hd_str_slice(&content), 0, &deletes);
            if (status == HUDI_OK)
                status = hd_log_deletes_encode(op, VECTORS[i].version, &deletes, &out);
            assert_int_equal(status == HUDI_OK, !test_fault_fired(op));
            hd_log_deletes_clear(op, &deletes);
            hd_str_clear(&out);
        }
        test_fault_disarm(op);
        hd_op_clear_error(op);
        hd_str_clear(&content);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_of_the_oldest_form_are_read),
        cmocka_unit_test(the_examples_are_read),
        cmocka_unit_test(records_of_every_release_are_read),
        cmocka_unit_test(records_without_ordering_value_and_no_records_are_read),
        cmocka_unit_test(lists_are_read),
        cmocka_unit_test(arrays_of_ordering_values_are_read),
        cmocka_unit_test(lists_are_written_as_hudi_writes_them),
        cmocka_unit_test(arrays_are_written),
        cmocka_unit_test(kryo_is_written_and_read_back),
        cmocka_unit_test(keys_are_written_as_hudi_writes_them),
        cmocka_unit_test(what_cannot_be_written_is_refused),
        cmocka_unit_test(every_cut_is_noticed),
        cmocka_unit_test(every_flip_ends_well),
        cmocka_unit_test(other_versions_and_classes_are_refused_by_name),
        cmocka_unit_test(survives_every_fault),
    };

    return cmocka_run_group_tests(tests, test_op_setup, test_op_teardown);
}
