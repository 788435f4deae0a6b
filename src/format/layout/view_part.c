/* SPDX-License-Identifier: Apache-2.0 */

#include "format/layout/view_part.h"

#include <stdlib.h>
#include <string.h>

/* Instants that are in no timeline (archived ones), by their last digits: the same few come again
 * and again, and each is to be copied about once. */
#define CACHE_SLOTS 64
struct instant_cache {
    const char *times[CACHE_SLOTS];
};

/* A file that is seen, before it has its place. */
struct seen_file {
    struct hd_file_name name; /* into the listing */
    const char *text;
    uint64_t size_bytes;
    const char *instant;
    const char *completion; /* of that instant; as `instant` where it is not known */
    const char *slice;      /* base instant of the slice that it is in */
    enum hd_visibility visibility;
    bool is_unsure; /* a log file whose commit was archived: `completion` is not known */
};

/* Instants of one time: the first of them is the one that files look up. */
static hudi_status note_completion(struct hd_op *op, struct hd_arena *arena,
                                   const struct hd_instant *instant, struct hd_view_times *out,
                                   size_t i)
{
    char *copy;

    if (instant->completion_time == NULL || !hd_instant_is_completed_write(instant))
        return HUDI_OK;
    HD_TRY(hd_arena_strdup(op, arena, instant->completion_time, &copy));
    do {
        out->completions[i] = copy;
    } while (i-- > 0 && out->times[i] == out->times[i + 1]);
    return HUDI_OK;
}

hudi_status hd_view_times_init(struct hd_op *op, struct hd_arena *arena,
                               const struct hd_timeline *timeline, struct hd_view_times *out)
{
    const size_t n = timeline->n_instants;

    *out = (struct hd_view_times){.timeline = timeline};
    HD_TRY(hd_arena_array(op, arena, n, sizeof *out->times, &out->times));
    HD_TRY(hd_arena_array(op, arena, n, sizeof *out->visibility, &out->visibility));
    HD_TRY(hd_arena_array(op, arena, n, sizeof *out->completions, &out->completions));
    for (size_t i = 0; i < n; i++) {
        const char *const time = timeline->instants[i].time;
        char *copy;

        if (i > 0 && strcmp(time, out->times[i - 1]) == 0) {
            out->times[i] = out->times[i - 1];
            out->visibility[i] = out->visibility[i - 1];
            out->completions[i] = out->completions[i - 1];
            HD_TRY(note_completion(op, arena, &timeline->instants[i], out, i));
            continue;
        }
        HD_TRY(hd_arena_strdup(op, arena, time, &copy));
        out->times[i] = copy;
        out->visibility[i] = hd_timeline_is_committed(timeline, time) ? HD_COMMITTED
                             : hd_timeline_is_pending_compaction(timeline, time)
                                 ? HD_PENDING_COMPACTION
                                 : HD_HIDDEN;
        HD_TRY(note_completion(op, arena, &timeline->instants[i], out, i));
    }
    return HUDI_OK;
}

static unsigned cache_slot(struct hd_slice instant)
{
    unsigned slot = 0;

    for (size_t i = instant.size > 3 ? instant.size - 3 : 0; i < instant.size; i++)
        slot = slot * 10 + (unsigned)(instant.data[i] - '0');
    return slot % CACHE_SLOTS;
}

