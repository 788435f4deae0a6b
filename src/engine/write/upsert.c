/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/write/upsert.h"

#include "arrow/schema.h"
#include "base/checked_int.h"
#include "engine/write/assign.h"
#include "engine/write/insert_target.h"
#include "engine/write/merge_handle.h"
#include "engine/write/upsert_internal.h"

#define BATCH_ROWS 65536
/* Of hoodie.memory.merge.max.size, as ExternalSpillableMap has it. */
#define MEMORY_SHARE 0.8

/* ---- record key and pre-combine: rows -> one record per key ---------------------------------- */

static bool keep_later(void *self, const struct hd_view *old_columns, int64_t old_row,
                       const struct hd_view *new_columns, int64_t new_row, bool *columns)
{
    hd_upsert *upsert = self;
    const struct hd_merge_side earlier = {.columns = old_columns, .row = old_row};
    const struct hd_merge_side later = {.columns = new_columns, .row = new_row};
    const bool replace =
        !upsert->combine || hd_merger_precombine(upsert->merger, &earlier, &later, columns);

    /* Room was made before the put: one decision a row at most. */
    if (upsert->global)
        upsert->decisions[upsert->n_decisions++] = replace;
    return replace;
}

static bool column_of_later(void *self, int32_t column, const struct hd_view *old_columns,
                            int64_t old_row, const struct hd_view *new_columns, int64_t new_row)
{
    const struct hd_merge_side earlier = {.columns = old_columns, .row = old_row};
    const struct hd_merge_side later = {.columns = new_columns, .row = new_row};

    return hd_merger_column_from_incoming(((hd_upsert *)self)->merger, column, &earlier, &later);
}

static hudi_status open_map(struct hd_op *op, hd_upsert *upsert)
{
    const struct hd_write_config *config = upsert->config;
    uint64_t memory = (uint64_t)hd_write_int(config, "hoodie.memory.merge.max.size");
    const bool rocks_db =
        strcmp(hd_write_text(config, "hoodie.common.spillable.diskmap.type"), "ROCKS_DB") == 0;

    /* A budget on the whole process leaves half of it to the files being read and written. */
    memory = hd_min_u64(memory, op->budget->limit_bytes / 2);
    const struct hd_spillable_map_options options = {
        .schema = &upsert->schema->record,
        .memory_bytes = (uint64_t)((double)memory * MEMORY_SHARE),
        .disk_map = rocks_db ? HD_DISK_MAP_ROCKS_DB : HD_DISK_MAP_BITCASK,
        .compress = hd_write_bool(config, "hoodie.common.diskmap.compression.enabled"),
        .folder = hd_write_text(config, "hoodie.memory.spillable.map.path"),
    };
    return hd_spillable_map_new(op, &options, &upsert->map);
}

hudi_status hd_upsert_open(struct hd_op *op, const struct hd_write_config *config,
                           const struct hd_write_schema *schema,
                           struct hd_partition_set *partitions,
                           struct hd_write_status *write_status, hd_upsert **out)
{
    hudi_status status = HUDI_OK;
    hd_upsert *upsert;
    const char *combine = config->operation == HD_OPERATION_DELETE ? "hoodie.combine.before.delete"
                                                                   : "hoodie.combine.before.upsert";

    *out = NULL;
    HD_TRY(hd_alloc(op, sizeof *upsert, &upsert));
    upsert->config = config;
    upsert->schema = schema;
    upsert->partitions = partitions;
    upsert->status = write_status;
    upsert->combine = hd_write_bool(config, combine);
    HD_TRY_OUT(
        hd_index_type_of(op, hd_write_text(config, "hoodie.index.type"), &upsert->index_type));
    upsert->global = hd_index_is_global(upsert->index_type);
    HD_TRY_OUT(hd_merger_new(op, &config->table->config, &config->options, &schema->record,
                             &upsert->merger));
    HD_TRY_OUT(open_map(op, upsert));
    *out = upsert;
    return HUDI_OK;
out:
    hd_upsert_free(op, upsert);
    return status;
}

