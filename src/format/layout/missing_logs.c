/* SPDX-License-Identifier: Apache-2.0 */
#include "format/layout/missing_logs.h"

#include <inttypes.h>
#include <string.h>

#include "base/map.h"

struct search {
    const struct hd_file_slice *const *slices;
    struct hd_map groups; /* "partition/file id" -> number in slices */
    struct hd_map paths;  /* of what is missing -> number in found */
    struct hd_str key;
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

static int64_t bytes_of(const struct hd_file_slice *slice, const char *name)
{
    for (size_t i = 0; i < slice->n_logs; i++)
        if (strcmp(slice->logs[i].name, name) == 0)
            return (int64_t)slice->logs[i].size_bytes;
    return -1;
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

static hudi_status check_stat(struct hd_op *op, struct search *search, const char *instant,
                              const struct hd_write_stat *stat)
{
    const char *path = stat->path;
    struct hd_file_name name;

    if (path == NULL)
        return HUDI_OK;
    path += path[0] == '/';
    const char *const slash = strrchr(path, '/');
    const char *const file = slash == NULL ? path : slash + 1;
    if (!hd_file_name_parse(file, &name) || name.kind != HD_FILE_LOG)
        return HUDI_OK;
    HD_TRY(group_key(op, search, hd_slice_of(path, slash == NULL ? 0 : (size_t)(slash - path)),
                     name.file_id));
    const struct hd_map_entry *const entry =
        hd_map_find(&search->groups, hd_str_slice(&search->key));
    if (entry == NULL || !is_of_slice(search->slices[entry->value], &name))
        return HUDI_OK;
    const int64_t n_found = bytes_of(search->slices[entry->value], file);
    return n_found >= 0 && n_found >= stat->file_size_in_bytes
               ? HUDI_OK
               : add(op, search, path, instant, stat->file_size_in_bytes, n_found);
}

static hudi_status check_commit(struct hd_op *op, struct search *search,
                                const struct hd_timeline *timeline,
                                const struct hd_instant *instant)
{
    struct hd_commit_metadata commit;

    hudi_status status = hd_timeline_read_commit(op, timeline, instant, &commit);
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
    hd_map_clear(&search.paths);
    hd_str_clear(&search.key);
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
