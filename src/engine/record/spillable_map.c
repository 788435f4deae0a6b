/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/record/spillable_map.h"

#include <inttypes.h>
#include <string.h>

#include "arrow/array.h"
#include "arrow/gather.h"
#include "arrow/schema.h"
#include "engine/record/spillable_map_internal.h"

hudi_status hd_spillable_map_new(struct hd_op *op, const struct hd_spillable_map_options *options,
                                 hd_spillable_map **out)
{
    hd_spillable_map *map;
    hudi_status status;

    *out = NULL;
    HD_TRY(hd_alloc(op, sizeof *map, &map));
    map->memory_bytes = options->memory_bytes;
    map->index.keep_all = options->keep_all;
    HD_TRY_OUT(hd_schema_copy(op, options->schema, &map->schema));
    HD_TRY_OUT(hd_disk_map_new(op, options, &map->disk));
    *out = map;
    map = NULL;
out:
    hd_spillable_map_free(op, map);
    return status;
}

void hd_spillable_map_free(struct hd_op *op, hd_spillable_map *map)
{
    if (map == NULL)
        return;
    for (uint32_t i = 0; i < map->n_sources; i++)
        hd_map_source_clear(op, map, &map->sources[i]);
    hd_budget_release(op, map->reserved_bytes);
    hd_key_index_clear(op, &map->index);
    hd_disk_map_free(op, map->disk);
    hd_schema_clear(&map->schema);
    hd_free(op, map->sources);
    hd_free(op, map->locations);
    hd_free(op, map);
}

int64_t hd_spillable_map_length(const hd_spillable_map *map)
{
    return map->index.n_entries;
}

struct hd_slice hd_spillable_map_key(const hd_spillable_map *map, int64_t entry)
{
    return hd_key_index_key(&map->index, entry);
}

uint32_t hd_spillable_map_space(const hd_spillable_map *map, int64_t entry)
{
    return hd_key_index_space(&map->index, entry);
}

int64_t hd_spillable_map_older(const hd_spillable_map *map, int64_t entry)
{
    return hd_key_index_older(&map->index, entry);
}

bool hd_spillable_map_is_newest(const hd_spillable_map *map, int64_t entry)
{
    return hd_key_index_is_newest(&map->index, entry);
}

void hd_spillable_map_find(const hd_spillable_map *map, uint32_t space, const struct hd_view *keys,
                           int64_t start, int64_t n, int64_t *entries)
{
    const struct hd_key_index *const index = &map->index;
    uint32_t hashes[HD_KEY_CHUNK];

    for (int64_t at = 0; at < n; at += HD_KEY_CHUNK) {
        const int64_t n_here = n - at < HD_KEY_CHUNK ? n - at : HD_KEY_CHUNK;

        hd_key_index_prepare(index, keys, NULL, start + at, n_here, NULL, space, hashes);
        for (int64_t i = 0; i < n_here; i++)
            hd_key_index_prefetch_key(index, hashes[i]);
        for (int64_t i = 0; i < n_here; i++) {
            const int64_t row = start + at + i;
            entries[at + i] =
                hd_view_is_null(keys, row)
                    ? -1
                    : hd_key_index_find(index, hashes[i], space, hd_view_bytes(keys, row));
        }
    }
}

/* ---- get ---------------------------------------------------------------------------------- */

/* Rows wanted: in memory as runs over the sources that have any, on disk as locators. The array of
 * those from disk is `arrays[0]`. */
struct get {
    struct hd_op *op;
    const hd_spillable_map *map;
    const struct ArrowArray **arrays;
    uint32_t *numbers; /* of the map's sources among `arrays`; 0: not yet */
    uint32_t n_arrays;
    struct hd_run_list runs;
    uint64_t *locators;
    size_t n_locators;
    struct ArrowArray from_disk;
};

static hudi_status fail_entry(struct hd_op *op, const hd_spillable_map *map, int64_t entry)
{
    return hd_fail(op, HUDI_INVALID, "entry %" PRId64 " of a spillable map of %u", entry,
                   map->index.n_entries);
}

static hudi_status sort_out(struct get *g, const int64_t *entries, int64_t n)
{
    const hd_spillable_map *const map = g->map;

    for (int64_t i = 0; i < n; i++) {
        if (entries[i] < 0 || entries[i] >= map->index.n_entries)
            return fail_entry(g->op, map, entries[i]);
        const uint64_t location = map->locations[entries[i]];
        if (hd_map_on_disk(location)) {
            HD_TRY(hd_run_list_add(g->op, &g->runs, 0, (uint32_t)g->n_locators, 1));
            g->locators[g->n_locators++] = location & ~HD_MAP_ON_DISK;
            continue;
        }
        const uint32_t source = hd_map_source_of(location);
        uint32_t *const number = &g->numbers[source];
        if (*number == 0) {
            *number = g->n_arrays;
            g->arrays[g->n_arrays++] = &map->sources[source].array;
        }
        HD_TRY(hd_run_list_add(g->op, &g->runs, *number, hd_map_row_of(location), 1));
    }
    return HUDI_OK;
}

