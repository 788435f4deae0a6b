/* SPDX-License-Identifier: Apache-2.0 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codec/avro.h"
#include "codec/avro_value.h"
#include "support/fault.h"
#include "unit/codec/corpus.h"

/* Files of the Python library fastavro: ten records {a: 1000 i, s: null or "row i", ...}. */
static const char *const FOREIGN[] = {
    "avro_container/fastavro-null", "avro_container/fastavro-deflate",
    "avro_container/fastavro-snappy", "avro_container/fastavro-zstandard"};

static hudi_status read_ten(struct hd_op *op, struct hd_slice file)
{
    hudi_status status = HUDI_OK;
    struct hd_arena arena = {0};
    struct hd_avro_container container = {0};
    struct hd_avro_schema *schema;
    struct hd_cursor records;
    uint64_t n = 0;
    int64_t a;
    struct hd_slice s;
    char expected[16];

    HD_TRY_OUT(hd_avro_container_open(op, file, &container));
    HD_TRY_OUT(hd_avro_schema_parse(op, &arena, container.schema_json, &schema));
    HD_TRY_OUT(hd_avro_container_next(op, &container, &records, &n));
    assert_int_equal(n, 10);
    for (uint64_t i = 0; i < n; i++) {
        struct hd_avro_value value;

        HD_TRY_OUT(hd_avro_read_value(op, &arena, schema, &records, &value));
        HD_TRY_OUT(hd_avro_get_long(op, &value, "a", &a));
        assert_int_equal(a, 1000 * i);
        HD_TRY_OUT(hd_avro_find_string(op, &value, "s", &s));
        snprintf(expected, sizeof expected, "row %d", (int)i);
        if (i % 3 == 0)
            assert_null(s.data);
        else
            assert_string_equal((const char *)s.data, expected);
        assert_int_equal(hd_avro_value_field(&value, "l")->n_items, i);
        assert_true(hd_avro_value_lookup(hd_avro_value_field(&value, "m"), "x")->real ==
                    (double)i / 4);
        HD_TRY_OUT(hd_avro_get_string(op, &value, "e", &s));
        assert_string_equal((const char *)s.data, i % 2 ? "B" : "A");
        assert_memory_equal(hd_avro_value_field(&value, "f")->bytes.data, "abc", 3);
    }
    assert_int_equal(hd_cursor_left(&records), 0);
    status = hd_avro_container_next(op, &container, &records, &n);
    if (status == HUDI_END)
        status = HUDI_OK;
out:
    hd_avro_container_clear(&container);
    hd_arena_clear(&arena);
    return status;
}

static void reads_files_of_another_library_in_every_codec(void **state)
{
    struct hd_op *op = *state;

    for (size_t i = 0; i < sizeof FOREIGN / sizeof *FOREIGN; i++) {
        struct hd_slice file = test_corpus(FOREIGN[i]);

        assert_int_equal(read_ten(op, file), HUDI_OK);
        test_slice_free(file);
    }
}

/* Cut between header and block is a file without blocks: the end comes early, and not as an error
 * of the container. Everywhere else it is one. */
static void refuses_every_truncation(void **state)
{
    struct hd_op *op = *state;

    for (size_t f = 0; f < sizeof FOREIGN / sizeof *FOREIGN; f++) {
        struct hd_slice file = test_corpus(FOREIGN[f]);
        size_t n_ends = 0;

        for (size_t n = 0; n < file.size; n++) {
            struct hd_slice cut = test_cut(file, n);
            struct hd_avro_container container;
            struct hd_cursor records;
            uint64_t n_records;
            hudi_status status = hd_avro_container_open(op, cut, &container);

            if (status == HUDI_OK)
                status = hd_avro_container_next(op, &container, &records, &n_records);
            if (status == HUDI_END)
                n_ends++;
            else
                assert_int_equal(status, HUDI_CORRUPT);
            hd_avro_container_clear(&container);
            hd_op_clear_error(op);
            test_slice_free(cut);
        }
        assert_int_equal(n_ends, 1);
        test_slice_free(file);
    }
}

static void survives_every_fault(void **state)
{
    struct hd_op *op = *state;

    for (size_t f = 0; f < sizeof FOREIGN / sizeof *FOREIGN; f++) {
        struct hd_slice file = test_corpus(FOREIGN[f]);
        hudi_status status = HUDI_INTERNAL;

        for (int nth = 1; status != HUDI_OK; nth++) {
            test_fault_arm(op, nth);
            status = read_ten(op, file);
            assert_int_equal(status == HUDI_OK, !test_fault_fired(op));
        }
        test_slice_free(file);
    }
}

