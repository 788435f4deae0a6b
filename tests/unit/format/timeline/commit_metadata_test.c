/* SPDX-License-Identifier: Apache-2.0 */
/* clang-format off */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */

#include <stdlib.h>
#include <string.h>

#include "format/timeline/commit_metadata.h"
#include "support/fault.h"
#include "support/table.h"

/* A delta commit as Hudi 0.15 prints it, with one base file and one log file. */
static const char DELTA_COMMIT[] =
    "{\n"
    "  \"partitionToWriteStats\" : {\n"
    "    \"south\" : [ {\n"
    "      \"fileId\" : \"cf5d-0\",\n"
    "      \"path\" : \"south/cf5d-0_0-123-115_20261130135312013.parquet\",\n"
    "      \"cdcStats\" : {\n"
    "        \"south/.cf5d-0_20261130135312013.log.1_0-123-115.cdc\" : 940\n"
    "      },\n"
    "      \"prevCommit\" : \"null\",\n"
    "      \"numWrites\" : 30,\n"
    "      \"numDeletes\" : 1,\n"
    "      \"numUpdateWrites\" : 2,\n"
    "      \"numInserts\" : 30,\n"
    "      \"totalWriteBytes\" : 9545,\n"
    "      \"totalWriteErrors\" : 3,\n"
    "      \"tempPath\" : null,\n"
    "      \"partitionPath\" : \"south\",\n"
    "      \"totalLogRecords\" : 4,\n"
    "      \"totalLogFilesCompacted\" : 5,\n"
    "      \"totalLogSizeCompacted\" : 6,\n"
    "      \"totalUpdatedRecordsCompacted\" : 7,\n"
    "      \"totalLogBlocks\" : 8,\n"
    "      \"totalCorruptLogBlock\" : 9,\n"
    "      \"totalRollbackBlocks\" : 10,\n"
    "      \"fileSizeInBytes\" : 9545,\n"
    "      \"minEventTime\" : 11,\n"
    "      \"maxEventTime\" : 12,\n"
    "      \"runtimeStats\" : {\n"
    "        \"totalScanTime\" : 0,\n"
    "        \"totalUpsertTime\" : 1,\n"
    "        \"totalCreateTime\" : 348\n"
    "      }\n"
    "    }, {\n"
    "      \"fileId\" : \"fcc3-0\",\n"
    "      \"path\" : \"south/.fcc3-0_20261130135312013.log.2_0-149-146\",\n"
    "      \"cdcStats\" : null,\n"
    "      \"prevCommit\" : \"20261130135312013\",\n"
    "      \"numWrites\" : 20,\n"
    "      \"numDeletes\" : 0,\n"
    "      \"numUpdateWrites\" : 20,\n"
    "      \"numInserts\" : 0,\n"
    "      \"totalWriteBytes\" : 4422,\n"
    "      \"totalWriteErrors\" : 0,\n"
    "      \"tempPath\" : null,\n"
    "      \"partitionPath\" : \"south\",\n"
    "      \"totalLogRecords\" : 0,\n"
    "      \"totalLogFilesCompacted\" : 0,\n"
    "      \"totalLogSizeCompacted\" : 0,\n"
    "      \"totalUpdatedRecordsCompacted\" : 0,\n"
    "      \"totalLogBlocks\" : 0,\n"
    "      \"totalCorruptLogBlock\" : 0,\n"
    "      \"totalRollbackBlocks\" : 0,\n"
    "      \"fileSizeInBytes\" : 4422,\n"
    "      \"minEventTime\" : null,\n"
    "      \"maxEventTime\" : null,\n"
    "      \"runtimeStats\" : null,\n"
    "      \"logVersion\" : 2,\n"
    "      \"logOffset\" : 0,\n"
    "      \"baseFile\" : \"fcc3-0_1-123-116_20261130135312013.parquet\",\n"
    "      \"logFiles\" : [ \".fcc3-0_20261130135312013.log.1_0-149-146\", "
    "\".fcc3-0_20261130135312013.log.2_0-149-146\" ]\n"
    "    } ]\n"
    "  },\n"
    "  \"compacted\" : false,\n"
    "  \"extraMetadata\" : {\n"
    "    \"schema\" : \"{\\\"type\\\":\\\"record\\\"}\",\n"
    "    \"k\" : \"/ é \\u0001\"\n"
    "  },\n"
    "  \"operationType\" : \"UPSERT\"\n"
    "}";

