/* SPDX-License-Identifier: Apache-2.0 */
/* Who conflicts with whom: the table of conflict.h, cell by cell. */
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

#include "engine/commit/conflict.h"
#include "format/timeline/archive_entry.h"
#include "format/timeline/compaction_plan.h"
#include "format/timeline/replace_plan.h"
#include "format/timeline/rollback_plan.h"
#include "support/fault.h"
#include "support/table.h"

#define EARLIER "20260101000000001" /* began before ours */
#define OWN "20260101000000005"
#define LATER "20260101000000007"

struct scene {
    struct hd_op *op;
    struct test_table table;
    struct hd_timeline then, now;
};

static int set_up(void **state)
{
    struct scene *const scene = calloc(1, sizeof *scene);
    void *op;

    assert_non_null(scene);
    assert_int_equal(test_op_setup(&op), 0);
    scene->op = op;
    test_table_open(scene->op, &scene->table, "contended", 6, "p");
    scene->table.config.type = HD_MERGE_ON_READ;
    *state = scene;
    return 0;
}

static int tear_down(void **state)
{
    struct scene *const scene = *state;
    void *op = scene->op;

    hd_timeline_clear(&scene->then);
    hd_timeline_clear(&scene->now);
    test_table_close(&scene->table);
    free(scene);
    return test_op_teardown(&op);
}

static void load(struct scene *scene, struct hd_timeline *out)
{
    hd_timeline_clear(out);
    test_must(scene->op, hd_timeline_load(scene->op, scene->table.fs, scene->table.path,
                                          &scene->table.config, out));
}

/* ---- instants ------------------------------------------------------------------------------- */

static void put(struct scene *scene, const char *time, const char *ending, const void *bytes,
                size_t n)
{
    char *path;

    test_must(scene->op,
              hd_asprintf(scene->op, &path, "%s/.hoodie/%s.%s", scene->table.path, time, ending));
    test_must(scene->op, hd_fs_replace(scene->op, scene->table.fs, path, bytes, n));
    hd_free(scene->op, path);
}

/* A stat of file group `file_id` in partition p; of a log file that carries `log_instant` unless
 * that is NULL. */
static void add_stat(struct scene *scene, struct hd_commit_metadata *metadata, const char *file_id,
                     const char *log_instant)
{
    struct hd_write_stat *stat;

    test_must(scene->op, hd_commit_metadata_new_stat(scene->op, metadata, &stat));
    stat->file_id = file_id;
    stat->partition_path = "p";
    stat->is_log = log_instant != NULL;
    if (log_instant == NULL)
        test_must(scene->op, hd_arena_printf(scene->op, &metadata->arena, (char **)&stat->path,
                                             "p/%s_0-0-0_%s.parquet", file_id, EARLIER));
    else
        test_must(scene->op, hd_arena_printf(scene->op, &metadata->arena, (char **)&stat->path,
                                             "p/.%s_%s.log.1_0-0-0", file_id, log_instant));
    stat->prev_commit = "null";
}

/* A completed write of `file_id`; `replaced` (may be NULL) is taken out. */
static void complete(struct scene *scene, const char *time, const char *action, const char *file_id,
                     const char *log_instant, const char *replaced, bool compacted)
{
    struct hd_commit_metadata metadata = {.compacted = compacted, .operation_type = "UPSERT"};
    struct hd_str text = {0};

    if (file_id != NULL)
        add_stat(scene, &metadata, file_id, log_instant);
    if (replaced != NULL) {
        metadata.is_replace = true;
        test_must(scene->op, hd_commit_metadata_add_replaced(scene->op, &metadata, "p", replaced));
    }
    test_must(scene->op, hd_commit_metadata_format(scene->op, &metadata, &text));
    put(scene, time, action, text.data, text.size);
    hd_str_clear(&text);
    hd_commit_metadata_clear(&metadata);
}

static void plan_compaction(struct scene *scene, const char *time, const char *file_id)
{
    struct hd_compaction_operation operation = {.partition_path = "p",
                                                .file_id = file_id,
                                                .base_instant = "20250101000000000",
                                                .data_file = "base.parquet"};
    const struct hd_compaction_plan plan = {.operations = &operation, .n_operations = 1};
    struct hd_str bytes = {0};

    test_must(scene->op,
              hd_compaction_plan_encode(scene->op, &plan, scene->table.config.version, &bytes));
    put(scene, time, "compaction.requested", bytes.data, bytes.size);
    hd_str_clear(&bytes);
}