/* Global index: each entry's partition is that of the row that was kept. Decisions come in the
 * order of rows, one for each that met an older row of its key. */
static void note_partitions(hd_upsert *upsert, const struct hd_input_batch *batch,
                            const int64_t *entries, int64_t n_before)
{
    int64_t n_known = n_before;
    size_t next = 0;

    for (int64_t i = 0; i < batch->n_rows; i++) {
        const int64_t row = batch->rows != NULL ? batch->rows[i] : i;
        const bool is_new = entries[i] >= n_known;

        if (is_new)
            n_known = entries[i] + 1;
        if (is_new || upsert->decisions[next++])
            upsert->partition_of[entries[i]] = batch->keys.partitions[row];
    }
}

static hudi_status put_global(struct hd_op *op, hd_upsert *upsert, struct hd_input_batch *batch,
                              const struct hd_view *keys,
                              const struct hd_spillable_map_resolve *resolve)
{
    hudi_status status = HUDI_OK;
    const int64_t n_before = hd_spillable_map_length(upsert->map);
    const size_t n = (size_t)batch->n_rows;
    int64_t *entries = NULL;

    HD_TRY_OUT(hd_alloc_raw(op, n, sizeof *entries, &entries));
    HD_TRY_OUT(hd_grow(op, &upsert->decisions, &upsert->decision_capacity, n, 1));
    HD_TRY_OUT(hd_grow(op, &upsert->partition_of, &upsert->partition_capacity, (size_t)n_before + n,
                       sizeof *upsert->partition_of));
    upsert->n_decisions = 0;
    HD_TRY_OUT(hd_spillable_map_put(op, upsert->map, keys, NULL, batch->records, batch->rows,
                                    batch->n_rows, resolve, entries));
    note_partitions(upsert, batch, entries, n_before);
out:
    hd_free(op, entries);
    return status;
}

hudi_status hd_upsert_add(struct hd_op *op, hd_upsert *upsert, struct hd_input_batch *batch)
{
    hudi_status status = HUDI_OK;
    const struct hd_type text = {.id = HD_TYPE_STRING};
    const struct hd_spillable_map_resolve resolve = {
        .replace = keep_later, .take_new = column_of_later, .self = upsert};
    struct ArrowSchema field = {0};
    struct hd_arena arena = {0};
    struct hd_view keys;

    HD_TRY_OUT(hd_schema_init_field(op, &field, "key", &text, false));
    HD_TRY_OUT(hd_view_open(op, &arena, &field, &batch->keys.record_keys, &keys));
    if (upsert->global)
        HD_TRY_OUT(put_global(op, upsert, batch, &keys, &resolve));
    else
        HD_TRY_OUT(hd_spillable_map_put(op, upsert->map, &keys, batch->keys.partitions,
                                        batch->records, batch->rows, batch->n_rows,
                                        upsert->combine ? &resolve : NULL, NULL));
out:
    hd_schema_clear(&field);
    hd_arena_clear(&arena);
    return status;
}

/* ---- index look-up: records -> rows of file groups ------------------------------------------- */

static hudi_status load_slices(struct hd_op *op, hd_upsert *upsert)
{
    const struct hd_table_snapshot *table = upsert->config->table;
    const size_t n = upsert->partitions->paths.n_entries;
    const char **paths = NULL;
    const bool all = upsert->global;

    HD_TRY(hd_arena_array(op, &upsert->arena, n, sizeof *paths, &paths));
    for (size_t i = 0; i < n; i++)
        paths[i] = (const char *)hd_partition_set_path(upsert->partitions, (uint32_t)i).data;
    HD_TRY(hd_file_system_view_load(op, upsert->config->pool, table->fs, table->path,
                                    &table->config, &table->timeline, all ? NULL : paths,
                                    all ? 0 : n, &upsert->view));
    return hd_file_system_view_slices(op, &upsert->view, NULL, &upsert->arena, &upsert->slices,
                                      &upsert->n_slices);
}

