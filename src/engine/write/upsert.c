/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/write/upsert.h"

#include "engine/index/index.h"
#include "engine/write/assign.h"
#include "engine/write/upsert_internal.h"

/* Of a key in the spillable map, beside its bytes. */
#define KEY_ENTRY_BYTES 48

hudi_status hd_upsert_open(struct hd_op *op, const struct hd_write_config *config,
                           const struct hd_write_schema *schema,
                           struct hd_partition_set *partitions,
                           struct hd_write_status *write_status, hd_upsert **out)
{
    hudi_status status = HUDI_OK;
    hd_upsert *upsert;
    const char *combine = config->operation == HD_OPERATION_DELETE ? "hoodie.combine.before.delete"
                          : config->operation == HD_OPERATION_UPSERT
                              ? "hoodie.combine.before.upsert"
                              : "hoodie.combine.before.insert";

    *out = NULL;
    HD_TRY(hd_alloc(op, sizeof *upsert, &upsert));
    upsert->config = config;
    upsert->schema = schema;
    upsert->partitions = partitions;
    upsert->status = write_status;
    upsert->combine = hd_write_bool(config, combine);
    HD_TRY_OUT(hd_write_index_type(op, config, &upsert->index_type));
    upsert->global = hd_index_is_global(upsert->index_type);
    upsert->keep_all =
        config->operation == HD_OPERATION_UPSERT && !upsert->combine && !upsert->global;
    HD_TRY_OUT(hd_merger_new(op, &config->table->config, &config->options, &schema->record,
                             &upsert->merger));
    HD_TRY_OUT(hd_upsert_open_map(op, upsert));
    *out = upsert;
    return HUDI_OK;
out:
    hd_upsert_free(op, upsert);
    return status;
}

/* ---- index look-up: records -> rows of file groups ------------------------------------------- */

static hudi_status load_slices(struct hd_op *op, hd_upsert *upsert)
{
    const struct hd_table_snapshot *table = upsert->config->table;
    const size_t n = upsert->partitions->paths.n_entries;
    const char **paths = NULL;
    const bool all = upsert->global;

    HD_TRY(hd_arena_array(op, &upsert->slice_arena, n, sizeof *paths, &paths));
    for (size_t i = 0; i < n; i++)
        paths[i] = (const char *)hd_partition_set_path(upsert->partitions, (uint32_t)i).data;
    HD_TRY(hd_file_system_view_load(op, upsert->config->pool, table->fs, table->path,
                                    &table->config, &table->timeline, all ? NULL : paths,
                                    all ? 0 : n, &upsert->view));
    return hd_file_system_view_slices(op, &upsert->view, NULL, &upsert->slice_arena,
                                      &upsert->slices, &upsert->n_slices);
}

static hudi_status tag(struct hd_op *op, hd_upsert *upsert)
{
    if (!hd_operation_looks_up(upsert->config->operation))
        return HUDI_OK;
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
        if (hd_write_is_pending(upsert->config, slice->partition_path, slice->file_id))
            return hd_fail(op, HUDI_CONFLICT,
                           "records to update are in file group %s, which a pending clustering is "
                           "about to rewrite",
                           slice->file_id);
    }
    return HUDI_OK;
}

/* Entries that a file holds need no insert; older ones go with the newest of their key. */
static hudi_status settle_hits(struct hd_op *op, hd_upsert *upsert)
{
    HD_TRY(hd_arena_array(op, &upsert->arena, (size_t)hd_spillable_map_length(upsert->map), 1,
                          &upsert->settled));
    for (size_t f = 0; f < upsert->tagged.n_files; f++)
        for (size_t i = 0; i < upsert->tagged.files[f].n_hits; i++)
            upsert->settled[upsert->tagged.files[f].hits[i].entry] = 1;
    if (upsert->keep_all)
        for (int64_t i = 0; i < hd_spillable_map_length(upsert->map); i++)
            upsert->settled[i] |= !hd_spillable_map_is_newest(upsert->map, i);
    return upsert->global ? hd_upsert_resolve_moves(op, upsert) : HUDI_OK;
}

