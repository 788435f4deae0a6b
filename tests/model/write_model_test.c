/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random writes against a table kept as a list of rows (support/table_model.h). After each one the
 * table is read whole, as of an earlier commit, and for what changed since one.
 *
 *   HUDI_TEST_SEED     the first table's seed; each table's own is printed when it fails
 *   HUDI_TEST_SECONDS  go on with new tables for that long
 *
 * Labels: threads
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "hudi/hudi.h"
#include "store/memory.h"
#include "support/arrow_rows.h"
#include "support/setting.h"
#include "support/world_input.h"

#define N_TABLES 8 /* of a run without HUDI_TEST_SECONDS */

/* ---- writing ------------------------------------------------------------------------------ */

enum fate { COMMITTED, ABORTED, BROKEN_INPUT, CANCELLED, ROWS_FAILED };

/* One write of `rows`, and what should come of it. */
struct step {
    const char *operation;
    struct model_rows rows;
    struct world_layout layout;
    hudi_options *options;
    enum fate fate;
    int64_t n_failed; /* rows without key */
    bool combined;    /* an insert keeps one row of each key */
};

static void set_write_options(const struct world *world, hudi_options *options,
                              const char *operation)
{
    static const char *const CODECS[] = {"UNCOMPRESSED", "SNAPPY", "ZSTD", "GZIP"};
    static const char *const INDEXES[] = {"BLOOM", "SIMPLE", "GLOBAL_BLOOM", "GLOBAL_SIMPLE"};

    world_set(world, options, "hoodie.cleaner.commits.retained", "50"); /* services commit, too */
    world_set(world, options, "hoodie.datasource.write.operation", "%s", operation);
    world_set(world, options, "hoodie.index.type", "%s",
              INDEXES[world_below(2) + (world->rules.global ? 2 : 0)]);
    world_set(world, options, "hoodie.parquet.compression.codec", "%s", CODECS[world_below(4)]);
    world_set(world, options, "hoodie.index.bloom.num_entries", "%d", (int)(10 + world_below(300)));
    world_set(world, options, "hoodie.bloom.index.filter.dynamic.max.entries", "1000");
    world_set(world, options, "hoodie.memory.merge.max.size", "%d", 1 << 20);
    world_set(world, options, "hoodie.common.spillable.diskmap.type",
              world_chance(50) ? "BITCASK" : "ROCKS_DB");
    if (world_chance(70)) {
        world_set(world, options, "hoodie.parquet.max.file.size", "%d",
                  (int)(8000 + world_below(30000)));
        world_set(world, options, "hoodie.parquet.small.file.limit", "%d", (int)world_below(30000));
        world_set(world, options, "hoodie.copyonwrite.record.size.estimate", "%d",
                  (int)(50 + world_below(2000)));
    }
    if (world_chance(30))
        world_set(world, options, "hoodie.parquet.block.size", "%d",
                  (int)(1000 + world_below(20000)));
    if (world_chance(50))
        world_set(world, options, "hoodie.logfile.data.block.max.size", "%d",
                  (int)(100 + world_below(20000)));
    if (world_chance(30))
        world_set(world, options, "hoodie.logfile.max.size", "%d", (int)(100 + world_below(5000)));
    if (world_chance(30))
        world_set(world, options, "hoodie.bulkinsert.sort.mode",
                  world_chance(50) ? "GLOBAL_SORT" : "PARTITION_SORT");
    /* Which of known keys are merged depends on the small files that are chosen. */
    if (world_chance(30) && !world->duplicates)
        world_set(world, options, "hoodie.merge.allow.duplicate.on.inserts", "false");
}

