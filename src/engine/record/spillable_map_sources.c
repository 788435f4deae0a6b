/* SPDX-License-Identifier: Apache-2.0 */
/* The batches whose rows are the records in memory. */
#include <assert.h>
#include <string.h>

#include "arrow/array.h"
#include "arrow/gather.h"
#include "base/checked_int.h"
#include "engine/record/spillable_map_internal.h"

#define MIN_DEAD_ROWS 4096u

/* Small sources are joined when SOURCES_PER_TIER of about the same size have come: a row is copied
 * once a tier at most. The tiers are those of up to 15, 255 and 4095 rows. */
#define SOURCES_PER_TIER 16u
#define LARGE_BYTES ((uint64_t)8 << 20) /* not small, whatever its rows */

#define MAX_JOINED_ROWS 65536u /* in one source that is copied together */
#define MAX_JOINED_BYTES ((uint64_t)64 << 20)

hudi_status hd_map_source_views(struct hd_op *op, const hd_spillable_map *map,
                                struct hd_map_source *source, const struct hd_view **out)
{
    struct hd_view root;

    if (source->views == NULL) {
        HD_TRY(hd_view_open(op, &source->arena, &map->schema, &source->array, &root));
        source->views = root.children;
    }
    *out = source->views;
    return HUDI_OK;
}

hudi_status hd_map_source_init(struct hd_op *op, hd_spillable_map *map, struct ArrowArray *array,
                               struct hd_map_source *out)
{
    const uint64_t n = (uint64_t)array->length;
    const uint64_t bytes = hd_array_bytes(&map->schema, array);
    size_t capacity = 0;
    hudi_status status;

    assert(n > 0 && n <= UINT32_MAX);
    *out = (struct hd_map_source){.n_rows = (uint32_t)n, .row_bytes = (bytes + n - 1) / n};
    hd_array_move(array, &out->array);
    HD_TRY_OUT(hd_grow_reserved(op, &out->entries, &capacity, n, sizeof *out->entries, "entries",
                                &map->reserved_bytes));
    memset(out->entries, 0xff, n * sizeof *out->entries);
    out->entries_capacity = capacity;
out:
    if (status != HUDI_OK)
        hd_map_source_clear(op, map, out);
    return status;
}

void hd_map_source_clear(struct hd_op *op, hd_spillable_map *map, struct hd_map_source *source)
{
    const uint64_t n_bytes = source->entries_capacity * sizeof *source->entries;

    hd_budget_release(op, n_bytes);
    map->reserved_bytes -= n_bytes;
    hd_free(op, source->entries);
    hd_arena_clear(&source->arena);
    hd_array_clear(&source->array);
    *source = (struct hd_map_source){0};
}

hudi_status hd_map_reserve_sources(struct hd_op *op, hd_spillable_map *map, uint32_t n)
{
    if (map->n_sources + n >= HD_MAP_FIRST_PUT_SOURCE)
        return hd_fail(op, HUDI_INVALID, "more than %u batches in one spillable map",
                       HD_MAP_FIRST_PUT_SOURCE);
    return hd_grow_reserved(op, &map->sources, &map->sources_capacity, map->n_sources + n,
                            sizeof *map->sources, "batches", &map->reserved_bytes);
}

/* HD_MAP_N_TIERS for a large one. */
static uint32_t tier_of(const struct hd_map_source *source)
{
    uint32_t tier = 0;

    if (source->n_rows * source->row_bytes > LARGE_BYTES)
        return HD_MAP_N_TIERS;
    for (uint32_t n = source->n_rows; n >= 16 && tier < HD_MAP_N_TIERS; n /= 16)
        tier++;
    return tier;
}

static uint32_t free_source(hd_spillable_map *map)
{
    if (map->n_free_sources > 0) {
        for (uint32_t i = map->first_free_source; i < map->n_sources; i++) {
            if (map->sources[i].n_rows == 0) {
                map->first_free_source = i + 1;
                map->n_free_sources--;
                return i;
            }
        }
        assert(!"a free source that is not there");
    }
    assert(map->n_sources < map->sources_capacity);
    return map->n_sources++;
}

void hd_map_add_source(hd_spillable_map *map, struct hd_map_source *source)
{
    const uint32_t number = free_source(map);

    assert(source->n_live > 0);
    for (uint32_t row = 0; row < source->n_rows; row++) {
        if (source->entries[row] != HD_MAP_NO_ENTRY)
            map->locations[source->entries[row]] = hd_map_location(number, row);
    }
    map->held_rows += source->n_rows;
    map->live_rows += source->n_live;
    map->record_bytes += source->n_live * source->row_bytes;
    map->array_bytes += source->n_rows * source->row_bytes;
    if (tier_of(source) < HD_MAP_N_TIERS)
        map->n_in_tier[tier_of(source)]++;
    map->sources[number] = *source;
    *source = (struct hd_map_source){0};
}

static void drop_source(struct hd_op *op, hd_spillable_map *map, uint32_t number)
{
    struct hd_map_source *const source = &map->sources[number];

    map->held_rows -= source->n_rows;
    map->live_rows -= source->n_live;
    map->record_bytes -= source->n_live * source->row_bytes;
    map->array_bytes -= source->n_rows * source->row_bytes;
    if (tier_of(source) < HD_MAP_N_TIERS)
        map->n_in_tier[tier_of(source)]--;
    hd_map_source_clear(op, map, source);
    map->n_free_sources++;
    if (map->first_free_source > number)
        map->first_free_source = number;
}

