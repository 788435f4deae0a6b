/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/commit/coordinator.h"

#include "engine/commit/reconcile_markers.h"
#include "engine/commit/rollback.h"
#include "engine/commit/turn.h"
#include "engine/commit/writable.h"
#include "format/layout/file_system_view.h"
#include "format/layout/partition.h"
#include "format/marker/marker.h"
#include "format/timeline/transition.h"

#define NAMED_FAILURES HD_FIRST_FAILURES /* in the message of a write that is not committed */

struct hd_coordinator {
    struct hd_table_snapshot table;
    hd_pool *pool;
    struct hd_transaction transaction;
    hd_heartbeat *heartbeat; /* NULL where there is one writer */
    struct hd_write_config config;
    bool begun; /* the requested file exists */
    struct hd_write_status *statuses;
    size_t n_statuses;
    size_t status_capacity;
};

const struct hd_write_config *hd_coordinator_config(const hd_coordinator *coordinator)
{
    return &coordinator->config;
}

static void release(struct hd_op *op, hd_coordinator *coordinator)
{
    if (coordinator == NULL)
        return;
    for (size_t i = 0; i < coordinator->n_statuses; i++)
        hd_write_status_clear(op, &coordinator->statuses[i]);
    hd_free(op, coordinator->statuses);
    hd_heartbeat_stop(op, coordinator->heartbeat);
    hd_transaction_close(&coordinator->transaction);
    hd_write_config_clear(&coordinator->config);
    hd_table_snapshot_clear(op, &coordinator->table);
    hd_free(op, coordinator);
}

/* The requested file: empty, or the plan without anything that a replacecommit has there. */
static hudi_status request(struct hd_op *op, const hd_coordinator *coordinator,
                           enum hd_action action)
{
    struct hd_str plan = {0};
    hudi_status status = HUDI_OK;

    if (action == HD_ACTION_REPLACECOMMIT)
        status = hd_replace_plan_encode_empty(op, &plan);
    if (status == HUDI_OK)
        status =
            hd_transition_request(op, &coordinator->table.timeline,
                                  coordinator->config.instant_time, action, plan.data, plan.size);
    hd_str_clear(&plan);
    return status;
}

/* Under the lock: put right what others left, then start the instant. */
static hudi_status begin_instant(struct hd_op *op, hd_coordinator *coordinator)
{
    struct hd_table_snapshot *table = &coordinator->table;
    struct hd_write_config *config = &coordinator->config;

    HD_TRY(hd_check_writable(op, table));
    HD_TRY(hd_table_config_check_options(op, &table->config, &config->options));
    HD_TRY(hd_check_no_restore(op, &table->timeline));
    HD_TRY(hd_check_columns(op, table, &config->options));
    HD_TRY(hd_switch_metadata_table_off(op, table));
    HD_TRY(hd_rollback_before_write(op, coordinator->pool, table, &config->options));
    const bool bare = hd_write_bool(config, "hoodie.write.complex.keygen.new.encoding");
    HD_TRY(hd_detect_key_encoding(op, table, bare ? HD_COMPLEX_BARE : HD_COMPLEX_WITH_FIELD,
                                  &config->encoding));
    HD_TRY(hd_write_config_load_pending(op, config));
    const struct hd_instant *last = hd_timeline_last_completed_write(&table->timeline);
    if (last != NULL)
        memcpy(config->base_instant, last->time, strlen(last->time) + 1);
    HD_TRY(hd_transition_new_time(op, &table->timeline, config->instant_time));
    config->may_append =
        !hd_has_several_writers(&config->options) &&
        strcmp(hd_write_text(config, "hoodie.cleaner.policy.failed.writes"), "LAZY") != 0;
    if (!config->may_append) /* others are about */
        HD_TRY(hd_heartbeat_start(op, table, &config->options, config->instant_time,
                                  &coordinator->heartbeat));
    const enum hd_action action = hd_write_action(config);
    HD_TRY(request(op, coordinator, action));
    coordinator->begun = true;
    return hd_transition_start(op, &table->timeline, config->instant_time, action, NULL, 0);
}

