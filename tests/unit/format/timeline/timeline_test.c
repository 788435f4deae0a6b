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

#include "format/timeline/timeline.h"
#include "support/fault.h"
#include "support/table.h"

#define COMMIT_JSON(schema, operation)                                                             \
    "{\"partitionToWriteStats\":{},\"extraMetadata\":{\"schema\":" schema                          \
    "},\"operationType\":\"" operation "\"}"

static void load(struct test_table *table, struct hd_timeline *timeline)
{
    test_must(table->op,
              hd_timeline_load(table->op, table->fs, table->path, &table->config, timeline));
}

static void expect_instant(const struct hd_timeline *timeline, size_t i, const char *time,
                           enum hd_action action, enum hd_instant_state state)
{
    assert_true(i < timeline->n_instants);
    assert_string_equal(timeline->instants[i].time, time);
    assert_int_equal(timeline->instants[i].action, action);
    assert_int_equal(timeline->instants[i].state, state);
}

/* Invariant 2. */
static void the_furthest_state_of_an_instant_counts(void **state)
{
    struct test_table table;
    struct hd_timeline timeline;

    test_table_open(*state, &table, "timeline1", 6, NULL);
    test_table_put(&table, ".hoodie/hoodie.properties", "x");
    test_table_put(&table, ".hoodie/003.commit", "c");
    test_table_put(&table, ".hoodie/003.compaction.requested", "");
    test_table_put(&table, ".hoodie/003.compaction.inflight", "");
    test_table_put(&table, ".hoodie/001.deltacommit.requested", "");
    test_table_put(&table, ".hoodie/001.deltacommit.inflight", "");
    test_table_put(&table, ".hoodie/001.deltacommit", "12345");
    test_table_put(&table, ".hoodie/002.deltacommit.requested", "");
    test_table_put(&table, ".hoodie/001.savepoint", "s");
    test_table_put(&table, ".hoodie/001.savepoint.inflight", "");
    test_table_put(&table, ".hoodie/004.inflight", "");
    test_table_put(&table, ".hoodie/004.commit.requested", "");
    test_table_put(&table, ".hoodie/005.commit/not-a-file", "");
    load(&table, &timeline);

    assert_int_equal(timeline.n_instants, 5);
    expect_instant(&timeline, 0, "001", HD_ACTION_DELTACOMMIT, HD_COMPLETED);
    expect_instant(&timeline, 1, "001", HD_ACTION_SAVEPOINT, HD_COMPLETED);
    expect_instant(&timeline, 2, "002", HD_ACTION_DELTACOMMIT, HD_REQUESTED);
    expect_instant(&timeline, 3, "003", HD_ACTION_COMMIT, HD_COMPLETED);
    expect_instant(&timeline, 4, "004", HD_ACTION_COMMIT, HD_INFLIGHT);
    assert_int_equal(timeline.instants[0].size_bytes, 5);
    assert_true(timeline.instants[0].has_requested && timeline.instants[0].has_inflight);
    assert_false(timeline.instants[1].has_requested);
    assert_int_equal(timeline.instants[3].pending_action, HD_ACTION_COMPACTION);
    assert_int_equal(timeline.instants[4].pending_action, HD_ACTION_COMMIT);

    assert_ptr_equal(hd_timeline_find(&timeline, "003", HD_ACTION_COMMIT), &timeline.instants[3]);
    assert_ptr_equal(hd_timeline_find(&timeline, "001", HD_ACTION_SAVEPOINT),
                     &timeline.instants[1]);
    assert_null(hd_timeline_find(&timeline, "001", HD_ACTION_COMMIT));
    assert_null(hd_timeline_find(&timeline, "0035", HD_ACTION_COMMIT));
    assert_ptr_equal(hd_timeline_last_completed_write(&timeline), &timeline.instants[3]);
    hd_timeline_clear(&timeline);
    test_table_close(&table);
}

