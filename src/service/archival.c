/* SPDX-License-Identifier: Apache-2.0 */
#include "service/archival.h"

#include <inttypes.h>
#include <string.h>

#include "engine/commit/table_lock.h"
#include "format/layout/file_name.h"
#include "format/marker/marker.h"
#include "format/timeline/archive_entry.h"
#include "format/timeline/archived_timeline.h"
#include "format/timeline/transition.h"
#include "service/clean_planner.h"
#include "service/serviceable.h"

/* What is decided, step by step: instants below `bound` may go. */
struct choice {
    const struct hd_table_snapshot *table;
    const struct hd_options *options;
    int64_t n_min, n_max;
    const char *bound;                  /* exclusive; NULL: none */
    struct hd_arena arena;              /* of bounds */
    const struct hd_instant **instants; /* chosen, in timeline order */
    size_t n;
    size_t n_writes;
};

static int64_t option(const struct choice *choice, const char *key)
{
    return hd_options_int(choice->options, &choice->table->config.properties, key);
}

static bool flag(const struct choice *choice, const char *key)
{
    return hd_options_bool(choice->options, &choice->table->config.properties, key);
}

static void bound_at(struct choice *choice, const char *time)
{
    if (choice->bound == NULL || strcmp(time, choice->bound) < 0)
        choice->bound = time;
}

/* ---- how many ------------------------------------------------------------------------------- */

static int64_t count_writes_after(const struct hd_timeline *timeline, const char *time)
{
    int64_t n = 0;

    for (size_t i = 0; i < timeline->n_instants; i++)
        n += hd_instant_is_completed_write(&timeline->instants[i]) &&
             strcmp(timeline->instants[i].time, time) > 0;
    return n;
}

/* An incremental clean reads the commits from the last earliest instant on: they stay, and two more
 * before them. Source: ArchivalUtils.getMinAndMaxInstantsToKeep (Hudi 0.15.0) */
static hudi_status find_numbers(struct hd_op *op, struct choice *choice)
{
    char earliest[HD_INSTANT_TIME_BYTES];

    choice->n_min = option(choice, "hoodie.keep.min.commits");
    choice->n_max = option(choice, "hoodie.keep.max.commits");
    if (choice->n_max <= choice->n_min)
        return hd_fail(op, HUDI_INVALID,
                       "hoodie.keep.max.commits is %" PRId64 ", which is no more than the %" PRId64
                       " of hoodie.keep.min.commits",
                       choice->n_max, choice->n_min);
    HD_TRY(hd_clean_earliest(op, choice->table, choice->options, earliest));
    if (earliest[0] == '\0')
        return HUDI_OK;
    const int64_t n_wanted = count_writes_after(&choice->table->timeline, earliest) + 2;
    if (n_wanted > choice->n_min) {
        choice->n_max += n_wanted - choice->n_min;
        choice->n_min = n_wanted;
    }
    return HUDI_OK;
}

/* ---- bounds --------------------------------------------------------------------------------- */

/* A write at work may build on the last completed one before it. */
static void bound_by_pending(struct choice *choice)
{
    const struct hd_timeline *const timeline = &choice->table->timeline;
    const char *last_completed = NULL;

    for (size_t i = 0; i < timeline->n_instants; i++) {
        const struct hd_instant *const instant = &timeline->instants[i];

        if (!hd_instant_is_write(instant))
            continue;
        if (instant->state != HD_COMPLETED) {
            bound_at(choice, last_completed == NULL ? instant->time : last_completed);
            return;
        }
        last_completed = instant->time;
    }
}

static void bound_by_savepoints(struct choice *choice)
{
    const struct hd_timeline *const timeline = &choice->table->timeline;

    if (flag(choice, "hoodie.archive.beyond.savepoint"))
        return; /* the savepointed writes themselves stay: is_savepointed() */
    for (size_t i = 0; i < timeline->n_instants; i++) {
        if (timeline->instants[i].action == HD_ACTION_SAVEPOINT) {
            bound_at(choice, timeline->instants[i].time);
            return;
        }
    }
}

/* Delta commits since the last compaction say when the next one is due. Source:
 * CompactionUtils.getEarliestInstantToRetainForCompaction (Hudi 0.15.0) */
