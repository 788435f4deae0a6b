/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Adding rows: look up all keys, decide row by row between old and new, place what is new in memory
 * or on disk, commit. Entries change as the put goes on; the first change of each is written down
 * (`touched`), which is what the commit goes through and what a failure puts back.
 */
#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "arrow/array.h"
#include "arrow/gather.h"
#include "engine/record/spillable_map_internal.h"

/* Sources of a put. INCOMING is the caller's batch, FETCHED the old records that were read from
 * disk, PENDING rows of both that are not built yet; from MERGED on those that are. */
enum { INCOMING, FETCHED, PENDING, MERGED };

struct touched {
    uint32_t entry;
    bool in_memory;  /* where it goes */
    uint64_t before; /* HD_MAP_NOWHERE: a new key */
};

/* A row made of both: column i is the new one's where take_new[i] is set. */
struct pending {
    uint32_t entry;
    uint32_t new_row;
    uint64_t old; /* location */
    uint8_t *take_new;
};

struct part {
    struct ArrowArray array; /* owned, but for INCOMING */
    struct hd_view *columns;
    uint64_t row_bytes;
    uint32_t n_live; /* MERGED: entries that are there */
};

struct put {
    struct hd_op *op;
    hd_spillable_map *map;
    const struct hd_view *keys;
    const uint32_t *spaces;
    const int64_t *rows;
    int64_t n;
    struct hd_shared_array *batch;
    const struct hd_spillable_map_resolve *resolve;
    int64_t *entries;
    uint32_t n_entries_before;
    struct hd_arena arena;
    struct touched *touched;
    size_t n_touched;
    struct part *parts;
    size_t n_parts;
    size_t parts_capacity;
    struct pending *pending;
    size_t n_pending;
    size_t pending_capacity;
    struct hd_map_source added[2]; /* by handle, and copied */
    uint32_t n_added;
};

static inline int64_t row_at(const struct put *p, int64_t i)
{
    return p->rows == NULL ? i : p->rows[i];
}

static inline uint64_t put_location(uint32_t part, uint32_t row)
{
    return hd_map_location(HD_MAP_FIRST_PUT_SOURCE + part, row);
}

/* The part of this put that a location is in, or -1. */
static inline int64_t part_of(uint64_t location)
{
    if (hd_map_on_disk(location) || location == HD_MAP_NOWHERE)
        return -1;
    return (int64_t)hd_map_source_of(location) - HD_MAP_FIRST_PUT_SOURCE;
}

static inline void touch(struct put *p, uint32_t entry)
{
    const uint64_t location = p->map->locations[entry];

    if (part_of(location) < 0)
        p->touched[p->n_touched++] = (struct touched){.entry = entry, .before = location};
}

/* ---- looking up --------------------------------------------------------------------------- */

static hudi_status open_part(struct put *p, size_t number)
{
    struct part *const part = &p->parts[number];
    struct hd_view root;

    HD_TRY(hd_view_open(p->op, &p->arena, &p->map->schema, &part->array, &root));
    part->columns = root.children;
    if (part->array.length > 0) {
        const uint64_t n = (uint64_t)part->array.length;
        part->row_bytes = (hd_array_bytes(&p->map->schema, &part->array) + n - 1) / n;
    }
    return HUDI_OK;
}

static hudi_status reserve_keys(struct put *p)
{
    uint64_t n_bytes = 0;
    const int64_t n_rows = hd_shared_array_get(p->batch)->length;

    for (int64_t i = 0; i < p->n; i++) {
        const int64_t row = row_at(p, i);

        if (row < 0 || row >= n_rows || row >= p->keys->length)
            return hd_fail(p->op, HUDI_INVALID, "row %" PRId64 " of a batch of %" PRId64, row,
                           n_rows);
        if (hd_view_is_null(p->keys, row))
            return hd_fail(p->op, HUDI_INVALID, "the record key of row %" PRId64 " is null", row);
        n_bytes += hd_view_bytes(p->keys, row).size;
    }
    HD_TRY(hd_key_index_reserve(p->op, &p->map->index, (uint64_t)p->n, n_bytes, p->spaces != NULL));
    return hd_grow_reserved(p->op, &p->map->locations, &p->map->locations_capacity,
                            p->map->index.n_entries + (uint64_t)p->n, sizeof *p->map->locations,
                            "locations", &p->map->reserved_bytes);
}