static void instants_of_version_8_carry_their_completion(void **state)
{
    struct test_table table;
    struct hd_timeline timeline;

    test_table_open(*state, &table, "timeline2", 8, NULL);
    test_table_put(&table, ".hoodie/timeline/001_005.deltacommit", "");
    test_table_put(&table, ".hoodie/timeline/001.deltacommit.requested", "");
    test_table_put(&table, ".hoodie/timeline/002.clustering.requested", "");
    test_table_put(&table, ".hoodie/timeline/003_004.replacecommit", "");
    test_table_put(&table, ".hoodie/timeline/003.clustering.inflight", "");
    load(&table, &timeline);

    assert_int_equal(timeline.n_instants, 3);
    assert_string_equal(timeline.instants[0].completion_time, "005");
    expect_instant(&timeline, 1, "002", HD_ACTION_CLUSTERING, HD_REQUESTED);
    assert_null(timeline.instants[1].completion_time);
    expect_instant(&timeline, 2, "003", HD_ACTION_REPLACECOMMIT, HD_COMPLETED);
    assert_int_equal(timeline.instants[2].pending_action, HD_ACTION_CLUSTERING);
    hd_timeline_clear(&timeline);
    test_table_close(&table);
}

static void what_is_before_the_start_is_committed_unless_it_is_pending(void **state)
{
    struct test_table table;
    struct hd_timeline timeline;

    test_table_open(*state, &table, "timeline3", 6, NULL);
    test_table_put(&table, ".hoodie/002.inflight", ""); /* a writer that died long ago */
    test_table_put(&table, ".hoodie/003.clean", "");    /* no write: no start */
    test_table_put(&table, ".hoodie/004.commit", "");   /* savepointed: an island */
    test_table_put(&table, ".hoodie/004.savepoint", "");
    test_table_put(&table, ".hoodie/007.deltacommit", "");
    test_table_put(&table, ".hoodie/008.compaction.requested", "");
    test_table_put(&table, ".hoodie/009.deltacommit", "");
    load(&table, &timeline);

    assert_string_equal(timeline.start, "007");
    assert_true(hd_timeline_is_committed(&timeline, "001"));  /* archived */
    assert_false(hd_timeline_is_committed(&timeline, "002")); /* pending */
    assert_true(hd_timeline_is_committed(&timeline, "003"));  /* archived, whatever the clean is */
    assert_true(hd_timeline_is_committed(&timeline, "004"));
    assert_true(hd_timeline_is_committed(&timeline, "005"));
    assert_true(hd_timeline_is_committed(&timeline, "007"));
    assert_false(hd_timeline_is_committed(&timeline, "0075")); /* rolled back */
    assert_false(hd_timeline_is_committed(&timeline, "008"));
    assert_true(hd_timeline_is_pending_compaction(&timeline, "008"));
    assert_false(hd_timeline_is_pending_compaction(&timeline, "007"));
    assert_true(hd_timeline_is_committed(&timeline, "009"));
    assert_false(hd_timeline_is_committed(&timeline, "010"));
    hd_timeline_clear(&timeline);
    test_table_close(&table);
}

static void an_empty_timeline_has_committed_nothing(void **state)
{
    struct test_table table;
    struct hd_timeline timeline;

    test_table_open(*state, &table, "timeline4", 6, NULL);
    load(&table, &timeline);
    assert_int_equal(timeline.n_instants, 0);
    assert_null(timeline.start);
    assert_null(hd_timeline_last_completed_write(&timeline));
    assert_false(hd_timeline_is_committed(&timeline, "001"));
    hd_timeline_clear(&timeline);
    test_table_close(&table);
}

static void a_missing_folder_is_named(void **state)
{
    struct hd_op *op = *state;
    struct test_table table;
    struct hd_timeline timeline;

    test_table_open(op, &table, "timeline5", 6, NULL);
    char *path = table.path;
    test_must(op, hd_path_join(op, path, "nowhere", &table.path));
    assert_int_equal(hd_timeline_load(op, table.fs, table.path, &table.config, &timeline),
                     HUDI_CORRUPT);
    assert_non_null(strstr(hudi_error_path(op->error), "nowhere/.hoodie"));
    hd_op_clear_error(op);
    hd_free(op, table.path);
    table.path = path;
    test_table_close(&table);
}