hudi_status hd_coordinator_begin(struct hd_op *op, hd_pool *pool, const char *uri,
                                 const struct hd_options *options, hd_coordinator **out)
{
    hudi_status status = HUDI_OK;
    hd_coordinator *coordinator;

    *out = NULL;
    HD_TRY(hd_alloc(op, sizeof *coordinator, &coordinator));
    coordinator->pool = pool;
    HD_TRY_OUT(hd_table_snapshot_load(op, uri, &coordinator->table));
    coordinator->config.table = &coordinator->table;
    coordinator->config.pool = pool;
    HD_TRY_OUT(hd_write_config_init(op, options, &coordinator->config));
    hd_transaction_init(&coordinator->transaction, &coordinator->table,
                        &coordinator->config.options);
    /* What was read before the lock may be a dead or a live writer's past. */
    HD_TRY_OUT(hd_transaction_begin(op, &coordinator->transaction));
    HD_TRY_OUT(begin_instant(op, coordinator));
    hd_transaction_end(&coordinator->transaction);
    *out = coordinator;
    return HUDI_OK;
out:
    hd_fail_path(op, status, uri);
    hd_coordinator_abort(op, coordinator);
    return status;
}

hudi_status hd_coordinator_add_status(struct hd_op *op, hd_coordinator *coordinator,
                                      struct hd_write_status *write_status)
{
    hudi_status status = HUDI_OK;

    if (strcmp(write_status->instant_time, coordinator->config.instant_time) != 0) {
        status = hd_fail(op, HUDI_INVALID, "a write status of instant %s, the write is %s",
                         write_status->instant_time, coordinator->config.instant_time);
        goto out;
    }
    for (size_t i = 0; i < coordinator->n_statuses; i++) {
        struct hd_write_status *known = &coordinator->statuses[i];

        if (known->task != write_status->task)
            continue;
        if (known->attempt >= write_status->attempt)
            goto out;
        hd_write_status_clear(op, known);
        *known = *write_status;
        *write_status = (struct hd_write_status){0};
        return HUDI_OK;
    }
    HD_TRY_OUT(hd_grow(op, &coordinator->statuses, &coordinator->status_capacity,
                       coordinator->n_statuses + 1, sizeof *coordinator->statuses));
    coordinator->statuses[coordinator->n_statuses++] = *write_status;
    *write_status = (struct hd_write_status){0};
out:
    hd_write_status_clear(op, write_status);
    return status;
}

/* ---- commit metadata --------------------------------------------------------------------------
 */

/* All tasks see the same input columns, so they agree on the table's schema after the write. */
static hudi_status add_schema(struct hd_op *op, const hd_coordinator *coordinator,
                              struct hd_commit_metadata *metadata)
{
    const char *schema = NULL;
    char *current = NULL, *latest = NULL;
    hudi_status status = HUDI_OK;

    for (size_t i = 0; i < coordinator->n_statuses; i++) {
        const char *of_task = coordinator->statuses[i].avro_schema;

        if (of_task == NULL)
            continue;
        if (schema != NULL && strcmp(schema, of_task) != 0)
            return hd_fail(op, HUDI_SCHEMA,
                           "writer tasks of one write had inputs of different "
                           "columns");
        schema = of_task;
    }
    status = hd_timeline_table_schema(op, &coordinator->table.timeline, &coordinator->table.config,
                                      NULL, &current, &latest);
    if (status == HUDI_NOT_FOUND)
        status = HUDI_OK;
    if (status == HUDI_OK && latest != NULL)
        status = hd_fail(op, HUDI_NOT_IMPLEMENTED,
                         "writing to tables whose columns evolve by DDL (schema on read) is not "
                         "supported yet");
    if (status == HUDI_OK)
        status = hd_commit_metadata_set_extra(op, metadata, "schema",
                                              schema != NULL    ? schema
                                              : current != NULL ? current
                                                                : "");
    hd_free(op, current);
    hd_free(op, latest);
    return status;
}

static hudi_status replace_group(struct hd_op *op, const struct hd_write_config *config,
                                 const struct hd_file_slice *slice,
                                 struct hd_commit_metadata *metadata)
{
    if (hd_write_is_pending(config, slice->partition_path, slice->file_id))
        return hd_fail(op, HUDI_CONFLICT,
                       "file group %s is to be replaced, and a pending clustering is about to "
                       "rewrite it",
                       slice->file_id);
    return hd_commit_metadata_add_replaced(op, metadata, slice->partition_path, slice->file_id);
}

/* insert_overwrite takes out the partitions that got rows, the others what they name. */
static hudi_status replaced_partitions(struct hd_op *op, const hd_coordinator *coordinator,
                                       const struct hd_commit_metadata *metadata,
                                       struct hd_map *out)
{
    const struct hd_write_config *config = &coordinator->config;
    const char *list;