static void look_up(struct put *p)
{
    struct hd_key_index *const index = &p->map->index;
    uint32_t hashes[HD_KEY_CHUNK];

    for (int64_t start = 0; start < p->n; start += HD_KEY_CHUNK) {
        const int64_t n = p->n - start < HD_KEY_CHUNK ? p->n - start : HD_KEY_CHUNK;

        hd_key_index_prepare(index, p->keys, p->rows == NULL ? NULL : p->rows + start, start, n,
                             p->spaces, 0, hashes);
        for (int64_t i = 0; i < n; i++)
            hd_key_index_prefetch_key(index, hashes[i]);
        for (int64_t i = 0; i < n; i++) {
            const int64_t row = row_at(p, start + i);
            const uint32_t space = p->spaces == NULL ? 0 : p->spaces[row];
            const struct hd_slice key = hd_view_bytes(p->keys, row);
            int64_t entry = index->keep_all ? -1 : hd_key_index_find(index, hashes[i], space, key);

            if (entry < 0) {
                entry = hd_key_index_add(index, hashes[i], space, key);
                p->map->locations[entry] = HD_MAP_NOWHERE;
            }
            p->entries[start + i] = entry;
        }
    }
}

/* All old records that lie on disk, in one read. */
static hudi_status fetch(struct put *p)
{
    uint64_t *const locations = p->map->locations;
    uint64_t *locators;
    size_t n = 0;

    HD_TRY(hd_arena_array(p->op, &p->arena, (size_t)p->n, sizeof *locators, &locators));
    for (int64_t i = 0; i < p->n; i++) {
        const uint32_t entry = (uint32_t)p->entries[i];

        if (!hd_map_on_disk(locations[entry]))
            continue;
        locators[n] = locations[entry] & ~HD_MAP_ON_DISK;
        touch(p, entry);
        locations[entry] = put_location(FETCHED, (uint32_t)n++);
    }
    if (n == 0)
        return HUDI_OK;
    HD_TRY(hd_disk_map_get(p->op, p->map->disk, locators, n, &p->parts[FETCHED].array));
    return open_part(p, FETCHED);
}

/* ---- deciding ----------------------------------------------------------------------------- */

static hudi_status add_part(struct put *p, struct ArrowArray *array, uint32_t n_live)
{
    const hudi_status status =
        hd_grow(p->op, &p->parts, &p->parts_capacity, p->n_parts + 1, sizeof *p->parts);

    if (status != HUDI_OK) {
        hd_array_clear(array);
        return status;
    }
    struct part *const part = &p->parts[p->n_parts++];
    *part = (struct part){.n_live = n_live};
    hd_array_move(array, &part->array);
    return open_part(p, p->n_parts - 1);
}

static const struct ArrowArray *array_of(const struct put *p, uint64_t location)
{
    const int64_t part = part_of(location);

    return part < 0 ? &p->map->sources[hd_map_source_of(location)].array : &p->parts[part].array;
}

/* One column of all pending rows; `sources` has room for one more than there are rows. */
static hudi_status build_column(struct put *p, int64_t column, const struct ArrowArray **sources,
                                struct hd_run_list *runs, struct ArrowArray *out)
{
    const struct ArrowArray *const incoming = &p->parts[INCOMING].array;
    uint32_t n_sources = 1;

    /* Columns as such: rows count from the parents' offsets. */
    hd_run_list_reset(runs);
    sources[0] = incoming->children[column];
    for (size_t i = 0; i < p->n_pending; i++) {
        const struct pending *const m = &p->pending[i];
        const struct ArrowArray *const old = array_of(p, m->old);

        if (m->take_new[column]) {
            HD_TRY(hd_run_list_add(p->op, runs, 0, (uint32_t)(incoming->offset + m->new_row), 1));
            continue;
        }
        if (sources[n_sources - 1] != old->children[column])
            sources[n_sources++] = old->children[column];
        HD_TRY(hd_run_list_add(p->op, runs, n_sources - 1,
                               (uint32_t)(old->offset + hd_map_row_of(m->old)), 1));
    }
    return hd_gather(p->op, p->map->schema.children[column], sources, n_sources, runs->runs,
                     runs->n_runs, out);
}

static void drop_parts_without_rows(struct put *p)
{
    for (size_t i = 0; i < p->n_pending; i++) {
        const int64_t part = part_of(p->pending[i].old);

        if (part >= MERGED && p->parts[part].n_live == 0)
            hd_array_clear(&p->parts[part].array);
    }
}