static void plan_clustering(struct scene *scene, const char *time, const char *file_id)
{
    struct hd_clustering_slice slice = {.partition_path = "p",
                                        .file_id = file_id,
                                        .data_file = "base.parquet",
                                        .n_output_files = 1};
    const struct hd_replace_plan plan = {.operation_type = "CLUSTER",
                                         .is_clustering = true,
                                         .strategy_class = "any",
                                         .slices = &slice,
                                         .n_slices = 1,
                                         .n_groups = 1};
    struct hd_str bytes = {0};

    test_must(scene->op, hd_replace_plan_encode(scene->op, &plan, "file:///t", &bytes));
    put(scene, time, "replacecommit.requested", bytes.data, bytes.size);
    hd_str_clear(&bytes);
}

static void roll_back(struct scene *scene, const char *time, const char *target)
{
    const struct hd_rollback_plan plan = {.target_time = target, .target_action = "deltacommit"};
    struct hd_str bytes = {0};

    test_must(scene->op, hd_rollback_plan_encode(scene->op, &plan, &bytes));
    put(scene, time, "rollback.requested", bytes.data, bytes.size);
    hd_str_clear(&bytes);
}

/* ---- ours ----------------------------------------------------------------------------------- */

/* Ours changes group g and began when `then` was loaded; may it complete now? */
static hudi_status check(struct scene *scene, enum hd_conflict_role role)
{
    struct hd_commit_metadata metadata = {0};

    hd_op_clear_error(scene->op);
    add_stat(scene, &metadata, "g", NULL);
    load(scene, &scene->now);
    const struct hd_conflict_own own = {
        .role = role, .time = OWN, .metadata = &metadata, .then = &scene->then};
    const hudi_status status =
        hd_check_conflicts(scene->op, &own, &scene->table.config, &scene->now);
    hd_commit_metadata_clear(&metadata);
    return status;
}

#define HD_ROLES 3
static const enum hd_conflict_role ROLES[HD_ROLES] = {HD_CONFLICT_WRITE, HD_CONFLICT_COMPACTION,
                                                      HD_CONFLICT_CLUSTERING};

/* Whether each role conflicts: "wcl" all three, "-" for one that does not. */
static void assert_roles(struct scene *scene, const char *conflicting)
{
    char found[HD_ROLES + 1] = "---";

    for (size_t i = 0; i < HD_ROLES; i++) {
        const hudi_status status = check(scene, ROLES[i]);

        if (status == HUDI_CONFLICT) {
            found[i] = "wcl"[i];
            assert_true(hudi_error_retriable(scene->op->error));
        } else {
            test_must(scene->op, status);
        }
    }
    assert_string_equal(found, conflicting);
    hd_op_clear_error(scene->op);
}

static void assert_says(struct scene *scene, const char *first, const char *second)
{
    assert_int_equal(check(scene, HD_CONFLICT_WRITE), HUDI_CONFLICT);
    const char *const message = hudi_error_message(scene->op->error);
    if (strstr(message, first) == NULL || strstr(message, second) == NULL)
        fail_msg("\"%s\" does not say \"%s\" and \"%s\"", message, first, second);
    hd_op_clear_error(scene->op);
}

/* ---- the cells ------------------------------------------------------------------------------ */

static void nothing_new_is_no_conflict(void **state)
{
    struct scene *const scene = *state;

    complete(scene, EARLIER, "deltacommit", "g", EARLIER, NULL, false);
    put(scene, OWN, "deltacommit.inflight", "", 0);
    load(scene, &scene->then);
    assert_roles(scene, "---");
}

static void writes_of_the_same_group_conflict(void **state)
{
    struct scene *const scene = *state;

    load(scene, &scene->then);
    complete(scene, LATER, "deltacommit", "g", EARLIER, NULL, false);
    assert_roles(scene, "wcl");
    assert_says(scene, LATER, "p/g");
}

static void writes_of_other_groups_do_not(void **state)
{
    struct scene *const scene = *state;

    load(scene, &scene->then);
    complete(scene, LATER, "deltacommit", "h", EARLIER, NULL, false);
    assert_roles(scene, "---");
}

/* Its time is below that of what had completed when ours began. */
static void a_write_that_was_at_work_when_ours_began_conflicts(void **state)
{
    struct scene *const scene = *state;

    put(scene, EARLIER, "deltacommit.requested", "", 0);
    put(scene, EARLIER, "deltacommit.inflight", "", 0);
    complete(scene, "20260101000000002", "deltacommit", "h", EARLIER, NULL, false);
    load(scene, &scene->then);
    assert_roles(scene, "---");
    complete(scene, EARLIER, "deltacommit", "g", EARLIER, NULL, false);
    assert_roles(scene, "wcl");
}

static void a_write_at_work_is_no_conflict_yet(void **state)
{
    struct scene *const scene = *state;

    load(scene, &scene->then);
    put(scene, LATER, "deltacommit.requested", "", 0);
    put(scene, LATER, "deltacommit.inflight", "", 0);
    assert_roles(scene, "---");
}