static const char REPLACE_COMMIT[] = "{\n"
                                     "  \"partitionToWriteStats\" : { },\n"
                                     "  \"compacted\" : false,\n"
                                     "  \"extraMetadata\" : { },\n"
                                     "  \"operationType\" : \"CLUSTER\",\n"
                                     "  \"partitionToReplaceFileIds\" : {\n"
                                     "    \"south\" : [ \"a-0\", \"b-0\" ],\n"
                                     "    \"\" : [ ]\n"
                                     "  }\n"
                                     "}";

static void parse(struct hd_op *op, const char *text, struct hd_commit_metadata *out)
{
    test_must(op, hd_commit_metadata_parse(op, hd_slice_text(text), out));
}

static void what_hudi_prints_is_read_and_printed_alike(void **state)
{
    static const char *const TEXTS[] = {DELTA_COMMIT, REPLACE_COMMIT};
    struct hd_op *op = *state;

    for (size_t i = 0; i < HD_ARRAY_LENGTH(TEXTS); i++) {
        struct hd_commit_metadata metadata;
        struct hd_str text = {0};

        parse(op, TEXTS[i], &metadata);
        test_must(op, hd_commit_metadata_format(op, &metadata, &text));
        assert_string_equal(hd_str_text(&text), TEXTS[i]);
        hd_str_clear(&text);
        hd_commit_metadata_clear(&metadata);
    }
}

static void every_member_is_understood(void **state)
{
    struct hd_op *op = *state;
    struct hd_commit_metadata metadata;

    parse(op, DELTA_COMMIT, &metadata);
    assert_int_equal(metadata.n_stats, 2);
    const struct hd_write_stat *base = &metadata.stats[0], *log = &metadata.stats[1];
    assert_string_equal(base->file_id, "cf5d-0");
    assert_string_equal(base->partition_path, "south");
    assert_string_equal(base->prev_commit, "null");
    assert_int_equal(base->num_writes, 30);
    assert_int_equal(base->num_deletes, 1);
    assert_int_equal(base->num_update_writes, 2);
    assert_int_equal(base->total_rollback_blocks, 10);
    assert_int_equal(base->file_size_in_bytes, 9545);
    assert_true(base->has_event_times && base->min_event_time == 11 && base->max_event_time == 12);
    assert_int_equal(base->n_cdc, 1);
    assert_int_equal(base->cdc_sizes[0], 940);
    assert_int_equal(base->total_create_time_ms, 348);
    assert_false(base->is_log);
    assert_true(log->is_log);
    assert_int_equal(log->log_version, 2);
    assert_int_equal(log->n_log_files, 2);
    assert_false(log->has_event_times || log->has_runtime_stats);
    assert_string_equal(hd_commit_metadata_extra(&metadata, "schema"), "{\"type\":\"record\"}");
    assert_null(hd_commit_metadata_extra(&metadata, "absent"));
    assert_string_equal(metadata.operation_type, "UPSERT");
    assert_false(metadata.is_replace);
    hd_commit_metadata_clear(&metadata);

    parse(op, REPLACE_COMMIT, &metadata);
    assert_true(metadata.is_replace);
    assert_int_equal(metadata.n_replaced, 2);
    assert_string_equal(metadata.replaced[0].file_ids[1], "b-0");
    assert_int_equal(metadata.replaced[1].n_file_ids, 0);
    hd_commit_metadata_clear(&metadata);
}

/* Real readers take such commits: only fileId and path, and members they have never heard of. */
static void little_is_enough(void **state)
{
    struct hd_op *op = *state;
    struct hd_commit_metadata metadata;

    parse(op,
          "{\"unknown\":[1,{}],\"partitionToWriteStats\":{\"p\":[{\"fileId\":\"f\",\"path\":"
          "\"p/.f_001.log.1_0-0-0\",\"recordsStats\":{\"val\":null}}]}}",
          &metadata);
    assert_int_equal(metadata.n_stats, 1);
    assert_string_equal(metadata.stats[0].partition_path, "p");
    assert_true(metadata.stats[0].is_log);
    assert_int_equal(metadata.stats[0].num_writes, 0);
    assert_null(metadata.operation_type);
    assert_int_equal(metadata.n_extra, 0);
    hd_commit_metadata_clear(&metadata);
    parse(op, "{}", &metadata);
    assert_int_equal(metadata.n_stats, 0);
    hd_commit_metadata_clear(&metadata);
}