/* All streams of a step; false when one failed as it should. */
static bool write_streams(const struct world *world, const struct step *step, hudi_write *write)
{
    const size_t n_streams = step->fate == CANCELLED ? 1 : 1 + (size_t)world_below(3);
    hudi_error *error = NULL;
    hudi_cancel *cancel = NULL;
    size_t first = 0;
    hudi_status status = HUDI_OK;

    WORLD_MUST(world, hudi_cancel_new(&cancel, &error));
    for (size_t s = 0; s < n_streams && status == HUDI_OK; s++) {
        const size_t left = step->rows.n - first;
        const size_t n = s + 1 == n_streams ? left : (size_t)world_below((int64_t)left + 1);
        struct test_stream_plan plan = {.batch_rows = 1 + (size_t)world_below(80),
                                        .fail_at = -1,
                                        .cancel_at = -1,
                                        .cancel = cancel};
        struct ArrowArrayStream stream;

        if (step->fate == BROKEN_INPUT && s + 1 == n_streams)
            plan.fail_at = (int)world_below((int64_t)(n / plan.batch_rows) + 1);
        if (step->fate == CANCELLED && s + 1 == n_streams)
            plan.cancel_at = 0;
        world_open_input(world, &step->layout, &step->rows, first, n, &plan, &stream);
        status = hudi_write_stream(write, &stream, cancel, &error);
        if (stream.release != NULL)
            WORLD_FAIL(world, "the stream was not taken");
        first += n;
    }
    hudi_cancel_free(cancel);
    switch (step->fate) {
    case BROKEN_INPUT:
        if (status == HUDI_OK || strstr(hudi_error_message(error), "the input broke off") == NULL)
            WORLD_FAIL(world, "a broken input gave %s: %s", hudi_status_name(status),
                       error == NULL ? "" : hudi_error_message(error));
        break;
    case CANCELLED:
        if (status != HUDI_CANCELLED && step->rows.n > 0)
            WORLD_FAIL(world, "a cancelled write gave %s", hudi_status_name(status));
        break;
    default:
        world_must(world, status, error);
    }
    hudi_error_free(error);
    return status == HUDI_OK;
}

static void note_commit(struct world *world, const struct step *step, const hudi_commit *commit)
{
    const int number = world->n_commits;

    world->serviced_before[number] = world->serviced;
    world->serviced = false;
    snprintf(world->instants[number], sizeof world->instants[number], "%s",
             hudi_commit_instant(commit));
    memcpy(world->known_then[number], world->known, sizeof world->known);
    if (hudi_commit_failed_rows(commit) != step->n_failed)
        WORLD_FAIL(world, "%" PRId64 " rows failed where %" PRId64 " should",
                   hudi_commit_failed_rows(commit), step->n_failed);
    if ((step->n_failed > 0) != (hudi_commit_failure(commit, 0) != NULL))
        WORLD_FAIL(world, "the failed rows are not told");
}

static void run_step(struct world *world, struct step *step)
{
    hudi_table *const table = world_open_table(world);
    hudi_write *write = NULL;
    hudi_commit *commit = NULL;
    hudi_error *error = NULL;

    set_write_options(world, step->options, step->operation);
    WORLD_MUST(world, hudi_write_begin(table, step->options, &write, &error));
    const bool is_written =
        strcmp(step->operation, "delete_partition") == 0 || write_streams(world, step, write);
    if (step->fate == ABORTED || !is_written) {
        hudi_write_abort(write);
    } else {
        const hudi_status status = hudi_write_commit(write, &commit, &error);

        if (step->fate != ROWS_FAILED)
            world_must(world, status, error);
        else if (status != HUDI_ROWS_FAILED || strstr(hudi_error_message(error), "row") == NULL)
            WORLD_FAIL(world, "rows without key gave %s", hudi_status_name(status));
        if (commit != NULL)
            note_commit(world, step, commit);
    }
    hudi_error_free(error);
    hudi_commit_free(commit);
    hudi_table_free(table);
}

/* The state that the step will bring, as the next one; the columns too. */
static struct model_rows *next_state(struct world *world, const struct step *step)
{
    struct model_rows *const next = &world->states[world->n_commits + 1];

    model_rows_clear(next);
    model_rows_copy(&world->states[world->n_commits], next);
    world->n_commits++;
    if (strcmp(step->operation, "delete") == 0)
        return next; /* whatever columns it comes with */
    for (size_t i = 0; i < step->layout.n; i++) {
        world->known[step->layout.columns[i]] = true;
        if (step->layout.columns[i] == MODEL_N)
            world->wide_n |= step->layout.wide_n;
    }
    return next;
}

