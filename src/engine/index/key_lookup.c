/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/index/key_lookup.h"

#include "arrow/array.h"
#include "arrow/schema.h"
#include "codec/bloom.h"
#include "engine/index/stored_keys.h"
#include "engine/record/key_range.h"
#include "format/table/table_schema.h"
#include "store/base_file.h"

/* With more keys than this share of the rows, probing the filter costs more than reading the keys.
 */
#define BLOOM_MAX_SHARE 20

/* The keys of a group that a file may hold. */
struct candidates {
    const int64_t *entries; /* a range of the group's, or `own` */
    int64_t n;
    int64_t *own;
};

static hudi_status open_base_file(struct hd_op *op, const struct hd_table_snapshot *table,
                                  const struct hd_file_slice *slice, hd_base_reader **out)
{
    hudi_status status = HUDI_OK;
    hd_input_file *file = NULL;
    char *path = NULL;

    *out = NULL;
    HD_TRY_OUT(hd_path_join(op, table->path, slice->base->path, &path));
    HD_TRY_OUT(hd_fs_open_input(op, table->fs, path, &file));
    status = hd_base_reader_open(op, file, table->config.base_file_format, out);
out:
    hd_free(op, path);
    return status;
}

/* First place in the group whose key is not below `bound` (or, when `after`, above it). */
static int64_t lower_bound(const struct hd_spillable_map *map, const struct hd_key_group *group,
                           struct hd_slice bound, bool after)
{
    int64_t low = 0, high = group->n;

    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        const int order = hd_key_compare(hd_spillable_map_key(map, group->entries[middle]), bound);
        if (order < 0 || (after && order == 0))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Candidates by the footer's key range. Without one, or where the two orders of keys may differ,
 * every key is a candidate. */
static hudi_status prune_by_range(struct hd_op *op, const struct hd_spillable_map *map,
                                  const struct hd_key_group *group, hd_base_reader *reader,
                                  struct candidates *out)
{
    struct hd_slice min, max;

    *out = (struct candidates){.entries = group->entries, .n = group->n};
    hudi_status found = hd_base_reader_key_value(op, reader, HD_MIN_RECORD_KEY, &min);
    if (found == HUDI_OK)
        found = hd_base_reader_key_value(op, reader, HD_MAX_RECORD_KEY, &max);
    if (found == HUDI_NOT_FOUND)
        return HUDI_OK;
    HD_TRY(found);
    for (size_t i = 0; i < min.size || i < max.size; i++)
        if ((i < min.size && min.data[i] >= 0xee) || (i < max.size && max.data[i] >= 0xee))
            return HUDI_OK;
    if (!group->same_order)
        return HUDI_OK;
    const int64_t from = lower_bound(map, group, min, false);
    const int64_t to = lower_bound(map, group, max, true);
    out->entries = group->entries + from;
    out->n = to > from ? to - from : 0;
    return HUDI_OK;
}

/* The file's bloom filter, or NULL when it has none. */
static hudi_status read_bloom(struct hd_op *op, hd_base_reader *reader, hd_bloom **out)
{
    struct hd_slice text, code = {0};
    enum hd_bloom_type type;

    *out = NULL;
    hudi_status found = hd_base_reader_key_value(op, reader, HD_BLOOM_KEY, &text);
    if (found == HUDI_NOT_FOUND)
        found = hd_base_reader_key_value(op, reader, HD_BLOOM_KEY_OLD, &text);
    if (found == HUDI_NOT_FOUND)
        return HUDI_OK;
    HD_TRY(found);
    found = hd_base_reader_key_value(op, reader, HD_BLOOM_TYPE_KEY, &code);
    if (found != HUDI_OK && found != HUDI_NOT_FOUND)
        return found;
    HD_TRY(hd_bloom_type_parse(op, code, &type));
    return hd_bloom_decode(op, type, text, out);
}

static hudi_status prune_by_bloom(struct hd_op *op, const struct hd_spillable_map *map,
                                  hd_base_reader *reader, struct candidates *candidates)
{
    hudi_status status = HUDI_OK;
    hd_bloom *bloom = NULL;
    struct hd_slice *keys = NULL;
    uint8_t *maybe = NULL;
    int64_t *own = NULL;
    const size_t n = (size_t)candidates->n;

    HD_TRY(read_bloom(op, reader, &bloom));
    if (bloom == NULL)
        return HUDI_OK;
    HD_TRY_OUT(hd_alloc_raw(op, n, sizeof *keys, &keys));
    HD_TRY_OUT(hd_alloc_raw(op, n, sizeof *maybe, &maybe));
    HD_TRY_OUT(hd_alloc_raw(op, n, sizeof *own, &own));
    for (size_t i = 0; i < n; i++)
        keys[i] = hd_spillable_map_key(map, candidates->entries[i]);
    hd_bloom_probe_batch(bloom, keys, n, maybe);
    int64_t n_kept = 0;
    for (size_t i = 0; i < n; i++)
        if (maybe[i])
            own[n_kept++] = candidates->entries[i];
    candidates->entries = candidates->own = own;
    candidates->n = n_kept;
    own = NULL;
out:
    hd_bloom_free(op, bloom);
    hd_free(op, keys);
    hd_free(op, maybe);
    hd_free(op, own);
    return status;
}

/* Does the row group's statistics admit any candidate? Unknown is yes. */
static hudi_status row_group_may_hold(struct hd_op *op, const struct hd_spillable_map *map,
                                      const struct hd_key_group *group, hd_base_reader *reader,
                                      int32_t row_group, int32_t key_column,
                                      const struct candidates *candidates, bool *out)
{
    hudi_status status = HUDI_OK;
    struct hd_column_stats stats = {0};
    struct hd_arena arena = {0};
    struct hd_view min, max;
    const struct ArrowSchema *field = hd_base_reader_schema(reader)->children[key_column];

    *out = true;
    if (!group->same_order)
        return HUDI_OK;
    HD_TRY_OUT(hd_base_reader_column_stats(op, reader, row_group, key_column, &stats));
    if (!stats.has_bounds)
        goto out;
    HD_TRY_OUT(hd_view_open(op, &arena, field, &stats.min, &min));
    HD_TRY_OUT(hd_view_open(op, &arena, field, &stats.max, &max));
    const struct hd_key_group kept = {.entries = (int64_t *)candidates->entries,
                                      .n = candidates->n};
    const int64_t first = lower_bound(map, &kept, hd_view_bytes(&min, 0), false);
    *out = first < kept.n && hd_slice_compare(hd_spillable_map_key(map, kept.entries[first]),
                                              hd_view_bytes(&max, 0)) <= 0;
out:
    hd_column_stats_clear(&stats);
    hd_arena_clear(&arena);
    return status;
}

static hudi_status choose_row_groups(struct hd_op *op, const struct hd_table_snapshot *table,
                                     const struct hd_spillable_map *map,
                                     const struct hd_key_group *group, hd_base_reader *reader,
                                     const struct candidates *candidates, int32_t *chosen,
                                     int32_t *n_chosen)
{
    const int32_t key_column =
        table->config.populate_meta_fields
            ? hd_schema_find(hd_base_reader_schema(reader), HD_META_RECORD_KEY)
            : -1;
    const int32_t n = hd_base_reader_n_row_groups(reader);

    *n_chosen = 0;
    for (int32_t i = 0; i < n; i++) {
        bool may_hold = true;
        if (key_column >= 0)
            HD_TRY(
                row_group_may_hold(op, map, group, reader, i, key_column, candidates, &may_hold));
        if (may_hold)
            chosen[(*n_chosen)++] = i;
    }
    return HUDI_OK;
}

/* Read the keys of the chosen row groups and look each up. */
static hudi_status probe_row_groups(struct hd_op *op, const struct hd_index_request *request,
                                    const struct hd_key_group *group, hd_base_reader *reader,
                                    const int32_t *row_groups, int32_t n_row_groups,
                                    struct hd_file_hits *hits)
{
    hudi_status status = HUDI_OK;
    struct hd_stored_keys *keys = NULL;
    int64_t *entries = NULL;
    size_t entry_capacity = 0, hit_capacity = 0;