static hudi_status tag(struct hd_op *op, hd_upsert *upsert)
{
    const struct hd_index_request request = {.table = upsert->config->table,
                                             .options = &upsert->config->options,
                                             .pool = upsert->config->pool,
                                             .type = upsert->index_type,
                                             .encoding = upsert->config->encoding,
                                             .map = upsert->map,
                                             .partitions = upsert->partitions,
                                             .slices = upsert->slices,
                                             .n_slices = upsert->n_slices};

    HD_TRY(hd_index_tag(op, &request, &upsert->tagged));
    for (size_t i = 0; i < upsert->tagged.n_files; i++) {
        const struct hd_file_slice *slice = upsert->tagged.files[i].slice;
        if (hd_file_owner(slice->partition_path, slice->file_id, upsert->config->n_tasks) !=
            upsert->config->task)
            return hd_fail(op, HUDI_INVALID,
                           "task %u of %u got rows of file group %s, which is another task's",
                           upsert->config->task, upsert->config->n_tasks, slice->file_id);
    }
    return HUDI_OK;
}

/* Entries that a file holds need no insert. */
static hudi_status settle_hits(struct hd_op *op, hd_upsert *upsert)
{
    HD_TRY(hd_arena_array(op, &upsert->arena, (size_t)hd_spillable_map_length(upsert->map), 1,
                          &upsert->settled));
    for (size_t f = 0; f < upsert->tagged.n_files; f++)
        for (size_t i = 0; i < upsert->tagged.files[f].n_hits; i++)
            upsert->settled[upsert->tagged.files[f].hits[i].entry] = 1;
    return upsert->global ? hd_upsert_resolve_moves(op, upsert) : HUDI_OK;
}

static uint32_t partition_of(const hd_upsert *upsert, int64_t entry)
{
    return upsert->global ? upsert->partition_of[entry]
                          : hd_spillable_map_space(upsert->map, entry);
}

/* Entries that no file holds, by partition; a delete of an unknown key is nothing. */
static hudi_status collect_inserts(struct hd_op *op, hd_upsert *upsert)
{
    const int64_t n = hd_spillable_map_length(upsert->map);
    const size_t n_partitions = upsert->partitions->paths.n_entries;
    HD_TRY(
        hd_arena_array(op, &upsert->arena, (size_t)n, sizeof *upsert->inserts, &upsert->inserts));
    HD_TRY(hd_arena_array(op, &upsert->arena, n_partitions + 2, sizeof *upsert->insert_starts,
                          &upsert->insert_starts));
    if (upsert->config->operation == HD_OPERATION_DELETE)
        return HUDI_OK;
    int64_t *starts = upsert->insert_starts + 1; /* counting sort: one place ahead while filling */
    for (int64_t i = 0; i < n; i++)
        if (!upsert->settled[i])
            starts[partition_of(upsert, i) + 1]++;
    for (size_t p = 1; p <= n_partitions; p++)
        starts[p] += starts[p - 1];
    for (int64_t i = 0; i < n; i++)
        if (!upsert->settled[i])
            upsert->inserts[starts[partition_of(upsert, i)]++] = i;
    return HUDI_OK;
}

/* ---- assignment: records -> write handles ---------------------------------------------------- */

static hudi_status add_work(struct hd_op *op, hd_upsert *upsert, const struct work *work)
{
    HD_TRY(hd_grow(op, &upsert->works, &upsert->work_capacity, upsert->n_works + 1,
                   sizeof *upsert->works));
    upsert->works[upsert->n_works++] = *work;
    return HUDI_OK;
}

