/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/slice/log_merge.h"

#include <inttypes.h>
#include <string.h>

#include "arrow/array.h"
#include "engine/slice/log_damage.h"
#include "engine/slice/log_merge_internal.h"
#include "engine/slice/log_rows.h"

#define MEMORY_SHARE 0.8 /* of the memory for records, as ExternalSpillableMap has it */
#define MAX_BATCH_BYTES (UINT64_C(8) << 20)

/* ---- two entries of one key ---------------------------------------------------------------- */

static bool has_value(const struct hd_merge_columns *columns, const struct hd_view *views,
                      int64_t row, int32_t column)
{
    return !columns->is_partial ||
           hd_view_bool(&views[hd_merge_columns_presence(columns, column)], row);
}

static bool is_delete(const struct hd_merge_columns *columns, const struct hd_merge_side *side)
{
    return hd_merger_is_delete(columns->merger, side);
}

static bool takes_entry_later(void *self, const struct hd_view *old_columns, int64_t old_row,
                              const struct hd_view *new_columns, int64_t new_row, bool *merged)
{
    const struct hd_merge_columns *columns = self;
    const struct hd_merge_side earlier = hd_merge_side_of_entry(columns, old_columns, old_row);
    const struct hd_merge_side later = hd_merge_side_of_entry(columns, new_columns, new_row);

    if (columns->is_partial && !is_delete(columns, &earlier) && !is_delete(columns, &later)) {
        *merged = true;
        return true;
    }
    return hd_merger_precombine(columns->merger, &earlier, &later, merged);
}

/* Of a partial update: a value that only one has is taken from it, else the winner's. */
static bool takes_partial(const struct hd_merge_columns *columns, int32_t column,
                          const struct hd_merge_side *earlier, const struct hd_merge_side *later,
                          const struct hd_view *old_columns, const struct hd_view *new_columns)
{
    const bool in_earlier = has_value(columns, old_columns, earlier->row, column);
    const bool in_later = has_value(columns, new_columns, later->row, column);

    if (in_earlier != in_later)
        return in_later;
    return !hd_merger_stored_wins(columns->merger, earlier, later);
}

static bool takes_later(void *self, int32_t column, const struct hd_view *old_columns,
                        int64_t old_row, const struct hd_view *new_columns, int64_t new_row)
{
    const struct hd_merge_columns *columns = self;
    const struct hd_merge_side earlier = hd_merge_side_of_entry(columns, old_columns, old_row);
    const struct hd_merge_side later = hd_merge_side_of_entry(columns, new_columns, new_row);

    if (column == hd_merge_columns_mark(columns))
        return true; /* both are rows */
    if (columns->is_partial) {
        if (column > hd_merge_columns_mark(columns))
            column -= hd_merge_columns_presence(columns, 0);
        return takes_partial(columns, column, &earlier, &later, old_columns, new_columns);
    }
    if (column < columns->n_meta || column == columns->operation)
        return hd_merger_meta_from_incoming(columns->merger, &earlier, &later);
    return hd_merger_column_from_incoming(columns->merger, column - columns->n_meta, &earlier,
                                          &later);
}

/* ---- a row and an entry -------------------------------------------------------------------- */

enum hd_merge_choice hd_log_merge_choose(const struct hd_merge_columns *columns,
                                         const struct hd_merge_side *stored,
                                         const struct hd_merge_side *entry)
{
    struct hd_merge_side incoming = *entry;

    if (!entry->is_row && columns->rules.delete_beats_base)
        incoming.by_arrival = true;
    if (columns->is_partial && !is_delete(columns, &incoming) && !is_delete(columns, stored))
        return hd_merger_stored_wins(columns->merger, stored, &incoming) ? HD_MERGE_KEEP_STORED
                                                                         : HD_MERGE_COLUMNS;
    const enum hd_merge_choice choice = hd_merger_combine(columns->merger, stored, &incoming);

    if (choice != HD_MERGE_REWRITE_STORED)
        return choice;
    /* Its meta columns are the entry's, where a row of both has these. */
    return hd_merger_rule(columns->merger) == HD_MERGE_PARTIAL_UPDATE ? HD_MERGE_COLUMNS
                                                                      : HD_MERGE_KEEP_STORED;
}