    HD_TRY_OUT(hd_stored_keys_open(op, &request->table->config, request->options, request->encoding,
                                   reader, row_groups, n_row_groups, &keys));
    for (;;) {
        struct hd_view view;
        int64_t first_row;

        status = hd_stored_keys_next(op, keys, &view, &first_row);
        if (status == HUDI_END) {
            status = HUDI_OK;
            break;
        }
        HD_TRY_OUT(status);
        const size_t n = (size_t)view.length;
        HD_TRY_OUT(hd_grow(op, &entries, &entry_capacity, n, sizeof *entries));
        hd_spillable_map_find(request->map, group->space, &view, 0, view.length, entries);
        for (size_t i = 0; i < n; i++) {
            if (entries[i] < 0)
                continue;
            HD_TRY_OUT(
                hd_grow(op, &hits->hits, &hit_capacity, hits->n_hits + 1, sizeof *hits->hits));
            hits->hits[hits->n_hits++] =
                (struct hd_index_hit){.row = first_row + (int64_t)i, .entry = entries[i]};
        }
    }
out:
    hd_stored_keys_close(op, keys);
    hd_free(op, entries);
    return status;
}

hudi_status hd_key_lookup(struct hd_op *op, const struct hd_index_request *request,
                          const struct hd_key_group *group, const struct hd_file_slice *slice,
                          struct hd_file_hits *hits)
{
    hudi_status status = HUDI_OK;
    hd_base_reader *reader = NULL;
    struct candidates candidates = {0};
    int32_t *row_groups = NULL, n_row_groups = 0;
    /* Where rows have no meta columns, what files say of keys (Spark leaves the columns, empty)
     * says nothing. */
    const bool keys_told = request->table->config.populate_meta_fields;
    const bool bloom =
        keys_told && (request->type == HD_INDEX_BLOOM || request->type == HD_INDEX_GLOBAL_BLOOM);

    HD_TRY_OUT(open_base_file(op, request->table, slice, &reader));
    candidates = (struct candidates){.entries = group->entries, .n = group->n};
    if (keys_told)
        HD_TRY_OUT(prune_by_range(op, request->map, group, reader, &candidates));
    if (candidates.n == 0)
        goto out;
    if (bloom && candidates.n * BLOOM_MAX_SHARE < hd_base_reader_n_rows(reader))
        HD_TRY_OUT(prune_by_bloom(op, request->map, reader, &candidates));
    if (candidates.n == 0)
        goto out;
    HD_TRY_OUT(hd_alloc_array(op, (size_t)hd_base_reader_n_row_groups(reader), sizeof *row_groups,
                              &row_groups));
    HD_TRY_OUT(choose_row_groups(op, request->table, request->map, group, reader, &candidates,
                                 row_groups, &n_row_groups));
    if (n_row_groups > 0)
        HD_TRY_OUT(probe_row_groups(op, request, group, reader, row_groups, n_row_groups, hits));
out:
    hd_base_reader_close(reader);
    hd_free(op, candidates.own);
    hd_free(op, row_groups);
    return status;
}