/* Build the pending rows: a part of their own, where their entries move. */
static hudi_status build_pending(struct put *p)
{
    const int64_t n_columns = p->map->schema.n_children;
    const uint32_t n = (uint32_t)p->n_pending;
    const struct ArrowArray **sources = NULL;
    struct ArrowArray *columns = NULL, built;
    struct hd_run_list runs = {0};
    hudi_status status = HUDI_OK;

    if (n == 0)
        return HUDI_OK;
    HD_TRY_OUT(hd_alloc_raw(p->op, n + 1, sizeof(void *), &sources));
    HD_TRY_OUT(hd_alloc_array(p->op, (size_t)n_columns, sizeof *columns, &columns));
    for (int64_t i = 0; i < n_columns; i++)
        HD_TRY_OUT(build_column(p, i, sources, &runs, &columns[i]));
    HD_TRY_OUT(hd_array_struct(p->op, columns, (int32_t)n_columns, n, &built));
    HD_TRY_OUT(add_part(p, &built, 0));
    for (uint32_t i = 0; i < n; i++) {
        uint64_t *const location = &p->map->locations[p->pending[i].entry];
        assert(*location == put_location(PENDING, i));
        *location = put_location((uint32_t)p->n_parts - 1, i);
        p->parts[p->n_parts - 1].n_live++;
    }
    drop_parts_without_rows(p);
    p->n_pending = 0;
out:
    for (int64_t i = 0; status != HUDI_OK && columns != NULL && i < n_columns; i++)
        hd_array_clear(&columns[i]);
    hd_free(p->op, sources);
    hd_free(p->op, columns);
    hd_free(p->op, runs.runs);
    return status;
}

static hudi_status columns_of(struct put *p, uint64_t location, const struct hd_view **out)
{
    const int64_t part = part_of(location);

    if (part < 0)
        return hd_map_source_views(p->op, p->map, &p->map->sources[hd_map_source_of(location)],
                                   out);
    *out = p->parts[part].columns;
    return HUDI_OK;
}

static inline void leave_part(struct put *p, uint64_t location)
{
    const int64_t part = part_of(location);

    if (part >= MERGED)
        p->parts[part].n_live--;
}

static hudi_status merge_rows(struct put *p, uint32_t entry, int64_t row,
                              const struct hd_view *old_columns)
{
    uint64_t *const location = &p->map->locations[entry];
    const struct hd_view *const new_columns = p->parts[INCOMING].columns;
    const int64_t n_columns = p->map->schema.n_children;
    struct pending m = {.entry = entry, .new_row = (uint32_t)row, .old = *location};

    HD_TRY(hd_arena_alloc(p->op, &p->arena, (size_t)n_columns, &m.take_new));
    for (int64_t i = 0; i < n_columns; i++)
        m.take_new[i] = p->resolve->take_new(p->resolve->self, (int32_t)i, old_columns,
                                             hd_map_row_of(*location), new_columns, row);
    HD_TRY(hd_grow(p->op, &p->pending, &p->pending_capacity, p->n_pending + 1, sizeof *p->pending));
    p->pending[p->n_pending] = m;
    leave_part(p, *location);
    touch(p, entry);
    *location = put_location(PENDING, (uint32_t)p->n_pending++);
    return HUDI_OK;
}

static hudi_status decide(struct put *p, uint32_t entry, int64_t row)
{
    uint64_t *const location = &p->map->locations[entry];

    if (*location != HD_MAP_NOWHERE && p->resolve != NULL) {
        const struct hd_view *old_columns;
        bool columns = false;

        if (part_of(*location) == PENDING)
            HD_TRY(build_pending(p));
        HD_TRY(columns_of(p, *location, &old_columns));
        const bool replace =
            p->resolve->replace(p->resolve->self, old_columns, hd_map_row_of(*location),
                                p->parts[INCOMING].columns, row, &columns);
        if (columns)
            return merge_rows(p, entry, row, old_columns);
        if (!replace)
            return HUDI_OK;
    }
    leave_part(p, *location);
    touch(p, entry);
    *location = put_location(INCOMING, (uint32_t)row);
    return HUDI_OK;
}

/* ---- placing ------------------------------------------------------------------------------ */

static inline bool is_record(uint64_t location)
{
    return location != HD_MAP_NOWHERE && !hd_map_on_disk(location);
}

