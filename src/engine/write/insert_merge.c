/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/write/insert_merge.h"

#include "arrow/schema.h"
#include "engine/index/index.h"
#include "engine/write/insert_target.h"

#define BATCH_ROWS 65536
/* A map of less spills every row. */
#define MIN_MEMORY_BYTES (1ull << 20)

struct hd_insert_merge {
    struct hd_merge_request request;
    uint64_t memory_bytes;
    hd_spillable_map *map;
};

hudi_status hd_insert_merge_open(struct hd_op *op, const struct hd_merge_request *request,
                                 uint32_t n_open, hd_insert_merge **out)
{
    hudi_status status = HUDI_OK;
    hd_insert_merge *merge;

    *out = NULL;
    HD_TRY(hd_alloc(op, sizeof *merge, &merge));
    merge->request = *request;
    merge->memory_bytes = hd_write_merge_memory(op, request->config) / n_open;
    if (merge->memory_bytes < MIN_MEMORY_BYTES)
        merge->memory_bytes = MIN_MEMORY_BYTES;
    HD_TRY_OUT(hd_write_open_map(op, request->config, &request->schema->record,
                                 merge->memory_bytes / 2, false, &merge->map));
    *out = merge;
    return HUDI_OK;
out:
    hd_insert_merge_abort(op, merge);
    return status;
}

hudi_status hd_insert_merge_append(struct hd_op *op, hd_insert_merge *merge,
                                   struct hd_shared_array *records, struct ArrowArray *keys)
{
    hudi_status status = HUDI_OK;
    const struct hd_type text = {.id = HD_TYPE_STRING};
    struct ArrowSchema field = {0};
    struct hd_arena arena = {0};
    struct hd_view view;

    HD_TRY_OUT(hd_schema_init_field(op, &field, "key", &text, false));
    HD_TRY_OUT(hd_view_open(op, &arena, &field, keys, &view));
    HD_TRY_OUT(hd_spillable_map_put(op, merge->map, &view, NULL, records, NULL,
                                    hd_shared_array_get(records)->length, NULL, NULL));
out:
    hd_schema_clear(&field);
    hd_arena_clear(&arena);
    hd_array_clear(keys);
    return status;
}

bool hd_insert_merge_can_write(const hd_insert_merge *merge)
{
    return hd_spillable_map_memory_bytes(merge->map) < merge->memory_bytes;
}

/* Rows of the file whose keys came. The map knows one space of keys, as for a global index. */
static hudi_status look_up(struct hd_op *op, const hd_insert_merge *merge,
                           struct hd_index_result *out)
{
    const struct hd_write_config *config = merge->request.config;
    const struct hd_index_request request = {.table = config->table,
                                             .options = &config->options,
                                             .pool = config->pool,
                                             .type = HD_INDEX_GLOBAL_BLOOM,
                                             .encoding = config->encoding,
                                             .map = merge->map,
                                             .slices = &merge->request.slice,
                                             .n_slices = 1};

    return hd_index_tag(op, &request, out);
}

hudi_status hd_append_entries(struct hd_op *op, const struct hd_merge_request *request,
                              const hd_spillable_map *map, const int64_t *entries, int64_t n,
                              hd_merge_handle *handle, int64_t *n_dropped)
{
    for (int64_t done = 0; done < n; done += BATCH_ROWS) {
        const int64_t n_rows = n - done < BATCH_ROWS ? n - done : BATCH_ROWS;
        struct hd_shared_array *records = NULL;
        struct ArrowArray keys = {0};

        hudi_status status =
            hd_spillable_map_batch(op, map, entries + done, n_rows, &records, &keys);
        if (status == HUDI_OK)
            status =
                hd_drop_deletes(op, request->schema, request->merger, &records, &keys, n_dropped);
        if (status == HUDI_OK)
            status = hd_merge_handle_append(op, handle, records, &keys);
        hd_shared_array_free(records);
        hd_array_clear(&keys);
        HD_TRY(status);
    }
    return HUDI_OK;
}

/* Entries whose key the file does not hold. */
static hudi_status new_entries(struct hd_op *op, const hd_insert_merge *merge,
                               const struct hd_merge_request *request, int64_t **out, int64_t *n)
{
    const int64_t n_entries = hd_spillable_map_length(merge->map);
    int64_t n_new = 0;

    HD_TRY(hd_alloc_raw(op, (size_t)n_entries, sizeof **out, out));
    for (int64_t i = 0; i < n_entries; i++)
        (*out)[i] = i;
    for (size_t i = 0; i < request->n_hits; i++)
        (*out)[request->hits[i].entry] = -1;
    for (int64_t i = 0; i < n_entries; i++)
        if ((*out)[i] >= 0)
            (*out)[n_new++] = i;
    *n = n_new;
    return HUDI_OK;
}

static hudi_status write_file(struct hd_op *op, const hd_insert_merge *merge,
                              const struct hd_index_result *found, struct hd_write_status *into,
                              uint64_t *next_seqno)
{
    hudi_status status = HUDI_OK;
    struct hd_merge_request request = merge->request;
    hd_merge_handle *handle = NULL;
    int64_t *fresh = NULL, n_fresh, n_dropped = 0;
    struct hd_write_stat stat;

    request.map = merge->map;
    if (found->n_files > 0) {
        request.hits = found->files[0].hits;
        request.n_hits = found->files[0].n_hits;
    }
    HD_TRY_OUT(new_entries(op, merge, &request, &fresh, &n_fresh));
    HD_TRY_OUT(hd_merge_handle_open(op, &request, &handle));
    HD_TRY_OUT(hd_append_entries(op, &request, merge->map, fresh, n_fresh, handle, &n_dropped));
    if (next_seqno != NULL)
        *next_seqno = hd_merge_handle_next_seqno(handle);
    status = hd_merge_handle_close(op, handle, &into->arena, &stat);
    handle = NULL;
    HD_TRY_OUT(status);
    stat.num_deletes += n_dropped;
    status = hd_write_status_add(op, into, &stat);
out:
    hd_merge_handle_abort(op, handle);
    hd_free(op, fresh);
    return status;
}

hudi_status hd_insert_merge_close(struct hd_op *op, hd_insert_merge *merge,
                                  struct hd_write_status *into, uint64_t *next_seqno)
{
    hudi_status status = HUDI_OK;
    struct hd_index_result found = {0};

    HD_TRY_OUT(look_up(op, merge, &found));
    HD_TRY_OUT(write_file(op, merge, &found, into, next_seqno));
out:
    hd_index_result_clear(op, &found);
    hd_insert_merge_abort(op, merge);
    return status;
}

void hd_insert_merge_abort(struct hd_op *op, hd_insert_merge *merge)
{
    if (merge == NULL)
        return;
    hd_spillable_map_free(op, merge->map);
    hd_free(op, merge);
}
