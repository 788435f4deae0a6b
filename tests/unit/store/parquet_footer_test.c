/* SPDX-License-Identifier: Apache-2.0 */
/* Footers of files that Hudi's writers made, taken apart and put together again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "unit/store/store_testing.h"

#include "store/parquet_footer.h"

/* One of the oldest and of the newest writers; all codecs; lists and maps; a metadata-rich file. */
static const char *const TABLES[] = {"flink010-cow-types", "spark-0.15.0-types-cow",
                                     "spark-0.15.0-parquet-codecs", "spark-1.1.1-types-cow"};

/* A Parquet file of a golden table; free(). */
static uint8_t *golden_bytes(const char *name, size_t *n)
{
    char *table = test_golden_unpack(name);
    char *path = test_golden_find(table, ".", ".parquet");
    uint8_t *bytes = test_bytes(path, n);

    free(path);
    test_golden_remove(table);
    return bytes;
}

static void a_footer_that_is_not_changed_comes_out_as_it_was(void **state)
{
    struct hd_op *op = *state;

    for (size_t i = 0; i < HD_ARRAY_LENGTH(TABLES); i++) {
        struct hd_parquet_footer footer;
        struct hd_str text = {0};
        size_t n;
        uint8_t *bytes = golden_bytes(TABLES[i], &n);

        ASSERT_OK(op, hd_parquet_footer_of_tail(op, hd_slice_of(bytes, n), 0, &footer));
        ASSERT_OK(op, hd_parquet_footer_format(op, &footer, &text));
        assert_int_equal(text.size, n - 8 - footer.data_end);
        assert_memory_equal(text.data, bytes + footer.data_end, text.size);
        hd_str_clear(&text);
        hd_parquet_footer_clear(&footer);
        free(bytes);
    }
}

static void says_where_things_are(void **state)
{
    struct hd_op *op = *state;
    struct hd_parquet_footer footer;
    struct hd_parquet_extent pages;
    struct hd_slice name;
    size_t n, chunk;
    uint8_t *bytes = golden_bytes("spark-0.15.0-types-cow", &n);

    ASSERT_OK(op, hd_parquet_footer_of_tail(op, hd_slice_of(bytes, n), 0, &footer));
    assert_int_equal(footer.n_row_groups, 1);
    ASSERT_OK(op, hd_thrift_get_binary(op, &footer.schema[5], 4, &name));
    assert_true(hd_slice_equal(name, hd_slice_text("_hoodie_file_name")));
    ASSERT_OK(op, hd_parquet_flat_column(op, &footer, 4, &chunk));
    assert_int_equal(chunk, 4);
    ASSERT_OK(op, hd_parquet_chunk_pages(op, &footer, &footer.row_groups[0].chunks[0], &pages));
    assert_int_equal(pages.offset, 4); /* right behind the magic */
    assert_int_equal(hd_parquet_flat_column(op, &footer, 1000, &chunk), HUDI_NOT_FOUND);
    hd_parquet_footer_clear(&footer);
    free(bytes);
}

/* The footer of a file without its key-values, of which the bloom filter is most. */
static void short_footer(struct hd_op *op, struct hd_str *out)
{
    struct hd_parquet_footer footer;
    size_t n;
    uint8_t *bytes = golden_bytes("flink010-cow-types", &n);

    ASSERT_OK(op, hd_parquet_footer_of_tail(op, hd_slice_of(bytes, n), 0, &footer));
    hd_thrift_remove(&footer.fields, 5);
    ASSERT_OK(op, hd_parquet_footer_format(op, &footer, out));
    assert_in_range(out->size, 1000, 20000);
    hd_parquet_footer_clear(&footer);
    free(bytes);
}

/* `n` bytes of a footer as the end of a file; free(). */
static uint8_t *end_of_file(const char *footer, size_t n)
{
    const uint8_t length[] = {(uint8_t)n, (uint8_t)(n >> 8), 0, 0};
    uint8_t *bytes = malloc(n + 8); /* no longer, so that the sanitizer sees what is read beyond */

    assert_non_null(bytes);
    memcpy(bytes, footer, n);
    memcpy(bytes + n, length, 4);
    memcpy(bytes + n + 4, "PAR1", 4);
    return bytes;
}

static void is_corrupt_when_cut_at_any_byte(void **state)
{
    struct hd_op *op = *state;
    struct hd_parquet_footer footer;
    struct hd_str text = {0};

    short_footer(op, &text);
    for (size_t cut = 0; cut <= text.size; cut++) {
        uint8_t *bytes = end_of_file(text.data, cut);
        assert_int_equal(hd_parquet_footer_of_tail(op, hd_slice_of(bytes, cut + 8), 0, &footer),
                         cut < text.size ? HUDI_CORRUPT : HUDI_OK);
        assert_true(cut == text.size || footer.n_row_groups == 0);
        hd_parquet_footer_clear(&footer);
        hd_op_clear_error(op);
        free(bytes);
    }
    uint8_t *bytes = end_of_file(text.data, text.size);
    for (size_t cut = text.size; cut < text.size + 8; cut++) {
        assert_int_equal(hd_parquet_footer_of_tail(op, hd_slice_of(bytes, cut), 0, &footer),
                         HUDI_CORRUPT);
        hd_op_clear_error(op);
    }
    free(bytes);
    hd_str_clear(&text);
}

static void survives_every_fault(void **state)
{
    struct hd_op *op = *state;
    struct hd_parquet_footer footer;
    struct hd_str text = {0};
    hudi_status status = HUDI_INTERNAL;
    size_t n;
    uint8_t *bytes = golden_bytes("flink010-cow-types", &n);
    hd_input_file *file;

    ASSERT_OK(op, hd_input_file_of_bytes(op, bytes, n, &file));
    for (int nth = 1; status != HUDI_OK; nth++) {
        test_fault_arm(op, nth);
        hd_str_clear(&text);
        status = hd_parquet_footer_read(op, file, &footer);
        if (status == HUDI_OK)
            status = hd_parquet_footer_format(op, &footer, &text);
        assert_int_equal(status == HUDI_OK, !test_fault_fired(op));
        hd_parquet_footer_clear(&footer);
    }
    hd_str_clear(&text);
    hd_input_file_close(file);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_footer_that_is_not_changed_comes_out_as_it_was),
        TEST(says_where_things_are),
        TEST(is_corrupt_when_cut_at_any_byte),
        TEST(survives_every_fault),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
