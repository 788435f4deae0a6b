/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "codec/avro.h"
#include "format/timeline/archived_timeline.h"
#include "format/timeline/rollback_plan.h"
#include "service/verify_internal.h"

/* ---- groups and files ----------------------------------------------------------------------- */

static hudi_status group_key(struct hd_op *op, struct hd_slice partition_path,
                             struct hd_slice file_id, struct hd_str *out)
{
    out->size = 0;
    HD_TRY(hd_str_append(op, out, partition_path.data, partition_path.size));
    HD_TRY(hd_str_append_char(op, out, '/'));
    return hd_str_append(op, out, file_id.data, file_id.size);
}

hudi_status hd_expected_group_find(struct hd_op *op, const struct hd_expectations *expected,
                                   const char *partition_path, struct hd_slice file_id, size_t *out)
{
    struct hd_str key = {0};
    const hudi_status status = group_key(op, hd_slice_text(partition_path), file_id, &key);
    const struct hd_map_entry *entry =
        status == HUDI_OK ? hd_map_find(&expected->group_names, hd_str_slice(&key)) : NULL;

    *out = entry == NULL ? SIZE_MAX : (size_t)entry->value;
    hd_str_clear(&key);
    return status;
}

static hudi_status ensure_group(struct hd_op *op, struct hd_expectations *expected,
                                struct hd_slice partition_path, struct hd_slice file_id,
                                size_t *out)
{
    struct hd_str key = {0};
    struct hd_map_entry *entry = NULL;
    bool added = false;

    hudi_status status = hd_grow(op, &expected->groups, &expected->group_capacity,
                                 expected->n_groups + 1, sizeof *expected->groups);
    if (status == HUDI_OK)
        status = group_key(op, partition_path, file_id, &key);
    if (status == HUDI_OK)
        status = hd_map_put(op, &expected->group_names, hd_str_slice(&key), expected->n_groups,
                            &entry, &added);
    hd_str_clear(&key);
    HD_TRY(status);
    if (added)
        expected->groups[expected->n_groups++] = (struct hd_expected_group){0};
    *out = (size_t)entry->value;
    return HUDI_OK;
}

/* What a commit says of a log file; of several stats of one file (Flink's batches) the sum. */
static hudi_status add_write(struct hd_op *op, struct hd_expectations *expected, const char *time,
                             const struct hd_write_stat *stat, size_t file)
{
    struct hd_expected_file *const of = &expected->files[file];
    struct hd_expected_group *const group = &expected->groups[of->group];
    struct hd_expected_write *write = of->writes, *const last = group->last_write;

    if (write == NULL || strcmp(write->instant, time) != 0) {
        HD_TRY(hd_arena_alloc(op, &expected->arena, sizeof *write, &write));
        *write = (struct hd_expected_write){.next = of->writes, .instant = time, .file = file};
        of->writes = write;
    }
    write->n_records += stat->num_writes;
    write->n_deletes += stat->num_deletes;
    if (last != NULL && last->file != file && strcmp(last->instant, time) == 0)
        last->is_unsure = write->is_unsure = true;
    group->last_write = write;
    return HUDI_OK;
}

/* Later commits of one log file say how long it became; a base file has one. `time` is the
 * commit's, and outlives what is expected. */
static hudi_status add_file(struct hd_op *op, struct hd_expectations *expected, const char *time,
                            const struct hd_write_stat *stat, const char *path,
                            const struct hd_file_name *name)
{
    const char *const slash = strrchr(path, '/');
    const struct hd_slice partition = hd_slice_of(path, slash == NULL ? 0 : (size_t)(slash - path));
    struct hd_map_entry *entry;
    size_t group;
    bool added;
    char *instant;

    HD_TRY(ensure_group(op, expected, partition, name->file_id, &group));
    HD_TRY(
        hd_arena_strndup(op, &expected->arena, name->instant.data, name->instant.size, &instant));
    HD_TRY(hd_grow(op, &expected->files, &expected->file_capacity, expected->n_files + 1,
                   sizeof *expected->files));
    HD_TRY(
        hd_map_put(op, &expected->paths, hd_slice_text(path), expected->n_files, &entry, &added));
    if (added)
        expected->files[expected->n_files++] =
            (struct hd_expected_file){.path = (const char *)entry->key.data,
                                      .instant = instant,
                                      .written_by = time,
                                      .group = group,
                                      .is_log = name->kind != HD_FILE_BASE};
    struct hd_expected_file *const file = &expected->files[entry->value];
    file->n_rows = stat->num_writes;
    if (stat->file_size_in_bytes > file->n_bytes)
        file->n_bytes = stat->file_size_in_bytes;
    struct hd_expected_group *const of = &expected->groups[group];
    if (file->is_log)
        return add_write(op, expected, time, stat, (size_t)entry->value);
    if (of->newest_base == NULL || strcmp(instant, of->newest_base) > 0)
        of->newest_base = instant;
    return HUDI_OK;
}