static void bound_by_compaction(struct choice *choice)
{
    const struct hd_timeline *const timeline = &choice->table->timeline;
    const int64_t n_wanted = option(choice, "hoodie.compact.inline.max.delta.commits");
    const char *compaction = NULL, *first = NULL;
    int64_t n = 0;

    if (choice->table->config.type != HD_MERGE_ON_READ)
        return;
    for (size_t i = timeline->n_instants; i > 0; i--) {
        const struct hd_instant *const instant = &timeline->instants[i - 1];

        if (instant->state != HD_COMPLETED)
            continue;
        if (instant->action == HD_ACTION_COMMIT) {
            compaction = instant->time;
            break;
        }
        if (instant->action != HD_ACTION_DELTACOMMIT)
            continue;
        first = instant->time;
        if (++n == n_wanted) {
            bound_at(choice, first);
            return;
        }
    }
    if (compaction != NULL)
        bound_at(choice, compaction);
    else if (first != NULL)
        bound_at(choice, first);
}

/* A metadata table that somebody keeps: what its last compaction holds may go, no more. */
static hudi_status bound_by_metadata_table(struct hd_op *op, struct choice *choice)
{
    const struct hd_table_snapshot *const table = choice->table;
    struct hd_file_info *infos;
    const char *newest = "0";
    size_t n = 0;
    char *folder;

    if (!table->config.metadata_table)
        return HUDI_OK;
    HD_TRY(hd_asprintf(op, &folder, "%s/.hoodie/metadata/.hoodie", table->path));
    const hudi_status status = hd_fs_list(op, table->fs, folder, &choice->arena, &infos, &n);
    hd_free(op, folder);
    if (status != HUDI_OK && status != HUDI_NOT_FOUND)
        return status;
    for (size_t i = 0; i < n; i++) {
        struct hd_instant_name name;
        char *time;

        if (!hd_instant_name_parse(table->config.version, infos[i].name, &name) ||
            name.action != HD_ACTION_COMMIT || name.state != HD_COMPLETED)
            continue;
        HD_TRY(hd_arena_strndup(op, &choice->arena, name.time.data, name.time.size, &time));
        if (strcmp(time, newest) > 0)
            newest = time;
    }
    bound_at(choice, newest);
    return HUDI_OK;
}

/* ---- replacements --------------------------------------------------------------------------- */

static bool is_replaced(const struct hd_replaced *replaced, struct hd_slice file_id)
{
    for (size_t i = 0; i < replaced->n_file_ids; i++)
        if (hd_slice_equal(file_id, hd_slice_text(replaced->file_ids[i])))
            return true;
    return false;
}

/* Is there a file of the groups that were replaced in this partition? */
static hudi_status has_replaced_files(struct hd_op *op, const struct hd_table_snapshot *table,
                                      const struct hd_replaced *replaced, bool *out)
{
    struct hd_arena arena = {0};
    struct hd_file_info *infos;
    size_t n = 0;
    char *folder;

    HD_TRY(hd_path_join(op, table->path, replaced->partition_path, &folder));
    const hudi_status status = hd_fs_list(op, table->fs, folder, &arena, &infos, &n);
    for (size_t i = 0; i < n && status == HUDI_OK && !*out; i++) {
        struct hd_file_name name;

        *out = !infos[i].is_dir && hd_file_name_parse(infos[i].name, &name) &&
               is_replaced(replaced, name.file_id);
    }
    hd_free(op, folder);
    hd_arena_clear(&arena);
    return status == HUDI_NOT_FOUND ? HUDI_OK : status;
}

/* Nothing but the replacement hides the files that it replaced: as long as there is one, it stays.
 * Hudi goes by what the last clean retained; this looks. */
static hudi_status hides_files(struct hd_op *op, const struct hd_table_snapshot *table,
                               const struct hd_instant *instant, bool *out)
{
    struct hd_commit_metadata metadata;
    hudi_status status = HUDI_OK;

    *out = false;
    if (instant->action != HD_ACTION_REPLACECOMMIT)
        return HUDI_OK;
    HD_TRY(hd_timeline_read_commit(op, &table->timeline, instant, &metadata));
    for (size_t i = 0; i < metadata.n_replaced && status == HUDI_OK && !*out; i++)
        status = has_replaced_files(op, table, &metadata.replaced[i], out);
    hd_commit_metadata_clear(&metadata);
    return status;
}

/* ---- which ---------------------------------------------------------------------------------- */

static bool is_savepointed(const struct hd_timeline *timeline, const char *time)
{
    return hd_timeline_find(timeline, time, HD_ACTION_SAVEPOINT) != NULL;
}