bool hd_log_merge_takes_entry(const struct hd_merge_columns *columns, int32_t column,
                              const struct hd_merge_side *stored, const struct hd_merge_side *entry,
                              const struct hd_view *entry_views)
{
    if (columns->is_partial)
        return has_value(columns, entry_views, entry->row, column);
    if (column < columns->n_meta || column == columns->operation)
        return hd_merger_meta_from_incoming(columns->merger, stored, entry);
    return hd_merger_column_from_incoming(columns->merger, column - columns->n_meta, stored, entry);
}

/* ---- loading ------------------------------------------------------------------------------- */

static hudi_status check_keys(struct hd_op *op, const struct hd_view *keys)
{
    for (int64_t i = 0; keys->validity != NULL && i < keys->length; i++) {
        if (hd_view_is_null(keys, i))
            return hd_fail(op, HUDI_CORRUPT, "record %" PRId64 " of a log block has no key", i);
    }
    return HUDI_OK;
}

/* Which rows are of the part; NULL: all. */
static hudi_status choose_rows(struct hd_op *op, hd_log_merge *merge, const struct hd_view *keys,
                               const int64_t **rows, int64_t *n)
{
    *rows = NULL;
    *n = keys->length;
    if (merge->part.width == HD_ALL_KEYS)
        return HUDI_OK;
    HD_TRY(hd_grow(op, &merge->put_rows, &merge->put_capacity, (size_t)keys->length,
                   sizeof *merge->put_rows));
    *n = 0;
    for (int64_t i = 0; i < keys->length; i++) {
        if (hd_key_part_has(&merge->part, hd_view_bytes(keys, i)))
            merge->put_rows[(*n)++] = i;
    }
    *rows = merge->put_rows;
    return HUDI_OK;
}

static hudi_status put_batch(struct hd_op *op, hd_log_merge *merge, struct hd_log_batch *batch)
{
    const struct hd_spillable_map_resolve resolve = {takes_entry_later, takes_later,
                                                     (void *)merge->columns};
    struct hd_shared_array *shared = NULL;
    const int64_t *rows;
    int64_t n_rows;
    hudi_status status;

    HD_TRY_OUT(choose_rows(op, merge, &batch->keys, &rows, &n_rows));
    HD_TRY_OUT(hd_shared_array_new(op, &batch->entries, &shared));
    if (hd_log_merge_tries_rows(merge))
        HD_TRY_OUT(hd_grow(op, &merge->put_numbers, &merge->number_capacity, (size_t)n_rows,
                           sizeof *merge->put_numbers));
    HD_TRY_OUT(hd_spillable_map_put(op, merge->map, &batch->keys, NULL, shared, rows, n_rows,
                                    &resolve,
                                    hd_log_merge_tries_rows(merge) ? merge->put_numbers : NULL));
    HD_TRY_OUT(hd_log_merge_add_rows(op, merge, batch, n_rows));
    merge->stats.n_records += n_rows;
out:
    hd_shared_array_free(shared);
    hd_array_clear(&batch->entries);
    return status;
}

/* Internal schema of a block, by its instant. */
static const char *schema_of_instant(const struct hd_slice_query *query, struct hd_slice time)
{
    const struct hd_log_instants *instants = query->log_instants;

    if (query->internal == NULL || instants == NULL)
        return NULL;
    for (size_t i = 0; i < instants->n_instants; i++) {
        if (instants->instants[i].is_committed &&
            hd_slice_equal(hd_slice_text(instants->instants[i].time), time))
            return instants->instants[i].schema;
    }
    return NULL;
}

/* Where the entries of the log files go; `batch->entries` is taken, also on failure. */
typedef hudi_status take_batch(struct hd_op *op, hd_log_merge *merge, struct hd_log_batch *batch);

static hudi_status spool_batch(struct hd_op *op, hd_log_merge *merge, struct hd_log_batch *batch)
{
    const hudi_status status = hd_entry_spool_add(op, merge->spool, batch);

    hd_array_clear(&batch->entries);
    return status;
}

/* The blocks of one pass. */
struct pass {
    take_batch *take;
    hd_log_rows *rows;
    hd_log_reader *file; /* number `file_number` */
    int64_t file_number; /* -1: none */
};

