/* SPDX-License-Identifier: Apache-2.0 */
/* clang-format off */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */

/* Blocks made here; those that Hudi wrote are in tests/cli/log_test.py. */
#include <string.h>

#include "arrow/schema.h"
#include "arrow/stream.h"
#include "arrow/view.h"
#include "codec/avro.h"
#include "format/log/log_deletes.h"
#include "format/log/log_rows.h"
#include "log_testing.h"
#include "support/fault.h"

#define SCHEMA                                                                                     \
    "{\"type\":\"record\",\"name\":\"r\",\"fields\":[{\"name\":\"id\",\"type\":\"string\"},"       \
    "{\"name\":\"n\",\"type\":[\"null\",\"long\"]},"                                               \
    "{\"name\":\"many\",\"type\":[\"null\",\"long\",\"string\"]}]}"

static void put_be(struct hd_op *op, struct hd_str *out, uint32_t value)
{
    const char bytes[] = {(char)(value >> 24), (char)(value >> 16), (char)(value >> 8),
                          (char)value};

    test_must(op, hd_str_append(op, out, bytes, sizeof bytes));
}

/* Rows ("a", 7, "text") and ("b", null, 5). */
static void put_data_block(struct hd_op *op, const char *schema, struct hd_str *out)
{
    static const char *const ROWS[] = {"\2a\2\16\4\10text", "\2b\0\2\12"};
    static const size_t SIZES[] = {10, 5};
    const struct hd_log_header_entry header = {HD_LOG_SCHEMA, hd_slice_text(schema)};
    struct hd_str content = {0};

    put_be(op, &content, 3);
    put_be(op, &content, 2);
    for (size_t i = 0; i < 2; i++) {
        put_be(op, &content, (uint32_t)SIZES[i]);
        test_must(op, hd_str_append(op, &content, ROWS[i], SIZES[i]));
    }
    const struct hd_slice part = hd_str_slice(&content);
    test_must(op, hd_log_block_encode(op, HD_LOG_AVRO_DATA, &header, 1, &part, 1, out));
    hd_str_clear(&content);
}

static void put_delete_block(struct hd_op *op, struct hd_str *out)
{
    static const struct hd_ordering_value ITEMS[] = {{.type = HD_ORDERING_LONG, .integer = 3},
                                                     {.type = HD_ORDERING_DATE, .integer = 19782}};
    struct hd_ordering_value ordering[] = {
        {.type = HD_ORDERING_DECIMAL, .scale = 2, .bytes = {(const uint8_t *)"\xff\x85", 2}},
        {.type = HD_ORDERING_ARRAY, .items = ITEMS, .n_items = 2}};
    struct hd_slice keys[] = {hd_slice_text("k1"), hd_slice_text("k2")};
    struct hd_slice paths[] = {hd_slice_text("p"), hd_slice_text("")};
    const struct hd_log_deletes deletes = {
        .n = 2, .record_keys = keys, .partition_paths = paths, .ordering = ordering};
    struct hd_str content = {0};

    test_must(op, hd_log_deletes_encode(op, 3, &deletes, &content));
    const struct hd_slice part = hd_str_slice(&content);
    test_must(op, hd_log_block_encode(op, HD_LOG_DELETE, NULL, 0, &part, 1, out));
    hd_str_clear(&content);
}

static void expect_text(struct hd_op *op, const struct ArrowSchema *schema,
                        const struct ArrowArray *batch, int column, int64_t row, const char *wanted)
{
    struct hd_arena arena = {0};
    struct hd_view view;

    test_must(op,
              hd_view_open(op, &arena, schema->children[column], batch->children[column], &view));
    assert_true(hd_slice_equal(hd_view_bytes(&view, row), hd_slice_text(wanted)));
    hd_arena_clear(&arena);
}

/* The only batch of a block, and its schema. */
static void read_batch(struct hd_op *op, hd_log_reader *reader, struct hd_log_block *block,
                       struct ArrowSchema *schema, struct ArrowArray *batch)
{
    struct ArrowArrayStream rows;
    struct ArrowArray more;

    test_must(op, hd_log_rows_open(op, reader, block, &rows));
    test_must(op, hd_stream_schema(op, &rows, schema));
    test_must(op, hd_stream_next(op, &rows, batch));
    assert_int_equal(hd_stream_next(op, &rows, &more), HUDI_END);
    hd_stream_clear(&rows);
}

/* A field of several types is in no column. */
static void records_are_rows_of_the_schema_of_their_block(void **state)
{
    struct hd_op *op = *state;
    struct hd_str bytes = {0};
    struct hd_log_block block;
    struct ArrowSchema schema;
    struct ArrowArray batch;
    int64_t n_rows;
    uint32_t version;

    put_data_block(op, SCHEMA, &bytes);
    hd_log_reader *reader = reader_of(op, bytes.data, bytes.size);
    test_must(op, hd_log_reader_next(op, reader, &block));
    test_must(op, hd_log_rows_count(op, reader, &block, &n_rows, &version));
    assert_int_equal(n_rows, 2);
    assert_int_equal(version, 3);
    read_batch(op, reader, &block, &schema, &batch);
    assert_int_equal(schema.n_children, 2);
    assert_string_equal(schema.children[1]->name, "n");
    assert_int_equal(batch.length, 2);
    expect_text(op, &schema, &batch, 0, 0, "a");
    expect_text(op, &schema, &batch, 0, 1, "b");
    batch.release(&batch);
    hd_schema_clear(&schema);
    hd_log_block_clear(op, &block);
    hd_log_reader_close(op, reader);
    hd_str_clear(&bytes);
}

