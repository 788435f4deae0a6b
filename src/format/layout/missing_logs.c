/* SPDX-License-Identifier: Apache-2.0 */
#include "format/layout/missing_logs.h"

#include <inttypes.h>
#include <string.h>

#include "base/map.h"
#include "format/timeline/commit_glance.h"

struct search {
    const struct hd_file_slice *const *slices;
    struct hd_map groups; /* "partition/file id" -> number in slices */
    struct hd_map logs;   /* paths of the log files that are there -> bytes */
    struct hd_map paths;  /* of what is missing -> number in found */
    struct hd_str key;
    struct hd_str name; /* of the file that is looked at */
    struct hd_arena *arena;
    struct hd_missing_log *found;
    size_t n_found;
    size_t capacity;
};

static hudi_status group_key(struct hd_op *op, struct search *search, struct hd_slice partition,
                             struct hd_slice file_id)
{
    search->key.size = 0;
    HD_TRY(hd_str_append(op, &search->key, partition.data, partition.size));
    HD_TRY(hd_str_append_char(op, &search->key, '/'));
    return hd_str_append(op, &search->key, file_id.data, file_id.size);
}

/* Is a log file of that name one of the slice, or one that waits on it for a compaction? */
static bool is_of_slice(const struct hd_file_slice *slice, const struct hd_file_name *name)
{
    return hd_slice_equal(name->instant, hd_slice_text(slice->base_instant)) ||
           (slice->compaction_instant != NULL &&
            hd_slice_equal(name->instant, hd_slice_text(slice->compaction_instant)));
}

static int64_t bytes_of(const struct search *search, struct hd_slice path)
{
    const struct hd_map_entry *const entry = hd_map_find(&search->logs, path);

    return entry == NULL ? -1 : (int64_t)entry->value;
}

/* Once for each file, with the most that any write says. */
static hudi_status add(struct hd_op *op, struct search *search, const char *path,
                       const char *instant, int64_t n_bytes, int64_t n_found)
{
    struct hd_missing_log log = {.n_bytes = n_bytes, .n_found = n_found};
    struct hd_map_entry *entry;
    bool added;

    HD_TRY(
        hd_grow(op, &search->found, &search->capacity, search->n_found + 1, sizeof *search->found));
    HD_TRY(hd_map_put(op, &search->paths, hd_slice_text(path), search->n_found, &entry, &added));
    if (!added && search->found[entry->value].n_bytes >= n_bytes)
        return HUDI_OK;
    HD_TRY(hd_arena_strdup(op, search->arena, path, (char **)&log.path));
    HD_TRY(hd_arena_strdup(op, search->arena, instant, (char **)&log.instant));
    search->found[entry->value] = log;
    search->n_found += added;
    return HUDI_OK;
}

/* Is the file a log file on one of the slices, and not there, or not all of it? */
static hudi_status is_missing(struct hd_op *op, struct search *search, struct hd_slice path,
                              int64_t n_bytes, int64_t *n_found, bool *out)
{
    const size_t slash = path.size > 0 && path.data[0] == '/';
    struct hd_file_name name;
    size_t folder;

    *out = false;
    path = hd_slice_of(path.data + slash, path.size - slash);
    *n_found = bytes_of(search, path);
    if (*n_found >= 0 && *n_found >= n_bytes)
        return HUDI_OK;
    for (folder = path.size; folder > 0 && path.data[folder - 1] != '/';)
        folder--;
    if (folder == path.size)
        return HUDI_OK;
    search->name.size = 0;
    HD_TRY(hd_str_append(op, &search->name, path.data + folder, path.size - folder));
    if (!hd_file_name_parse(hd_str_text(&search->name), &name) || name.kind != HD_FILE_LOG)
        return HUDI_OK;
    HD_TRY(
        group_key(op, search, hd_slice_of(path.data, folder == 0 ? 0 : folder - 1), name.file_id));
    const struct hd_map_entry *const entry =
        hd_map_find(&search->groups, hd_str_slice(&search->key));
    *out = entry != NULL && is_of_slice(search->slices[entry->value], &name);
    return HUDI_OK;
}

static hudi_status check_stat(struct hd_op *op, struct search *search, const char *instant,
                              const struct hd_write_stat *stat)
{
    int64_t n_found;
    bool missing;

    if (stat->path == NULL)
        return HUDI_OK;
    HD_TRY(is_missing(op, search, hd_slice_text(stat->path), stat->file_size_in_bytes, &n_found,
                      &missing));
    return missing ? add(op, search, stat->path + (stat->path[0] == '/'), instant,
                         stat->file_size_in_bytes, n_found)
                   : HUDI_OK;
}

/* For hd_commit_glance(): what is missing is looked at again, with all that its commit says. */
struct look {
    struct hd_op *op;
    struct search *search;
    hudi_status status;
};