static hudi_status add_stats(struct hd_op *op, struct hd_verify *verify,
                             const struct hd_instant *instant,
                             const struct hd_commit_metadata *commit)
{
    struct hd_expectations *const expected = &verify->expected;

    for (size_t i = 0; i < commit->n_stats; i++) {
        const char *path = commit->stats[i].path;
        struct hd_file_name name;

        if (path == NULL)
            continue;
        path += path[0] == '/';
        const char *const slash = strrchr(path, '/');
        if (hd_file_name_parse(slash == NULL ? path : slash + 1, &name))
            HD_TRY(add_file(op, expected, instant->time, &commit->stats[i], path, &name));
        else
            HD_TRY(hd_report_finding(op, &verify->report, "damaged-instant", instant->time,
                                     "names %s, which is no name of a data file", path));
    }
    for (size_t i = 0; i < commit->n_replaced; i++) {
        const struct hd_replaced *const replaced = &commit->replaced[i];

        for (size_t j = 0; j < replaced->n_file_ids; j++) {
            size_t group;
            HD_TRY(ensure_group(op, expected, hd_slice_text(replaced->partition_path),
                                hd_slice_text(replaced->file_ids[j]), &group));
            if (expected->groups[group].replaced_by == NULL)
                expected->groups[group].replaced_by = instant->time;
        }
    }
    return HUDI_OK;
}

/* Operations after which a key still stands in one file group of its partition. */
static bool keeps_keys_unique(const char *operation)
{
    static const char *const NAMES[] = {"UPSERT",  "UPSERT_PREPPED",  "DELETE",
                                        "COMPACT", "DELETE_PREPPED",  "LOG_COMPACT",
                                        "CLUSTER", "DELETE_PARTITION"};

    for (size_t i = 0; operation != NULL && i < HD_ARRAY_LENGTH(NAMES); i++)
        if (strcmp(operation, NAMES[i]) == 0)
            return true;
    return false;
}

/* ---- single instants ------------------------------------------------------------------------ */

static hudi_status check_commit(struct hd_op *op, struct hd_verify *verify,
                                const struct hd_instant *instant)
{
    struct hd_expectations *const expected = &verify->expected;
    struct hd_commit_metadata commit;
    struct hd_map_entry *entry;

    hudi_status status = hd_timeline_read_commit(op, &verify->table.timeline, instant, &commit);
    if (status == HUDI_OK) {
        status = add_stats(op, verify, instant, &commit);
        if (!keeps_keys_unique(commit.operation_type))
            expected->only_upserts = false;
        hd_commit_metadata_clear(&commit);
        return status;
    }
    expected->only_upserts = false;
    HD_TRY(hd_map_put(op, &expected->unread, hd_slice_text(instant->time), 0, &entry, NULL));
    if (status == HUDI_NOT_FOUND) { /* archived or rolled back since the listing */
        hd_op_clear_error(op);
        return HUDI_OK;
    }
    return hd_report_failure(op, &verify->report, status, "damaged-instant", instant->time);
}

