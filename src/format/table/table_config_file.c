/* SPDX-License-Identifier: Apache-2.0 */
#include "format/table/table_config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "codec/hash.h"
#include "format/table/internal.h"

/*
 * hoodie.properties on disk.
 *
 *  1. Whoever changes it first writes a complete hoodie.properties.backup; Java then deletes
 *     hoodie.properties and writes it anew. So one of the two files is whole at any time, and a
 *     reader that finds neither whole has come between two steps and looks again.
 *  2. Here the new file replaces the old one in a single step, so readers always find one; the
 *     backup still keeps a Java writer from starting its own change at the same time.
 */

#define FOLDER ".hoodie"
#define PROPERTIES "hoodie.properties"
#define BACKUP PROPERTIES ".backup"
#define MAX_BYTES (64u << 20)
#define ATTEMPTS 6
#define FIRST_WAIT_MS 50 /* doubled each time: 1.5 s in all */

uint32_t hd_table_checksum(const struct hd_properties *properties)
{
    const char *database = hd_properties_get(properties, "hoodie.database.name");
    const char *name = hd_properties_get(properties, "hoodie.table.name");
    uint32_t crc = 0;

    if (database != NULL)
        crc = hd_crc32(crc, database, strlen(database));
    crc = hd_crc32(crc, ".", 1);
    return name == NULL ? crc : hd_crc32(crc, name, strlen(name));
}

/* Tables of version 4 on have a checksum, and every writer ends the last line. A file made by hand
 * may lack either. */
static bool is_cut(const struct hd_properties *properties, struct hd_slice text)
{
    const char *version = hd_properties_get(properties, "hoodie.table.version");

    return text.size > 0 && text.data[text.size - 1] != '\n' &&
           (version == NULL || atoi(version) >= 4);
}

/* The checksum covers the names alone: it tells a file that was cut from a whole one. */
static hudi_status check_whole(struct hd_op *op, const struct hd_properties *properties,
                               struct hd_slice text)
{
    const char *stored = hd_properties_get(properties, "hoodie.table.checksum");
    const char *name = hd_properties_get(properties, "hoodie.table.name");
    char expected[16];

    if (name == NULL || name[0] == '\0')
        return hd_fail(op, HUDI_CORRUPT, "hoodie.table.name is missing");
    if (stored == NULL)
        return is_cut(properties, text)
                   ? hd_fail(op, HUDI_CORRUPT,
                             "it ends at byte %zu within a line and has no hoodie.table.checksum",
                             text.size)
                   : HUDI_OK;
    snprintf(expected, sizeof expected, "%" PRIu32, hd_table_checksum(properties));
    if (strcmp(stored, expected) != 0)
        return hd_fail(
            op, HUDI_CORRUPT,
            "hoodie.table.checksum is %s, the names of database and table give %s: the file was "
            "damaged, or a name changed by hand",
            stored, expected);
    return HUDI_OK;
}

struct paths {
    char *folder;
    char *properties;
    char *backup;
};

static void paths_clear(struct hd_op *op, struct paths *paths)
{
    hd_free(op, paths->folder);
    hd_free(op, paths->properties);
    hd_free(op, paths->backup);
}

static hudi_status paths_init(struct hd_op *op, const char *table_path, struct paths *paths)
{
    hudi_status status = HUDI_OK;

    *paths = (struct paths){0};
    HD_TRY_OUT(hd_path_join(op, table_path, FOLDER, &paths->folder));
    HD_TRY_OUT(hd_path_join(op, paths->folder, PROPERTIES, &paths->properties));
    HD_TRY_OUT(hd_path_join(op, paths->folder, BACKUP, &paths->backup));
out:
    if (status != HUDI_OK)
        paths_clear(op, paths);
    return status;
}

/* One file. HUDI_NOT_FOUND without an error, HUDI_CORRUPT with one when it is not whole. */
static hudi_status read_file(struct hd_op *op, hd_file_system *fs, const char *path,
                             struct hd_properties *out)
{
    uint8_t *bytes = NULL;
    size_t n = 0;

    *out = (struct hd_properties){0};
    HD_TRY(hd_fs_read_file(op, fs, path, MAX_BYTES, &bytes, &n));
    hudi_status status = hd_properties_parse(op, hd_slice_of(bytes, n), out);

