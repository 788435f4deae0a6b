/* SPDX-License-Identifier: Apache-2.0 */

#include "format/marker/marker.h"

#include <stdlib.h>
#include <string.h>

#define TEMP_FOLDER ".hoodie/.temp"
#define MARK ".marker."
#define SERVER_FILE "MARKERS"

/* Levels of folders below an instant's marker folder. */
#define MAX_DEPTH 64
#define SERVER_FILE_MAX_BYTES (UINT64_C(1) << 30)

static const char *const TYPE_NAMES[] = {
    [HD_IO_CREATE] = "CREATE", [HD_IO_MERGE] = "MERGE", [HD_IO_APPEND] = "APPEND"};

static hudi_status instant_folder(struct hd_op *op, const char *table_path,
                                  const char *instant_time, char **out)
{
    return hd_asprintf(op, out, "%s/" TEMP_FOLDER "/%s", table_path, instant_time);
}

hudi_status hd_marker_create(struct hd_op *op, hd_file_system *fs, const char *table_path,
                             const char *instant_time, const char *partition_path,
                             const char *file_name, enum hd_io_type type)
{
    hudi_status status = HUDI_OK;
    char *folder = NULL, *partition = NULL, *path = NULL;
    hd_output_file *file;

    HD_TRY_OUT(instant_folder(op, table_path, instant_time, &folder));
    HD_TRY_OUT(hd_path_join(op, folder, partition_path, &partition));
    HD_TRY_OUT(hd_asprintf(op, &path, "%s/%s" MARK "%s", partition, file_name, TYPE_NAMES[type]));
    HD_TRY_OUT(hd_fs_make_dirs(op, fs, partition));
    status = hd_fs_open_output(op, fs, path, true, &file); /* empty: there in full or not at all */
    if (status == HUDI_EXISTS) {
        hd_op_clear_error(op);
        status = HUDI_OK;
        goto out;
    }
    HD_TRY_OUT(status);
    HD_TRY_OUT(hd_output_file_close(op, file, true));
    HD_TRY_OUT(hd_fs_sync_dir(op, fs, partition));
out:
    hd_free(op, path);
    hd_free(op, partition);
    hd_free(op, folder);
    return status;
}

/* ---- reading ------------------------------------------------------------------------------ */

struct found {
    struct hd_arena *arena;
    struct hd_marker *markers; /* heap */
    size_t n;
    size_t capacity;
};

/* Rollback deletes what markers name, so a path must stay inside the table. */
static bool stays_inside(struct hd_slice path)
{
    size_t start = 0;

    for (size_t i = 0; i <= path.size; i++) {
        if (i < path.size && path.data[i] != '/')
            continue;
        const struct hd_slice part = hd_slice_of(path.data + start, i - start);
        if (part.size == 0 || hd_slice_equal(part, hd_slice_text(".")) ||
            hd_slice_equal(part, hd_slice_text("..")))
            return false;
        start = i + 1;
    }
    return memchr(path.data, 0, path.size) == NULL;
}

/* "partition/name.marker.TYPE" taken apart; false for any other name. */
static bool parse_marker(struct hd_slice text, struct hd_slice *data_path, enum hd_io_type *type)
{
    for (size_t i = 0; i < HD_ARRAY_LENGTH(TYPE_NAMES); i++) {
        const size_t suffix_bytes = strlen(MARK) + strlen(TYPE_NAMES[i]);

        if (text.size <= suffix_bytes || !hd_slice_ends_with(text, TYPE_NAMES[i]))
            continue;
        *data_path = hd_slice_of(text.data, text.size - suffix_bytes);
        *type = (enum hd_io_type)i;
        return memcmp(data_path->data + data_path->size, MARK, strlen(MARK)) == 0;
    }
    return false;
}

static hudi_status add_marker(struct hd_op *op, struct found *found, struct hd_slice data_path,
                              enum hd_io_type type)
{
    char *copy;

    if (!stays_inside(data_path))
        return hd_fail(op, HUDI_CORRUPT, "a marker names a file outside of its table: \"%.*s\"",
                       (int)(data_path.size < 200 ? data_path.size : 200),
                       (const char *)data_path.data);
    HD_TRY(hd_grow(op, &found->markers, &found->capacity, found->n + 1, sizeof *found->markers));
    HD_TRY(hd_arena_strndup(op, found->arena, data_path.data, data_path.size, &copy));
    found->markers[found->n++] = (struct hd_marker){copy, type};
    return HUDI_OK;
}

/*
 * Lines of a timeline server's file. After the server was restarted, lines may be joined by commas;
 * a comma in a partition's name is none of these, since no marker's end stands before it. A torn
 * last line was not answered yet, so its file was not made.
 */