void hd_map_forget_row(struct hd_op *op, hd_spillable_map *map, uint64_t location)
{
    const uint32_t number = hd_map_source_of(location);
    struct hd_map_source *const source = &map->sources[number];

    assert(source->n_live > 0);
    source->n_live--;
    map->live_rows--;
    map->record_bytes -= source->row_bytes;
    if (source->n_live == 0)
        drop_source(op, map, number);
}

/* ---- joining ------------------------------------------------------------------------------ */

/* Live rows on their way into one array. */
struct join {
    struct hd_op *op;
    hd_spillable_map *map;
    uint32_t *sources; /* those of the runs, by number */
    const struct ArrowArray **arrays;
    uint32_t n_sources;
    uint32_t *entries; /* of the rows of the runs */
    struct hd_run_list runs;
    uint64_t n_bytes;
};

static hudi_status join_rows(struct join *j)
{
    hd_spillable_map *const map = j->map;
    struct ArrowArray joined;
    struct hd_map_source source;

    if (j->runs.n_rows == 0)
        return HUDI_OK;
    HD_TRY(hd_map_reserve_sources(j->op, map, 1));
    for (uint32_t i = 0; i < j->n_sources; i++)
        j->arrays[i] = &map->sources[j->sources[i]].array;
    HD_TRY(hd_gather(j->op, &map->schema, j->arrays, j->n_sources, j->runs.runs, j->runs.n_runs,
                     &joined));
    HD_TRY(hd_map_source_init(j->op, map, &joined, &source));
    memcpy(source.entries, j->entries, source.n_rows * sizeof *source.entries);
    source.n_live = source.n_rows;
    for (uint32_t i = 0; i < source.n_rows; i++)
        hd_map_forget_row(j->op, map, map->locations[source.entries[i]]);
    hd_map_add_source(map, &source);
    j->n_sources = 0;
    hd_run_list_reset(&j->runs);
    j->n_bytes = 0;
    return HUDI_OK;
}

static hudi_status join_source(struct join *j, uint32_t number)
{
    /* The source goes with the last of its rows, and its number may then be another's. */
    for (uint32_t row = 0, left = j->map->sources[number].n_live; left > 0; row++) {
        if (j->runs.n_rows >= MAX_JOINED_ROWS || j->n_bytes >= MAX_JOINED_BYTES)
            HD_TRY(join_rows(j));
        const struct hd_map_source *const source = &j->map->sources[number];
        const uint32_t entry = source->entries[row];
        if (entry == HD_MAP_NO_ENTRY || j->map->locations[entry] != hd_map_location(number, row))
            continue;
        if (j->n_sources == 0 || j->sources[j->n_sources - 1] != number)
            j->sources[j->n_sources++] = number;
        j->entries[j->runs.n_rows] = entry;
        HD_TRY(hd_run_list_add(j->op, &j->runs, j->n_sources - 1, row, 1));
        j->n_bytes += source->row_bytes;
        left--;
    }
    return HUDI_OK;
}

static bool is_wanted(const struct hd_map_source *source, uint32_t tier)
{
    if (source->n_rows == 0)
        return false;
    return tier < HD_MAP_N_TIERS ? tier_of(source) == tier : source->n_live < source->n_rows / 2;
}

/* Join the sources of a tier, or those mostly dead (HD_MAP_N_TIERS). */
static hudi_status join_sources(struct hd_op *op, hd_spillable_map *map, uint32_t tier)
{
    struct join j = {.op = op, .map = map};
    uint32_t *numbers, n = 0;
    uint64_t n_rows = 0;
    hudi_status status = HUDI_OK;

    HD_TRY(hd_alloc_raw(op, map->n_sources, sizeof *numbers, &numbers));
    HD_TRY_OUT(hd_alloc_raw(op, map->n_sources, sizeof *j.sources, &j.sources));
    HD_TRY_OUT(hd_alloc_raw(op, map->n_sources, sizeof(void *), &j.arrays));
    for (uint32_t i = 0; i < map->n_sources; i++) {
        if (!is_wanted(&map->sources[i], tier))
            continue;
        numbers[n++] = i;
        n_rows += map->sources[i].n_live;
    }
    HD_TRY_OUT(
        hd_alloc_raw(op, hd_min_u64(n_rows, MAX_JOINED_ROWS), sizeof *j.entries, &j.entries));
    for (uint32_t i = 0; i < n; i++)
        HD_TRY_OUT(join_source(&j, numbers[i]));
    HD_TRY_OUT(join_rows(&j));
out:
    hd_free(op, numbers);
    hd_free(op, j.sources);
    hd_free(op, j.arrays);
    hd_free(op, j.entries);
    hd_free(op, j.runs.runs);
    return status;
}

hudi_status hd_map_tidy(struct hd_op *op, hd_spillable_map *map)
{
    const uint64_t n_dead = map->held_rows - map->live_rows;

    if (n_dead > MIN_DEAD_ROWS && n_dead > map->held_rows / 2)
        HD_TRY(join_sources(op, map, HD_MAP_N_TIERS));
    for (uint32_t tier = 0; tier < HD_MAP_N_TIERS; tier++) {
        if (map->n_in_tier[tier] >= SOURCES_PER_TIER)
            HD_TRY(join_sources(op, map, tier));
    }
    return HUDI_OK;
}