static void choose_fate(struct world *world, struct step *step)
{
    if (step->rows.n > 2 && world_chance(12)) { /* rows without key */
        const size_t n = 1 + (size_t)world_below(4);

        for (size_t i = 0; i < n; i++) {
            struct model_row *const row = &step->rows.rows[world_below((int64_t)step->rows.n)];

            row->null[MODEL_ID] = row->null[MODEL_SUB] = true;
            row->value[MODEL_ID] = row->value[MODEL_SUB] = 0;
        }
        for (size_t i = 0; i < step->rows.n; i++)
            step->n_failed += model_lacks_key(&world->rules, &step->rows.rows[i]);
        if (world_chance(50))
            world_set(world, step->options, "libhudi.write.ignore.failed", "true");
        else
            step->fate = ROWS_FAILED;
    } else if (world_chance(14)) {
        step->fate = (enum fate)(ABORTED + world_below(3));
    }
}

/* The rows that can be written. */
static struct model_rows good_rows(const struct world *world, const struct step *step)
{
    struct model_rows good = {0};

    for (size_t i = 0; i < step->rows.n; i++)
        if (!model_lacks_key(&world->rules, &step->rows.rows[i]))
            model_rows_add(&good, &step->rows.rows[i]);
    return good;
}

static void apply(struct world *world, const struct step *step)
{
    struct model_rows good = good_rows(world, step);
    struct model_rows *const next = next_state(world, step);
    const int commit = world->n_commits;

    if (step->combined)
        model_combine_input(&world->rules, &good);
    if (strcmp(step->operation, "upsert") == 0)
        model_upsert(&world->rules, next, &good, commit);
    else if (strcmp(step->operation, "delete") == 0)
        model_delete(&world->rules, next, &good);
    else if (strcmp(step->operation, "insert_overwrite") == 0)
        model_overwrite(&world->rules, next, &good, false, commit);
    else if (strcmp(step->operation, "insert_overwrite_table") == 0)
        model_overwrite(&world->rules, next, &good, true, commit);
    else
        model_insert(&world->rules, next, &good, commit);
    model_rows_clear(&good);
}

static void finish_step(struct world *world, struct step *step)
{
    static const char *const FATES[] = {"", ", aborted", ", input breaks off", ", cancelled",
                                        ", rows fail"};

    world_log(world, "%s %zu rows%s%s\n", step->operation, step->rows.n, FATES[step->fate],
              step->fate == COMMITTED && step->n_failed > 0 ? ", without the failing ones" : "");
    if (step->fate == CANCELLED && step->rows.n == 0)
        step->fate = ABORTED;
    if (step->fate == COMMITTED)
        apply(world, step);
    run_step(world, step);
    model_rows_clear(&step->rows);
    hudi_options_free(step->options);
}

static void begin_step(struct world *world, const char *operation, struct step *out)
{
    *out = (struct step){.operation = operation, .options = world_options(world)};
    world_choose_layout(world, operation, &out->layout);
}

static void do_upsert(struct world *world)
{
    struct step step;
    const int64_t n = world_chance(5) ? 0 : 1 + world_below(world->fat ? 400 : 250);

    begin_step(world, "upsert", &step);
    for (int64_t i = 0; i < n; i++) {
        const int64_t key = world_chance(85) ? world_below(world->n_keys) : world->next_key++;
        const struct model_row row = world_random_row(world, key);
        model_rows_add(&step.rows, &row);
    }
    world_cut_to_layout(&step.layout, &step.rows);
    choose_fate(world, &step);
    finish_step(world, &step);
}

/* A key that had rows perhaps, but has none now and is none of the last ones' either; else a new
 * one.
 */
static int64_t gone_key(struct world *world, const struct model_rows *taken)
{
    const struct model_rows *const now = &world->states[world->n_commits];
    const int64_t key = world_below(world->n_keys);
    bool there = false;

    for (size_t i = 0; i < now->n; i++)
        there |= now->rows[i].value[MODEL_ID] == key;
    for (size_t i = 0; i < taken->n; i++)
        there |= taken->rows[i].value[MODEL_ID] == key;
    return there ? world->next_key++ : key;
}