    if (config->operation == HD_OPERATION_INSERT_OVERWRITE) {
        for (size_t i = 0; i < metadata->n_stats; i++)
            HD_TRY(hd_map_put(op, out, hd_slice_text(metadata->stats[i].partition_path), 0, NULL,
                              NULL));
        return HUDI_OK;
    }
    list = hd_write_text(config, "hoodie.datasource.write.partitions.to.delete");
    while (*list != '\0') {
        const size_t n = strcspn(list, ",");
        HD_TRY(hd_map_put(op, out, hd_slice_of(list, n), 0, NULL, NULL));
        list += n + (list[n] == ',');
    }
    return HUDI_OK;
}

static hudi_status add_replaced(struct hd_op *op, const hd_coordinator *coordinator,
                                struct hd_commit_metadata *metadata)
{
    hudi_status status = HUDI_OK;
    const struct hd_table_snapshot *table = &coordinator->table;
    const bool all = coordinator->config.operation == HD_OPERATION_INSERT_OVERWRITE_TABLE;
    struct hd_map partitions = {0};
    struct hd_file_system_view view = {0};
    const char **paths = NULL;

    metadata->is_replace = true;
    if (!all)
        HD_TRY_OUT(replaced_partitions(op, coordinator, metadata, &partitions));
    HD_TRY_OUT(hd_alloc_array(op, partitions.n_entries, sizeof *paths, &paths));
    for (size_t i = 0; i < partitions.n_entries; i++)
        paths[i] = (const char *)partitions.entries[i].key.data;
    if (!all && partitions.n_entries == 0)
        goto out;
    HD_TRY_OUT(hd_file_system_view_load(op, coordinator->pool, table->fs, table->path,
                                        &table->config, &table->timeline, all ? NULL : paths,
                                        partitions.n_entries, &view));
    for (size_t i = 0; i < view.n_groups; i++) {
        const struct hd_file_slice *slice = hd_file_group_slice_as_of(&view.groups[i], NULL);
        if (slice != NULL)
            HD_TRY_OUT(replace_group(op, &coordinator->config, slice, metadata));
    }
out:
    hd_free(op, paths);
    hd_file_system_view_clear(&view);
    hd_map_clear(&partitions);
    return status;
}

/* Readers take one base file of a file group and instant: the rows of a second one would be lost.
 */
static hudi_status check_one_base_file(struct hd_op *op, const struct hd_commit_metadata *metadata)
{
    hudi_status status = HUDI_OK;
    struct hd_map groups = {0};
    struct hd_str key = {0};

    for (size_t i = 0; i < metadata->n_stats; i++) {
        const struct hd_write_stat *stat = &metadata->stats[i];
        bool added;

        if (stat->is_log)
            continue;
        key.size = 0;
        HD_TRY_OUT(hd_str_printf(op, &key, "%s/%s", stat->partition_path, stat->file_id));
        HD_TRY_OUT(hd_map_put(op, &groups, hd_str_slice(&key), 0, NULL, &added));
        if (!added) {
            status = hd_fail(op, HUDI_INTERNAL, "two base files of file group %s in one commit",
                             hd_str_text(&key));
            goto out;
        }
    }
out:
    hd_map_clear(&groups);
    hd_str_clear(&key);
    return status;
}

/* Options that begin with the prefix; the schema, which comes later, is not one of them.
 * Source: HoodieSparkSqlWriter.commitAndPerformPostOperations (Hudi 0.15.0) */
static hudi_status add_extra(struct hd_op *op, const hd_coordinator *coordinator,
                             struct hd_commit_metadata *metadata)
{
    const struct hd_properties *options = &coordinator->config.options.set;
    const char *prefix =
        hd_write_text(&coordinator->config, "hoodie.datasource.write.commitmeta.key.prefix");
    const size_t n = strlen(prefix);

    for (size_t i = 0; i < options->n_entries; i++)
        if (strncmp(options->entries[i].key, prefix, n) == 0)
            HD_TRY(hd_commit_metadata_set_extra(op, metadata, options->entries[i].key,
                                                options->entries[i].value));
    return HUDI_OK;
}

static hudi_status make_metadata(struct hd_op *op, const hd_coordinator *coordinator,
                                 struct hd_commit_metadata *metadata)
{
    metadata->operation_type = hd_operation_name(coordinator->config.operation);
    for (size_t i = 0; i < coordinator->n_statuses; i++)
        for (size_t s = 0; s < coordinator->statuses[i].n_stats; s++) {
            struct hd_write_stat stat = coordinator->statuses[i].stats[s];

            /* Those have no file group: their task's first file tells of them. */
            if (s == 0)
                stat.total_write_errors = coordinator->statuses[i].n_failed;
            HD_TRY(hd_commit_metadata_add_stat(op, metadata, &stat));
        }
    HD_TRY(check_one_base_file(op, metadata));
    HD_TRY(add_extra(op, coordinator, metadata));
    HD_TRY(add_schema(op, coordinator, metadata));
    if (hd_write_action(&coordinator->config) == HD_ACTION_REPLACECOMMIT)
        HD_TRY(add_replaced(op, coordinator, metadata));
    return HUDI_OK;
}