/* A log file that carries the compaction's time lies on what that makes. */
static void a_compaction_bears_log_files_on_its_plan(void **state)
{
    struct scene *const scene = *state;

    load(scene, &scene->then);
    complete(scene, LATER, "deltacommit", "g", OWN, NULL, false);
    assert_roles(scene, "w-l");
}

static void a_replacement_of_the_group_conflicts_but_not_with_compactions(void **state)
{
    struct scene *const scene = *state;

    load(scene, &scene->then);
    complete(scene, LATER, "replacecommit", "new", NULL, "g", false);
    assert_roles(scene, "w-l");
    assert_says(scene, "replacecommit", "p/g");
}

static void a_compaction_that_came_meanwhile_conflicts(void **state)
{
    struct scene *const scene = *state;

    load(scene, &scene->then);
    plan_compaction(scene, LATER, "h");
    assert_roles(scene, "---");
    plan_compaction(scene, LATER, "g");
    assert_roles(scene, "wcl");
    assert_says(scene, "planned", LATER);
    put(scene, LATER, "compaction.inflight", "", 0);
    assert_roles(scene, "wcl");
    complete(scene, LATER, "commit", "g", NULL, NULL, true);
    assert_roles(scene, "wcl");
    assert_says(scene, "compaction", LATER);
}

/* Also where its time is the earlier one: its file came late. */
static void a_plan_that_ours_did_not_see_conflicts_whatever_its_time(void **state)
{
    struct scene *const scene = *state;

    load(scene, &scene->then);
    plan_compaction(scene, EARLIER, "g");
    assert_roles(scene, "wcl");
}

static void a_compaction_that_ours_saw_planned_is_no_conflict(void **state)
{
    struct scene *const scene = *state;

    plan_compaction(scene, EARLIER, "g");
    load(scene, &scene->then);
    assert_roles(scene, "---");
    put(scene, EARLIER, "compaction.inflight", "", 0);
    assert_roles(scene, "---");
    complete(scene, EARLIER, "commit", "g", NULL, NULL, true);
    assert_roles(scene, "--l");
}

static void a_clustering_that_came_meanwhile_conflicts(void **state)
{
    struct scene *const scene = *state;

    load(scene, &scene->then);
    plan_clustering(scene, LATER, "h");
    assert_roles(scene, "---");
    plan_clustering(scene, LATER, "g");
    assert_roles(scene, "wcl");
    assert_says(scene, "clustering", LATER);
    put(scene, LATER, "replacecommit.inflight", "", 0);
    assert_roles(scene, "wcl");
    complete(scene, LATER, "replacecommit", "new", NULL, "g", false);
    assert_roles(scene, "w-l");
}

static void a_clustering_that_ours_saw_planned_conflicts_when_it_has_completed(void **state)
{
    struct scene *const scene = *state;

    plan_clustering(scene, EARLIER, "g");
    load(scene, &scene->then);
    assert_roles(scene, "---");
    complete(scene, EARLIER, "replacecommit", "new", NULL, "g", false);
    assert_roles(scene, "w-l");
}

static void a_rollback_of_what_ours_saw_completed_conflicts(void **state)
{
    struct scene *const scene = *state;

    complete(scene, EARLIER, "deltacommit", "h", EARLIER, NULL, false);
    put(scene, "20260101000000002", "deltacommit.requested", "", 0);
    load(scene, &scene->then);
    roll_back(scene, LATER, "20260101000000002");
    assert_roles(scene, "---");
    roll_back(scene, LATER, EARLIER);
    assert_roles(scene, "wcl");
    assert_says(scene, "rolled back", EARLIER);
    put(scene, LATER, "rollback.requested", "no plan", 7); /* nobody has acted on it */
    assert_roles(scene, "---");
    put(scene, LATER, "rollback.inflight", "", 0);
    assert_int_equal(check(scene, HD_CONFLICT_WRITE), HUDI_CORRUPT);
}

static void a_rollback_of_ours_conflicts(void **state)
{
    struct scene *const scene = *state;

    load(scene, &scene->then);
    roll_back(scene, LATER, OWN);
    assert_roles(scene, "wcl");
}

static void a_restore_conflicts_with_everything(void **state)
{
    struct scene *const scene = *state;

    put(scene, EARLIER, "restore.inflight", "", 0);
    put(scene, EARLIER, "restore", "", 0);
    load(scene, &scene->then);
    assert_roles(scene, "---");
    put(scene, LATER, "restore.inflight", "", 0);
    assert_roles(scene, "wcl");
    assert_says(scene, "restored", LATER);
}

