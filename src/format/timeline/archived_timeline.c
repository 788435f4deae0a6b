/* SPDX-License-Identifier: Apache-2.0 */

#include "format/timeline/archived_timeline.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "codec/avro_value.h"
#include "format/log/log_reader.h"
#include "format/log/log_records.h"
#include "format/timeline/lsm_timeline.h"
#include "format/timeline/plan_fields.h"

/*
 * .hoodie/archived/.commits_.archive.{N}_1-0-1: log files of AVRO_DATA blocks whose header holds
 * nothing but SCHEMA, with one HoodieArchivedMetaEntry for each state of each instant.
 *
 * Merging of small archive files (Hudi 0.11 to 0.15) may be killed half way: the merged file and
 * those it was made of are then both there, each perhaps in part (a file mergeArchivePlan says
 * which). No special case here: whatever can be read is, and what comes twice counts once.
 */
#define ARCHIVE_PREFIX ".commits_.archive."
#define ARCHIVE_FOLDER_KEY "hoodie.archivelog.folder"

struct loader {
    struct hd_archived_timeline archive;
    size_t capacity;
    const char *from; /* exclusive; NULL: open */
    const char *to;   /* inclusive; NULL: open */
    const char *path; /* of the file being read, for log lines */
    /* The schema of the last block: mostly all blocks have the same. */
    struct hd_arena schema_arena;
    struct hd_slice schema_json; /* in that arena */
    struct hd_avro_schema *schema;
    struct hd_arena record_arena;
};

/* ---- one entry ---------------------------------------------------------------------------- */

static bool parse_state(const char *text, enum hd_instant_state *out)
{
    static const enum hd_instant_state STATES[] = {HD_REQUESTED, HD_INFLIGHT, HD_COMPLETED};

    for (size_t i = 0; i < HD_ARRAY_LENGTH(STATES); i++) {
        if (strcmp(text, hd_instant_state_name(STATES[i])) == 0) {
            *out = STATES[i];
            return true;
        }
    }
    return false;
}

static bool is_wanted(const struct loader *loader, const char *time)
{
    return (loader->from == NULL || strcmp(time, loader->from) > 0) &&
           (loader->to == NULL || strcmp(time, loader->to) <= 0);
}

/* The metadata that belongs to a completed write, or NULL. */
static const struct hd_avro_value *commit_of(const struct hd_avro_value *entry)
{
    static const char *const FIELDS[] = {"hoodieReplaceCommitMetadata", "hoodieCommitMetadata"};

    for (size_t i = 0; i < HD_ARRAY_LENGTH(FIELDS); i++) {
        const struct hd_avro_value *const value = hd_avro_value_field(entry, FIELDS[i]);

        if (!hd_avro_value_is_null(value))
            return value;
    }
    return NULL;
}

static hudi_status read_commit(struct hd_op *op, struct hd_archived_timeline *archive,
                               const struct hd_avro_value *record, struct hd_archived_instant *out)
{
    out->commit.arena = archive->arena;
    archive->arena = (struct hd_arena){0};
    hudi_status status = hd_commit_metadata_of_avro(op, record, &out->commit);
    archive->arena = out->commit.arena;
    out->commit.arena = (struct hd_arena){0};
    out->has_commit = status == HUDI_OK;
    return status;
}

static hudi_status read_entry(struct hd_op *op, struct loader *loader,
                              const struct hd_avro_value *entry)
{
    struct hd_archived_timeline *const archive = &loader->archive;
    struct hd_archived_instant instant = {.state = HD_COMPLETED};
    const char *state;

    HD_TRY(hd_plan_find_text(op, &archive->arena, entry, "commitTime", &instant.time));
    HD_TRY(hd_plan_find_text(op, &archive->arena, entry, "actionType", &instant.action));
    HD_TRY(hd_plan_find_text(op, &loader->record_arena, entry, "actionState", &state));
    if (instant.time == NULL || instant.action == NULL)
        return hd_fail(op, HUDI_CORRUPT, "an archived entry has no time or no action");
    if (state != NULL && !parse_state(state, &instant.state))
        return hd_fail(op, HUDI_CORRUPT, "archived instant %s has state \"%.40s\"", instant.time,
                       state);
    const struct hd_avro_value *const commit = commit_of(entry);
    if (commit != NULL && instant.state == HD_COMPLETED && is_wanted(loader, instant.time))
        HD_TRY(read_commit(op, archive, commit, &instant));
    HD_TRY(hd_grow(op, &archive->instants, &loader->capacity, archive->n_instants + 1,
                   sizeof *archive->instants));
    archive->instants[archive->n_instants++] = instant;
    return HUDI_OK;
}

/* ---- blocks and files --------------------------------------------------------------------- */

/* What a damaged file may cause; anything else (memory, the disk) ends the load. */
static bool is_damage(hudi_status status)
{
    return status == HUDI_CORRUPT || status == HUDI_NOT_IMPLEMENTED || status == HUDI_SCHEMA;
}