/* A commit of 0 bytes is named, in the middle and at the end of the timeline. */
static void an_empty_completed_commit_is_an_error_that_names_it(void **state)
{
    static const char *const TIMES[] = {"001", "002"};
    struct hd_op *op = *state;
    struct test_table table;
    struct hd_timeline timeline;
    struct hd_commit_metadata metadata;

    test_table_open(op, &table, "timeline6", 6, NULL);
    test_table_put(&table, ".hoodie/001.commit", "");
    test_table_put(&table, ".hoodie/002.commit", "");
    load(&table, &timeline);
    for (size_t i = 0; i < HD_ARRAY_LENGTH(TIMES); i++) {
        const struct hd_instant *instant = hd_timeline_find(&timeline, TIMES[i], HD_ACTION_COMMIT);

        assert_int_equal(hd_timeline_read_commit(op, &timeline, instant, &metadata), HUDI_CORRUPT);
        assert_non_null(strstr(hudi_error_message(op->error), TIMES[i]));
        assert_non_null(strstr(hudi_error_message(op->error), "0 bytes"));
        assert_non_null(strstr(hudi_error_path(op->error), ".commit"));
        hd_op_clear_error(op);
    }
    hd_timeline_clear(&timeline);
    test_table_close(&table);
}

struct late_writer {
    struct test_table *table;
    int sleeps_left;
};

static void finish_writing(void *self, uint64_t ms)
{
    struct late_writer *writer = self;

    (void)ms;
    if (--writer->sleeps_left == 0)
        test_table_put(writer->table, ".hoodie/001.commit", COMMIT_JSON("\"s\"", "UPSERT"));
}

static uint64_t any_time(void *self)
{
    (void)self;
    return 0;
}

static void the_newest_commit_may_still_be_being_written(void **state)
{
    struct hd_op *op = *state;
    const struct hd_clock clock = op->clock;
    struct test_table table;
    struct hd_timeline timeline;
    struct hd_commit_metadata metadata;
    struct late_writer writer = {&table, 3};

    test_table_open(op, &table, "timeline7", 3, NULL);
    test_table_put(&table, ".hoodie/001.commit", "{\"partitionToWri");
    load(&table, &timeline);
    op->clock = (struct hd_clock){any_time, finish_writing, &writer};
    test_must(op, hd_timeline_read_commit(op, &timeline, &timeline.instants[0], &metadata));
    assert_string_equal(hd_commit_metadata_extra(&metadata, "schema"), "s");
    op->clock = clock;
    hd_commit_metadata_clear(&metadata);
    hd_timeline_clear(&timeline);
    test_table_close(&table);
}

static void files_of_states_are_read(void **state)
{
    struct hd_op *op = *state;
    struct test_table table;
    struct hd_timeline timeline;
    uint8_t *bytes;
    size_t n;

    test_table_open(op, &table, "timeline8", 6, NULL);
    test_table_put(&table, ".hoodie/001.commit", "done");
    test_table_put(&table, ".hoodie/001.compaction.requested", "plan");
    load(&table, &timeline);
    test_must(op, hd_timeline_read(op, &timeline, &timeline.instants[0], HD_REQUESTED, &bytes, &n));
    assert_string_equal((char *)bytes, "plan");
    hd_free(op, bytes);
    test_must(op, hd_timeline_read(op, &timeline, &timeline.instants[0], HD_COMPLETED, &bytes, &n));
    assert_int_equal(n, 4);
    hd_free(op, bytes);
    assert_int_equal(
        hd_timeline_read(op, &timeline, &timeline.instants[0], HD_INFLIGHT, &bytes, &n),
        HUDI_NOT_FOUND);
    assert_non_null(strstr(hudi_error_path(op->error), "001.compaction.inflight"));
    hd_op_clear_error(op);
    hd_timeline_clear(&timeline);
    test_table_close(&table);
}

#define SCHEMA_A "{\\\"type\\\":\\\"record\\\",\\\"name\\\":\\\"a\\\",\\\"fields\\\":[]}"
#define SCHEMA_B "{\\\"type\\\":\\\"record\\\",\\\"name\\\":\\\"b\\\",\\\"fields\\\":[]}"