    if (status == HUDI_OK)
        status = check_whole(op, out, hd_slice_of(bytes, n));
    hd_free(op, bytes);
    if (status != HUDI_OK)
        hd_properties_clear(out);
    return status == HUDI_OK ? HUDI_OK : hd_fail_path(op, status, path);
}

/* Properties, else the backup. When neither is whole, the error is that of the properties. */
static hudi_status read_once(struct hd_op *op, hd_file_system *fs, const struct paths *paths,
                             struct hd_properties *out)
{
    const hudi_status first = read_file(op, fs, paths->properties, out);

    if (first != HUDI_NOT_FOUND && first != HUDI_CORRUPT)
        return first;
    struct hd_op second;

    hd_op_init_child(&second, op);
    const hudi_status status = read_file(&second, fs, paths->backup, out);

    if (status == HUDI_OK) {
        hd_op_clear(&second);
        hd_op_clear_error(op);
        return HUDI_OK;
    }
    if (status == HUDI_NOT_FOUND || (status == HUDI_CORRUPT && first == HUDI_CORRUPT)) {
        hd_op_clear(&second);
        return first;
    }
    hd_op_clear_error(op);
    hd_op_join(op, &second);
    return status;
}

static hudi_status read_properties(struct hd_op *op, hd_file_system *fs, const char *table_path,
                                   const struct paths *paths, struct hd_properties *out)
{
    struct hd_file_info info;
    hudi_status status = hd_fs_stat(op, fs, paths->folder, &info);

    *out = (struct hd_properties){0};
    if (status == HUDI_NOT_FOUND)
        return hd_fail(op, HUDI_NOT_FOUND, "no Hudi table at %s", table_path);
    HD_TRY(status);
    for (int attempt = 0;; attempt++) {
        status = read_once(op, fs, paths, out);
        if (status != HUDI_NOT_FOUND && status != HUDI_CORRUPT)
            return status;
        /* Neither is there: no change leaves that for longer than between two looks. */
        if (attempt == ATTEMPTS - 1 || (status == HUDI_NOT_FOUND && attempt == 1))
            break;
        HD_TRY(hd_op_check_cancel(op));
        hd_op_clear_error(op);
        hd_sleep_ms(op, FIRST_WAIT_MS << attempt);
    }
    if (status == HUDI_NOT_FOUND)
        return hd_fail(op, HUDI_NOT_FOUND, "no Hudi table at %s: .hoodie has no hoodie.properties",
                       table_path);
    return status;
}

/* Without a type Hudi takes copy-on-write, and loses rows when that is wrong: a delta commit says
 * what the table is. */
static hudi_status infer_type(struct hd_op *op, hd_file_system *fs, const char *table_path,
                              struct hd_table_config *config)
{
    struct hd_arena arena = {0};
    struct hd_file_info *files = NULL;
    size_t n_files = 0;
    char *folder;

    HD_TRY(hd_path_join(op, table_path, config->timeline_folder, &folder));
    const hudi_status status = hd_fs_list(op, fs, folder, &arena, &files, &n_files);

    for (size_t i = 0; status == HUDI_OK && i < n_files; i++)
        if (strstr(files[i].name, ".deltacommit") != NULL)
            config->type = HD_MERGE_ON_READ;
    hd_free(op, folder);
    hd_arena_clear(&arena);
    return status == HUDI_NOT_FOUND ? HUDI_OK : status;
}

hudi_status hd_table_config_load(struct hd_op *op, hd_file_system *fs, const char *table_path,
                                 struct hd_table_config *out)
{
    hudi_status status = HUDI_OK;
    struct hd_properties properties;
    struct paths paths;

    *out = (struct hd_table_config){0};
    HD_TRY(paths_init(op, table_path, &paths));
    HD_TRY_OUT(read_properties(op, fs, table_path, &paths, &properties));
    status = hd_table_config_of(op, &properties, out);
    if (status != HUDI_OK)
        status = hd_fail_path(op, status, paths.properties);
    else if (hd_properties_get(&out->properties, "hoodie.table.type") == NULL)
        status = infer_type(op, fs, table_path, out);
out:
    paths_clear(op, &paths);
    if (status != HUDI_OK)
        hd_table_config_clear(out);
    return status;
}

/* ---- changing ----------------------------------------------------------------------------- */