/* What was in memory stays there; then what still fits, in order; the rest goes to disk. */
static void choose(struct put *p)
{
    hd_spillable_map *const map = p->map;
    uint64_t used = map->record_bytes;

    for (size_t i = 0; i < p->n_touched; i++) {
        struct touched *const t = &p->touched[i];
        if (!is_record(t->before))
            continue;
        t->in_memory = true;
        used -= map->sources[hd_map_source_of(t->before)].row_bytes;
        used += p->parts[part_of(map->locations[t->entry])].row_bytes;
    }
    for (size_t i = 0; i < p->n_touched; i++) {
        struct touched *const t = &p->touched[i];
        const int64_t part = part_of(map->locations[t->entry]);
        if (t->in_memory || part == FETCHED)
            continue;
        const uint64_t bytes = p->parts[part].row_bytes;
        if (used > map->memory_bytes || bytes > map->memory_bytes - used)
            continue;
        t->in_memory = true;
        used += bytes;
    }
}

/* Rows for the disk go there; old records that stay get their old location back. */
static hudi_status spill(struct put *p)
{
    for (size_t i = 0; i < p->n_touched; i++) {
        const struct touched *const t = &p->touched[i];
        uint64_t *const location = &p->map->locations[t->entry];
        const int64_t part = part_of(*location);
        uint64_t locator;

        if (part == FETCHED)
            *location = t->before;
        if (part == FETCHED || t->in_memory)
            continue;
        HD_TRY(hd_disk_map_put(p->op, p->map->disk, p->parts[part].columns,
                               hd_map_row_of(*location), &locator));
        *location = HD_MAP_ON_DISK | locator;
    }
    return HUDI_OK;
}

static hudi_status add_source(struct put *p, struct ArrowArray *array)
{
    HD_TRY(hd_map_source_init(p->op, p->map, array, &p->added[p->n_added]));
    p->n_added++;
    return HUDI_OK;
}

/* The incoming batch itself, since most of its rows are wanted. */
static hudi_status keep_batch(struct put *p)
{
    struct ArrowArray handle;

    HD_TRY(hd_array_share(p->op, p->batch, -1, &handle));
    HD_TRY(add_source(p, &handle));
    struct hd_map_source *const source = &p->added[p->n_added - 1];
    for (size_t i = 0; i < p->n_touched; i++) {
        const uint64_t location = p->map->locations[p->touched[i].entry];
        if (part_of(location) != INCOMING)
            continue;
        source->entries[hd_map_row_of(location)] = p->touched[i].entry;
        source->n_live++;
    }
    return HUDI_OK;
}

static bool is_copied(const struct put *p, const struct touched *t, bool keep)
{
    const int64_t part = part_of(p->map->locations[t->entry]);

    return part >= 0 && !(keep && part == INCOMING);
}

/* Rows in memory that are not in a batch kept, in an array of their own. */
static hudi_status copy_rows(struct put *p, bool keep)
{
    const struct ArrowArray **arrays = NULL;
    struct hd_run_list runs = {0};
    struct ArrowArray copied;
    hudi_status status = HUDI_OK;
    uint32_t n = 0;
    uint32_t *numbers = NULL; /* of the parts among `arrays` */
    uint32_t n_arrays = 0;

    HD_TRY_OUT(hd_alloc_raw(p->op, p->n_parts, sizeof(void *), &arrays));
    HD_TRY_OUT(hd_alloc_raw(p->op, p->n_parts, sizeof *numbers, &numbers));
    memset(numbers, 0xff, p->n_parts * sizeof *numbers);
    for (size_t i = 0; i < p->n_touched; i++) {
        if (!is_copied(p, &p->touched[i], keep))
            continue;
        const uint64_t location = p->map->locations[p->touched[i].entry];
        uint32_t *const number = &numbers[part_of(location)];
        if (*number == UINT32_MAX) {
            *number = n_arrays;
            arrays[n_arrays++] = array_of(p, location);
        }
        HD_TRY_OUT(hd_run_list_add(p->op, &runs, *number, hd_map_row_of(location), 1));
    }
    if (runs.n_rows == 0)
        goto out;
    HD_TRY_OUT(
        hd_gather(p->op, &p->map->schema, arrays, n_arrays, runs.runs, runs.n_runs, &copied));
    HD_TRY_OUT(add_source(p, &copied));
    struct hd_map_source *const source = &p->added[p->n_added - 1];
    for (size_t i = 0; i < p->n_touched; i++) {
        if (is_copied(p, &p->touched[i], keep))
            source->entries[n++] = p->touched[i].entry;
    }
    source->n_live = n;
out:
    hd_free(p->op, arrays);
    hd_free(p->op, numbers);
    hd_free(p->op, runs.runs);
    return status;
}