static void do_insert(struct world *world, const char *operation)
{
    struct step step;
    const int64_t n = 1 + world_below(250);

    begin_step(world, operation, &step);
    step.combined = world_chance(30);
    world_set(world, step.options, "hoodie.combine.before.insert",
              step.combined ? "true" : "false");
    world->next_key += 5;
    for (int64_t i = 0; i < n; i++) {
        const int64_t key = step.combined && world_chance(30) ? world->next_key - 1 - world_below(5)
                            : world->duplicates && world_chance(20) ? world_below(world->n_keys)
                            : world_chance(25)                      ? gone_key(world, &step.rows)
                                                                    : world->next_key++;
        struct model_row row = world_random_row(world, key);

        /* What becomes of a partition that gets deletes alone is not tried here. */
        if (strncmp(operation, "insert_overwrite", 16) == 0)
            row.value[MODEL_DELETED] = 0;
        model_rows_add(&step.rows, &row);
    }
    world_cut_to_layout(&step.layout, &step.rows);
    choose_fate(world, &step);
    finish_step(world, &step);
}

static void do_delete(struct world *world)
{
    struct step step;
    const struct model_rows *const now = &world->states[world->n_commits];
    const int64_t n = 1 + world_below(60);

    begin_step(world, "delete", &step);
    for (int64_t i = 0; i < n; i++) {
        struct model_row row = world_random_row(world, world_below(world->n_keys));

        if (now->n > 0 && world_chance(80)) {
            const struct model_row *const stored = &now->rows[world_below((int64_t)now->n)];
            for (int c = MODEL_ID; c <= MODEL_P; c++) {
                row.value[c] = stored->value[c];
                row.null[c] = stored->null[c];
            }
        }
        model_rows_add(&step.rows, &row);
    }
    world_cut_to_layout(&step.layout, &step.rows);
    if (world_chance(15))
        step.fate = ABORTED;
    finish_step(world, &step);
}

static void do_delete_partition(struct world *world)
{
    const struct model_rows *const now = &world->states[world->n_commits];
    struct step step;
    char path[128];

    if (now->n == 0 || !world->rules.partitioned)
        return;
    const struct model_row like = now->rows[world_below((int64_t)now->n)];
    step = (struct step){.operation = "delete_partition", .options = world_options(world)};
    world_partition_text(world, &like, path);
    world_set(world, step.options, "hoodie.datasource.write.partitions.to.delete", "%s", path);
    world_log(world, "delete_partition %s\n", path);
    model_delete_partition(&world->rules, next_state(world, &step), &like);
    run_step(world, &step);
    hudi_options_free(step.options);
}

static void do_rollback(struct world *world)
{
    hudi_error *error = NULL;

    if (world->n_commits == 0 || world->planned || world->planned_logs || world->serviced)
        return; /* only the newest instant can be rolled back */
    hudi_table *const table = world_open_table(world);
    world_log(world, "roll back\n");
    WORLD_MUST(world, hudi_rollback(table, world->instants[world->n_commits], &error));
    hudi_table_free(table);
    world->serviced = world->serviced_before[world->n_commits];
    model_rows_clear(&world->states[world->n_commits--]);
    if (world->n_commits > 0)
        memcpy(world->known, world->known_then[world->n_commits], sizeof world->known);
    else
        for (int i = MODEL_E0; i < MODEL_N_COLUMNS; i++)
            world->known[i] = false;
}

/* Rows stay as they are; a compaction may be left pending, for the next writes to meet. */
static void do_compact(struct world *world)
{
    static const hudi_compact_step STEPS[] = {HUDI_COMPACT_SCHEDULE, HUDI_COMPACT_RUN,
                                              HUDI_COMPACT_PLAN_AND_RUN};
    const hudi_compact_step step = STEPS[world_below(3)];
    hudi_table *const table = world_open_table(world);
    hudi_compaction *done = NULL;
    hudi_error *error = NULL;

    world_log(world, "compact, step %d\n", (int)step);
    WORLD_MUST(world, hudi_compact(table, step, NULL, NULL, &done, &error));
    const bool any = hudi_compaction_length(done) > 0;
    world->planned = step == HUDI_COMPACT_SCHEDULE && (world->planned || any);
    world->serviced |= step != HUDI_COMPACT_SCHEDULE && any;
    hudi_compaction_free(done);
    hudi_table_free(table);
}