/* Log the error and go on. */
static void log_damage(struct hd_op *op, const struct loader *loader, const char *what,
                       uint64_t offset)
{
    hd_log(op, HD_LOG_WARN, "archived timeline: %s at byte %" PRIu64 " of %s is left out: %s", what,
           offset, loader->path, op->error != NULL ? hudi_error_message(op->error) : "damaged");
    hd_op_clear_error(op);
}

static hudi_status use_schema(struct hd_op *op, struct loader *loader,
                              const struct hd_log_block *block)
{
    struct hd_slice json;
    char *copy;

    hudi_status status = hd_log_header_find(op, block, HD_LOG_SCHEMA, &json);
    if (status == HUDI_NOT_FOUND)
        return hd_fail(op, HUDI_CORRUPT, "the block has no schema");
    HD_TRY(status);
    if (loader->schema != NULL && hd_slice_equal(json, loader->schema_json))
        return HUDI_OK;
    loader->schema = NULL;
    hd_arena_reset(&loader->schema_arena);
    HD_TRY(hd_arena_strndup(op, &loader->schema_arena, json.data, json.size, &copy));
    loader->schema_json = hd_slice_of(copy, json.size);
    return hd_avro_schema_parse(op, &loader->schema_arena, loader->schema_json, &loader->schema);
}

static hudi_status read_entries(struct hd_op *op, struct loader *loader,
                                struct hd_log_records *records)
{
    struct hd_slice bytes;
    hudi_status status;

    while ((status = hd_log_records_next(op, records, &bytes)) == HUDI_OK) {
        const uint64_t offset = hd_cursor_offset(&records->in) - bytes.size;
        struct hd_cursor in = hd_cursor_over(bytes.data, bytes.size, offset);
        struct hd_avro_value entry;

        hd_arena_reset(&loader->record_arena);
        status = hd_avro_read_value(op, &loader->record_arena, loader->schema, &in, &entry);
        if (status == HUDI_OK)
            status = read_entry(op, loader, &entry);
        if (is_damage(status))
            log_damage(op, loader, "an entry", offset);
        else
            HD_TRY(status);
    }
    return status == HUDI_END ? HUDI_OK : status;
}

static hudi_status read_records(struct hd_op *op, struct loader *loader, hd_log_reader *reader,
                                const struct hd_log_block *block)
{
    struct hd_log_records records;

    HD_TRY(use_schema(op, loader, block));
    HD_TRY(hd_log_records_open(op, hd_log_reader_file(reader), block, &records));
    const hudi_status status = read_entries(op, loader, &records);
    hd_log_records_close(op, &records);
    return status;
}

/* HUDI_END at the end. Damaged blocks are left out; the reader has a warning for each. */
static hudi_status read_block(struct hd_op *op, struct loader *loader, hd_log_reader *reader)
{
    const uint64_t offset = hd_log_reader_offset(reader);
    struct hd_log_block block;
    hudi_status status = hd_log_reader_next(op, reader, &block);

    if (status == HUDI_NOT_IMPLEMENTED) {
        log_damage(op, loader, "a block", offset);
        return HUDI_OK;
    }
    HD_TRY(status);
    if (block.type == HD_LOG_AVRO_DATA)
        status = read_records(op, loader, reader, &block);
    if (is_damage(status)) {
        log_damage(op, loader, "the rest of a block", block.offset);
        status = HUDI_OK;
    }
    hd_log_block_clear(op, &block);
    return status;
}

static hudi_status read_file(struct hd_op *op, struct loader *loader, hd_file_system *fs)
{
    hd_log_reader *reader;
    hudi_status status = hd_log_reader_open(op, fs, loader->path, &reader);

    if (status == HUDI_NOT_FOUND) { /* merged into another since the folder was listed */
        hd_op_clear_error(op);
        return HUDI_OK;
    }
    HD_TRY(status);
    do
        status = read_block(op, loader, reader);
    while (status == HUDI_OK);
    hd_log_reader_close(op, reader);
    return status == HUDI_END ? HUDI_OK : status;
}

/* ---- all of it ---------------------------------------------------------------------------- */

struct archive_file {
    uint64_t number;
    const char *name;
};

static int compare_files(const void *a, const void *b)
{
    const struct archive_file *const x = a, *const y = b;

    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return strcmp(x->name, y->name);
}

bool hd_archive_file_number(const char *name, uint64_t *number)
{
    const size_t prefix_bytes = strlen(ARCHIVE_PREFIX);
    char *end;

    if (strncmp(name, ARCHIVE_PREFIX, prefix_bytes) != 0 || name[prefix_bytes] < '0' ||
        name[prefix_bytes] > '9')
        return false;
    errno = 0;
    *number = strtoull(name + prefix_bytes, &end, 10);
    return errno == 0;
}