static hudi_status open_block(struct hd_op *op, hd_log_merge *merge, struct pass *pass,
                              uint32_t number)
{
    const struct hd_slice_query *query = &merge->columns->query;
    const struct hd_log_scan_block *info = &merge->scan.blocks[number];

    return hd_log_rows_begin(op, pass->rows, pass->file, info,
                             schema_of_instant(query, merge->scan.entries[number].instant));
}

/* `out->entries` is the caller's only on success. */
static hudi_status next_batch(struct hd_op *op, struct pass *pass, struct hd_log_batch *out)
{
    HD_TRY(hd_log_rows_next(op, pass->rows, out));
    const hudi_status status = check_keys(op, &out->keys);
    if (status != HUDI_OK)
        hd_array_clear(&out->entries);
    return status;
}

/* What became of a block. */
enum block_fate { TAKEN, DAMAGED, DAMAGED_BEHIND_ROWS };

static hudi_status read_block(struct hd_op *op, hd_log_merge *merge, struct pass *pass,
                              uint32_t number, enum block_fate *fate)
{
    const struct hd_slice_query *query = &merge->columns->query;
    const struct hd_log_scan_block *info = &merge->scan.blocks[number];
    struct hd_log_batch batch;
    bool any = false;

    *fate = TAKEN;
    merge->stats.n_reads++;
    if (pass->file_number != info->file) {
        hd_log_reader_close(op, pass->file);
        pass->file = NULL;
        pass->file_number = info->file;
        HD_TRY(hd_log_scan_open_file(op, query, merge->slice, info->file, &pass->file));
    }
    const char *const path = hd_input_file_path(hd_log_reader_file(pass->file));
    hudi_status status = open_block(op, merge, pass, number);
    while (status == HUDI_OK) {
        status = next_batch(op, pass, &batch);
        if (status != HUDI_OK)
            break;
        HD_TRY(hd_fail_path(op, pass->take(op, merge, &batch), path));
        any = true;
    }
    if (status == HUDI_END)
        return HUDI_OK;
    HD_TRY(hd_log_damage(op, query, path, info->offset, status));
    *fate = any ? DAMAGED_BEHIND_ROWS : DAMAGED;
    return HUDI_OK;
}

static hudi_status open_map(struct hd_op *op, const struct hd_merge_columns *columns,
                            uint64_t memory_bytes, hd_spillable_map **out)
{
    const struct hd_options *options = columns->query.options;
    const struct hd_spillable_map_options map = {
        .schema = &columns->entry,
        .memory_bytes = (uint64_t)((double)memory_bytes * MEMORY_SHARE),
        .disk_map = strcmp(hd_options_text(options, NULL, "hoodie.common.spillable.diskmap.type"),
                           "ROCKS_DB") == 0
                        ? HD_DISK_MAP_ROCKS_DB
                        : HD_DISK_MAP_BITCASK,
        .compress = hd_options_bool(options, NULL, "hoodie.common.diskmap.compression.enabled"),
        .folder = hd_options_text(options, NULL, "hoodie.memory.spillable.map.path"),
    };

    return hd_spillable_map_new(op, &map, out);
}

static uint64_t memory_of(const struct hd_op *op, const struct hd_merge_columns *columns)
{
    const uint64_t memory = columns->query.merge_bytes;

    return memory != 0 ? memory : op->budget->limit_bytes / 2;
}

static uint64_t batch_bytes_of(uint64_t memory)
{
    return memory / 8 < MAX_BATCH_BYTES ? memory / 8 : MAX_BATCH_BYTES;
}

/* A damaged block counts no more, in later passes neither. */
static void drop_chosen(struct hd_log_scan *scan, size_t i)
{
    scan->n_chosen--;
    memmove(&scan->chosen[i], &scan->chosen[i + 1], (scan->n_chosen - i) * sizeof *scan->chosen);
    scan->stats.n_corrupt_blocks++;
}