static void the_schema_is_of_the_newest_commit_that_can_change_it(void **state)
{
    struct hd_op *op = *state;
    struct test_table table;
    struct hd_timeline timeline;
    char *schema, *latest;

    test_table_open(op, &table, "timeline9", 6, NULL);
    test_table_put(&table, ".hoodie/001.commit", COMMIT_JSON("\"" SCHEMA_A "\"", "INSERT"));
    test_table_put(&table, ".hoodie/002.commit",
                   "{\"extraMetadata\":{\"schema\":\"" SCHEMA_B "\",\"latest_schema\":\"L\"}}");
    test_table_put(&table, ".hoodie/003.commit", COMMIT_JSON("\"" SCHEMA_A "\"", "COMPACT"));
    test_table_put(&table, ".hoodie/004.replacecommit", COMMIT_JSON("\"" SCHEMA_A "\"", "CLUSTER"));
    test_table_put(&table, ".hoodie/005.commit", COMMIT_JSON("\"\"", "UPSERT"));
    test_table_put(&table, ".hoodie/006.commit.requested", "");
    load(&table, &timeline);

    test_must(op, hd_timeline_table_schema(op, &timeline, &table.config, NULL, &schema, &latest));
    assert_non_null(strstr(schema, "\"b\""));
    assert_string_equal(latest, "L");
    hd_free(op, schema);
    hd_free(op, latest);
    test_must(op, hd_timeline_table_schema(op, &timeline, &table.config, "001", &schema, &latest));
    assert_non_null(strstr(schema, "\"a\""));
    assert_null(latest);
    hd_free(op, schema);
    assert_int_equal(hd_timeline_table_schema(op, &timeline, &table.config, "0005", &schema, NULL),
                     HUDI_NOT_FOUND);
    assert_null(schema);
    table.config.create_schema = "{\"type\":\"record\",\"name\":\"made\",\"fields\":[]}";
    test_must(op, hd_timeline_table_schema(op, &timeline, &table.config, "0005", &schema, NULL));
    assert_non_null(strstr(schema, "made"));
    hd_free(op, schema);
    hd_timeline_clear(&timeline);
    test_table_close(&table);
}

static void survives_every_fault(void **state)
{
    struct hd_op *op = *state;
    struct test_table table;
    hudi_status status = HUDI_INTERNAL;

    test_table_open(op, &table, "timeline10", 6, NULL);
    test_table_put(&table, ".hoodie/001.commit", COMMIT_JSON("\"" SCHEMA_A "\"", "INSERT"));
    test_table_put(&table, ".hoodie/002.deltacommit.requested", "");
    for (int nth = 1; status != HUDI_OK; nth++) {
        struct hd_timeline timeline;
        char *schema = NULL, *latest;

        test_fault_arm(op, nth);
        status = hd_timeline_load(op, table.fs, table.path, &table.config, &timeline);
        if (status == HUDI_OK)
            status = hd_timeline_table_schema(op, &timeline, &table.config, NULL, &schema, &latest);
        assert_int_equal(status == HUDI_OK, !test_fault_fired(op));
        hd_free(op, schema);
        hd_timeline_clear(&timeline);
    }
    test_fault_disarm(op);
    hd_op_clear_error(op);
    test_table_close(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_furthest_state_of_an_instant_counts),
        cmocka_unit_test(instants_of_version_8_carry_their_completion),
        cmocka_unit_test(what_is_before_the_start_is_committed_unless_it_is_pending),
        cmocka_unit_test(an_empty_timeline_has_committed_nothing),
        cmocka_unit_test(a_missing_folder_is_named),
        cmocka_unit_test(an_empty_completed_commit_is_an_error_that_names_it),
        cmocka_unit_test(the_newest_commit_may_still_be_being_written),
        cmocka_unit_test(files_of_states_are_read),
        cmocka_unit_test(the_schema_is_of_the_newest_commit_that_can_change_it),
        cmocka_unit_test(survives_every_fault),
    };

    return cmocka_run_group_tests(tests, test_op_setup, test_op_teardown);
}