static hudi_status place(struct put *p)
{
    uint64_t n_incoming = 0;

    choose(p);
    HD_TRY(spill(p));
    for (size_t i = 0; i < p->n_touched; i++)
        n_incoming += part_of(p->map->locations[p->touched[i].entry]) == INCOMING;
    const bool keep = n_incoming > 0 && n_incoming >= (uint64_t)p->parts[INCOMING].array.length / 2;
    if (keep)
        HD_TRY(keep_batch(p));
    HD_TRY(copy_rows(p, keep));
    return hd_map_reserve_sources(p->op, p->map, p->n_added);
}

/* ---- the end ------------------------------------------------------------------------------ */

static void commit(struct put *p)
{
    for (size_t i = 0; i < p->n_touched; i++) {
        const struct touched *const t = &p->touched[i];
        const uint64_t now = p->map->locations[t->entry];

        if (now == t->before)
            continue;
        if (is_record(t->before))
            hd_map_forget_row(p->op, p->map, t->before);
        p->map->n_on_disk += hd_map_on_disk(now);
        p->map->n_on_disk -= hd_map_on_disk(t->before);
    }
    for (uint32_t i = 0; i < p->n_added; i++)
        hd_map_add_source(p->map, &p->added[i]);
}

static void undo(struct put *p)
{
    for (size_t i = 0; i < p->n_touched; i++)
        p->map->locations[p->touched[i].entry] = p->touched[i].before;
    hd_key_index_truncate(&p->map->index, p->n_entries_before);
    for (uint32_t i = 0; i < p->n_added; i++)
        hd_map_source_clear(p->op, p->map, &p->added[i]);
}

static hudi_status run(struct put *p)
{
    HD_TRY(reserve_keys(p));
    look_up(p);
    if (p->resolve != NULL && !p->map->index.keep_all && p->map->n_on_disk > 0)
        HD_TRY(fetch(p));
    for (int64_t i = 0; i < p->n; i++)
        HD_TRY(decide(p, (uint32_t)p->entries[i], row_at(p, i)));
    HD_TRY(build_pending(p));
    return place(p);
}

static hudi_status start(struct put *p, int64_t *entries)
{
    const struct ArrowArray *const array = hd_shared_array_get(p->batch);

    if (p->n < 0 || array->length > UINT32_MAX / 2 || array->offset > UINT32_MAX / 2)
        return hd_fail(p->op, HUDI_INVALID, "a batch of %" PRId64 " rows", array->length);
    HD_TRY(hd_map_tidy(p->op, p->map));
    HD_TRY(hd_grow(p->op, &p->parts, &p->parts_capacity, MERGED, sizeof *p->parts));
    memset(p->parts, 0, MERGED * sizeof *p->parts);
    p->n_parts = MERGED;
    p->parts[INCOMING].array = *array;
    HD_TRY(open_part(p, INCOMING));
    HD_TRY(hd_alloc_raw(p->op, (size_t)p->n, sizeof *p->touched, &p->touched));
    p->entries = entries;
    if (entries == NULL)
        HD_TRY(hd_alloc_raw(p->op, (size_t)p->n, sizeof *p->entries, &p->entries));
    return HUDI_OK;
}

hudi_status hd_spillable_map_put(struct hd_op *op, hd_spillable_map *map,
                                 const struct hd_view *keys, const uint32_t *spaces,
                                 struct hd_shared_array *batch, const int64_t *rows, int64_t n,
                                 const struct hd_spillable_map_resolve *resolve, int64_t *entries)
{
    struct put p = {.op = op,
                    .map = map,
                    .keys = keys,
                    .spaces = spaces,
                    .rows = rows,
                    .n = n,
                    .batch = batch,
                    .resolve = resolve,
                    .n_entries_before = map->index.n_entries};
    hudi_status status;

    if (n == 0)
        return HUDI_OK;
    HD_TRY(hd_op_check_cancel(op));
    HD_TRY_OUT(start(&p, entries));
    HD_TRY_OUT(run(&p));
    commit(&p);
out:
    if (status != HUDI_OK)
        undo(&p);
    for (size_t i = FETCHED; i < p.n_parts; i++)
        hd_array_clear(&p.parts[i].array);
    hd_arena_clear(&p.arena);
    if (entries == NULL)
        hd_free(op, p.entries);
    hd_free(op, p.touched);
    hd_free(op, p.parts);
    hd_free(op, p.pending);
    return status;
}