hudi_status hd_spillable_map_get(struct hd_op *op, const hd_spillable_map *map,
                                 const int64_t *entries, int64_t n, struct ArrowArray *out)
{
    struct get g = {.op = op, .map = map, .n_arrays = 1};
    hudi_status status;

    *out = (struct ArrowArray){0};
    HD_TRY(hd_op_check_cancel(op));
    if (n < 0 || n > UINT32_MAX / 2)
        return hd_fail(op, HUDI_INVALID, "%" PRId64 " rows of a spillable map at once", n);
    HD_TRY_OUT(hd_alloc_raw(op, (size_t)map->n_sources + 1, sizeof(void *), &g.arrays));
    HD_TRY_OUT(hd_alloc_array(op, map->n_sources, sizeof *g.numbers, &g.numbers));
    if (map->n_on_disk > 0)
        HD_TRY_OUT(hd_alloc_raw(op, (size_t)n, sizeof *g.locators, &g.locators));
    HD_TRY_OUT(sort_out(&g, entries, n));
    if (g.n_locators > 0) {
        HD_TRY_OUT(hd_disk_map_get(op, map->disk, g.locators, g.n_locators, &g.from_disk));
        if (g.n_locators == (size_t)n) {
            hd_array_move(&g.from_disk, out);
            goto out;
        }
    }
    /* Without rows from disk, number 0 has no runs and may be any array. */
    g.arrays[0] = g.n_locators > 0 ? &g.from_disk : g.n_arrays > 1 ? g.arrays[1] : NULL;
    HD_TRY_OUT(hd_gather(op, &map->schema, g.arrays, g.arrays[0] == NULL ? 0 : g.n_arrays,
                         g.runs.runs, g.runs.n_runs, out));
out:
    hd_array_clear(&g.from_disk);
    hd_free(op, g.arrays);
    hd_free(op, g.numbers);
    hd_free(op, g.locators);
    hd_free(op, g.runs.runs);
    return status;
}

hudi_status hd_spillable_map_keys(struct hd_op *op, const hd_spillable_map *map,
                                  const int64_t *entries, int64_t n, struct ArrowArray *out)
{
    uint64_t n_bytes = 0;
    int32_t *offsets = NULL;
    uint8_t *data = NULL;
    hudi_status status;

    *out = (struct ArrowArray){0};
    for (int64_t i = 0; i < n; i++) {
        if (entries[i] < 0 || entries[i] >= map->index.n_entries)
            return fail_entry(op, map, entries[i]);
        n_bytes += hd_key_index_key(&map->index, entries[i]).size;
    }
    if (n_bytes > INT32_MAX)
        return hd_fail(op, HUDI_INVALID,
                       "%" PRId64 " keys hold %" PRIu64 " bytes, more than one array can", n,
                       n_bytes);
    HD_TRY_OUT(hd_buffer_new_raw(op, ((uint64_t)n + 1) * sizeof *offsets, &offsets));
    HD_TRY_OUT(hd_buffer_new_raw(op, n_bytes, &data));
    offsets[0] = 0;
    for (int64_t i = 0; i < n; i++) {
        const struct hd_slice key = hd_key_index_key(&map->index, entries[i]);
        if (key.size > 0)
            memcpy(data + offsets[i], key.data, key.size);
        offsets[i + 1] = offsets[i] + (int32_t)key.size;
    }
    return hd_array_string(op, n, 0, NULL, offsets, data, out);
out:
    hd_buffer_free(offsets);
    hd_buffer_free(data);
    return status;
}

hudi_status hd_spillable_map_batch(struct hd_op *op, const hd_spillable_map *map,
                                   const int64_t *entries, int64_t n,
                                   struct hd_shared_array **records, struct ArrowArray *keys)
{
    struct ArrowArray batch = {0};

    HD_TRY(hd_spillable_map_get(op, map, entries, n, &batch));
    hudi_status status = hd_spillable_map_keys(op, map, entries, n, keys);
    if (status == HUDI_OK)
        status = hd_shared_array_new(op, &batch, records);
    hd_array_clear(&batch);
    return status;
}

/* ---- sizes -------------------------------------------------------------------------------- */

uint64_t hd_spillable_map_memory_bytes(const hd_spillable_map *map)
{
    return map->record_bytes + map->reserved_bytes + map->index.reserved_bytes +
           hd_disk_map_memory_bytes(map->disk);
}

uint64_t hd_spillable_map_disk_bytes(const hd_spillable_map *map)
{
    return hd_disk_map_disk_bytes(map->disk);
}

int64_t hd_spillable_map_spilled_rows(const hd_spillable_map *map)
{
    return map->n_on_disk;
}