/* ---- commit -----------------------------------------------------------------------------------
 */

/* Where and why of the first failures. */
static hudi_status name_failures(struct hd_op *op, const hd_coordinator *coordinator,
                                 struct hd_str *out)
{
    int n = 0;

    for (size_t i = 0; i < coordinator->n_statuses; i++) {
        const struct hd_write_status *status = &coordinator->statuses[i];
        for (size_t f = 0; f < status->n_failures && n < NAMED_FAILURES; f++, n++)
            HD_TRY(hd_str_printf(op, out, "%s%s: %s", n == 0 ? "" : "; ", status->failures[f].key,
                                 status->failures[f].reason));
    }
    return HUDI_OK;
}

static hudi_status check_failures(struct hd_op *op, const hd_coordinator *coordinator)
{
    int64_t n_failed = 0;
    struct hd_str named = {0};

    for (size_t i = 0; i < coordinator->n_statuses; i++)
        n_failed += coordinator->statuses[i].n_failed;
    if (n_failed == 0 || hd_write_bool(&coordinator->config, "libhudi.write.ignore.failed"))
        return HUDI_OK;
    hudi_status status = name_failures(op, coordinator, &named);
    if (status == HUDI_OK)
        status = hd_fail(op, HUDI_ROWS_FAILED, "%lld record%s could not be written, first %s",
                         (long long)n_failed, n_failed == 1 ? "" : "s", hd_str_text(&named));
    hd_str_clear(&named);
    return status;
}

static hudi_status fill_result(struct hd_op *op, const hd_coordinator *coordinator,
                               const struct hd_commit_metadata *metadata,
                               struct hd_commit_result *out)
{
    size_t n_failures = 0;

    memcpy(out->instant_time, coordinator->config.instant_time, sizeof out->instant_time);
    out->committed = true;
    for (size_t i = 0; i < metadata->n_stats; i++) {
        out->n_inserts += metadata->stats[i].num_inserts;
        out->n_updates += metadata->stats[i].num_update_writes;
        out->n_deletes += metadata->stats[i].num_deletes;
        out->n_bytes += metadata->stats[i].file_size_in_bytes;
        out->n_files++;
    }
    for (size_t i = 0; i < coordinator->n_statuses; i++)
        n_failures += coordinator->statuses[i].n_failures;
    HD_TRY(hd_arena_array(op, &out->arena, n_failures, sizeof *out->failures, &out->failures));
    for (size_t i = 0; i < coordinator->n_statuses; i++) {
        const struct hd_write_status *status = &coordinator->statuses[i];

        out->n_failed += status->n_failed;
        for (size_t f = 0; f < status->n_failures; f++)
            HD_TRY(hd_arena_printf(op, &out->arena, (char **)&out->failures[out->n_failures++],
                                   "%s: %s", status->failures[f].key, status->failures[f].reason));
    }
    return HUDI_OK;
}

static hudi_status publish(struct hd_op *op, hd_coordinator *coordinator,
                           const struct hd_commit_metadata *metadata)
{
    const struct hd_table_snapshot *table = &coordinator->table;
    const struct hd_write_config *config = &coordinator->config;
    struct hd_str text = {0};

    HD_TRY(hd_op_check_cancel(op));
    hudi_status status = hd_commit_metadata_format(op, metadata, &text);
    if (status == HUDI_OK)
        status = hd_transition_complete(op, &table->timeline, config->instant_time,
                                        hd_write_action(config), text.data, text.size);
    hd_str_clear(&text);
    if (status == HUDI_EXISTS)
        return hd_fail(op, HUDI_CONFLICT, "instant %s was completed by somebody else",
                       config->instant_time);
    return status;
}

hudi_status hd_coordinator_commit(struct hd_op *op, hd_coordinator *coordinator,
                                  struct hd_commit_result *out)
{
    hudi_status status = HUDI_OK;
    struct hd_table_snapshot *table = &coordinator->table;
    struct hd_commit_metadata metadata = {0};
    bool published = false;