static bool is_fine(void *self, struct hd_slice path, int64_t n_bytes)
{
    struct look *const look = self;
    int64_t n_found;
    bool missing;

    look->status = is_missing(look->op, look->search, path, n_bytes, &n_found, &missing);
    return look->status == HUDI_OK && !missing;
}

/* The newest may be half written, by writers before 0.12: it is not only looked at. */
static hudi_status glance(struct hd_op *op, struct search *search,
                          const struct hd_timeline *timeline, const struct hd_instant *instant,
                          bool *fine)
{
    struct look look = {.op = op, .search = search};
    uint8_t *bytes = NULL;
    size_t n;

    *fine = false;
    if (instant == hd_timeline_last_completed_write(timeline))
        return HUDI_OK;
    HD_TRY(hd_timeline_read(op, timeline, instant, HD_COMPLETED, &bytes, &n));
    *fine = hd_commit_glance(hd_slice_of(bytes, n), is_fine, &look);
    hd_free(op, bytes);
    return look.status;
}

static hudi_status check_commit(struct hd_op *op, struct search *search,
                                const struct hd_timeline *timeline,
                                const struct hd_instant *instant)
{
    bool fine;
    struct hd_commit_metadata commit;

    hudi_status status = glance(op, search, timeline, instant, &fine);
    if (status == HUDI_OK && fine)
        return HUDI_OK;
    if (status == HUDI_OK)
        status = hd_timeline_read_commit(op, timeline, instant, &commit);
    if (status == HUDI_NOT_FOUND || status == HUDI_CORRUPT) { /* archived by now; told elsewhere */
        hd_op_clear_error(op);
        return HUDI_OK;
    }
    HD_TRY(status);
    for (size_t i = 0; i < commit.n_stats && status == HUDI_OK; i++)
        status = check_stat(op, search, instant->time, &commit.stats[i]);
    hd_commit_metadata_clear(&commit);
    return status;
}

/* The slices by their file groups; the time before which no log file lies on any of them. */
static hudi_status note_slices(struct hd_op *op, struct search *search, size_t n_slices,
                               const char **since)
{
    *since = NULL;
    for (size_t i = 0; i < n_slices; i++) {
        const struct hd_file_slice *const slice = search->slices[i];

        HD_TRY(group_key(op, search, hd_slice_text(slice->partition_path),
                         hd_slice_text(slice->file_id)));
        HD_TRY(hd_map_put(op, &search->groups, hd_str_slice(&search->key), i, NULL, NULL));
        for (size_t k = 0; k < slice->n_logs; k++)
            HD_TRY(hd_map_put(op, &search->logs, hd_slice_text(slice->logs[k].path),
                              slice->logs[k].size_bytes, NULL, NULL));
        if (*since == NULL || strcmp(slice->base_instant, *since) < 0)
            *since = slice->base_instant;
    }
    return HUDI_OK;
}

hudi_status hd_missing_logs_find(struct hd_op *op, const struct hd_timeline *timeline,
                                 const struct hd_file_slice *const *slices, size_t n_slices,
                                 const char *as_of, struct hd_arena *arena,
                                 struct hd_missing_log **out, size_t *n_out)
{
    struct search search = {.slices = slices, .arena = arena};
    hudi_status status = HUDI_OK;
    const char *since;

    *out = NULL;
    *n_out = 0;
    HD_TRY_OUT(note_slices(op, &search, n_slices, &since));
    for (size_t i = since == NULL ? timeline->n_instants : hd_timeline_lower_bound(timeline, since);
         i < timeline->n_instants; i++) {
        const struct hd_instant *const instant = &timeline->instants[i];

        if (instant->action != HD_ACTION_DELTACOMMIT || instant->state != HD_COMPLETED ||
            (as_of != NULL && strcmp(instant->time, as_of) > 0))
            continue;
        HD_TRY_OUT(hd_op_check_cancel(op));
        HD_TRY_OUT(check_commit(op, &search, timeline, instant));
    }
    HD_TRY_OUT(hd_arena_array(op, arena, search.n_found, sizeof **out, out));
    if (search.n_found > 0)
        memcpy(*out, search.found, search.n_found * sizeof **out);
    *n_out = search.n_found;
out:
    hd_map_clear(&search.groups);
    hd_map_clear(&search.logs);
    hd_map_clear(&search.paths);
    hd_str_clear(&search.key);
    hd_str_clear(&search.name);
    hd_free(op, search.found);
    return status;
}

hudi_status hd_missing_log_describe(struct hd_op *op, const struct hd_missing_log *log,
                                    struct hd_str *out)
{
    if (log->n_found < 0)
        return hd_str_printf(
            op, out, "log file %s is not there, which deltacommit %s wrote with %" PRId64 " bytes",
            log->path, log->instant, log->n_bytes);
    return hd_str_printf(op, out,
                         "log file %s has %" PRId64 " bytes, deltacommit %s wrote %" PRId64,
                         log->path, log->n_found, log->instant, log->n_bytes);
}