/* All blocks of a container file can be read. */
static hudi_status check_container(struct hd_op *op, struct hd_slice bytes)
{
    struct hd_avro_container container;
    struct hd_cursor records;
    uint64_t n_records, n = 0;

    HD_TRY(hd_avro_container_open(op, bytes, &container));
    hudi_status status;
    while ((status = hd_avro_container_next(op, &container, &records, &n_records)) == HUDI_OK)
        n += n_records;
    hd_avro_container_clear(&container);
    if (status != HUDI_END)
        return status;
    return n > 0 ? HUDI_OK : hd_fail(op, HUDI_CORRUPT, "Avro file without a record");
}

static hudi_status read_avro(struct hd_op *op, const struct hd_timeline *timeline,
                             const struct hd_instant *instant, enum hd_instant_state state)
{
    uint8_t *bytes = NULL;
    size_t n;

    hudi_status status = hd_timeline_read(op, timeline, instant, state, &bytes, &n);
    if (status == HUDI_OK)
        status = n == 0 ? hd_fail(op, HUDI_CORRUPT, "%s %s is empty (0 bytes)",
                                  hd_action_name(instant->action), instant->time)
                        : check_container(op, hd_slice_of(bytes, n));
    hd_free(op, bytes);
    return status;
}

/* Completed cleans, rollbacks, restores and savepoints. */
static hudi_status check_service(struct hd_op *op, struct hd_verify *verify,
                                 const struct hd_instant *instant)
{
    const hudi_status status = read_avro(op, &verify->table.timeline, instant, HD_COMPLETED);

    if (instant->action == HD_ACTION_CLEAN || instant->action == HD_ACTION_RESTORE)
        verify->expected.last_clean = instant->time;
    if (status == HUDI_NOT_FOUND) {
        hd_op_clear_error(op);
        return HUDI_OK;
    }
    if (status == HUDI_OK)
        return HUDI_OK;
    return hd_report_failure(op, &verify->report, status, "damaged-instant", instant->time);
}

static hudi_status check_pending_rollback(struct hd_op *op, struct hd_verify *verify,
                                          const struct hd_instant *instant)
{
    HD_TRY(hd_report_note(op, &verify->report, "hung-rollback", instant->time,
                          "a rollback is %s: the next writer finishes it",
                          hd_instant_state_name(instant->state)));
    if (!instant->has_requested || instant->state == HD_REQUESTED)
        return HUDI_OK; /* a plan that was not acted on is made again when it cannot be read */
    const hudi_status status = read_avro(op, &verify->table.timeline, instant, HD_REQUESTED);
    if (status == HUDI_NOT_FOUND) {
        hd_op_clear_error(op);
        return HUDI_OK;
    }
    return status == HUDI_OK
               ? HUDI_OK
               : hd_report_failure(op, &verify->report, status, "damaged-instant", instant->time);
}

static hudi_status check_instant(struct hd_op *op, struct hd_verify *verify,
                                 const struct hd_instant *instant)
{
    if (hd_instant_is_completed_write(instant))
        return check_commit(op, verify, instant);
    if (instant->state == HD_COMPLETED) {
        switch (instant->action) {
        case HD_ACTION_CLEAN:
        case HD_ACTION_ROLLBACK:
        case HD_ACTION_RESTORE:
        case HD_ACTION_SAVEPOINT:
            return check_service(op, verify, instant);
        default:
            return HUDI_OK;
        }
    }
    if (instant->action == HD_ACTION_ROLLBACK)
        return check_pending_rollback(op, verify, instant);
    return hd_verify_pending(op, verify, instant);
}

/* ---- the archive ---------------------------------------------------------------------------- */