uint32_t hd_upsert_partition_of(const hd_upsert *upsert, int64_t entry)
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
            starts[hd_upsert_partition_of(upsert, i) + 1]++;
    for (size_t p = 1; p <= n_partitions; p++)
        starts[p] += starts[p - 1];
    for (int64_t i = 0; i < n; i++)
        if (!upsert->settled[i])
            upsert->inserts[starts[hd_upsert_partition_of(upsert, i)]++] = i;
    return HUDI_OK;
}

/* ---- assignment: records -> write handles ---------------------------------------------------- */

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
            const struct hd_upsert_work fresh = {.partition_path = path, .slice = small[i].slice};
            HD_TRY(hd_upsert_add_work(op, upsert, &fresh));
            *number = upsert->n_works;
        }
        struct hd_upsert_work *work = &upsert->works[*number - 1];
        work->inserts = next;
        work->n_inserts = n;
        next += n;
        left -= n;
    }
    if (left == 0)
        return HUDI_OK;
    struct hd_upsert_work fresh = {.partition_path = path};
    HD_TRY(hd_upsert_with_older(op, upsert, &upsert->arena, next, left, &fresh.inserts,
                                &fresh.n_inserts));
    return hd_upsert_add_work(op, upsert, &fresh);
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
        const struct hd_upsert_work work = {.partition_path = file->slice->partition_path,
                                            .slice = file->slice,
                                            .hits = file->hits,
                                            .n_hits = file->n_hits};
        HD_TRY(hd_upsert_add_work(op, upsert, &work));
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

/* ---- the flow -------------------------------------------------------------------------------- */

/* What the keys of a batch take in the map at most, which holds them in arrays that double. */
static uint64_t key_bytes(const struct hd_input_batch *batch)
{
    static const struct ArrowSchema TEXT = {.format = "u", .name = "key"};

    return 2 * (hd_array_bytes(&TEXT, &batch->keys.record_keys) +
                (uint64_t)batch->n_rows * KEY_ENTRY_BYTES);
}

hudi_status hd_upsert_add(struct hd_op *op, hd_upsert *upsert, struct hd_input_batch *batch)
{
    if (upsert->spooled == NULL) {
        const uint64_t used = hd_spillable_map_memory_bytes(upsert->map);

        if (used + key_bytes(batch) <= upsert->memory_bytes)
            return hd_upsert_put(op, upsert, batch, NULL);
        HD_TRY(hd_upsert_start_spooling(op, upsert));
    }
    return hd_upsert_spool(op, upsert, batch);
}

hudi_status hd_upsert_place(struct hd_op *op, hd_upsert *upsert)
{
    if (upsert->global && upsert->merged_columns)
        HD_TRY(hd_upsert_repartition(op, upsert));
    HD_TRY(tag(op, upsert));
    HD_TRY(settle_hits(op, upsert));
    return collect_inserts(op, upsert);
}

hudi_status hd_upsert_finish(struct hd_op *op, hd_upsert *upsert)
{
    if (upsert->spooled == NULL && hd_spillable_map_length(upsert->map) == 0)
        return HUDI_OK;
    HD_TRY(load_slices(op, upsert));
    if (upsert->spooled != NULL)
        return hd_upsert_finish_spooled(op, upsert);
    HD_TRY(hd_upsert_place(op, upsert));
    HD_TRY(assign(op, upsert));
    return hd_upsert_run_works(op, upsert);
}

void hd_upsert_drop_records(struct hd_op *op, hd_upsert *upsert)
{
    hd_spillable_map_free(op, upsert->map);
    upsert->map = NULL;
    hd_index_result_clear(op, &upsert->tagged);
    hd_arena_reset(&upsert->arena);
}

void hd_upsert_free(struct hd_op *op, hd_upsert *upsert)
{
    if (upsert == NULL)
        return;
    for (size_t i = 0; i < upsert->n_works; i++)
        hd_write_status_clear(op, &upsert->works[i].status);
    hd_free(op, upsert->works);
    hd_upsert_free_spooled(op, upsert);
    hd_upsert_drop_records(op, upsert);
    hd_free(op, upsert->partition_of);
    hd_free(op, upsert->decisions);
    hd_merger_free(upsert->merger);
    hd_file_system_view_clear(&upsert->view);
    hd_arena_clear(&upsert->slice_arena);
    hd_arena_clear(&upsert->arena);
    hd_free(op, upsert);
}
