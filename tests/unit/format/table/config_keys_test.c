/* SPDX-License-Identifier: Apache-2.0 */
/* clang-format off */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */

#include "format/table/config_keys.h"
#include "support/fault.h"

/* The table of keys keeps its own rules. */
static void every_key_is_there_once_and_its_default_fits(void **state)
{
    struct hd_op *op = *state;
    struct hd_map names = {0};

    for (size_t i = 0; i < hd_n_config_keys; i++) {
        const struct hd_config_key *key = &hd_config_keys[i];
        bool added;

        assert_int_equal(hd_map_put(op, &names, hd_slice_text(key->name), 0, NULL, &added),
                         HUDI_OK);
        if (!added)
            fail_msg("%s is there twice", key->name);
        assert_true(key->help != NULL && key->help[0] != '\0');
        assert_true((key->type == HD_KEY_ENUM) == (key->choices != NULL));
        assert_ptr_equal(hd_config_key_find(key->name), key);
        for (const char *const *alias = key->aliases; alias != NULL && *alias != NULL; alias++) {
            assert_int_equal(hd_map_put(op, &names, hd_slice_text(*alias), 0, NULL, &added),
                             HUDI_OK);
            if (!added)
                fail_msg("%s is there twice", *alias);
            assert_ptr_equal(hd_config_key_find(*alias), key);
        }
        if (key->default_value != NULL && key->name[strlen(key->name) - 1] != '*') {
            struct hd_options options = {0};

            if (hd_options_set(op, &options, key->name, key->default_value) != HUDI_OK)
                fail_msg("%s", hudi_error_message(op->error));
            assert_string_equal(hd_options_text(&options, NULL, key->name), key->default_value);
            hd_options_clear(&options);
        }
    }
    hd_map_clear(&names);
}

static void expect_set(struct hd_op *op, const char *name, const char *value, const char *canonical,
                       const char *stored)
{
    struct hd_options options = {0};

    if (hd_options_set(op, &options, name, value) != HUDI_OK)
        fail_msg("%s", hudi_error_message(op->error));
    assert_int_equal(options.set.n_entries, 1);
    assert_string_equal(options.set.entries[0].key, canonical);
    assert_string_equal(options.set.entries[0].value, stored);
    hd_options_clear(&options);
}

static void names_and_values_are_stored_in_one_form(void **state)
{
    struct hd_op *op = *state;

    expect_set(op, "hoodie.populate.meta.fields", "FALSE", "hoodie.populate.meta.fields", "false");
    expect_set(op, "write.operation", "UPSERT", "hoodie.datasource.write.operation", "upsert");
    expect_set(op, "hoodie.parquet.compression.codec", "zstd", "hoodie.parquet.compression.codec",
               "ZSTD");
    expect_set(op, "hoodie.parquet.compression.codec", "", "hoodie.parquet.compression.codec",
               "UNCOMPRESSED");
    expect_set(op, "write.parquet.max.file.size", "120", "hoodie.parquet.max.file.size",
               "125829120");
    expect_set(op, "hoodie.parquet.max.file.size", "120", "hoodie.parquet.max.file.size", "120");
    expect_set(op, "write.precombine", "true", "hoodie.combine.before.insert", "true");
    expect_set(op, "hoodie.clean.commits.retained", "7", "hoodie.cleaner.commits.retained", "7");
    expect_set(op, "hoodie.metrics.on", "true", "hoodie.metrics.on", "true");
    expect_set(op, "hoodie.deltastreamer.keygen.timebased.timestamp.type", "epochmilliseconds",
               "hoodie.keygen.timebased.timestamp.type", "EPOCHMILLISECONDS");
}

/* docs/format/write-path.md 9: sizes under Flink's names that are marked MB there. */
static void sizes_of_flink_are_in_mebibytes(void **state)
{
    static const struct {
        const char *flink, *hudi;
    } SIZES[] = {
        {"write.parquet.max.file.size", "hoodie.parquet.max.file.size"},
        {"write.parquet.block.size", "hoodie.parquet.block.size"},
        {"write.parquet.page.size", "hoodie.parquet.page.size"},
        {"write.log.max.size", "hoodie.logfile.max.size"},
        {"write.log_block.size", "hoodie.logfile.data.block.max.size"},
        {"write.merge.max_memory", "hoodie.memory.merge.max.size"},
        {"compaction.max_memory", "hoodie.memory.compaction.max.size"},
        {"clustering.plan.strategy.small.file.limit",
         "hoodie.clustering.plan.strategy.small.file.limit"},
    };
    struct hd_op *op = *state;

    for (size_t i = 0; i < HD_ARRAY_LENGTH(SIZES); i++)
        expect_set(op, SIZES[i].flink, "3", SIZES[i].hudi, "3145728");
    /* counts and what is in MB under both names stay as they are */
    expect_set(op, "compaction.delta_commits", "5", "hoodie.compact.inline.max.delta.commits", "5");
    expect_set(op, "compaction.target_io", "512000", "hoodie.compaction.target.io", "512000");
}

static void expect_refused(struct hd_op *op, const char *name, const char *value,
                           hudi_status status, const char *part)
{
    struct hd_options options = {0};

    assert_int_equal(hd_options_set(op, &options, name, value), status);
    if (strstr(hudi_error_message(op->error), part) == NULL)
        fail_msg("\"%s\" in \"%s\"", part, hudi_error_message(op->error));
    assert_int_equal(options.set.n_entries, 0);
    hd_op_clear_error(op);
    hd_options_clear(&options);
}