static void stats_of_a_partition_come_together(void **state)
{
    static const char *const PARTITIONS[] = {"b", "a", "b", "", "a"};
    struct hd_op *op = *state;
    struct hd_commit_metadata metadata = {0}, read;
    struct hd_str text = {0};

    for (size_t i = 0; i < HD_ARRAY_LENGTH(PARTITIONS); i++)
        test_must(
            op, hd_commit_metadata_add_stat(op, &metadata,
                                            &(struct hd_write_stat){.partition_path = PARTITIONS[i],
                                                                    .num_writes = (int64_t)i}));
    test_must(op, hd_commit_metadata_format(op, &metadata, &text));
    parse(op, hd_str_text(&text), &read);
    assert_int_equal(read.n_stats, 5);
    const int64_t order[] = {0, 2, 1, 4, 3};
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(read.stats[i].num_writes, order[i]);
    hd_commit_metadata_clear(&read);
    hd_commit_metadata_clear(&metadata);
    hd_str_clear(&text);
}

static void metadata_is_built_from_copies(void **state)
{
    struct hd_op *op = *state;
    struct hd_commit_metadata metadata = {0};
    char id[8] = "f0", partition[8] = "p";

    for (int i = 0; i < 100; i++) {
        id[1] = (char)('0' + i % 10);
        partition[0] = (char)('a' + i % 3);
        test_must(op, hd_commit_metadata_add_replaced(op, &metadata, partition, id));
    }
    test_must(op, hd_commit_metadata_set_extra(op, &metadata, "k", "v"));
    test_must(op, hd_commit_metadata_set_extra(op, &metadata, "schema", "s"));
    test_must(op, hd_commit_metadata_set_extra(op, &metadata, "k", "w"));
    assert_true(metadata.is_replace);
    assert_int_equal(metadata.n_replaced, 3);
    assert_string_equal(metadata.replaced[1].partition_path, "b");
    assert_int_equal(metadata.replaced[0].n_file_ids, 34);
    assert_string_equal(metadata.replaced[0].file_ids[0], "f0");
    assert_string_equal(metadata.replaced[0].file_ids[1], "f3");
    assert_int_equal(metadata.n_extra, 2);
    assert_string_equal(hd_commit_metadata_extra(&metadata, "k"), "w");
    hd_commit_metadata_clear(&metadata);
}

static void ids_are_added_to_what_was_parsed(void **state)
{
    struct hd_op *op = *state;
    struct hd_commit_metadata metadata;

    parse(op, REPLACE_COMMIT, &metadata);
    test_must(op, hd_commit_metadata_add_replaced(op, &metadata, "south", "c-0"));
    test_must(op, hd_commit_metadata_add_replaced(op, &metadata, "north", "d-0"));
    assert_int_equal(metadata.n_replaced, 3);
    assert_int_equal(metadata.replaced[0].n_file_ids, 3);
    assert_string_equal(metadata.replaced[0].file_ids[2], "c-0");
    hd_commit_metadata_clear(&metadata);
}

static void a_write_stat_travels_alone(void **state)
{
    struct hd_op *op = *state;
    struct hd_commit_metadata metadata;
    struct hd_arena arena = {0};
    struct hd_str text = {0}, again = {0};
    struct hd_write_stat stat;

    parse(op, DELTA_COMMIT, &metadata);
    for (size_t i = 0; i < metadata.n_stats; i++) {
        metadata.stats[i].prev_base_file = "old.parquet";
        test_must(op, hd_write_stat_format(op, &metadata.stats[i], &text));
        assert_null(strchr(hd_str_text(&text), '\n'));
        test_must(op, hd_write_stat_parse(op, &arena, hd_str_slice(&text), &stat));
        assert_string_equal(stat.path, metadata.stats[i].path);
        assert_string_equal(stat.prev_base_file, "old.parquet");
        test_must(op, hd_write_stat_format(op, &stat, &again));
        assert_string_equal(hd_str_text(&again), hd_str_text(&text));
        hd_str_clear(&text);
        hd_str_clear(&again);
    }
    hd_arena_clear(&arena);
    hd_commit_metadata_clear(&metadata);
}