    *out = (struct hd_commit_result){0};
    HD_TRY_OUT(check_failures(op, coordinator));
    HD_TRY_OUT(make_metadata(op, coordinator, &metadata));
    /* All that can fail comes before the completed file: nothing may fail a write that shows. */
    HD_TRY_OUT(fill_result(op, coordinator, &metadata, out));
    if (metadata.n_stats == 0 && metadata.n_replaced == 0 &&
        !hd_write_bool(&coordinator->config, "hoodie.allow.empty.commit")) {
        out->committed = false;
        hd_coordinator_abort(op, coordinator);
        coordinator = NULL;
        goto out;
    }
    HD_TRY_OUT(hd_reconcile_markers(op, coordinator->pool, table, coordinator->config.instant_time,
                                    &metadata));
    HD_TRY_OUT(hd_take_turn(op, &coordinator->transaction, coordinator->heartbeat,
                            HD_CONFLICT_WRITE, coordinator->config.instant_time, &metadata));
    HD_TRY_OUT(publish(op, coordinator, &metadata));
    published = true;
    hd_transaction_end(&coordinator->transaction);
    if (hd_markers_delete(op, table->fs, table->path, coordinator->config.instant_time) !=
        HUDI_OK) {
        hd_log(op, HD_LOG_WARN, "the marker folder of %s could not be deleted",
               coordinator->config.instant_time);
        hd_op_clear_error(op);
    }
out:
    hd_commit_metadata_clear(&metadata);
    if (published)
        release(op, coordinator);
    else
        hd_coordinator_abort(op, coordinator);
    if (status != HUDI_OK)
        hd_commit_result_clear(out);
    return status;
}

void hd_commit_result_clear(struct hd_commit_result *result)
{
    hd_arena_clear(&result->arena);
    *result = (struct hd_commit_result){0};
}

/* Others took this write for dead and rolled it back, and it went on writing: what it wrote since
 * nobody knows of, and would count once older instants are archived. The instant comes back as an
 * inflight one that says which slices it changed, so that the rollback looks for all of it. */
static hudi_status begin_again(struct hd_op *op, const hd_coordinator *coordinator)
{
    const struct hd_table_snapshot *const table = &coordinator->table;
    const struct hd_write_config *const config = &coordinator->config;
    struct hd_commit_metadata metadata = {0};
    struct hd_str profile = {0};
    hudi_status status = HUDI_OK;

    for (size_t i = 0; i < coordinator->n_statuses; i++)
        for (size_t s = 0; s < coordinator->statuses[i].n_stats; s++)
            HD_TRY_OUT(
                hd_commit_metadata_add_stat(op, &metadata, &coordinator->statuses[i].stats[s]));
    HD_TRY_OUT(hd_commit_metadata_format(op, &metadata, &profile));
    HD_TRY_OUT(hd_markers_delete(op, table->fs, table->path, config->instant_time));
    HD_TRY_OUT(request(op, coordinator, hd_write_action(config)));
    status = hd_transition_start(op, &table->timeline, config->instant_time,
                                 hd_write_action(config), profile.data, profile.size);
out:
    hd_str_clear(&profile);
    hd_commit_metadata_clear(&metadata);
    return status;
}

static const struct hd_instant *find_own(const hd_coordinator *coordinator)
{
    return hd_timeline_find(&coordinator->table.timeline, coordinator->config.instant_time,
                            hd_write_action(&coordinator->config));
}

/* The failed write's instant as the timeline has it now. */
static hudi_status roll_back_own(struct hd_op *op, hd_coordinator *coordinator)
{
    struct hd_table_snapshot *table = &coordinator->table;

    HD_TRY(hd_transaction_begin(op, &coordinator->transaction));
    if (find_own(coordinator) == NULL && coordinator->transaction.shared) {
        HD_TRY(begin_again(op, coordinator));
        HD_TRY(hd_table_snapshot_reload(op, table));
    }
    const struct hd_instant *const own = find_own(coordinator);
    if (own == NULL || own->state == HD_COMPLETED)
        return HUDI_OK;
    return hd_rollback_instant(op, coordinator->pool, table, own);
}

void hd_coordinator_abort(struct hd_op *op, hd_coordinator *coordinator)
{
    if (coordinator == NULL)
        return;
    if (coordinator->begun) {
        /* An op of its own: the first error stays the one that is told, and a cancelled write is
         * rolled back all the same. */
        struct hd_op undo;

        hd_op_init_child(&undo, op);
        undo.cancelled = NULL;
        if (roll_back_own(&undo, coordinator) != HUDI_OK)
            hd_log(op, HD_LOG_WARN,
                   "the failed write %s could not be rolled back; the next writer will do it",
                   coordinator->config.instant_time);
        hd_op_clear(&undo);
    }
    release(op, coordinator);
}