/* When an archived commit completed; NULL when that is not known. */
static const char *archived_completion(const struct hd_view_times *times, const char *time)
{
    const struct hd_archived_timeline *const archive = times->archive;

    for (size_t low = 0, high = archive == NULL ? 0 : archive->n_instants; low < high;) {
        const size_t middle = low + (high - low) / 2;
        const int order = strcmp(archive->instants[middle].time, time);

        if (order == 0 && archive->instants[middle].completion_time != NULL)
            return archive->instants[middle].completion_time;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

/* An instant before the timeline's start is committed, one between its instants was rolled back. */
static hudi_status look_up_other(struct hd_op *op, struct hd_view_part *part,
                                 const struct hd_view_times *times, struct instant_cache *cache,
                                 const char *time, struct hd_slice instant, struct seen_file *file)
{
    const unsigned slot = cache_slot(instant);
    char *copy;

    file->visibility = hd_timeline_is_committed(times->timeline, time) ? HD_COMMITTED : HD_HIDDEN;
    if (file->visibility == HD_HIDDEN)
        return HUDI_OK;
    if (cache->times[slot] == NULL || strcmp(cache->times[slot], time) != 0) {
        HD_TRY(hd_arena_strdup(op, &part->arena, time, &copy));
        cache->times[slot] = copy;
    }
    file->instant = cache->times[slot];
    file->completion = archived_completion(times, time);
    file->is_unsure = times->archive == NULL && file->name.kind == HD_FILE_LOG;
    return HUDI_OK;
}

static hudi_status look_up_instant(struct hd_op *op, struct hd_view_part *part,
                                   const struct hd_view_times *times, struct instant_cache *cache,
                                   struct seen_file *file)
{
    const struct hd_slice instant = file->name.instant;
    char time[HD_INSTANT_TIME_BYTES];

    memcpy(time, instant.data, instant.size);
    time[instant.size] = '\0';
    const size_t i = hd_timeline_lower_bound(times->timeline, time);
    if (i == times->timeline->n_instants || strcmp(times->times[i], time) != 0)
        return look_up_other(op, part, times, cache, time, instant, file);
    file->instant = times->times[i];
    file->completion = times->completions[i];
    file->visibility = (enum hd_visibility)times->visibility[i];
    return HUDI_OK;
}

static bool same_instant(const char *a, const char *b)
{
    return a == b || strcmp(a, b) == 0;
}

/* By file group, then slice, base files before the log files on them, these in log order. */
static int compare_seen(const void *a, const void *b)
{
    const struct seen_file *const x = a, *const y = b;
    int order = hd_slice_compare(x->name.file_id, y->name.file_id);

    if (order == 0 && x->slice != y->slice)
        order = strcmp(x->slice, y->slice);
    if (order == 0)
        order = (int)x->name.kind - (int)y->name.kind;
    if (order == 0 && x->instant != y->instant)
        order = strcmp(x->instant, y->instant);
    if (order == 0 && x->name.log_version != y->name.log_version)
        order = x->name.log_version < y->name.log_version ? -1 : 1;
    if (order == 0)
        order = hd_slice_compare(x->name.write_token, y->name.write_token);
    return order;
}

/* Invariant 1. Also leaves out CDC log files, which are in no slice. */
static hudi_status collect_seen(struct hd_op *op, struct hd_view_part *part,
                                const struct hd_view_times *times, const struct hd_file_info *infos,
                                size_t n_infos, struct seen_file *seen, size_t *n_seen)
{
    struct instant_cache cache = {0};

    for (size_t i = 0; i < n_infos; i++) {
        struct seen_file *const file = &seen[*n_seen];

        if (infos[i].is_dir || !hd_file_name_parse(infos[i].name, &file->name) ||
            file->name.kind == HD_FILE_CDC_LOG)
            continue;
        file->completion = NULL;
        file->is_unsure = false;
        HD_TRY(look_up_instant(op, part, times, &cache, file));
        if (file->visibility == HD_HIDDEN ||
            (file->name.kind == HD_FILE_BASE && file->visibility != HD_COMMITTED))
            continue;
        file->text = infos[i].name;
        file->size_bytes = infos[i].size_bytes;
        file->slice = file->instant;
        if (file->completion == NULL)
            file->completion = file->instant;
        (*n_seen)++;
    }
    return HUDI_OK;
}

/*
 * Version 8 and later, one group: the instant in a log file's name is the delta commit that wrote
 * it. The file is in the slice of the newest base file whose instant is not after the completion of
 * that commit; those before every base file make a slice that has the first one's instant. `seen`
 * is sorted by instant.
 */
static void place_logs(const struct hd_view_times *times, struct seen_file *seen, size_t n,
                       const char **bases)
{
    const char *first = NULL;
    size_t n_bases = 0;

    for (size_t i = 0; i < n; i++) {
        if (seen[i].name.kind == HD_FILE_BASE)
            bases[n_bases++] = seen[i].instant;
    }
    for (size_t i = 0; i < n; i++) {
        size_t low = 0, high = n_bases;

        if (seen[i].name.kind == HD_FILE_BASE)
            continue;
        while (low < high) { /* the first base file after the completion */
            const size_t middle = low + (high - low) / 2;

            if (strcmp(bases[middle], seen[i].completion) <= 0)
                low = middle + 1;
            else
                high = middle;
        }
        if (seen[i].is_unsure && low < n_bases)
            atomic_store(times->needs_archive, true);
        if (low == 0 && first == NULL)
            first = seen[i].instant;
        seen[i].slice = low == 0 ? first : bases[low - 1];
    }
}

static hudi_status sort_seen(struct hd_op *op, const struct hd_view_times *times,
                             struct seen_file *seen, size_t n_seen)
{
    const char **bases;

    if (n_seen == 0)
        return HUDI_OK;
    qsort(seen, n_seen, sizeof *seen, compare_seen);
    if (times->timeline->version->timeline_layout < 2)
        return HUDI_OK;
    HD_TRY(hd_alloc_raw(op, n_seen, sizeof *bases, &bases));
    for (size_t i = 0, n; i < n_seen; i += n) {
        for (n = 1;
             i + n < n_seen && hd_slice_equal(seen[i + n].name.file_id, seen[i].name.file_id);
             n++) {
        }
        place_logs(times, &seen[i], n, bases);
    }
    hd_free(op, bases);
    qsort(seen, n_seen, sizeof *seen, compare_seen);
    return HUDI_OK;
}

/* Bytes of "partition/name\0token\0". */
static size_t text_bytes(const struct hd_view_part *part, const struct seen_file *seen)
{
    return strlen(part->partition_path) + strlen(seen->text) + seen->name.write_token.size + 3;
}

/* `*texts` is where the file's texts go; it is moved behind them. */
static void place_file(const struct hd_view_part *part, const struct seen_file *seen, char **texts,
                       struct hd_data_file *out)
{
    char *at = *texts;

    *out = (struct hd_data_file){
        .path = at,
        .instant = seen->instant,
        .size_bytes = seen->size_bytes,
        .log_version = seen->name.log_version,
    };
    if (part->partition_path[0] != '\0') {
        at = stpcpy(at, part->partition_path);
        *at++ = '/';
    }
    out->name = at;
    at = stpcpy(at, seen->text) + 1;
    out->write_token = at;
    if (seen->name.write_token.size > 0)
        memcpy(at, seen->name.write_token.data, seen->name.write_token.size);
    at += seen->name.write_token.size;
    *at++ = '\0';
    *texts = at;
}

/* Files of one group and instant: base files first. Goes on a new slice, or (invariant 5) on the
 * one before, whose log files end where these begin. */
static void add_run(struct hd_file_group *group, const struct seen_file *seen,
                    const struct hd_data_file *files, size_t n)
{
    size_t n_bases = 0;

    while (n_bases < n && seen[n_bases].name.kind == HD_FILE_BASE)
        n_bases++;
    if (seen->visibility == HD_PENDING_COMPACTION && group->n_slices > 0) {
        struct hd_file_slice *const below = &group->slices[group->n_slices - 1];

        if (below->n_logs == 0)
            below->logs = files;
        below->n_logs += n;
        below->compaction_instant = seen->instant;
        return;
    }
    group->slices[group->n_slices++] = (struct hd_file_slice){
        .partition_path = group->partition_path,
        .file_id = group->file_id,
        .base_instant = seen->slice,
        .base = n_bases > 0 ? &files[n_bases - 1] : NULL,
        .logs = n > n_bases ? &files[n_bases] : NULL,
        .n_logs = n - n_bases,
        .compaction_instant = seen->visibility == HD_PENDING_COMPACTION ? seen->instant : NULL,
    };
}

static void reverse_slices(struct hd_file_group *group)
{
    for (size_t i = 0, j = group->n_slices; i + 1 < j; i++) {
        const struct hd_file_slice slice = group->slices[i];

        group->slices[i] = group->slices[--j];
        group->slices[j] = slice;
    }
}

/* Invariant 2: what the listing alone cannot decide. `files` is the first of the group's. */
static hudi_status note_choices(struct hd_op *op, struct hd_view_part *part,
                                const struct hd_file_group *group, const struct hd_data_file *files)
{
    for (size_t i = 0; i < group->n_slices; i++) {
        struct hd_file_slice *const slice = &group->slices[i];
        const struct hd_data_file *first = slice->base;
        struct hd_base_file_choice *choice;

        while (first != NULL && first > files &&
               same_instant(first[-1].instant, slice->base->instant))
            first--;
        if (first == slice->base)
            continue;
        HD_TRY(hd_arena_alloc(op, &part->arena, sizeof *choice, &choice));
        *choice = (struct hd_base_file_choice){
            .next = part->choices,
            .slice = slice,
            .candidates = first,
            .n = (size_t)(slice->base - first) + 1,
        };
        part->choices = choice;
    }
    return HUDI_OK;
}

/* One group from its files. `*slices` and `*texts` are where its slices and texts go; they are
 * moved behind them. */
static hudi_status add_group(struct hd_op *op, struct hd_view_part *part,
                             const struct seen_file *seen, struct hd_data_file *files, size_t n,
                             struct hd_file_slice **slices, char **texts)
{
    struct hd_file_group *const group = &part->groups[part->n_groups];
    char *file_id;

    HD_TRY(hd_arena_strndup(op, &part->arena, seen->name.file_id.data, seen->name.file_id.size,
                            &file_id));
    *group = (struct hd_file_group){
        .partition_path = part->partition_path, .file_id = file_id, .slices = *slices};
    for (size_t i = 0; i < n; i++)
        place_file(part, &seen[i], texts, &files[i]);
    for (size_t i = 0, n_run; i < n; i += n_run) {
        for (n_run = 1; i + n_run < n && same_instant(seen[i + n_run].slice, seen[i].slice);
             n_run++) {
        }
        add_run(group, &seen[i], &files[i], n_run);
    }
    reverse_slices(group);
    *slices += group->n_slices;
    part->n_groups++;
    return note_choices(op, part, group, files);
}

static hudi_status build_groups(struct hd_op *op, struct hd_view_part *part,
                                const struct seen_file *seen, size_t n_seen)
{
    struct hd_data_file *files;
    struct hd_file_slice *slices;
    size_t n_groups = 0, n_slices = 0, n_bytes = 0;
    char *texts;

    for (size_t i = 0; i < n_seen; i++) {
        const bool same_group =
            i > 0 && hd_slice_equal(seen[i].name.file_id, seen[i - 1].name.file_id);

        n_groups += !same_group;
        n_slices += !same_group || !same_instant(seen[i].slice, seen[i - 1].slice);
        n_bytes += text_bytes(part, &seen[i]);
    }
    HD_TRY(hd_arena_array(op, &part->arena, n_seen, sizeof *files, &files));
    HD_TRY(hd_arena_array(op, &part->arena, n_slices, sizeof *slices, &slices));
    HD_TRY(hd_arena_alloc(op, &part->arena, n_bytes, &texts));
    HD_TRY(hd_alloc_array(op, n_groups, sizeof *part->groups, &part->groups));
    for (size_t i = 0, n; i < n_seen; i += n) {
        for (n = 1;
             i + n < n_seen && hd_slice_equal(seen[i + n].name.file_id, seen[i].name.file_id);
             n++) {
        }
        HD_TRY(add_group(op, part, &seen[i], &files[i], n, &slices, &texts));
    }
    return HUDI_OK;
}

hudi_status hd_view_part_new(struct hd_op *op, const struct hd_view_times *times,
                             const char *partition_path, const struct hd_file_info *infos,
                             size_t n_infos, struct hd_view_part **out)
{
    hudi_status status = HUDI_OK;
    struct hd_view_part *part;
    struct seen_file *seen = NULL;
    size_t n_seen = 0;
    char *path;

    *out = NULL;
    HD_TRY(hd_alloc(op, sizeof *part, &part));
    HD_TRY_OUT(hd_arena_strdup(op, &part->arena, partition_path, &path));
    part->partition_path = path;
    HD_TRY_OUT(hd_alloc_raw(op, n_infos, sizeof *seen, &seen));
    HD_TRY_OUT(collect_seen(op, part, times, infos, n_infos, seen, &n_seen));
    HD_TRY_OUT(sort_seen(op, times, seen, n_seen));
    HD_TRY_OUT(build_groups(op, part, seen, n_seen));
    *out = part;
    part = NULL;
out:
    hd_free(op, seen);
    hd_view_part_free(part);
    return status;
}

void hd_view_part_free(struct hd_view_part *part)
{
    if (part == NULL)
        return;
    hd_free(NULL, part->groups);
    hd_arena_clear(&part->arena);
    hd_free(NULL, part);
}