/* Move what has completed at `time` into the archive. */
static void archive(struct scene *scene, const char *time, const char *const *endings)
{
    struct hd_str bytes = {0};
    char name[64], *path;

    load(scene, &scene->now);
    const struct hd_instant *const instant =
        hd_timeline_find(&scene->now, time, HD_ACTION_DELTACOMMIT);
    assert_non_null(instant);
    test_must(scene->op, hd_archive_block_encode(scene->op, &scene->now, &instant, 1, &bytes));
    test_must(scene->op, hd_asprintf(scene->op, &path, "%s/.hoodie/archived", scene->table.path));
    test_must(scene->op, hd_fs_make_dirs(scene->op, scene->table.fs, path));
    hd_free(scene->op, path);
    test_must(scene->op,
              hd_asprintf(scene->op, &path, "%s/.hoodie/archived/.commits_.archive.1_1-0-1",
                          scene->table.path));
    test_must(scene->op, hd_fs_publish(scene->op, scene->table.fs, path, bytes.data, bytes.size));
    hd_free(scene->op, path);
    hd_str_clear(&bytes);
    for (; *endings != NULL; endings++) {
        snprintf(name, sizeof name, ".hoodie/%s.%s", time, *endings);
        test_table_remove(&scene->table, name);
    }
}

static void a_write_that_completed_and_was_archived_meanwhile_conflicts(void **state)
{
    static const char *const ENDINGS[] = {"deltacommit", "deltacommit.requested",
                                          "deltacommit.inflight", NULL};
    struct scene *const scene = *state;

    put(scene, EARLIER, "deltacommit.requested", "", 0);
    put(scene, EARLIER, "deltacommit.inflight", "", 0);
    load(scene, &scene->then);
    complete(scene, EARLIER, "deltacommit", "g", EARLIER, NULL, false);
    archive(scene, EARLIER, ENDINGS);
    assert_roles(scene, "wcl");
    assert_says(scene, "archived", EARLIER);
}

static void a_damaged_commit_is_told(void **state)
{
    struct scene *const scene = *state;

    load(scene, &scene->then);
    put(scene, LATER, "deltacommit", "{", 1);
    complete(scene, "20260101000000009", "deltacommit", "h", EARLIER, NULL, false);
    assert_int_equal(check(scene, HD_CONFLICT_WRITE), HUDI_CORRUPT);
}

static void every_fault_is_survived(void **state)
{
    struct scene *const scene = *state;
    hudi_status status = HUDI_INTERNAL;

    complete(scene, EARLIER, "deltacommit", "g", EARLIER, NULL, false);
    load(scene, &scene->then);
    complete(scene, LATER, "deltacommit", "h", EARLIER, NULL, false);
    plan_compaction(scene, "20260101000000008", "i");
    plan_clustering(scene, "20260101000000009", "j");
    load(scene, &scene->now);
    struct hd_commit_metadata metadata = {0};
    add_stat(scene, &metadata, "g", NULL);
    const struct hd_conflict_own own = {
        .role = HD_CONFLICT_WRITE, .time = OWN, .metadata = &metadata, .then = &scene->then};
    for (int nth = 1; status != HUDI_OK; nth++) {
        test_fault_arm(scene->op, nth);
        status = hd_check_conflicts(scene->op, &own, &scene->table.config, &scene->now);
        assert_int_equal(status == HUDI_OK, !test_fault_fired(scene->op));
        hd_op_clear_error(scene->op);
    }
    hd_commit_metadata_clear(&metadata);
}

int main(void)
{
#define CELL(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CELL(nothing_new_is_no_conflict),
        CELL(writes_of_the_same_group_conflict),
        CELL(writes_of_other_groups_do_not),
        CELL(a_write_that_was_at_work_when_ours_began_conflicts),
        CELL(a_write_at_work_is_no_conflict_yet),
        CELL(a_compaction_bears_log_files_on_its_plan),
        CELL(a_replacement_of_the_group_conflicts_but_not_with_compactions),
        CELL(a_compaction_that_came_meanwhile_conflicts),
        CELL(a_plan_that_ours_did_not_see_conflicts_whatever_its_time),
        CELL(a_compaction_that_ours_saw_planned_is_no_conflict),
        CELL(a_clustering_that_came_meanwhile_conflicts),
        CELL(a_clustering_that_ours_saw_planned_conflicts_when_it_has_completed),
        CELL(a_rollback_of_what_ours_saw_completed_conflicts),
        CELL(a_rollback_of_ours_conflicts),
        CELL(a_restore_conflicts_with_everything),
        CELL(a_write_that_completed_and_was_archived_meanwhile_conflicts),
        CELL(a_damaged_commit_is_told),
        CELL(every_fault_is_survived),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