/* The writes, oldest first, up to the bound: the time before which everything goes. */
static hudi_status find_end(struct hd_op *op, struct choice *choice, int64_t n_left,
                            const char **end)
{
    const struct hd_timeline *const timeline = &choice->table->timeline;

    *end = NULL;
    for (size_t i = 0; i < timeline->n_instants && n_left > 0; i++) {
        const struct hd_instant *const instant = &timeline->instants[i];
        bool hides;

        if (!hd_instant_is_completed_write(instant))
            continue;
        if (choice->bound != NULL && strcmp(instant->time, choice->bound) >= 0)
            break;
        if (is_savepointed(timeline, instant->time))
            continue;
        HD_TRY(hides_files(op, choice->table, instant, &hides));
        if (hides)
            break;
        *end = instant->time;
        n_left--;
    }
    return HUDI_OK;
}

/* Cleans and rollbacks go with the writes around them, but for those behind the last one. */
static bool goes(const struct hd_timeline *timeline, const struct hd_instant *instant,
                 const char *end)
{
    const int order = strcmp(instant->time, end);

    if (hd_instant_is_completed_write(instant))
        return order <= 0 && !is_savepointed(timeline, instant->time);
    return order < 0 && instant->state == HD_COMPLETED &&
           (instant->action == HD_ACTION_CLEAN || instant->action == HD_ACTION_ROLLBACK);
}

static hudi_status choose(struct hd_op *op, struct choice *choice)
{
    const struct hd_timeline *const timeline = &choice->table->timeline;
    const char *end;

    HD_TRY(find_numbers(op, choice));
    const int64_t n_writes = count_writes_after(timeline, "");
    if (n_writes <= choice->n_max)
        return HUDI_OK;
    bound_by_pending(choice);
    bound_by_savepoints(choice);
    bound_by_compaction(choice);
    HD_TRY(bound_by_metadata_table(op, choice));
    HD_TRY(find_end(op, choice, n_writes - choice->n_min, &end));
    if (end == NULL)
        return HUDI_OK;
    HD_TRY(hd_arena_array(op, &choice->arena, timeline->n_instants, sizeof *choice->instants,
                          &choice->instants));
    for (size_t i = 0; i < timeline->n_instants; i++) {
        if (!goes(timeline, &timeline->instants[i], end))
            continue;
        choice->instants[choice->n++] = &timeline->instants[i];
        choice->n_writes += hd_instant_is_write(&timeline->instants[i]);
    }
    return HUDI_OK;
}

/* ---- carrying it out ------------------------------------------------------------------------ */

static hudi_status next_number(struct hd_op *op, const struct hd_table_snapshot *table,
                               const char *folder, uint64_t *out)
{
    struct hd_arena arena = {0};
    struct hd_file_info *infos;
    size_t n = 0;

    *out = 1;
    const hudi_status status = hd_fs_list_names(op, table->fs, folder, &arena, &infos, &n);
    for (size_t i = 0; i < n && status == HUDI_OK; i++) {
        uint64_t number;

        if (hd_archive_file_number(infos[i].name, &number) && number >= *out)
            *out = number + 1;
    }
    hd_arena_clear(&arena);
    return status == HUDI_NOT_FOUND ? HUDI_OK : status;
}

/* Another process may have taken the number: archives of Hudi go without our lock. */
static hudi_status publish(struct hd_op *op, const struct hd_table_snapshot *table,
                           const struct hd_str *bytes)
{
    hudi_status status = HUDI_OK;
    char *folder = NULL, *path = NULL;
    uint64_t number;

    HD_TRY_OUT(hd_archive_folder(op, table->path, &table->config, &folder));
    HD_TRY_OUT(hd_fs_make_dirs(op, table->fs, folder));
    HD_TRY_OUT(next_number(op, table, folder, &number));
    do {
        hd_free(op, path);
        path = NULL;
        HD_TRY_OUT(
            hd_asprintf(op, &path, "%s/.commits_.archive.%" PRIu64 "_1-0-1", folder, number++));
        status = hd_fs_publish(op, table->fs, path, bytes->data, bytes->size);
    } while (status == HUDI_EXISTS);
out:
    hd_free(op, folder);
    hd_free(op, path);
    return status;
}

