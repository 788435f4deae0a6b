/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <string.h>

#include "format/layout/partition.h"
#include "service/verify_internal.h"

#define META_FOLDER ".hoodie"
#define MARKER_FOLDER ".hoodie/.temp"

static bool is_metafile(const char *name)
{
    static const char *const NAMES[] = {HD_PARTITION_METAFILE, HD_PARTITION_METAFILE ".parquet",
                                        HD_PARTITION_METAFILE ".orc"};

    for (size_t i = 0; i < HD_ARRAY_LENGTH(NAMES); i++)
        if (strcmp(name, NAMES[i]) == 0)
            return true;
    return false;
}

static bool is_on_timeline(const struct hd_timeline *timeline, const char *time)
{
    static const enum hd_action ACTIONS[] = {HD_ACTION_COMMIT, HD_ACTION_DELTACOMMIT,
                                             HD_ACTION_REPLACECOMMIT};

    for (size_t i = 0; i < HD_ARRAY_LENGTH(ACTIONS); i++)
        if (hd_timeline_find(timeline, time, ACTIONS[i]) != NULL)
            return true;
    return false;
}

/* A base file: one of a completed write is kept in `folder->files`. */
static hudi_status take_base_file(struct hd_op *op, struct hd_verify *verify,
                                  struct hd_verify_folder *folder, const char *path,
                                  struct hd_verify_file *file)
{
    const struct hd_expectations *const expected = &verify->expected;
    const struct hd_timeline *const timeline = &verify->table.timeline;
    const struct hd_slice time = file->parsed.instant;

    if (!hd_verify_is_committed(verify, file->instant)) {
        if (is_on_timeline(timeline, file->instant))
            return HUDI_OK; /* of a write that goes on, or that the next writer rolls back */
        HD_TRY(hd_report_finding(op, &folder->report, "stray-file", path,
                                 "no completed or pending instant %s", file->instant));
        return hd_report_of_instant(op, &folder->report, time);
    }
    if (file->expected == NULL && is_on_timeline(timeline, file->instant) &&
        hd_map_find(&expected->unread, time) == NULL)
        return hd_report_finding(op, &folder->report, "stray-file", path,
                                 "the commit of %s does not name it", file->instant);
    if (file->expected != NULL && file->expected->n_bytes > 0 &&
        (uint64_t)file->expected->n_bytes != file->n_bytes)
        HD_TRY(hd_report_finding(op, &folder->report, "wrong-size", path,
                                 "has %" PRIu64 " bytes, its commit says %" PRId64, file->n_bytes,
                                 file->expected->n_bytes));
    folder->files[folder->n_files++] = *file;
    return HUDI_OK;
}

/* A log file is at least as long as the newest commit to it says: rollbacks append to it. */
static hudi_status take_log_file(struct hd_op *op, struct hd_verify_folder *folder,
                                 const char *path, const struct hd_verify_file *file)
{
    folder->logs[folder->n_logs++] = *file;
    if (file->expected == NULL || (uint64_t)file->expected->n_bytes <= file->n_bytes)
        return HUDI_OK;
    return hd_report_finding(op, &folder->report, "wrong-size", path,
                             "has %" PRIu64 " bytes, its commit says %" PRId64, file->n_bytes,
                             file->expected->n_bytes);
}

/* Names that no table has: a data file that readers of plain folders would take is a finding. */
static hudi_status take_other(struct hd_op *op, struct hd_verify_folder *folder, const char *path,
                              const char *name)
{
    const struct hd_slice text = hd_slice_text(name);

    if (is_metafile(name)) {
        folder->has_metafile = true;
        return HUDI_OK;
    }
    if (hd_slice_starts_with(text, HD_TEMPORARY_PREFIX))
        return hd_report_note(op, &folder->report, "leftover-file", path,
                              "a temporary file of a process that died");
    if (name[0] == '.' || name[0] == '_')
        return HUDI_OK;
    if (hd_slice_ends_with(text, ".parquet") || hd_slice_ends_with(text, ".orc"))
        return hd_report_finding(op, &folder->report, "stray-file", path,
                                 "is not named as a data file of this table");
    return hd_report_note(op, &folder->report, "unknown-file", path, "is no part of the table");
}

static hudi_status take_file(struct hd_op *op, struct hd_verify *verify,
                             struct hd_verify_folder *folder, const struct hd_file_info *info)
{
    struct hd_expectations *const expected = &verify->expected;
    struct hd_verify_file file = {.n_bytes = info->size_bytes, .n_rows = -1};
    char *path, *instant;

    HD_TRY(hd_arena_printf(op, &folder->arena, &path, "%s%s%s", folder->path,
                           folder->path[0] == '\0' ? "" : "/", info->name));
    file.path = path;
    file.name = path + strlen(path) - strlen(info->name);
    if (!hd_file_name_parse(file.name, &file.parsed))
        return take_other(op, folder, path, file.name);
    folder->has_data = true;
    HD_TRY(hd_arena_strndup(op, &folder->arena, file.parsed.instant.data, file.parsed.instant.size,
                            &instant));
    file.instant = instant;
    const struct hd_map_entry *const entry = hd_map_find(&expected->paths, hd_slice_text(path));
    if (entry != NULL) {
        expected->files[entry->value].seen = true; /* no other task has this folder */
        file.expected = &expected->files[entry->value];
    }
    if (file.parsed.kind == HD_FILE_BASE)
        return take_base_file(op, verify, folder, path, &file);
    return take_log_file(op, folder, path, &file);
}