static void says_what_is_wrong_with_an_option(void **state)
{
    struct hd_op *op = *state;

    expect_refused(op, "hoodie.datasource.write.opertion", "upsert", HUDI_INVALID,
                   "did you mean hoodie.datasource.write.operation?");
    expect_refused(op, "x", "1", HUDI_INVALID, "unknown option x");
    expect_refused(op, "hoodie.clustering.updates.strategy",
                   "org.apache.hudi.client.clustering.update.strategy.SparkAllowUpdateStrategy",
                   HUDI_NOT_IMPLEMENTED, "hoodie.clustering.updates.strategy");
    expect_refused(op, "hoodie.clustering.rollback.pending.replacecommit.on.conflict", "true",
                   HUDI_NOT_IMPLEMENTED, "hoodie.clustering.rollback.pending");
    expect_refused(op, "hoodie.metrics.", "1", HUDI_INVALID, "unknown option");
    expect_refused(op, "hoodie.datasource.write.operation", "upsrt", HUDI_INVALID,
                   "not one of upsert, insert");
    expect_refused(op, "hoodie.populate.meta.fields", "yes", HUDI_INVALID, "true nor false");
    expect_refused(op, "hoodie.write.table.version", "10", HUDI_INVALID, "from 2 to 9");
    expect_refused(op, "hoodie.parquet.max.file.size", "1x", HUDI_INVALID, "whole number from 1");
    expect_refused(op, "hoodie.parquet.max.file.size", "", HUDI_INVALID, "whole number");
    expect_refused(op, "hoodie.parquet.max.file.size", "9223372036854775808", HUDI_INVALID,
                   "whole number");
    expect_refused(op, "write.parquet.max.file.size", "9223372036854775807", HUDI_INVALID,
                   "whole number");
    expect_refused(op, "hoodie.index.bloom.fpp", "nan", HUDI_INVALID, "number");
    expect_refused(op, "hoodie.write.concurrency.mode", "NON_BLOCKING_CONCURRENCY_CONTROL",
                   HUDI_NOT_IMPLEMENTED, "not supported");
    expect_refused(op, "hoodie.datasource.write.insert.drop.duplicates", "true",
                   HUDI_NOT_IMPLEMENTED, "not supported");
}

static void the_call_counts_before_the_table_and_that_before_the_default(void **state)
{
    struct hd_op *op = *state;
    struct hd_options options = {0};
    struct hd_properties table = {0};
    const char *key = "hoodie.populate.meta.fields";

    assert_true(hd_options_bool(NULL, NULL, key));
    assert_int_equal(hd_properties_set(op, &table, key, "false"), HUDI_OK);
    assert_false(hd_options_bool(&options, &table, key));
    assert_false(hd_options_has(&options, key));
    assert_int_equal(hd_options_set(op, &options, key, "true"), HUDI_OK);
    assert_true(hd_options_bool(&options, &table, key));
    assert_true(hd_options_has(&options, key));

    assert_int_equal(hd_options_int(&options, &table, "hoodie.write.table.version"), 6);
    assert_int_equal(hd_options_int(&options, &table, "libhudi.threads"), 0);
    assert_true(hd_options_double(&options, &table, "hoodie.index.bloom.fpp") == 0.000000001);
    assert_null(hd_options_text(&options, &table, "hoodie.table.name"));

    /* an older name in the table, and empty values there, which count as none */
    assert_int_equal(hd_properties_set(op, &table, "hoodie.keygen.timebased.timezone", ""),
                     HUDI_OK);
    assert_int_equal(
        hd_properties_set(op, &table, "hoodie.deltastreamer.keygen.timebased.timezone", "CET"),
        HUDI_OK);
    assert_string_equal(hd_options_text(&options, &table, "hoodie.keygen.timebased.timezone"),
                        "CET");
    hd_options_clear(&options);
    hd_properties_clear(&table);
}

static void merging_puts_the_second_over_the_first(void **state)
{
    struct hd_op *op = *state;
    struct hd_options first = {0}, second = {0};

    assert_int_equal(hd_options_set(op, &first, "libhudi.threads", "1"), HUDI_OK);
    assert_int_equal(hd_options_set(op, &first, "write.operation", "insert"), HUDI_OK);
    assert_int_equal(hd_options_set(op, &second, "libhudi.threads", "3"), HUDI_OK);
    assert_int_equal(hd_options_merge(op, &first, &second), HUDI_OK);
    assert_int_equal(hd_options_int(&first, NULL, "libhudi.threads"), 3);
    assert_string_equal(hd_options_text(&first, NULL, "write.operation"), "insert");
    hd_options_clear(&first);
    hd_options_clear(&second);
}

int main(void)
{
#define TEST(test) cmocka_unit_test_setup_teardown(test, test_op_setup, test_op_teardown)
    const struct CMUnitTest tests[] = {
        TEST(every_key_is_there_once_and_its_default_fits),
        TEST(names_and_values_are_stored_in_one_form),
        TEST(sizes_of_flink_are_in_mebibytes),
        TEST(says_what_is_wrong_with_an_option),
        TEST(the_call_counts_before_the_table_and_that_before_the_default),
        TEST(merging_puts_the_second_over_the_first),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