/* Blocks of so many instants; a file of at most so many bytes, but for its last block. */
static hudi_status write_archive(struct hd_op *op, const struct choice *choice)
{
    const int64_t batch = option(choice, "hoodie.commits.archival.batch");
    const uint64_t max_bytes = (uint64_t)option(choice, "hoodie.logfile.max.size");
    struct hd_str bytes = {0};
    hudi_status status = HUDI_OK;

    for (size_t i = 0; i < choice->n && status == HUDI_OK;) {
        const size_t left = choice->n - i;
        const size_t n = (uint64_t)batch < left ? (size_t)batch : left;

        status = hd_op_check_cancel(op);
        if (status == HUDI_OK)
            status = hd_archive_block_encode(op, &choice->table->timeline, &choice->instants[i], n,
                                             &bytes);
        i += n;
        if (status == HUDI_OK && (i == choice->n || bytes.size >= max_bytes)) {
            status = publish(op, choice->table, &bytes);
            bytes.size = 0;
        }
    }
    hd_str_clear(&bytes);
    return status;
}

/* Leftovers are no reason to fail what is done. */
static void delete_leftovers(struct hd_op *op, const struct choice *choice)
{
    const struct hd_table_snapshot *const table = choice->table;

    for (size_t i = 0; i < choice->n; i++) {
        const struct hd_instant *const instant = choice->instants[i];
        hudi_status status = HUDI_OK;
        char *path = NULL;

        if (hd_instant_is_write(instant))
            status = hd_markers_delete(op, table->fs, table->path, instant->time);
        if (status == HUDI_OK && instant->pending_action == HD_ACTION_COMPACTION)
            status = hd_asprintf(op, &path, "%s/.hoodie/.aux/%s.compaction.requested", table->path,
                                 instant->time);
        if (path != NULL)
            status = hd_fs_delete_file(op, table->fs, path);
        hd_free(op, path);
        if (status != HUDI_OK && status != HUDI_NOT_FOUND)
            hd_log(op, HD_LOG_WARN, "what is left of archived instant %s could not be deleted",
                   instant->time);
        hd_op_clear_error(op);
    }
}

static hudi_status carry_out(struct hd_op *op, const struct choice *choice)
{
    HD_TRY(write_archive(op, choice));
    HD_TRY(
        hd_transition_remove_archived(op, &choice->table->timeline, choice->instants, choice->n));
    delete_leftovers(op, choice);
    hd_log(op, HD_LOG_INFO, "archived %zu instants", choice->n);
    return HUDI_OK;
}

hudi_status hd_archive_locked(struct hd_op *op, hd_pool *pool, struct hd_table_snapshot *table,
                              const struct hd_options *options, bool dry_run,
                              struct hd_archive_report *out)
{
    struct choice choice = {.table = table, .options = options};

    (void)pool;
    *out = (struct hd_archive_report){0};
    hudi_status status = choose(op, &choice);
    if (status == HUDI_OK && choice.n > 0) {
        const char *const first = choice.instants[0]->time;
        const char *const last = choice.instants[choice.n - 1]->time;

        out->n_instants = choice.n;
        out->n_writes = choice.n_writes;
        memcpy(out->first, first, strlen(first) + 1);
        memcpy(out->last, last, strlen(last) + 1);
        if (!dry_run)
            status = carry_out(op, &choice);
        if (status == HUDI_OK && !dry_run)
            status = hd_table_snapshot_reload(op, table);
    }
    hd_arena_clear(&choice.arena);
    return status;
}

hudi_status hd_archive(struct hd_op *op, hd_pool *pool, const char *uri,
                       const struct hd_options *options, bool dry_run,
                       struct hd_archive_report *out)
{
    hudi_status status = HUDI_OK;
    struct hd_table_snapshot table = {0};
    struct hd_fs_lock *lock = NULL;
    const uint64_t wait_ms = hd_table_lock_wait_ms(options);

    *out = (struct hd_archive_report){0};
    HD_TRY_OUT(hd_table_snapshot_load(op, uri, &table));
    HD_TRY_OUT(hd_check_serviceable(op, &table));
    if (!dry_run) {
        HD_TRY_OUT(hd_table_lock(op, &table, options, wait_ms, &lock));
        HD_TRY_OUT(hd_table_snapshot_reload(op, &table));
    }
    HD_TRY_OUT(hd_archive_locked(op, pool, &table, options, dry_run, out));
out:
    hd_fs_unlock(lock);
    hd_table_snapshot_clear(op, &table);
    return hd_fail_path(op, status, uri);
}
