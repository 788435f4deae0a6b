/* SPDX-License-Identifier: Apache-2.0 */
#include "format/timeline/lsm_timeline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arrow/array.h"
#include "arrow/schema.h"
#include "arrow/view.h"
#include "codec/json.h"
#include "store/base_file.h"

#define VERSION_FILE "_version_"
#define MANIFEST "manifest_"
#define MANIFEST_MAX_BYTES (UINT64_C(256) << 20)
#define MAX_TRIES 3

struct loader {
    hd_file_system *fs;
    const char *folder;
    const char *from, *to; /* bounds of what content is wanted, as of hd_archived_timeline_load() */
    struct hd_archived_timeline *out;
    size_t capacity;
};

/* ---- the snapshot --------------------------------------------------------------------------- */

static bool parse_number(const char *text, uint64_t *out)
{
    char *end;

    if (text[0] < '0' || text[0] > '9')
        return false;
    *out = strtoull(text, &end, 10);
    return *end == '\0' && *out != UINT64_MAX;
}

static hudi_status read_file(struct hd_op *op, const struct loader *loader, const char *name,
                             uint8_t **bytes, size_t *n)
{
    char *path;

    HD_TRY(hd_path_join(op, loader->folder, name, &path));
    const hudi_status status = hd_fs_read_file(op, loader->fs, path, MANIFEST_MAX_BYTES, bytes, n);
    hd_free(op, path);
    return status;
}

/* The newest manifest that is there. HUDI_END: there is none. */
static hudi_status find_newest(struct hd_op *op, const struct loader *loader, uint64_t *out)
{
    struct hd_arena arena = {0};
    struct hd_file_info *infos;
    bool found = false;
    uint64_t number;
    size_t n = 0;

    const hudi_status status = hd_fs_list(op, loader->fs, loader->folder, &arena, &infos, &n);
    for (size_t i = 0; status == HUDI_OK && i < n; i++) {
        if (strncmp(infos[i].name, MANIFEST, strlen(MANIFEST)) != 0 ||
            !parse_number(infos[i].name + strlen(MANIFEST), &number))
            continue;
        if (!found || number > *out)
            *out = number;
        found = true;
    }
    hd_arena_clear(&arena);
    if (status == HUDI_NOT_FOUND)
        return HUDI_END;
    HD_TRY(status);
    return found ? HUDI_OK : HUDI_END;
}

static hudi_status find_snapshot(struct hd_op *op, const struct loader *loader, uint64_t *out)
{
    uint8_t *bytes = NULL;
    size_t n = 0;

    const hudi_status status = read_file(op, loader, VERSION_FILE, &bytes, &n);
    const bool found = status == HUDI_OK && parse_number((const char *)bytes, out);

    hd_free(op, bytes);
    if (status != HUDI_OK && status != HUDI_NOT_FOUND)
        return status;
    return found ? HUDI_OK : find_newest(op, loader, out);
}

/* ---- the rows of a file --------------------------------------------------------------------- */

static bool is_wanted(const struct loader *loader, const char *time)
{
    return (loader->from == NULL || strcmp(time, loader->from) > 0) &&
           (loader->to == NULL || strcmp(time, loader->to) <= 0);
}

/* Whether a file named {min}_{max}_{layer} may have instants whose content is wanted. */
static bool may_be_wanted(const struct loader *loader, const char *name)
{
    const size_t n_min = strcspn(name, "_");
    const char *max = name[n_min] == '\0' ? "" : name + n_min + 1;
    const size_t n_max = strcspn(max, "_");

    if (n_min == 0 || n_max == 0)
        return true;
    return (loader->from == NULL ||
            hd_slice_compare(hd_slice_of(max, n_max), hd_slice_text(loader->from)) > 0) &&
           (loader->to == NULL ||
            hd_slice_compare(hd_slice_of(name, n_min), hd_slice_text(loader->to)) <= 0);
}

enum { TIME, COMPLETION, ACTION, METADATA, N_COLUMNS };
static const char *const COLUMNS[N_COLUMNS] = {"instantTime", "completionTime", "action",
                                               "metadata"};