/* One pass; `*again` when rows of a block were taken that then turned out to be damaged. */
static hudi_status try_blocks(struct hd_op *op, hd_log_merge *merge, take_batch *take, bool *again)
{
    struct pass pass = {.take = take, .file_number = -1};
    enum block_fate fate;
    hudi_status status = HUDI_OK;

    *again = false;
    HD_TRY_OUT(hd_log_rows_new(op, merge->columns, batch_bytes_of(memory_of(op, merge->columns)),
                               hd_log_merge_tries_rows(merge), &pass.rows));
    for (size_t i = 0; i < merge->scan.n_chosen && !*again;) {
        HD_TRY_OUT(read_block(op, merge, &pass, merge->scan.chosen[i], &fate));
        if (fate == TAKEN)
            i++;
        else
            drop_chosen(&merge->scan, i);
        *again = fate == DAMAGED_BEHIND_ROWS;
    }
out:
    hd_log_rows_free(op, pass.rows);
    hd_log_reader_close(op, pass.file);
    return status;
}

/* Forget what was loaded since `before`. */
static void unload(struct hd_op *op, hd_log_merge *merge, const struct hd_slice_merge_stats *before)
{
    const int64_t n_reads = merge->stats.n_reads;

    hd_spillable_map_free(op, merge->map);
    merge->map = NULL;
    merge->stats = *before;
    merge->stats.n_reads = n_reads;
}

/* Each pass that has to be made again leaves out one block more. */
static hudi_status load_blocks(struct hd_op *op, hd_log_merge *merge)
{
    const struct hd_slice_merge_stats before = merge->stats;
    bool again;

    for (;;) {
        HD_TRY(open_map(op, merge->columns, memory_of(op, merge->columns), &merge->map));
        hd_row_entries_restart(&merge->row_entries);
        HD_TRY(try_blocks(op, merge, put_batch, &again));
        if (!again)
            return HUDI_OK;
        unload(op, merge, &before);
    }
}

/* All entries go to disk: from there on each part reads its own only. */
static hudi_status spool_blocks(struct hd_op *op, hd_log_merge *merge)
{
    const char *folder =
        hd_options_text(merge->columns->query.options, NULL, "hoodie.memory.spillable.map.path");
    bool again;

    for (;;) {
        HD_TRY(hd_entry_spool_new(op, &merge->columns->entry, folder, &merge->spool));
        HD_TRY(try_blocks(op, merge, spool_batch, &again));
        if (!again)
            return hd_entry_spool_seal(op, merge->spool);
        hd_entry_spool_free(op, merge->spool);
        merge->spool = NULL;
    }
}

static hudi_status load_spooled(struct hd_op *op, hd_log_merge *merge)
{
    const uint64_t batch_bytes = batch_bytes_of(memory_of(op, merge->columns));
    const uint64_t end = merge->part.start + merge->part.width;

    HD_TRY(open_map(op, merge->columns, memory_of(op, merge->columns), &merge->map));
    for (uint64_t hash = merge->part.start; hash < end; hash += HD_ENTRY_SPOOL_WIDTH) {
        struct hd_log_batch batch;
        hudi_status status = hd_entry_spool_start(op, merge->spool, hash);

        while (status == HUDI_OK) {
            status = hd_entry_spool_next(op, merge->spool, batch_bytes, &batch);
            if (status == HUDI_OK)
                status = put_batch(op, merge, &batch);
        }
        if (status != HUDI_END)
            return status;
    }
    return HUDI_OK;
}

/* Keys in parts of less than this share of all are not tried. */
#define LEAST_WIDTH (HD_ALL_KEYS >> 16)

/* Load what starts at `merge->part.start`: half of it, and so on, while that does not fit. */
static hudi_status load_part(struct hd_op *op, hd_log_merge *merge)
{
    const struct hd_slice_merge_stats before = merge->stats;
    hudi_status status = merge->spool != NULL ? load_spooled(op, merge) : load_blocks(op, merge);

    if (status == HUDI_NO_MEMORY && hd_log_merge_tries_rows(merge)) {
        hd_op_clear_error(op);
        unload(op, merge, &before);
        hd_row_entries_drop(op, &merge->row_entries, "there is no memory for them", false);
        status = load_blocks(op, merge);
    }
    while (status == HUDI_NO_MEMORY && merge->part.width > LEAST_WIDTH) {
        hd_op_clear_error(op);
        unload(op, merge, &before);
        merge->part.width /= 2;
        if (merge->spool == NULL)
            HD_TRY(spool_blocks(op, merge));
        status = load_spooled(op, merge);
    }
    HD_TRY(status);
    const int64_t n = hd_spillable_map_length(merge->map);
    const uint64_t n_bytes =
        hd_spillable_map_memory_bytes(merge->map) + hd_spillable_map_disk_bytes(merge->map);

    merge->stats.n_corrupt_blocks = merge->scan.stats.n_corrupt_blocks;
    merge->stats.n_entries = merge->n_entries_before + n;
    merge->stats.n_spilled = merge->n_spilled_before + hd_spillable_map_spilled_rows(merge->map);
    merge->next_entry = 0;
    merge->rest_rows = 1;
    if (n > 0)
        merge->rest_rows +=
            (int64_t)(batch_bytes_of(memory_of(op, merge->columns)) / (n_bytes / (uint64_t)n + 1));
    return hd_alloc_array(op, ((size_t)n + 7) / 8, 1, &merge->met);
}