/* The slices of one partition: they stand side by side, in the order of paths. */
static size_t first_slice(const hd_upsert *upsert, const char *path)
{
    size_t low = 0, high = upsert->n_slices;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (strcmp(upsert->slices[middle]->partition_path, path) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Inserts of one partition: small files first, the rest to new file groups. */
static hudi_status assign_inserts(struct hd_op *op, hd_upsert *upsert, uint32_t partition,
                                  int64_t record_bytes)
{
    const char *path = (const char *)hd_partition_set_path(upsert->partitions, partition).data;
    const int64_t *next = upsert->inserts + upsert->insert_starts[partition];
    int64_t left = upsert->insert_starts[partition + 1] - upsert->insert_starts[partition];
    struct hd_small_file *small;
    size_t n_slices = 0, n_small;

    if (left == 0)
        return HUDI_OK;
    const size_t first = first_slice(upsert, path);
    while (first + n_slices < upsert->n_slices &&
           strcmp(upsert->slices[first + n_slices]->partition_path, path) == 0)
        n_slices++;
    HD_TRY(hd_arena_array(op, &upsert->arena, n_slices, sizeof *small, &small));
    hd_small_files(upsert->config, record_bytes, upsert->slices + first, n_slices, small, &n_small);
    for (size_t i = 0; i < n_small && left > 0; i++) {
        const int64_t n = left < small[i].room ? left : small[i].room;
        size_t *number = &upsert->work_of[first + small[i].index];

        if (*number == 0) {
            const struct work fresh = {.partition_path = path, .slice = small[i].slice};
            HD_TRY(add_work(op, upsert, &fresh));
            *number = upsert->n_works;
        }
        struct work *work = &upsert->works[*number - 1];
        work->inserts = next;
        work->n_inserts = n;
        next += n;
        left -= n;
    }
    if (left == 0)
        return HUDI_OK;
    const struct work fresh = {.partition_path = path, .inserts = next, .n_inserts = left};
    return add_work(op, upsert, &fresh);
}

static hudi_status assign(struct hd_op *op, hd_upsert *upsert)
{
    int64_t record_bytes;
    size_t slice = 0;

    HD_TRY(hd_arena_array(op, &upsert->arena, upsert->n_slices, sizeof *upsert->work_of,
                          &upsert->work_of));
    for (size_t f = 0; f < upsert->tagged.n_files; f++) {
        const struct hd_file_hits *file = &upsert->tagged.files[f];
        if (file->n_hits == 0) { /* all its rows stay as they are */
            continue;
        }
        const struct work work = {.partition_path = file->slice->partition_path,
                                  .slice = file->slice,
                                  .hits = file->hits,
                                  .n_hits = file->n_hits};
        HD_TRY(add_work(op, upsert, &work));
        while (upsert->slices[slice] != file->slice) /* both in the order of the view */
            slice++;
        upsert->work_of[slice] = upsert->n_works;
    }
    if (upsert->config->operation == HD_OPERATION_DELETE)
        return HUDI_OK;
    HD_TRY(hd_average_record_bytes(op, upsert->config, &record_bytes));
    for (uint32_t p = 0; p < upsert->partitions->paths.n_entries; p++)
        HD_TRY(assign_inserts(op, upsert, p, record_bytes));
    return HUDI_OK;
}

/* ---- write handles: one owner per file group ------------------------------------------------- */

/* The next inserts of a work as a batch with keys. */
static hudi_status insert_batch(struct hd_op *op, const hd_upsert *upsert, const struct work *work,
                                int64_t start, int64_t n, struct hd_shared_array **records,
                                struct ArrowArray *keys)
{
    struct ArrowArray batch = {0};

    HD_TRY(hd_spillable_map_get(op, upsert->map, work->inserts + start, n, &batch));
    hudi_status status = hd_spillable_map_keys(op, upsert->map, work->inserts + start, n, keys);
    if (status == HUDI_OK)
        status = hd_shared_array_new(op, &batch, records);
    hd_array_clear(&batch);
    return status;
}

static hudi_status run_merge(struct hd_op *op, hd_upsert *upsert, struct work *work,
                             uint32_t ordinal)
{
    hudi_status status = HUDI_OK;
    hd_merge_handle *handle = NULL;
    struct hd_write_stat stat;
    int64_t n_dropped = 0;
    const struct hd_merge_request request = {.config = upsert->config,
                                             .schema = upsert->schema,
                                             .merger = upsert->merger,
                                             .slice = work->slice,
                                             .ordinal = ordinal,
                                             .map = upsert->map,
                                             .hits = work->hits,
                                             .n_hits = work->n_hits,
                                             .deletes =
                                                 upsert->config->operation == HD_OPERATION_DELETE};

    HD_TRY(hd_merge_handle_open(op, &request, &handle));
    for (int64_t done = 0; done < work->n_inserts; done += BATCH_ROWS) {
        const int64_t left = work->n_inserts - done;
        struct hd_shared_array *records = NULL;
        struct ArrowArray keys = {0};

        status = insert_batch(op, upsert, work, done, left < BATCH_ROWS ? left : BATCH_ROWS,
                              &records, &keys);
        if (status == HUDI_OK)
            status =
                hd_drop_deletes(op, upsert->schema, upsert->merger, &records, &keys, &n_dropped);
        if (status == HUDI_OK)
            status = hd_merge_handle_append(op, handle, records, &keys);
        hd_shared_array_free(records);
        hd_array_clear(&keys);
        HD_TRY_OUT(status);
    }
    status = hd_merge_handle_close(op, handle, &work->status.arena, &stat);
    handle = NULL;
    HD_TRY_OUT(status);
    stat.num_deletes += n_dropped;
    status = hd_write_status_add(op, &work->status, &stat);
out:
    hd_merge_handle_abort(op, handle);
    return status;
}

static hudi_status run_create(struct hd_op *op, hd_upsert *upsert, struct work *work,
                              uint32_t ordinal)
{
    hudi_status status = HUDI_OK;
    hd_insert_target *target = NULL;

    HD_TRY(hd_insert_target_open(op, upsert->config, upsert->schema, upsert->merger,
                                 work->partition_path, ordinal, NULL, 0, &work->status, &target));
    for (int64_t done = 0; done < work->n_inserts; done += BATCH_ROWS) {
        const int64_t left = work->n_inserts - done;
        struct hd_shared_array *records = NULL;
        struct ArrowArray keys = {0};

        status = insert_batch(op, upsert, work, done, left < BATCH_ROWS ? left : BATCH_ROWS,
                              &records, &keys);
        if (status == HUDI_OK)
            status = hd_insert_target_append(op, target, records, &keys);
        hd_shared_array_free(records);
        hd_array_clear(&keys);
        HD_TRY_OUT(status);
    }
    status = hd_insert_target_close(op, target);
    target = NULL;
out:
    hd_insert_target_abort(op, target);
    return status;
}

static hudi_status run_work(struct hd_op *op, void *argument, size_t i)
{
    hd_upsert *upsert = argument;
    struct work *work = &upsert->works[i];
    const uint32_t ordinal = upsert->config->task + upsert->config->n_tasks * (uint32_t)i;

    return work->slice != NULL ? run_merge(op, upsert, work, ordinal)
                               : run_create(op, upsert, work, ordinal);
}

/* ---- the flow -------------------------------------------------------------------------------- */

hudi_status hd_upsert_finish(struct hd_op *op, hd_upsert *upsert)
{
    if (hd_spillable_map_length(upsert->map) == 0)
        return HUDI_OK;
    HD_TRY(load_slices(op, upsert));
    HD_TRY(tag(op, upsert));
    HD_TRY(settle_hits(op, upsert));
    HD_TRY(collect_inserts(op, upsert));
    HD_TRY(assign(op, upsert));
    HD_TRY(hd_pool_each(op, upsert->config->pool, upsert->n_works, run_work, upsert));
    for (size_t i = 0; i < upsert->n_works; i++)
        HD_TRY(hd_write_status_absorb(op, upsert->status, &upsert->works[i].status));
    return HUDI_OK;
}

void hd_upsert_free(struct hd_op *op, hd_upsert *upsert)
{
    if (upsert == NULL)
        return;
    for (size_t i = 0; i < upsert->n_works; i++)
        hd_write_status_clear(op, &upsert->works[i].status);
    hd_free(op, upsert->works);
    hd_index_result_clear(op, &upsert->tagged);
    hd_free(op, upsert->partition_of);
    hd_free(op, upsert->decisions);
    hd_spillable_map_free(op, upsert->map);
    hd_merger_free(upsert->merger);
    hd_file_system_view_clear(&upsert->view);
    hd_arena_clear(&upsert->arena);
    hd_free(op, upsert);
}