static hudi_status read_folder(struct hd_op *op, struct loader *loader, hd_file_system *fs,
                               const char *folder)
{
    hudi_status status = HUDI_OK;
    struct hd_arena listing = {0};
    struct archive_file *files = NULL;
    struct hd_file_info *infos;
    size_t n_infos, n_files = 0;

    HD_TRY_OUT(hd_fs_list(op, fs, folder, &listing, &infos, &n_infos));
    HD_TRY_OUT(hd_alloc_raw(op, n_infos, sizeof *files, &files));
    for (size_t i = 0; i < n_infos; i++) {
        if (infos[i].is_dir || !hd_archive_file_number(infos[i].name, &files[n_files].number))
            continue;
        files[n_files++].name = infos[i].name;
    }
    if (n_files > 0)
        qsort(files, n_files, sizeof *files, compare_files);
    for (size_t i = 0; i < n_files; i++) {
        char *path;

        HD_TRY_OUT(hd_path_join(op, folder, files[i].name, &path));
        loader->path = path;
        status = read_file(op, loader, fs);
        hd_free(op, path);
        HD_TRY_OUT(status);
    }
out:
    hd_free(op, files);
    hd_arena_clear(&listing);
    return status == HUDI_NOT_FOUND ? HUDI_OK : status; /* no archive yet */
}

static int compare_instants(const void *a, const void *b)
{
    const struct hd_archived_instant *const x = a, *const y = b;
    int order = strcmp(x->time, y->time);

    if (order == 0)
        order = strcmp(x->action, y->action);
    if (order == 0)
        order = (int)x->state - (int)y->state;
    if (order == 0)
        order = (int)y->has_commit - (int)x->has_commit; /* of duplicates the fullest comes first */
    return order;
}

static bool same_entry(const struct hd_archived_instant *a, const struct hd_archived_instant *b)
{
    return strcmp(a->time, b->time) == 0 && strcmp(a->action, b->action) == 0 &&
           a->state == b->state;
}

static void sort_and_deduplicate(struct hd_archived_timeline *archive)
{
    size_t n_kept = 0;

    if (archive->n_instants == 0)
        return;
    qsort(archive->instants, archive->n_instants, sizeof *archive->instants, compare_instants);
    for (size_t i = 0; i < archive->n_instants; i++) {
        if (n_kept == 0 || !same_entry(&archive->instants[n_kept - 1], &archive->instants[i]))
            archive->instants[n_kept++] = archive->instants[i];
        else
            hd_commit_metadata_clear(&archive->instants[i].commit);
    }
    archive->n_instants = n_kept;
}

hudi_status hd_archive_folder(struct hd_op *op, const char *table_path,
                              const struct hd_table_config *config, char **out)
{
    const char *const folder = hd_properties_get(&config->properties, ARCHIVE_FOLDER_KEY);

    if (config->version->timeline_layout >= 2) /* below the folder of the timeline */
        return hd_path_join(op, table_path, config->archive_folder, out);
    if (folder != NULL && folder[0] != '\0')
        return hd_asprintf(op, out, "%s/.hoodie/%s", table_path, folder);
    return hd_path_join(op, table_path, config->version->archive_folder, out);
}

hudi_status hd_archived_timeline_load(struct hd_op *op, hd_file_system *fs, const char *table_path,
                                      const struct hd_table_config *config, const char *from,
                                      const char *to, struct hd_archived_timeline *out)
{
    struct loader loader = {.from = from, .to = to};
    char *folder;

    *out = (struct hd_archived_timeline){0};
    HD_TRY(hd_archive_folder(op, table_path, config, &folder));
    hudi_status status = config->version->timeline_layout >= 2
                             ? hd_lsm_timeline_load(op, fs, folder, from, to, &loader.archive)
                             : read_folder(op, &loader, fs, folder);
    if (status == HUDI_OK) {
        sort_and_deduplicate(&loader.archive);
        *out = loader.archive;
    } else {
        hd_archived_timeline_clear(&loader.archive);
    }
    hd_arena_clear(&loader.schema_arena);
    hd_arena_clear(&loader.record_arena);
    hd_free(op, folder);
    return status;
}

hudi_status hd_archived_times_load(struct hd_op *op, const struct hd_timeline *timeline,
                                   struct hd_archived_timeline *out)
{
    struct hd_table_config config = {.version = timeline->version,
                                     .archive_folder = timeline->archive_folder != NULL
                                                           ? timeline->archive_folder
                                                           : timeline->version->archive_folder};

    *out = (struct hd_archived_timeline){0};
    return timeline->version->timeline_layout < 2
               ? HUDI_OK
               : hd_archived_timeline_load(op, timeline->fs, timeline->table_path, &config, NULL,
                                           "", out);
}

void hd_archived_timeline_clear(struct hd_archived_timeline *archive)
{
    for (size_t i = 0; i < archive->n_instants; i++)
        hd_commit_metadata_clear(&archive->instants[i].commit);
    hd_free(NULL, archive->instants);
    hd_arena_clear(&archive->arena);
    *archive = (struct hd_archived_timeline){0};
}