static hudi_status format_properties(struct hd_op *op, const struct hd_properties *properties,
                                     const char *what, struct hd_str *out)
{
    const uint64_t now_ms = hd_now_ms(op);
    const time_t seconds = (time_t)(now_ms / 1000);
    struct tm tm = {0};
    char comment[80];

    if (gmtime_r(&seconds, &tm) == NULL)
        return hd_fail(op, HUDI_INVALID, "time %" PRIu64 " ms is out of range", now_ms);
    snprintf(comment, sizeof comment, "%s %d-%02d-%02dT%02d:%02d:%02d.%03dZ", what,
             tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec,
             (int)(now_ms % 1000));
    return hd_properties_format(op, properties, comment, now_ms, out);
}

static hudi_status delete_if_there(struct hd_op *op, hd_file_system *fs, const char *path)
{
    const hudi_status status = hd_fs_delete_file(op, fs, path);

    return status == HUDI_NOT_FOUND ? HUDI_OK : status;
}

/* Put right what a writer left that died in the middle of a change: after it hoodie.properties is
 * whole and there is no backup. */
static hudi_status recover(struct hd_op *op, hd_file_system *fs, const char *table_path,
                           const struct paths *paths, struct hd_properties *out)
{
    hudi_status status = read_file(op, fs, paths->properties, out);

    if (status == HUDI_OK)
        return delete_if_there(op, fs, paths->backup);
    if (status != HUDI_NOT_FOUND && status != HUDI_CORRUPT)
        return status;
    hd_op_clear_error(op);
    HD_TRY(read_properties(op, fs, table_path, paths, out));

    struct hd_str text = {0};

    HD_TRY_OUT(format_properties(op, out, "Properties saved on", &text));
    HD_TRY_OUT(hd_fs_replace(op, fs, paths->properties, text.data, text.size));
    HD_TRY_OUT(delete_if_there(op, fs, paths->backup));
out:
    hd_str_clear(&text);
    if (status != HUDI_OK)
        hd_properties_clear(out);
    return status;
}

static hudi_status apply_changes(struct hd_op *op, struct hd_properties *properties,
                                 const struct hd_property *changes, size_t n_changes, bool *changed)
{
    char checksum[16];

    *changed = false;
    for (size_t i = 0; i < n_changes; i++) {
        const char *old = hd_properties_get(properties, changes[i].key);
        const char *new = changes[i].value;

        if (old == NULL ? new == NULL : new != NULL && strcmp(old, new) == 0)
            continue;
        HD_TRY(hd_properties_set(op, properties, changes[i].key, new));
        *changed = true;
    }
    if (hd_properties_get(properties, "hoodie.table.checksum") == NULL)
        return HUDI_OK;
    snprintf(checksum, sizeof checksum, "%" PRIu32, hd_table_checksum(properties));
    return hd_properties_set(op, properties, "hoodie.table.checksum", checksum);
}

/* The change itself must leave a table that can be opened. */
static hudi_status check_meaning(struct hd_op *op, const struct hd_properties *properties)
{
    struct hd_properties copy;
    struct hd_table_config config;

    HD_TRY(hd_properties_copy(op, properties, &copy));
    HD_TRY(hd_table_config_of(op, &copy, &config));
    hd_table_config_clear(&config);
    return HUDI_OK;
}

static hudi_status write_change(struct hd_op *op, hd_file_system *fs, const struct paths *paths,
                                struct hd_slice old_text, struct hd_slice new_text)
{
    hudi_status status = hd_fs_publish(op, fs, paths->backup, old_text.data, old_text.size);

    if (status == HUDI_EXISTS)
        return hd_fail_retriable(op, hd_fail(op, HUDI_CONFLICT,
                                             "%s exists: another writer changes the properties",
                                             paths->backup));
    HD_TRY(status);
    HD_TRY(hd_fs_replace(op, fs, paths->properties, new_text.data, new_text.size));
    return delete_if_there(op, fs, paths->backup);
}

