/* SPDX-License-Identifier: Apache-2.0 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "arrow/array.h"
#include "arrow/schema.h"
#include "codec/bloom.h"
#include "engine/record/key_range.h"
#include "store/base_file.h"
#include "store/file_system.h"
#include "support/written_table.h"

/* Base files that say what is not so: each is read and written again with one thing changed. */

struct change {
    const char *min, *max; /* of the footer; NULL: as it was */
    const char *bloom;     /* text of the filter; NULL: as it was */
    const char *bloom_key; /* a filter that holds this key alone */
    const char *column;    /* gets `value` in every row */
    const char *value;
    const char *drop_column;
};

static void must(struct hd_op *op, hudi_status status)
{
    if (status != HUDI_OK)
        fail_msg("%s", op->error == NULL ? "" : hudi_error_message(op->error));
}

static void put_text(struct hd_op *op, hd_base_reader *reader, hd_base_writer *writer,
                     const char *key, const char *changed)
{
    struct hd_slice value;

    must(op, hd_base_reader_key_value(op, reader, key, &value));
    if (changed != NULL)
        value = hd_slice_text(changed);
    must(op, hd_base_writer_key_value(op, writer, key, value));
}

static void put_footer(struct hd_op *op, hd_base_reader *reader, hd_base_writer *writer,
                       const struct change *change)
{
    struct hd_str text = {0};
    struct hd_slice code;
    hd_bloom *bloom = NULL;

    put_text(op, reader, writer, HD_MIN_RECORD_KEY, change->min);
    put_text(op, reader, writer, HD_MAX_RECORD_KEY, change->max);
    if (change->bloom_key != NULL) {
        must(op, hd_bloom_new(op, HD_BLOOM_SIMPLE, 100, 1e-9, 0, &bloom));
        must(op, hd_bloom_add(op, bloom, hd_slice_text(change->bloom_key)));
        must(op, hd_bloom_encode(op, bloom, &text));
        hd_bloom_free(op, bloom);
        must(op, hd_base_writer_key_value(op, writer, HD_BLOOM_KEY, hd_str_slice(&text)));
        hd_str_clear(&text);
        return;
    }
    put_text(op, reader, writer, HD_BLOOM_KEY, change->bloom);
    if (hd_base_reader_key_value(op, reader, HD_BLOOM_TYPE_KEY, &code) == HUDI_OK)
        put_text(op, reader, writer, HD_BLOOM_TYPE_KEY, NULL);
}

/* The columns of the new file from the only batch of the old one. */
static int32_t change_columns(struct hd_op *op, hd_base_reader *reader, const struct change *change,
                              struct ArrowSchema *schema, struct ArrowArray *batch)
{
    const struct ArrowSchema *const old = hd_base_reader_schema(reader);
    struct hd_shared_array *shared;
    struct ArrowArray columns[16];
    int32_t kept[16], n = 0;
    const int64_t n_rows = batch->length;

    must(op, hd_shared_array_new(op, batch, &shared));
    for (int32_t i = 0; i < old->n_children; i++) {
        const char *const name = old->children[i]->name;

        if (change->drop_column != NULL && strcmp(name, change->drop_column) == 0)
            continue;
        if (change->column != NULL && strcmp(name, change->column) == 0)
            must(op,
                 hd_array_constant_string(op, hd_slice_text(change->value), n_rows, &columns[n]));
        else
            must(op, hd_array_share(op, shared, i, &columns[n]));
        kept[n++] = i;
    }
    hd_shared_array_free(shared);
    must(op, hd_schema_select(op, old, kept, n, schema));
    must(op, hd_array_struct(op, columns, n, n_rows, batch));
    return n;
}