static hudi_status parse_server_file(struct hd_op *op, struct hd_slice text, struct found *found)
{
    size_t start = 0;

    for (size_t i = 0; i <= text.size; i++) {
        const bool at_end = i == text.size || text.data[i] == '\n' || text.data[i] == '\r';
        struct hd_slice data_path;
        enum hd_io_type type;

        if (!at_end && text.data[i] != ',')
            continue;
        if (parse_marker(hd_slice_of(text.data + start, i - start), &data_path, &type)) {
            HD_TRY(add_marker(op, found, data_path, type));
            start = i + 1;
        } else if (at_end) {
            start = i + 1;
        }
    }
    return HUDI_OK;
}

/* MARKERS0, MARKERS1, ... */
static bool is_server_file(const char *name)
{
    const size_t n = strlen(SERVER_FILE);

    return strncmp(name, SERVER_FILE, n) == 0 && name[n] != '\0' &&
           strspn(name + n, "0123456789") == strlen(name + n);
}

static hudi_status read_server_file(struct hd_op *op, hd_file_system *fs, const char *path,
                                    struct found *found)
{
    uint8_t *bytes;
    size_t n;
    hudi_status status = hd_fs_read_file(op, fs, path, SERVER_FILE_MAX_BYTES, &bytes, &n);

    if (status == HUDI_NOT_FOUND) /* being replaced: the server deletes and writes anew */
        return HUDI_OK;
    HD_TRY(status);
    status = parse_server_file(op, hd_slice_of(bytes, n), found);
    hd_free(op, bytes);
    return status == HUDI_OK ? HUDI_OK : hd_fail_path(op, status, path);
}

/* `folder` is relative to the instant's marker folder, "" for that itself. */
static hudi_status read_folder(struct hd_op *op, hd_file_system *fs, const char *root,
                               const char *folder, unsigned depth, struct found *found)
{
    hudi_status status = HUDI_OK;
    struct hd_arena listing = {0};
    struct hd_file_info *infos;
    size_t n_infos;
    char *path = NULL, *name = NULL;

    if (depth > MAX_DEPTH)
        return hd_fail(op, HUDI_CORRUPT, "marker folders are more than %d levels deep", MAX_DEPTH);
    HD_TRY_OUT(hd_path_join(op, root, folder, &path));
    HD_TRY_OUT(hd_fs_list(op, fs, path, &listing, &infos, &n_infos));
    for (size_t i = 0; i < n_infos; i++) {
        struct hd_slice data_path;
        enum hd_io_type type;

        hd_free(op, name);
        name = NULL;
        HD_TRY_OUT(hd_path_join(op, folder, infos[i].name, &name));
        if (infos[i].is_dir) {
            status = read_folder(op, fs, root, name, depth + 1, found);
            HD_TRY_OUT(status == HUDI_NOT_FOUND ? HUDI_OK : status);
        } else if (depth == 0 && is_server_file(infos[i].name)) {
            char *file;

            HD_TRY_OUT(hd_path_join(op, path, infos[i].name, &file));
            status = read_server_file(op, fs, file, found);
            hd_free(op, file);
            HD_TRY_OUT(status);
        } else if (parse_marker(hd_slice_text(name), &data_path, &type)) {
            HD_TRY_OUT(add_marker(op, found, data_path, type));
        }
    }
out:
    hd_free(op, name);
    hd_free(op, path);
    hd_arena_clear(&listing);
    return status;
}

static int compare_markers(const void *a, const void *b)
{
    const struct hd_marker *const x = a, *const y = b;
    const int order = strcmp(x->data_path, y->data_path);

    return order != 0 ? order : (int)x->type - (int)y->type;
}

hudi_status hd_markers_read(struct hd_op *op, hd_file_system *fs, const char *table_path,
                            const char *instant_time, struct hd_arena *arena,
                            struct hd_marker **out, size_t *n)
{
    hudi_status status = HUDI_OK;
    struct found found = {.arena = arena};
    size_t n_kept = 0;
    char *folder;

    *out = NULL;
    *n = 0;
    HD_TRY(instant_folder(op, table_path, instant_time, &folder));
    HD_TRY_OUT(read_folder(op, fs, folder, "", 0, &found));
    if (found.n > 0)
        qsort(found.markers, found.n, sizeof *found.markers, compare_markers);
    HD_TRY_OUT(hd_arena_array(op, arena, found.n, sizeof **out, out));
    for (size_t i = 0; i < found.n; i++) {
        if (n_kept == 0 || compare_markers(&(*out)[n_kept - 1], &found.markers[i]) != 0)
            (*out)[n_kept++] = found.markers[i];
    }
    *n = n_kept;
out:
    hd_free(op, found.markers);
    hd_free(op, folder);
    return status;
}

hudi_status hd_markers_delete(struct hd_op *op, hd_file_system *fs, const char *table_path,
                              const char *instant_time)
{
    char *folder;

    HD_TRY(instant_folder(op, table_path, instant_time, &folder));
    hudi_status status = hd_fs_delete_tree(op, fs, folder);
    hd_free(op, folder);
    return status;
}