static void other_documents_are_refused(void **state)
{
    static const char *const TEXTS[] = {
        "",
        "[]",
        "null",
        "{\"partitionToWriteStats\":[]}",
        "{\"partitionToWriteStats\":{\"p\":{}}}",
        "{\"partitionToWriteStats\":{\"p\":[1]}}",
        "{\"partitionToWriteStats\":{\"p\":[{\"fileId\":1}]}}",
        "{\"partitionToWriteStats\":{\"p\":[{\"numWrites\":\"x\"}]}}",
        "{\"partitionToWriteStats\":{\"p\":[{\"fileId\":\"a\\u0000b\"}]}}",
        "{\"partitionToWriteStats\":{\"p\":[{\"logVersion\":4294967296}]}}",
        "{\"extraMetadata\":{\"k\":1}}",
        "{\"operationType\":1}",
        "{\"compacted\":\"yes\"}",
        "{\"partitionToReplaceFileIds\":{\"p\":[null]}}",
        "{} {}",
    };
    struct hd_op *op = *state;
    struct hd_commit_metadata metadata;

    for (size_t i = 0; i < HD_ARRAY_LENGTH(TEXTS); i++) {
        if (hd_commit_metadata_parse(op, hd_slice_text(TEXTS[i]), &metadata) != HUDI_CORRUPT)
            fail_msg("%s was taken", TEXTS[i]);
        assert_int_equal(metadata.n_stats, 0);
        hd_op_clear_error(op);
    }
    assert_int_equal(hd_commit_metadata_parse(op, hd_slice_of("Obj\1rest", 8), &metadata),
                     HUDI_CORRUPT);
    hd_op_clear_error(op);
}

static void every_cut_is_refused(void **state)
{
    struct hd_op *op = *state;
    struct hd_commit_metadata metadata;

    for (size_t n = 0; n < strlen(DELTA_COMMIT); n++) {
        char *exact = malloc(n + 1);

        memcpy(exact, DELTA_COMMIT, n);
        assert_int_equal(hd_commit_metadata_parse(op, hd_slice_of(exact, n), &metadata),
                         HUDI_CORRUPT);
        hd_op_clear_error(op);
        free(exact);
    }
}

static void survives_every_fault(void **state)
{
    struct hd_op *op = *state;
    hudi_status status = HUDI_INTERNAL;

    for (int nth = 1; status != HUDI_OK; nth++) {
        struct hd_commit_metadata metadata = {0};
        struct hd_str text = {0};

        test_fault_arm(op, nth);
        status = hd_commit_metadata_parse(op, hd_slice_text(DELTA_COMMIT), &metadata);
        if (status == HUDI_OK)
            status = hd_commit_metadata_add_replaced(op, &metadata, "p", "f");
        if (status == HUDI_OK)
            status = hd_commit_metadata_add_stat(op, &metadata, &metadata.stats[0]);
        if (status == HUDI_OK)
            status = hd_commit_metadata_format(op, &metadata, &text);
        assert_int_equal(status == HUDI_OK, !test_fault_fired(op));
        hd_str_clear(&text);
        hd_commit_metadata_clear(&metadata);
    }
    test_fault_disarm(op);
    hd_op_clear_error(op);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_hudi_prints_is_read_and_printed_alike),
        cmocka_unit_test(every_member_is_understood),
        cmocka_unit_test(little_is_enough),
        cmocka_unit_test(stats_of_a_partition_come_together),
        cmocka_unit_test(metadata_is_built_from_copies),
        cmocka_unit_test(ids_are_added_to_what_was_parsed),
        cmocka_unit_test(a_write_stat_travels_alone),
        cmocka_unit_test(other_documents_are_refused),
        cmocka_unit_test(every_cut_is_refused),
        cmocka_unit_test(survives_every_fault),
    };

    return cmocka_run_group_tests(tests, test_op_setup, test_op_teardown);
}