/* Only which instants are in it: a bound above all times leaves out the content. */
static hudi_status read_archive(struct hd_op *op, struct hd_verify *verify)
{
    const struct hd_table_snapshot *const table = &verify->table;
    struct hd_expectations *const expected = &verify->expected;
    struct hd_archived_timeline archive = {0};
    struct hd_map_entry *entry;
    const char *clean = NULL;

    hudi_status status =
        hd_archived_timeline_load(op, table->fs, table->path, &table->config, "9", NULL, &archive);
    if (status != HUDI_OK)
        return hd_report_failure(op, &verify->report, status, "damaged-archive",
                                 table->config.archive_folder);
    for (size_t i = 0; i < archive.n_instants; i++) {
        const struct hd_archived_instant *const instant = &archive.instants[i];
        const bool completed = instant->state == HD_COMPLETED;
        enum hd_action action;

        HD_TRY_OUT(hd_map_put(op, &expected->archived, hd_slice_text(instant->time), completed,
                              &entry, NULL));
        entry->value |= completed;
        if (completed && hd_action_parse(hd_slice_text(instant->action), &action) &&
            action == HD_ACTION_CLEAN)
            clean = instant->time;
    }
    if (expected->last_clean == NULL && clean != NULL)
        HD_TRY_OUT(hd_arena_strdup(op, &expected->arena, clean, (char **)&expected->last_clean));
    if (archive.n_instants > 0) {
        expected->only_upserts = false; /* what they did is not looked at */
        HD_TRY_OUT(hd_arena_strdup(op, &expected->arena, archive.instants[0].time,
                                   (char **)&expected->archive_start));
    }
out:
    hd_archived_timeline_clear(&archive);
    return status;
}

bool hd_verify_is_committed(const struct hd_verify *verify, const char *time)
{
    const struct hd_timeline *const timeline = &verify->table.timeline;
    const struct hd_expectations *const expected = &verify->expected;

    if (!hd_timeline_is_committed(timeline, time))
        return false;
    for (size_t i = 0; i < 3; i++) {
        static const enum hd_action ACTIONS[] = {HD_ACTION_COMMIT, HD_ACTION_DELTACOMMIT,
                                                 HD_ACTION_REPLACECOMMIT};
        if (hd_timeline_find(timeline, time, ACTIONS[i]) != NULL)
            return true;
    }
    if (expected->archive_start == NULL || strcmp(time, expected->archive_start) < 0)
        return true; /* nothing says otherwise */
    const struct hd_map_entry *const entry = hd_map_find(&expected->archived, hd_slice_text(time));
    return entry != NULL && entry->value != 0;
}

hudi_status hd_verify_timeline(struct hd_op *op, struct hd_verify *verify)
{
    const struct hd_timeline *const timeline = &verify->table.timeline;

    verify->expected.only_upserts = true;
    for (size_t i = 0; i < timeline->n_instants; i++) {
        HD_TRY(hd_op_check_cancel(op));
        HD_TRY(check_instant(op, verify, &timeline->instants[i]));
    }
    return read_archive(op, verify);
}

void hd_expectations_clear(struct hd_expectations *expected)
{
    hd_map_clear(&expected->paths);
    hd_map_clear(&expected->group_names);
    hd_map_clear(&expected->unread);
    hd_map_clear(&expected->archived);
    hd_free(NULL, expected->files);
    hd_free(NULL, expected->groups);
    hd_arena_clear(&expected->arena);
    *expected = (struct hd_expectations){0};
}

/* ---- files that are not there --------------------------------------------------------------- */

/* A slice that the latest version of its group no longer needs: a clean may have taken it. */
static bool is_outdated(const struct hd_expectations *expected, const struct hd_expected_file *file)
{
    const struct hd_expected_group *const group = &expected->groups[file->group];

    return group->replaced_by != NULL ||
           (group->newest_base != NULL && strcmp(file->instant, group->newest_base) < 0);
}

hudi_status hd_verify_missing(struct hd_op *op, struct hd_verify *verify)
{
    const struct hd_expectations *const expected = &verify->expected;

    for (size_t i = 0; i < expected->n_files; i++) {
        const struct hd_expected_file *const file = &expected->files[i];

        if (file->seen)
            continue;
        if (!is_outdated(expected, file))
            HD_TRY(hd_report_finding(op, &verify->report, "missing-file", file->path,
                                     "instant %s wrote it and it is not there", file->written_by));
        else if (expected->last_clean == NULL || strcmp(expected->last_clean, file->instant) <= 0)
            HD_TRY(hd_report_note(op, &verify->report, "missing-file", file->path,
                                  "a file of an older slice is gone, and no clean took it"));
        else
            continue;
        HD_TRY(hd_report_of_instant(op, &verify->report, hd_slice_text(file->written_by)));
    }
    return HUDI_OK;
}