static void writes_one_block_and_nothing_but_the_schema(void **state)
{
    static const uint8_t SYNC[HD_AVRO_SYNC_BYTES] = "0123456789abcdef";
    static const char EXPECTED[] = "Obj\x01\x02\x16"
                                   "avro.schema\x0a\"int\"\x00"
                                   "0123456789abcdef\x04\x06\x02\xac\x02"
                                   "0123456789abcdef";
    struct hd_op *op = *state;
    struct hd_str file = {0};
    struct hd_avro_container container;
    struct hd_cursor records;
    struct hd_slice value;
    uint64_t n;

    assert_int_equal(hd_avro_container_write(op, hd_slice_text("\"int\""),
                                             hd_slice_of("\x02\xac\x02", 3), 2, SYNC, &file),
                     HUDI_OK);
    assert_int_equal(file.size, sizeof EXPECTED - 1);
    assert_memory_equal(file.data, EXPECTED, file.size);
    assert_int_equal(hd_avro_container_open(op, hd_str_slice(&file), &container), HUDI_OK);
    assert_int_equal(hd_avro_container_next(op, &container, &records, &n), HUDI_OK);
    assert_int_equal(n, 2);
    assert_int_equal(hd_cursor_left(&records), 3);
    assert_int_equal(hd_avro_container_next(op, &container, &records, &n), HUDI_END);
    assert_int_equal(hd_avro_container_meta(op, &container, "avro.schema", &value), HUDI_OK);
    assert_true(hd_slice_equal(value, hd_slice_text("\"int\"")));
    assert_int_equal(hd_avro_container_meta(op, &container, "avro.codec", &value), HUDI_NOT_FOUND);
    assert_null(op->error);
    hd_avro_container_clear(&container);

    file.size = 0;
    assert_int_equal(
        hd_avro_container_write(op, hd_slice_text("\"int\""), hd_slice_of(NULL, 0), 0, NULL, &file),
        HUDI_OK);
    assert_int_equal(hd_avro_container_open(op, hd_str_slice(&file), &container), HUDI_OK);
    assert_int_equal(hd_avro_container_next(op, &container, &records, &n), HUDI_END);
    hd_avro_container_clear(&container);
    hd_str_clear(&file);
}

static void header(struct hd_op *op, const char *codec, struct hd_str *out)
{
    assert_int_equal(hd_str_append(op, out, "Obj\x01\x04\x16", 6), HUDI_OK);
    assert_int_equal(hd_str_append_text(op, out, "avro.schema\x0c\"null\""), HUDI_OK);
    assert_int_equal(hd_avro_write_bytes(op, out, hd_slice_text("avro.codec")), HUDI_OK);
    assert_int_equal(hd_avro_write_bytes(op, out, hd_slice_text(codec)), HUDI_OK);
    assert_int_equal(hd_str_append(op, out, "\0", 1), HUDI_OK);
    assert_int_equal(hd_str_append_text(op, out, "0123456789abcdef"), HUDI_OK);
}

static void refuses_codecs_it_does_not_have(void **state)
{
    struct hd_op *op = *state;
    struct hd_str file = {0};
    struct hd_avro_container container;

    header(op, "bzip2", &file);
    assert_int_equal(hd_avro_container_open(op, hd_str_slice(&file), &container),
                     HUDI_NOT_IMPLEMENTED);
    assert_string_equal(hudi_error_message(op->error), "Avro file of codec \"bzip2\"");
    hd_op_clear_error(op);
    hd_str_clear(&file);
}

static void refuses_damaged_blocks(void **state)
{
    static const struct {
        const char *codec, *block;
        size_t size;
    } BAD[] = {
        {"null",
         "\x01\x00"
         "0123456789abcdef",
         18}, /* -1 records */
        {"null",
         "\x00\x01"
         "0123456789abcdef",
         18}, /* -1 bytes */
        {"null",
         "\x00\x02"
         "0123456789abcdef",
         18}, /* one byte too few */
        {"null",
         "\x00\x00"
         "0123456789abcdeF",
         18}, /* another marker */
        {"null",
         "\x82\x10\x00"
         "0123456789abcdef",
         19}, /* 1025 records, no bytes */
        {"deflate",
         "\x00\x02x"
         "0123456789abcdef",
         19}, /* not deflate */
        {"snappy",
         "\x00\x06xyz"
         "0123456789abcdef",
         21}, /* no checksum */
        {"snappy",
         "\x02\x0e\x01\x00z\x01\x02\x03\x04"
         "0123456789abcdef",
         25}, /* a wrong one */
    };
    struct hd_op *op = *state;

    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        struct hd_str file = {0};
        struct hd_avro_container container;
        struct hd_cursor records;
        uint64_t n;

        header(op, BAD[i].codec, &file);
        assert_int_equal(hd_str_append(op, &file, BAD[i].block, BAD[i].size), HUDI_OK);
        assert_int_equal(hd_avro_container_open(op, hd_str_slice(&file), &container), HUDI_OK);
        assert_int_equal(hd_avro_container_next(op, &container, &records, &n), HUDI_CORRUPT);
        hd_op_clear_error(op);
        hd_avro_container_clear(&container);
        hd_str_clear(&file);
    }
}

static void refuses_a_file_without_schema(void **state)
{
    struct hd_op *op = *state;
    struct hd_avro_container container;

    assert_int_equal(hd_avro_container_open(op,
                                            hd_slice_of("Obj\x01\x00"
                                                        "0123456789abcdef",
                                                        21),
                                            &container),
                     HUDI_CORRUPT);
    hd_op_clear_error(op);
    assert_int_equal(hd_avro_container_open(op, hd_slice_text("PAR1"), &container), HUDI_CORRUPT);
    hd_op_clear_error(op);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, test_op_setup, test_op_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(reads_files_of_another_library_in_every_codec),
        TEST(refuses_every_truncation),
        TEST(survives_every_fault),
        TEST(writes_one_block_and_nothing_but_the_schema),
        TEST(refuses_codecs_it_does_not_have),
        TEST(refuses_damaged_blocks),
        TEST(refuses_a_file_without_schema),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