static hudi_status copy_text(struct hd_op *op, const struct loader *loader,
                             const struct hd_view *column, int64_t row, const char **out)
{
    *out = NULL;
    if (hd_view_is_null(column, row))
        return HUDI_OK;
    const struct hd_slice text = hd_view_bytes(column, row);
    if (memchr(text.data, '\0', text.size) != NULL)
        return hd_fail(op, HUDI_CORRUPT, "%s of row %lld has a NUL in it", column->name,
                       (long long)row);
    return hd_arena_strndup(op, &loader->out->arena, text.data, text.size, (char **)out);
}

static bool is_write(const char *action)
{
    static const enum hd_action WRITES[] = {HD_ACTION_COMMIT, HD_ACTION_DELTACOMMIT,
                                            HD_ACTION_REPLACECOMMIT};

    for (size_t i = 0; i < HD_ARRAY_LENGTH(WRITES); i++) {
        if (strcmp(action, hd_action_name(WRITES[i])) == 0)
            return true;
    }
    return false;
}

static hudi_status add_row(struct hd_op *op, struct loader *loader, const struct hd_view *columns,
                           bool has_metadata, int64_t row)
{
    struct hd_archived_timeline *const archive = loader->out;
    struct hd_archived_instant instant = {.state = HD_COMPLETED};

    HD_TRY(copy_text(op, loader, &columns[TIME], row, &instant.time));
    HD_TRY(copy_text(op, loader, &columns[COMPLETION], row, &instant.completion_time));
    HD_TRY(copy_text(op, loader, &columns[ACTION], row, &instant.action));
    if (instant.time == NULL || instant.action == NULL)
        return hd_fail(op, HUDI_CORRUPT, "row %lld has no time or no action", (long long)row);
    HD_TRY(hd_grow(op, &archive->instants, &loader->capacity, archive->n_instants + 1,
                   sizeof *archive->instants));
    if (has_metadata && is_write(instant.action) && is_wanted(loader, instant.time) &&
        !hd_view_is_null(&columns[METADATA], row)) {
        HD_TRY(
            hd_commit_metadata_parse(op, hd_view_bytes(&columns[METADATA], row), &instant.commit));
        instant.has_commit = true;
    }
    archive->instants[archive->n_instants++] = instant;
    return HUDI_OK;
}

/* The columns that are needed, by number in the file, and the fields of a batch of them. */
static hudi_status choose_columns(struct hd_op *op, const struct ArrowSchema *file, int32_t n,
                                  int32_t *numbers, struct ArrowSchema *out)
{
    for (int32_t i = 0; i < n; i++) {
        struct hd_type type;

        numbers[i] = hd_schema_find(file, COLUMNS[i]);
        if (numbers[i] < 0 || !hd_type_parse(file->children[numbers[i]], &type) ||
            type.id != (i == METADATA ? HD_TYPE_BINARY : HD_TYPE_STRING))
            return hd_fail(op, HUDI_CORRUPT, "has no column %s of %s", COLUMNS[i],
                           i == METADATA ? "bytes" : "strings");
    }
    return hd_schema_select(op, file, numbers, n, out);
}

static hudi_status read_batches(struct hd_op *op, struct loader *loader, hd_base_reader *reader,
                                int32_t n_columns)
{
    hudi_status status = HUDI_OK;
    int32_t numbers[N_COLUMNS];
    struct hd_base_read_options options = {.columns = numbers, .n_columns = n_columns};
    struct hd_arena arena = {0};
    struct ArrowSchema fields = {0};
    hd_base_batches *batches = NULL;
    struct ArrowArray batch = {0};
    struct hd_view view;

    HD_TRY_OUT(choose_columns(op, hd_base_reader_schema(reader), n_columns, numbers, &fields));
    HD_TRY_OUT(hd_base_reader_read(op, reader, &options, &batches));
    while ((status = hd_base_batches_next(op, batches, &batch)) == HUDI_OK) {
        HD_TRY_OUT(hd_view_open(op, &arena, &fields, &batch, &view));
        for (int64_t row = 0; row < batch.length; row++)
            HD_TRY_OUT(add_row(op, loader, view.children, n_columns == N_COLUMNS, row));
        hd_arena_reset(&arena);
        hd_array_clear(&batch);
    }
    status = status == HUDI_END ? HUDI_OK : status;
out:
    hd_array_clear(&batch);
    hd_base_batches_close(batches);
    hd_schema_clear(&fields);
    hd_arena_clear(&arena);
    return status;
}

