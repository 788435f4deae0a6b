/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "codec/json.h"
#include "engine/scan/scan_internal.h"

/*
 * Which internal schema a base file was written with (docs/format/table-layout.md 8.3): the
 * commit's own, else the one of the history that was valid at its instant.
 */

#define SCHEMA_FOLDER ".hoodie/.schema"
#define SCHEMA_SUFFIX ".schemacommit"
#define HISTORY_MAX_BYTES (UINT64_C(64) << 20)

struct history {
    hd_json *document; /* NULL: there is none */
    const hd_json *schemas;
};

/* The newest history whose instant is a completed commit. */
static hudi_status newest_history(struct hd_op *op, const struct hd_table_snapshot *table,
                                  const struct hd_timeline *timeline, struct hd_arena *arena,
                                  const char **out)
{
    struct hd_file_info *infos;
    size_t n;
    char *folder;

    *out = NULL;
    HD_TRY(hd_path_join(op, table->path, SCHEMA_FOLDER, &folder));
    const hudi_status listed = hd_fs_list(op, table->fs, folder, arena, &infos, &n);
    hd_free(op, folder);
    if (listed == HUDI_NOT_FOUND)
        return HUDI_OK;
    HD_TRY(listed);
    const char *newest = NULL;
    for (size_t i = 0; i < n; i++) {
        const size_t digits = strspn(infos[i].name, "0123456789");
        char *time;

        if (digits == 0 || !hd_slice_ends_with(hd_slice_text(infos[i].name), SCHEMA_SUFFIX))
            continue;
        HD_TRY(hd_arena_strndup(op, arena, infos[i].name, digits, &time));
        if ((newest == NULL || strcmp(time, newest) > 0) &&
            hd_timeline_is_committed(timeline, time)) {
            newest = time;
            *out = infos[i].name;
        }
    }
    return HUDI_OK;
}

static hudi_status load_history(struct hd_op *op, const struct hd_table_snapshot *table,
                                const struct hd_timeline *timeline, struct history *out)
{
    hudi_status status = HUDI_OK;
    struct hd_arena arena = {0};
    char *folder = NULL, *path = NULL;
    const char *name;
    uint8_t *bytes = NULL;
    size_t n;

    *out = (struct history){0};
    HD_TRY_OUT(newest_history(op, table, timeline, &arena, &name));
    if (name == NULL)
        goto out;
    HD_TRY_OUT(hd_path_join(op, table->path, SCHEMA_FOLDER, &folder));
    HD_TRY_OUT(hd_path_join(op, folder, name, &path));
    HD_TRY_OUT(hd_fs_read_file(op, table->fs, path, HISTORY_MAX_BYTES, &bytes, &n));
    status = hd_json_parse(op, hd_slice_of(bytes, n), &out->document);
    if (status == HUDI_OK)
        status = hd_json_get_array(op, out->document, "schemas", &out->schemas);
    if (status != HUDI_OK)
        hd_error_set_path(op, path);
out:
    hd_free(op, bytes);
    hd_free(op, path);
    hd_free(op, folder);
    hd_arena_clear(&arena);
    return status;
}

/* The schema of the history that was valid at `version`, as JSON. */
static hudi_status schema_of_history(struct hd_op *op, const struct history *history,
                                     int64_t version, struct hd_str *out)
{
    const hd_json *best = NULL;
    int64_t best_version = -1;

    for (size_t i = 0; i < hd_json_length(history->schemas); i++) {
        const hd_json *schema = hd_json_at(history->schemas, i);
        int64_t id;

        HD_TRY(hd_json_get_int64(op, schema, "version_id", &id));
        if (id <= version && id > best_version) {
            best = schema;
            best_version = id;
        }
    }
    if (best == NULL)
        return HUDI_NOT_FOUND;
    struct hd_json_writer writer;
    hd_json_writer_init(&writer, out, HD_JSON_COMPACT);
    return hd_json_value(op, &writer, best);
}