/* Likewise of log files. */
static void do_compact_logs(struct world *world)
{
    static const hudi_compact_step STEPS[] = {HUDI_COMPACT_SCHEDULE, HUDI_COMPACT_RUN,
                                              HUDI_COMPACT_PLAN_AND_RUN};
    const hudi_compact_step step = STEPS[world_below(3)];
    hudi_options *const options = world_options(world);
    hudi_table *table = NULL;
    hudi_compaction *done = NULL;
    hudi_error *error = NULL;

    world_set(world, options, "hoodie.log.compaction.blocks.threshold", "%d",
              (int)(1 + world_below(3)));
    world_log(world, "compact log files, step %d\n", (int)step);
    WORLD_MUST(world, hudi_table_open(world->context, world->uri, options, &table, &error));
    WORLD_MUST(world, hudi_compact_logs(table, step, NULL, NULL, &done, &error));
    const bool any = hudi_compaction_length(done) > 0;
    world->planned_logs = step == HUDI_COMPACT_SCHEDULE && (world->planned_logs || any);
    world->serviced |= step != HUDI_COMPACT_SCHEDULE && any;
    hudi_compaction_free(done);
    hudi_table_free(table);
    hudi_options_free(options);
}

/* Likewise; a pending one would refuse updates. */
static void do_cluster(struct world *world)
{
    static const char *const LAYOUTS[] = {"linear", "z-order", "hilbert"};
    hudi_options *const options = world_options(world);
    hudi_table *table = NULL;
    hudi_clustering *done = NULL;
    hudi_error *error = NULL;

    if (world_chance(60)) {
        world_set(world, options, "hoodie.clustering.plan.strategy.sort.columns",
                  world_chance(50) ? "a" : "a,id");
        world_set(world, options, "hoodie.layout.optimize.strategy", "%s", LAYOUTS[world_below(3)]);
    }
    if (world_chance(50))
        world_set(world, options, "hoodie.clustering.plan.strategy.target.file.max.bytes", "20000");
    world_log(world, "cluster\n");
    WORLD_MUST(world, hudi_table_open(world->context, world->uri, options, &table, &error));
    WORLD_MUST(world, hudi_cluster(table, HUDI_CLUSTER_PLAN_AND_RUN, NULL, NULL, &done, &error));
    world->serviced |= hudi_clustering_length(done) > 0;
    hudi_clustering_free(done);
    hudi_table_free(table);
    hudi_options_free(options);
}

static void random_step(struct world *world)
{
    const int64_t draw = world_below(100);

    if (draw < 45)
        do_upsert(world);
    else if (draw < 57)
        do_insert(world, "insert");
    else if (draw < 65)
        do_insert(world, "bulk_insert");
    else if (draw < 77 && world_deletes(world))
        do_delete(world);
    else if (draw < 83)
        do_insert(world, "insert_overwrite");
    else if (draw < 87)
        do_insert(world, "insert_overwrite_table");
    else if (draw < 92)
        do_delete_partition(world);
    else
        do_rollback(world);
    if (world_chance(10)) {
        hudi_context_free(world->context);
        world_open_context(world);
    }
}

static void run_table(uint64_t seed)
{
    struct world *const world = calloc(1, sizeof *world);

    assert_non_null(world);
    world_open(world, seed);
    for (int i = 0; i < WORLD_STEPS; i++) {
        random_step(world);
        world_check_reads(world);
        if (world->n_commits > 0 && world_chance(25)) {
            if (world->logged && world->version == 6 && world_chance(40))
                do_compact_logs(world);
            else if (world->logged && world_chance(75))
                do_compact(world);
            else if (!world->duplicates) /* they are told apart by their file groups */
                do_cluster(world);
            world_check_reads(world);
        }
        if (i % 5 == 4)
            world_check_table(world);
    }
    world_close(world);
    free(world);
}

static void any_sequence_of_writes_reads_as_the_list_of_rows_does(void **state)
{
    const uint64_t seed = (uint64_t)test_setting("HUDI_TEST_SEED", 1);
    const int64_t seconds = test_setting("HUDI_TEST_SECONDS", 0);
    const time_t end = time(NULL) + seconds;
    uint64_t n = 0;

    (void)state;
    print_message("HUDI_TEST_SEED=%" PRIu64 "\n", seed);
    do {
        run_table(seed + n++);
    } while (seconds > 0 ? time(NULL) < end
                         : n < (uint64_t)test_setting("HUDI_TEST_TABLES", N_TABLES));
    print_message("%" PRIu64 " tables, %" PRIu64 " steps\n", n, n * WORLD_STEPS);
    world_free_texts();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_sequence_of_writes_reads_as_the_list_of_rows_does),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