hudi_status hd_log_merge_next_part(struct hd_op *op, hd_log_merge *merge)
{
    if (merge->part.start + merge->part.width >= HD_ALL_KEYS)
        return HUDI_END;
    merge->n_entries_before = merge->stats.n_entries;
    merge->n_spilled_before = merge->stats.n_spilled;
    hd_spillable_map_free(op, merge->map);
    merge->map = NULL;
    hd_free(op, merge->met);
    merge->met = NULL;
    merge->part.start += merge->part.width;
    return load_part(op, merge);
}

static hudi_status load_first(struct hd_op *op, struct hd_merge_columns *columns,
                              hd_base_reader *base, hd_log_merge *merge)
{
    HD_TRY(hd_log_scan_load(op, &columns->query, merge->slice, &columns->rules, &merge->scan));
    merge->stats = merge->scan.stats;
    merge->stats.has_keys = columns->query.digests_keys && columns->key >= 0;
    HD_TRY(hd_merge_columns_entry(op, merge->scan.is_partial, columns));
    HD_TRY(hd_log_merge_try_rows(op, merge, base));
    HD_TRY(load_part(op, merge));
    return hd_log_merge_settle_rows(op, merge);
}

hudi_status hd_log_merge_load(struct hd_op *op, const struct hd_slice_source *slice,
                              struct hd_merge_columns *columns, hd_base_reader *base,
                              hd_log_merge **out)
{
    hd_log_merge *merge;

    *out = NULL;
    HD_TRY(hd_alloc(op, sizeof *merge, &merge));
    merge->columns = columns;
    merge->slice = slice;
    merge->part.width = HD_ALL_KEYS;
    const hudi_status status = load_first(op, columns, base, merge);

    if (status != HUDI_OK) {
        hd_log_merge_free(op, merge);
        return status;
    }
    *out = merge;
    return HUDI_OK;
}

void hd_log_merge_free(struct hd_op *op, hd_log_merge *merge)
{
    if (merge == NULL)
        return;
    hd_spillable_map_free(op, merge->map);
    hd_entry_spool_free(op, merge->spool);
    hd_log_scan_clear(op, &merge->scan);
    hd_free(op, merge->met);
    hd_free(op, merge->put_rows);
    hd_free(op, merge->put_numbers);
    hd_row_entries_clear(op, &merge->row_entries);
    hd_free(op, merge->found);
    hd_free(op, merge->rows);
    hd_free(op, merge->hits);
    hd_free(op, merge->choices);
    hd_free(op, merge->runs.runs);
    hd_arena_clear(&merge->arena);
    hd_free(op, merge);
}

bool hd_log_merge_is_empty(const hd_log_merge *merge)
{
    return merge->part.width == HD_ALL_KEYS && hd_spillable_map_length(merge->map) == 0;
}

bool hd_log_merge_is_by_row(const hd_log_merge *merge)
{
    return merge->is_by_row;
}

bool hd_log_merge_replaces(const hd_log_merge *merge)
{
    const enum hd_merge_rule rule = hd_merger_rule(merge->columns->merger);

    return (rule == HD_MERGE_OVERWRITE_WITH_LATEST || rule == HD_MERGE_EVENT_TIME) &&
           !merge->columns->is_partial;
}

struct hd_slice_merge_stats hd_log_merge_stats(const hd_log_merge *merge)
{
    return merge->stats;
}