/* What the commit of `time` itself says. */
static hudi_status schema_of_commit(struct hd_op *op, const struct hd_timeline *timeline,
                                    const char *time, struct hd_str *out)
{
    hudi_status status = HUDI_NOT_FOUND;

    for (size_t i = 0; i < timeline->n_instants; i++) {
        struct hd_commit_metadata commit;

        if (strcmp(timeline->instants[i].time, time) != 0 ||
            !hd_instant_is_completed_write(&timeline->instants[i]))
            continue;
        HD_TRY(hd_timeline_read_commit(op, timeline, &timeline->instants[i], &commit));
        const char *latest = hd_commit_metadata_extra(&commit, "latest_schema");
        if (latest != NULL && latest[0] != '\0')
            status = hd_str_append_text(op, out, latest);
        hd_commit_metadata_clear(&commit);
        return status;
    }
    return HUDI_NOT_FOUND;
}

static hudi_status file_schema(struct hd_op *op, const struct hd_timeline *timeline,
                               const struct history *history, const char *time,
                               struct hd_arena *arena, const char **out)
{
    struct hd_str text = {0};
    char *copy = NULL;

    hudi_status status = schema_of_commit(op, timeline, time, &text);
    if (status == HUDI_NOT_FOUND)
        status = schema_of_history(op, history, strtoll(time, NULL, 10), &text);
    if (status == HUDI_NOT_FOUND)
        status = hd_fail(op, HUDI_CORRUPT,
                         "the table's columns have ids, and there is no schema with ids for the "
                         "files of instant %s (hoodie.schema.on.read.enable=false reads them by "
                         "name)",
                         time);
    if (status == HUDI_OK)
        status = hd_arena_strndup(op, arena, text.data, text.size, &copy);
    *out = copy;
    hd_str_clear(&text);
    return status;
}

/* Each instant's schema is looked up once. */
struct lookup {
    const struct hd_timeline *timeline;
    struct history history;
    struct hd_map known; /* instant -> text */
    struct hd_arena *arena;
};

static hudi_status look_up(struct hd_op *op, struct lookup *lookup, const char *time,
                           const char **out)
{
    struct hd_map_entry *entry;
    bool added;

    HD_TRY(hd_map_put(op, &lookup->known, hd_slice_text(time), 0, &entry, &added));
    if (added) {
        HD_TRY(file_schema(op, lookup->timeline, &lookup->history, time, lookup->arena, out));
        entry->value = (uintptr_t)*out;
    }
    *out = (const char *)(uintptr_t)entry->value;
    return HUDI_OK;
}

/* Of the blocks that log files may hold: those from the oldest slice on that has any. */
static hudi_status look_up_blocks(struct hd_op *op, struct lookup *lookup, hd_scan_plan *plan)
{
    const struct hd_log_instants *all = &plan->log_instants;
    struct hd_log_instant *instants;
    const char *oldest = NULL;

    for (size_t i = 0; i < plan->n_splits; i++) {
        if (plan->splits[i].n_logs > 0 &&
            (oldest == NULL || strcmp(plan->splits[i].instant, oldest) < 0))
            oldest = plan->splits[i].instant;
    }
    if (oldest == NULL)
        return HUDI_OK;
    HD_TRY(hd_arena_array(op, &plan->arena, all->n_instants, sizeof *instants, &instants));
    for (size_t i = 0; i < all->n_instants; i++) {
        instants[i] = all->instants[i];
        if (instants[i].is_committed && strcmp(instants[i].time, oldest) >= 0)
            HD_TRY(look_up(op, lookup, instants[i].time, &instants[i].schema));
    }
    plan->log_instants.instants = instants;
    return HUDI_OK;
}

hudi_status hd_scan_find_file_schemas(struct hd_op *op, const struct hd_table_snapshot *table,
                                      const struct hd_timeline *timeline, hd_scan_plan *plan)
{
    hudi_status status = HUDI_OK;
    struct lookup lookup = {.timeline = timeline, .arena = &plan->arena};

    HD_TRY_OUT(load_history(op, table, timeline, &lookup.history));
    for (size_t i = 0; i < plan->n_splits; i++) {
        struct hd_slice_source *split = &plan->splits[i];

        if (split->base_path != NULL)
            HD_TRY_OUT(look_up(op, &lookup, split->instant, &split->file_schema));
    }
    HD_TRY_OUT(look_up_blocks(op, &lookup, plan));
out:
    hd_map_clear(&lookup.known);
    hd_json_free(lookup.history.document);
    return status;
}