/* Write a base file anew, and tell its size to the commit, which has no other file. */
static void rewrite(const struct written_table *table, const char *path, const char *commit,
                    const struct change *change)
{
    struct hd_op op;
    hd_file_system *fs;
    char *full;
    hd_input_file *input;
    hd_output_file *output;
    hd_base_reader *reader;
    hd_base_writer *writer;
    hd_base_batches *batches;
    struct ArrowSchema schema;
    struct ArrowArray batch;
    uint64_t n_bytes;
    const struct hd_base_read_options all = {0};
    const struct hd_base_write_options options = {
        .format = HD_BASE_FILE_PARQUET, .codec = HD_BASE_CODEC_ZSTD, .codec_level = INT32_MIN};

    hd_op_init(&op);
    must(&op, hd_fs_open(&op, written_table_file(table, path), &fs, &full));
    must(&op, hd_fs_open_input(&op, fs, full, &input));
    must(&op, hd_base_reader_open(&op, input, HD_BASE_FILE_PARQUET, &reader));
    must(&op, hd_base_reader_read(&op, reader, &all, &batches));
    must(&op, hd_base_batches_next(&op, batches, &batch));
    assert_int_equal(batch.length, hd_base_reader_n_rows(reader));
    change_columns(&op, reader, change, &schema, &batch);
    hd_free(&op, full);
    must(&op, hd_path_join(&op, table->path, "rewritten", &full));
    must(&op, hd_fs_open_output(&op, fs, full, false, &output));
    must(&op, hd_base_writer_open(&op, output, &schema, &options, &writer));
    must(&op, hd_base_writer_write(&op, writer, &batch));
    put_footer(&op, reader, writer, change);
    must(&op, hd_base_writer_close(&op, writer, &n_bytes));
    hd_array_clear(&batch);
    hd_schema_clear(&schema);
    hd_base_batches_close(batches);
    hd_base_reader_close(reader);
    hd_free(&op, full);
    hd_fs_free(fs);
    hd_op_clear(&op);
    written_table_copy(table, "rewritten", path);
    written_table_remove(table, "rewritten");
    written_table_set_number(table, commit, "fileSizeInBytes", (int64_t)n_bytes);
}

static int setup(void **state)
{
    static struct written_table table;

    written_table_open_partitioned(&table, NULL);
    *state = &table;
    return 0;
}

static int teardown(void **state)
{
    written_table_close(*state);
    return 0;
}

static hudi_verification *verify_with(hudi_context *context, const struct written_table *table)
{
    hudi_verification *found = NULL;
    hudi_table *open = NULL;
    hudi_error *error = NULL;

    if (hudi_table_open(context, table->path, NULL, &open, &error) != HUDI_OK ||
        hudi_verify(open, NULL, &found, &error) != HUDI_OK)
        fail_msg("%s", hudi_error_message(error));
    hudi_table_free(open);
    return found;
}

/* One finding of a kind whose message has `part` in it, and no other; NULL for none at all. */
static void assert_only(const hudi_verification *found, const char *kind, const char *part)
{
    const hudi_finding *finding;

    for (size_t i = 0; (finding = hudi_verification_finding(found, i)) != NULL; i++)
        print_message("%s: %s: %s\n", hudi_finding_kind(finding), hudi_finding_where(finding),
                      hudi_finding_message(finding));
    assert_int_equal(hudi_verification_n_findings(found), kind == NULL ? 0 : 1);
    if (kind == NULL)
        return;
    finding = hudi_verification_finding(found, 0);
    assert_string_equal(hudi_finding_kind(finding), kind);
    assert_non_null(strstr(hudi_finding_message(finding), part));
}

/* Ten rows "k10" to "k19" in partition a, their file changed: exactly one finding. */
static void assert_change_found(struct written_table *table, const struct change *change,
                                const char *kind, const char *part)
{
    char path[256], commit[128];

    written_table_write(table, "upsert", "a", 10, 10, "one");
    strcpy(path, written_table_find(table, "a", ".parquet", 0));
    strcpy(commit, written_table_find(table, ".hoodie", ".commit", 0));
    rewrite(table, path, commit, change);
    hudi_verification *const found = verify_with(table->context, table);
    assert_only(found, kind, part);
    hudi_verification_free(found);
}

/* ---- tests ---------------------------------------------------------------------------------- */

static void finds_nothing_when_nothing_was_changed(void **state)
{
    assert_change_found(*state, &(struct change){0}, NULL, NULL);
}

static void finds_keys_above_the_footers_range(void **state)
{
    assert_change_found(*state, &(struct change){.max = "k18"}, "key-out-of-range",
                        "\"k19\" is outside of the footer's key range (1 such rows)");
}

static void finds_keys_below_the_footers_range(void **state)
{
    assert_change_found(*state, &(struct change){.min = "k13"}, "key-out-of-range",
                        "\"k10\" is outside of the footer's key range (3 such rows)");
}

static void finds_keys_that_the_bloom_filter_denies(void **state)
{
    assert_change_found(*state, &(struct change){.bloom_key = "k12"}, "key-not-in-bloom",
                        "(9 such rows)");
}