static void deletes_are_rows_with_their_ordering_values_as_text(void **state)
{
    struct hd_op *op = *state;
    struct hd_str bytes = {0};
    struct hd_log_block block;
    struct ArrowSchema schema;
    struct ArrowArray batch;
    int64_t n_rows;
    uint32_t version;

    put_delete_block(op, &bytes);
    hd_log_reader *reader = reader_of(op, bytes.data, bytes.size);
    test_must(op, hd_log_reader_next(op, reader, &block));
    test_must(op, hd_log_rows_count(op, reader, &block, &n_rows, &version));
    assert_int_equal(n_rows, 2);
    assert_int_equal(version, 3);
    read_batch(op, reader, &block, &schema, &batch);
    assert_int_equal(batch.length, 2);
    expect_text(op, &schema, &batch, 0, 1, "k2");
    expect_text(op, &schema, &batch, 1, 0, "p");
    expect_text(op, &schema, &batch, 2, 0, "decimal");
    expect_text(op, &schema, &batch, 3, 0, "-1.230000000000000");
    expect_text(op, &schema, &batch, 2, 1, "array");
    expect_text(op, &schema, &batch, 3, 1, "3, 2024-02-29");
    batch.release(&batch);
    hd_schema_clear(&schema);
    hd_log_block_clear(op, &block);
    hd_log_reader_close(op, reader);
    hd_str_clear(&bytes);
}

static void blocks_without_rows_have_none(void **state)
{
    struct hd_op *op = *state;
    struct hd_log_block block;
    struct ArrowArrayStream rows;
    int64_t n_rows;
    uint32_t version;
    hd_log_reader *reader = reader_of(op, ROLLBACK, ROLLBACK_BYTES);

    test_must(op, hd_log_reader_next(op, reader, &block));
    test_must(op, hd_log_rows_count(op, reader, &block, &n_rows, &version));
    assert_int_equal(n_rows, -1);
    assert_int_equal(version, 0);
    assert_int_equal(hd_log_rows_open(op, reader, &block, &rows), HUDI_INVALID);
    assert_string_equal(hudi_error_message(op->error), "a COMMAND block has no rows");
    hd_op_clear_error(op);
    hd_log_block_clear(op, &block);
    hd_log_reader_close(op, reader);
}

/* A record that holds itself many times over must not be walked for ever. */
static void schemas_that_stand_for_too_many_fields_are_refused(void **state)
{
    static const char DEEP[] =
        "{\"type\":\"record\",\"name\":\"r\",\"fields\":["
        "{\"name\":\"a\",\"type\":[\"null\",\"r\"]},{\"name\":\"b\",\"type\":[\"null\",\"r\"]},"
        "{\"name\":\"c\",\"type\":[\"null\",\"r\"]},{\"name\":\"d\",\"type\":[\"null\",\"r\"]}]}";
    struct hd_op *op = *state;
    struct hd_str bytes = {0};
    struct hd_log_block block;
    struct ArrowArrayStream rows;

    put_data_block(op, DEEP, &bytes);
    hd_log_reader *reader = reader_of(op, bytes.data, bytes.size);
    test_must(op, hd_log_reader_next(op, reader, &block));
    assert_int_equal(hd_log_rows_open(op, reader, &block, &rows), HUDI_NOT_IMPLEMENTED);
    hd_op_clear_error(op);
    hd_log_block_clear(op, &block);
    hd_log_reader_close(op, reader);
    hd_str_clear(&bytes);
}

static void survives_every_fault(void **state)
{
    struct hd_op *op = *state;

    for (int kind = 0; kind < 2; kind++) {
        struct hd_str bytes = {0};
        struct hd_log_block block;
        hudi_status status = HUDI_INTERNAL;

        if (kind == 0)
            put_data_block(op, SCHEMA, &bytes);
        else
            put_delete_block(op, &bytes);
        hd_log_reader *reader = reader_of(op, bytes.data, bytes.size);
        test_must(op, hd_log_reader_next(op, reader, &block));
        for (int nth = 1; status != HUDI_END; nth++) {
            struct ArrowArrayStream rows = {0};
            struct ArrowArray batch;

            test_fault_arm(op, nth);
            status = hd_log_rows_open(op, reader, &block, &rows);
            while (status == HUDI_OK) {
                status = hd_stream_next(op, &rows, &batch);
                if (status == HUDI_OK)
                    batch.release(&batch);
            }
            assert_int_equal(status == HUDI_END, !test_fault_fired(op));
            hd_stream_clear(&rows);
        }
        test_fault_disarm(op);
        hd_op_clear_error(op);
        hd_log_block_clear(op, &block);
        hd_log_reader_close(op, reader);
        hd_str_clear(&bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_are_rows_of_the_schema_of_their_block),
        cmocka_unit_test(deletes_are_rows_with_their_ordering_values_as_text),
        cmocka_unit_test(blocks_without_rows_have_none),
        cmocka_unit_test(schemas_that_stand_for_too_many_fields_are_refused),
        cmocka_unit_test(survives_every_fault),
    };

    return cmocka_run_group_tests(tests, test_op_setup, test_op_teardown);
}