hudi_status hd_table_config_update(struct hd_op *op, hd_file_system *fs, const char *table_path,
                                   struct hd_table_config *config,
                                   const struct hd_property *changes, size_t n_changes)
{
    hudi_status status = HUDI_OK;
    struct hd_properties properties = {0};
    struct hd_table_config reloaded;
    struct hd_str old_text = {0}, new_text = {0};
    struct paths paths;
    bool changed;

    HD_TRY(paths_init(op, table_path, &paths));
    HD_TRY_OUT(recover(op, fs, table_path, &paths, &properties));
    HD_TRY_OUT(format_properties(op, &properties, "Properties saved on", &old_text));
    HD_TRY_OUT(apply_changes(op, &properties, changes, n_changes, &changed));
    if (changed) {
        HD_TRY_OUT(check_meaning(op, &properties));
        HD_TRY_OUT(format_properties(op, &properties, "Updated at", &new_text));
        HD_TRY_OUT(write_change(op, fs, &paths, hd_str_slice(&old_text), hd_str_slice(&new_text)));
    }
    HD_TRY_OUT(hd_table_config_load(op, fs, table_path, &reloaded));
    hd_table_config_clear(config);
    *config = reloaded;
out:
    hd_properties_clear(&properties);
    hd_str_clear(&old_text);
    hd_str_clear(&new_text);
    paths_clear(op, &paths);
    return status;
}

/* ---- creating ----------------------------------------------------------------------------- */

static hudi_status make_folder(struct hd_op *op, hd_file_system *fs, const char *table_path,
                               const char *folder)
{
    char *path;

    HD_TRY(hd_path_join(op, table_path, folder, &path));
    const hudi_status status = hd_fs_make_dirs(op, fs, path);

    hd_free(op, path);
    return status;
}

/* Instants without properties are a table that lost them: what was written there by other rules
 * must not become part of a new table. */
static hudi_status refuse_instants(struct hd_op *op, hd_file_system *fs, const char *table_path,
                                   const char *folder)
{
    hudi_status status = HUDI_OK;
    struct hd_arena arena = {0};
    struct hd_file_info *files = NULL;
    size_t n_files = 0;
    char *path;

    HD_TRY(hd_path_join(op, table_path, folder, &path));
    status = hd_fs_list(op, fs, path, &arena, &files, &n_files);
    for (size_t i = 0; status == HUDI_OK && i < n_files; i++)
        if (!files[i].is_dir && files[i].name[0] >= '0' && files[i].name[0] <= '9')
            status = hd_fail(op, HUDI_CORRUPT,
                             "there is a timeline at %s (%s), but no hoodie.properties", path,
                             files[i].name);
    hd_free(op, path);
    hd_arena_clear(&arena);
    return status == HUDI_NOT_FOUND ? HUDI_OK : status;
}

static hudi_status refuse_table(struct hd_op *op, hd_file_system *fs, const char *table_path,
                                const struct paths *paths)
{
    const char *const files[] = {paths->properties, paths->backup};

    for (size_t i = 0; i < HD_ARRAY_LENGTH(files); i++) {
        struct hd_file_info info;
        const hudi_status status = hd_fs_stat(op, fs, files[i], &info);

        if (status == HUDI_OK)
            return hd_fail(op, HUDI_EXISTS, "there is a Hudi table at %s", table_path);
        if (status != HUDI_NOT_FOUND)
            return status;
    }
    HD_TRY(refuse_instants(op, fs, table_path, FOLDER));
    return refuse_instants(op, fs, table_path, FOLDER "/timeline");
}

hudi_status hd_table_create(struct hd_op *op, hd_file_system *fs, const char *table_path,
                            const struct hd_table_config *config)
{
    const char *const folders[] = {
        ".hoodie/.aux/.bootstrap/.partitions",
        ".hoodie/.aux/.bootstrap/.fileids",
        ".hoodie/.temp",
        ".hoodie/.schema",
        config->timeline_folder,
        config->archive_folder,
    };
    hudi_status status = HUDI_OK;
    struct hd_str text = {0};
    struct paths paths;

    HD_TRY(paths_init(op, table_path, &paths));
    HD_TRY_OUT(refuse_table(op, fs, table_path, &paths));
    HD_TRY_OUT(format_properties(op, &config->properties, "Properties saved on", &text));
    for (size_t i = 0; i < HD_ARRAY_LENGTH(folders); i++)
        HD_TRY_OUT(make_folder(op, fs, table_path, folders[i]));
    status = hd_fs_publish(op, fs, paths.properties, text.data, text.size);
    if (status == HUDI_EXISTS)
        status = hd_fail(op, HUDI_EXISTS, "there is a Hudi table at %s", table_path);
out:
    hd_str_clear(&text);
    paths_clear(op, &paths);
    return status;
}