static void finds_a_bloom_filter_that_is_none(void **state)
{
    assert_change_found(*state, &(struct change){.bloom = "?"}, "damaged-bloom", "");
}

static void finds_rows_of_instants_that_never_completed(void **state)
{
    assert_change_found(
        *state, &(struct change){.column = "_hoodie_commit_time", .value = "29990101000000000"},
        "wrong-commit-time", "\"29990101000000000\" is no completed instant (10 such rows)");
}

static void finds_rows_without_commit_time(void **state)
{
    assert_change_found(*state, &(struct change){.column = "_hoodie_commit_time", .value = ""},
                        "wrong-commit-time", "\"\" is no completed instant (10 such rows)");
}

static void finds_rows_that_are_later_than_their_file(void **state)
{
    struct written_table *const table = *state;
    char path[256], commit[128], later[24];

    written_table_write(table, "upsert", "a", 10, 10, "one");
    strcpy(path, written_table_find(table, "a", ".parquet", 0));
    strcpy(commit, written_table_find(table, ".hoodie", ".commit", 0));
    written_table_write(table, "upsert", "b", 20, 10, "two");
    snprintf(later, sizeof later, "%.17s",
             written_table_find(table, ".hoodie", ".commit", 1) + strlen(".hoodie/"));
    rewrite(table, path, commit, &(struct change){.column = "_hoodie_commit_time", .value = later});
    hudi_verification *const found = verify_with(table->context, table);
    assert_only(found, "wrong-commit-time", "is later than the file (10 such rows)");
    hudi_verification_free(found);
}

static void finds_rows_of_other_partitions(void **state)
{
    assert_change_found(*state, &(struct change){.column = "_hoodie_partition_path", .value = "b"},
                        "wrong-partition-path", "\"b\" is not the partition it is in");
}

static void finds_rows_without_key(void **state)
{
    assert_change_found(*state, &(struct change){.column = "_hoodie_record_key", .value = ""},
                        "bad-key", "(10 such rows)");
}

static void finds_a_file_without_key_column(void **state)
{
    assert_change_found(*state, &(struct change){.drop_column = "_hoodie_record_key"},
                        "missing-column", "_hoodie_record_key");
}

static void finds_a_key_twice_in_one_file(void **state)
{
    assert_change_found(*state, &(struct change){.column = "_hoodie_record_key", .value = "k15"},
                        "duplicate-key", "\"k15\" is in row 0 of ");
}

static bool finds(hudi_context *context, const struct written_table *table, const char *kind)
{
    hudi_verification *const found = verify_with(context, table);
    bool is_found = false;

    for (size_t i = 0; i < hudi_verification_n_findings(found); i++)
        is_found =
            is_found || strcmp(hudi_finding_kind(hudi_verification_finding(found, i)), kind) == 0;
    hudi_verification_free(found);
    return is_found;
}

/* Damage goes through the pages; in places only who reads all columns meets it. */
static void finds_pages_that_cannot_be_read_unless_it_is_quick(void **state)
{
    struct written_table *const table = *state;
    char path[256];
    size_t n, n_found = 0, n_found_quick = 0;
    hudi_context *quick;
    hudi_options *options;

    assert_int_equal(hudi_options_new(&options, NULL), HUDI_OK);
    assert_int_equal(hudi_options_set(options, "libhudi.verify.quick", "true", NULL), HUDI_OK);
    assert_int_equal(hudi_context_new(options, &quick, NULL), HUDI_OK);
    written_table_write(table, "upsert", "a", 0, 2000, "a value");
    strcpy(path, written_table_find(table, "a", ".parquet", 0));
    char *const bytes = written_table_read(table, path, &n);
    const size_t footer_bytes = (size_t)(uint8_t)bytes[n - 8] | (size_t)(uint8_t)bytes[n - 7] << 8 |
                                (size_t)(uint8_t)bytes[n - 6] << 16;
    const size_t page_bytes = n - 8 - footer_bytes;
    for (size_t at = page_bytes / 40; at < page_bytes - 16; at += page_bytes / 40) {
        char old[16];

        memcpy(old, bytes + at, sizeof old);
        memset(bytes + at, 0xff, sizeof old);
        written_table_put(table, path, bytes, n);
        n_found += finds(table->context, table, "unreadable-file");
        n_found_quick += finds(quick, table, "unreadable-file");
        memcpy(bytes + at, old, sizeof old);
    }
    free(bytes);
    assert_true(n_found_quick > 0);
    assert_true(n_found > n_found_quick);
    hudi_context_free(quick);
    hudi_options_free(options);
}