/* Of one file group's files: those of the newest instant are one, or rows do not show. */
static hudi_status report_twins(struct hd_op *op, struct hd_verify_folder *folder,
                                const struct hd_verify_file *files, size_t n, size_t newest)
{
    for (size_t i = 0; i < n; i++)
        if (i != newest && strcmp(files[i].instant, files[newest].instant) == 0)
            HD_TRY(hd_report_finding(op, &folder->report, "second-base-file", files[i].path,
                                     "its file group has %s of the same commit",
                                     files[newest].name));
    return HUDI_OK;
}

/* Which files are of the latest slice of their group: file ids stand side by side. */
static hudi_status mark_latest(struct hd_op *op, const struct hd_verify *verify,
                               struct hd_verify_folder *folder)
{
    const struct hd_expectations *const expected = &verify->expected;
    size_t n;

    for (size_t i = 0; i < folder->n_files; i += n) {
        struct hd_verify_file *const files = &folder->files[i];
        size_t newest = 0, group;

        for (n = 1; i + n < folder->n_files &&
                    hd_slice_equal(files[n].parsed.file_id, files[0].parsed.file_id);
             n++)
            if (strcmp(files[n].instant, files[newest].instant) > 0)
                newest = n;
        HD_TRY(report_twins(op, folder, files, n, newest));
        HD_TRY(hd_expected_group_find(op, expected, folder->path, files[0].parsed.file_id, &group));
        files[newest].is_latest = true;
        if (group != SIZE_MAX &&
            (expected->groups[group].replaced_by != NULL ||
             (expected->groups[group].newest_base != NULL &&
              strcmp(expected->groups[group].newest_base, files[newest].instant) > 0)))
            files[newest].is_latest = false;
    }
    return HUDI_OK;
}

hudi_status hd_verify_list(struct hd_op *op, struct hd_verify *verify,
                           struct hd_verify_folder *folder)
{
    hudi_status status = HUDI_OK;
    const struct hd_table_snapshot *const table = &verify->table;
    struct hd_arena listing = {0};
    struct hd_file_info *infos;
    size_t n_infos = 0;
    char *path = NULL, *name;

    HD_TRY_OUT(hd_path_join(op, table->path, folder->path, &path));
    status = hd_fs_list(op, table->fs, path, &listing, &infos, &n_infos);
    if (status == HUDI_NOT_FOUND) { /* deleted since its parent was listed */
        status = HUDI_OK;
        goto out;
    }
    HD_TRY_OUT(status);
    HD_TRY_OUT(hd_arena_array(op, &folder->arena, n_infos, sizeof *folder->below, &folder->below));
    HD_TRY_OUT(hd_arena_array(op, &folder->arena, n_infos, sizeof *folder->files, &folder->files));
    HD_TRY_OUT(hd_arena_array(op, &folder->arena, n_infos, sizeof *folder->logs, &folder->logs));
    for (size_t i = 0; i < n_infos; i++) {
        if (!infos[i].is_dir) {
            HD_TRY_OUT(take_file(op, verify, folder, &infos[i]));
        } else if (folder->path[0] != '\0' || strcmp(infos[i].name, META_FOLDER) != 0) {
            HD_TRY_OUT(hd_arena_strdup(op, &folder->arena, infos[i].name, &name));
            folder->below[folder->n_below++] = name;
        }
    }
    if (folder->has_data && !folder->has_metafile)
        HD_TRY_OUT(hd_report_finding(
            op, &folder->report, "missing-metafile", folder->path[0] == '\0' ? "." : folder->path,
            "data files and no %s: other readers do not see them", HD_PARTITION_METAFILE));
    HD_TRY_OUT(mark_latest(op, verify, folder));
out:
    hd_arena_clear(&listing);
    hd_free(op, path);
    return status;
}

hudi_status hd_verify_leftovers(struct hd_op *op, struct hd_verify *verify)
{
    hudi_status status = HUDI_OK;
    const struct hd_table_snapshot *const table = &verify->table;
    struct hd_arena listing = {0};
    struct hd_file_info *infos;
    size_t n_infos = 0;
    char *path = NULL, *where = NULL;

    HD_TRY_OUT(hd_path_join(op, table->path, MARKER_FOLDER, &path));
    status = hd_fs_list(op, table->fs, path, &listing, &infos, &n_infos);
    if (status == HUDI_NOT_FOUND)
        status = HUDI_OK;
    for (size_t i = 0; i < n_infos && status == HUDI_OK; i++) {
        const char *const time = infos[i].name;

        if (!infos[i].is_dir ||
            (is_on_timeline(&table->timeline, time) && !hd_verify_is_committed(verify, time)))
            continue;
        status = hd_path_join(op, MARKER_FOLDER, time, &where);
        if (status == HUDI_OK)
            status = hd_report_note(op, &verify->report, "leftover-markers", where,
                                    "markers of an instant that is not at work");
        if (status == HUDI_OK)
            status = hd_report_of_instant(op, &verify->report, hd_slice_text(time));
        hd_free(op, where);
        where = NULL;
    }
out:
    hd_arena_clear(&listing);
    hd_free(op, path);
    return status;
}