/* HUDI_NOT_FOUND (with an error) when it is gone. */
static hudi_status read_instants(struct hd_op *op, struct loader *loader, const char *name)
{
    hd_base_reader *reader = NULL;
    hd_input_file *file;
    char *path;

    HD_TRY(hd_path_join(op, loader->folder, name, &path));
    hudi_status status = hd_fs_open_input(op, loader->fs, path, &file);
    if (status == HUDI_OK)
        status = hd_base_reader_open(op, file, HD_BASE_FILE_PARQUET, &reader);
    if (status == HUDI_OK)
        status =
            read_batches(op, loader, reader, may_be_wanted(loader, name) ? N_COLUMNS : METADATA);
    hd_base_reader_close(reader);
    status = hd_fail_path(op, status, path);
    hd_free(op, path);
    return status;
}

/* ---- a manifest ----------------------------------------------------------------------------- */

static hudi_status read_files(struct hd_op *op, struct loader *loader, const hd_json *document)
{
    const hd_json *files;

    HD_TRY(hd_json_get_array(op, document, "files", &files));
    for (size_t i = 0; i < hd_json_length(files); i++) {
        struct hd_slice name;

        HD_TRY(hd_op_check_cancel(op));
        HD_TRY(hd_json_get_string(op, hd_json_at(files, i), "fileName", &name));
        if (name.size == 0 || memchr(name.data, '/', name.size) != NULL ||
            memchr(name.data, '\0', name.size) != NULL)
            return hd_fail(op, HUDI_CORRUPT, "the manifest names the file \"%.*s\"",
                           (int)(name.size < 80 ? name.size : 80), (const char *)name.data);
        HD_TRY(read_instants(op, loader, (const char *)name.data));
    }
    return HUDI_OK;
}

/* HUDI_NOT_FOUND when it or a file of it is gone. */
static hudi_status read_snapshot(struct hd_op *op, struct loader *loader, uint64_t number)
{
    hd_json *document = NULL;
    uint8_t *bytes = NULL;
    char name[sizeof MANIFEST + 20];
    size_t n = 0;

    snprintf(name, sizeof name, MANIFEST "%llu", (unsigned long long)number);
    hudi_status status = read_file(op, loader, name, &bytes, &n);
    if (status == HUDI_NOT_FOUND)
        status = hd_fail(op, HUDI_NOT_FOUND, "%s of the archived timeline is gone", name);
    if (status == HUDI_OK)
        status = hd_json_parse(op, hd_slice_of(bytes, n), &document);
    if (status == HUDI_OK)
        status = read_files(op, loader, document);
    hd_json_free(document);
    hd_free(op, bytes);
    return hd_fail_path(op, status, loader->folder);
}

hudi_status hd_lsm_timeline_load(struct hd_op *op, hd_file_system *fs, const char *folder,
                                 const char *from, const char *to, struct hd_archived_timeline *out)
{
    struct loader loader = {.fs = fs, .folder = folder, .from = from, .to = to, .out = out};
    hudi_status status = HUDI_NOT_FOUND;

    for (int i = 0; i < MAX_TRIES && status == HUDI_NOT_FOUND; i++) {
        uint64_t number = 0;

        hd_op_clear_error(op);
        hd_archived_timeline_clear(out);
        loader.capacity = 0;
        status = find_snapshot(op, &loader, &number);
        if (status == HUDI_END)
            return HUDI_OK;
        if (status == HUDI_OK)
            status = read_snapshot(op, &loader, number);
    }
    if (status != HUDI_OK)
        hd_archived_timeline_clear(out);
    return status;
}