/* ---- keys in two files ---------------------------------------------------------------------- */

static const char *const TWO_FILES[] = {"hoodie.parquet.small.file.limit=0", NULL};

static void assert_duplicates(hudi_context *context, const struct written_table *table,
                              bool is_finding, const char *part)
{
    hudi_verification *const found = verify_with(context, table);
    const hudi_finding *const finding =
        is_finding ? hudi_verification_finding(found, 0) : hudi_verification_note(found, 0);

    assert_int_equal(hudi_verification_n_findings(found), is_finding);
    assert_non_null(finding);
    assert_string_equal(hudi_finding_kind(finding), "duplicate-key");
    assert_string_equal(hudi_finding_where(finding), "a");
    if (strstr(hudi_finding_message(finding), part) == NULL)
        fail_msg("%s", hudi_finding_message(finding));
    hudi_verification_free(found);
}

static void write_overlapping(struct written_table *table, int n, int n_both)
{
    written_table_open_partitioned(table, TWO_FILES);
    written_table_write(table, "bulk_insert", "a", 0, n, "one");
    written_table_write(table, "bulk_insert", "a", n - n_both, n, "two");
    assert_non_null(written_table_find(table, "a", ".parquet", 1));
}

static void notes_a_key_in_two_files_after_inserts(void **state)
{
    struct written_table table;

    (void)state;
    write_overlapping(&table, 10, 3);
    assert_duplicates(table.context, &table, false, "(3 such keys), which inserts may do");
    written_table_close(&table);
}

static void finds_a_key_in_two_files_after_upserts(void **state)
{
    struct written_table table;

    (void)state;
    write_overlapping(&table, 10, 3);
    for (int i = 0; i < 2; i++)
        written_table_replace(&table, written_table_find(&table, ".hoodie", ".commit", i),
                              "operationType", "BULK_INSERT", "UPSERT");
    assert_duplicates(table.context, &table, true, "(3 such keys)");
    written_table_close(&table);
}

/* The same key in two partitions is no duplicate. */
static void finds_nothing_when_partitions_share_keys(void **state)
{
    struct written_table *const table = *state;

    written_table_write(table, "upsert", "a", 0, 10, "one");
    written_table_write(table, "upsert", "b", 0, 10, "one");
    hudi_verification *const found = verify_with(table->context, table);
    assert_only(found, NULL, NULL);
    assert_null(hudi_verification_note(found, 0));
    hudi_verification_free(found);
}

/* With room for 32768 hashes in memory and for 65536 in each pass: three passes. */
static void finds_duplicates_in_several_passes(void **state)
{
    struct written_table table;
    hudi_options *options;
    hudi_context *small;

    (void)state;
    write_overlapping(&table, 40000, 5000);
    assert_int_equal(hudi_options_new(&options, NULL), HUDI_OK);
    assert_int_equal(hudi_options_set(options, "libhudi.memory.budget.bytes", "1048576", NULL),
                     HUDI_OK);
    assert_int_equal(hudi_context_new(options, &small, NULL), HUDI_OK);
    assert_duplicates(small, &table, false, "(5000 such keys)");
    assert_duplicates(table.context, &table, false, "(5000 such keys)");
    hudi_context_free(small);
    hudi_options_free(options);
    written_table_close(&table);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(finds_nothing_when_nothing_was_changed),
        TEST(finds_keys_above_the_footers_range),
        TEST(finds_keys_below_the_footers_range),
        TEST(finds_keys_that_the_bloom_filter_denies),
        TEST(finds_a_bloom_filter_that_is_none),
        TEST(finds_rows_of_instants_that_never_completed),
        TEST(finds_rows_without_commit_time),
        TEST(finds_rows_that_are_later_than_their_file),
        TEST(finds_rows_of_other_partitions),
        TEST(finds_rows_without_key),
        TEST(finds_a_file_without_key_column),
        TEST(finds_a_key_twice_in_one_file),
        TEST(finds_pages_that_cannot_be_read_unless_it_is_quick),
        cmocka_unit_test(notes_a_key_in_two_files_after_inserts),
        cmocka_unit_test(finds_a_key_in_two_files_after_upserts),
        TEST(finds_nothing_when_partitions_share_keys),
        cmocka_unit_test(finds_duplicates_in_several_passes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
