/* SPDX-License-Identifier: Apache-2.0 */
#include "service/row_sorter.h"

#include "arrow/gather.h"
#include "engine/record/key_sort.h"
#include "engine/write/global_sort.h"

#define MAX_BATCH_ROWS 65536
#define BATCH_BYTES (UINT64_C(8) << 20)
#define SORT_BYTES 40 /* a row takes while it is sorted, beside its entry */

/* A row that is held, and where its key is. */
struct entry {
    size_t key_at, key_bytes;
    uint32_t batch;
    uint32_t row;
};

struct held {
    struct ArrowArray rows;
    struct hd_view view;
};

struct hd_row_sorter {
    const struct hd_cluster_job *job;
    hd_global_sort *sort;
    struct held *held;
    size_t n_held, held_capacity;
    struct entry *entries;
    size_t n_entries, entry_capacity;
    int64_t *order; /* of the entries, once they are sorted */
    size_t order_capacity;
    struct hd_str keys;
    uint64_t held_bytes;
    bool has_runs;     /* on disk; else all rows are held, and sorted at the end */
    size_t next_entry; /* of these */
    int64_t batch_rows;
    const struct ArrowArray **sources; /* held[].rows */
    struct hd_run_list runs;
    struct hd_arena arena; /* of the views */
};

hudi_status hd_row_sorter_new(struct hd_op *op, const struct hd_cluster_job *job,
                              hd_row_sorter **out)
{
    const char *folder = hd_write_text(job->config, "hoodie.memory.spillable.map.path");
    hd_row_sorter *sorter;

    *out = NULL;
    HD_TRY(hd_alloc(op, sizeof *sorter, &sorter));
    sorter->job = job;
    const hudi_status status = hd_global_sort_new(op, job->rows, true, folder, &sorter->sort);
    if (status != HUDI_OK) {
        hd_row_sorter_free(op, sorter);
        return status;
    }
    *out = sorter;
    return HUDI_OK;
}

static void let_go(hd_row_sorter *sorter)
{
    for (size_t i = 0; i < sorter->n_held; i++)
        hd_array_clear(&sorter->held[i].rows);
    sorter->n_held = 0;
    sorter->n_entries = 0;
    sorter->next_entry = 0;
    sorter->keys.size = 0;
    sorter->held_bytes = 0;
    hd_arena_reset(&sorter->arena);
}

void hd_row_sorter_free(struct hd_op *op, hd_row_sorter *sorter)
{
    if (sorter == NULL)
        return;
    let_go(sorter);
    hd_global_sort_free(op, sorter->sort);
    hd_free(op, sorter->held);
    hd_free(op, sorter->entries);
    hd_free(op, sorter->order);
    hd_free(op, sorter->sources);
    hd_free(op, sorter->runs.runs);
    hd_str_clear(&sorter->keys);
    hd_arena_clear(&sorter->arena);
    hd_free(op, sorter);
}

static struct hd_slice key_of(const void *self, int64_t number)
{
    const hd_row_sorter *const sorter = self;
    const struct entry *const entry = &sorter->entries[number];

    return hd_slice_of(sorter->keys.data + entry->key_at, entry->key_bytes);
}

static hudi_status sort_held(struct hd_op *op, hd_row_sorter *sorter)
{
    const struct hd_keyed keyed = {sorter, key_of};
    bool same_order;

    HD_TRY(hd_grow(op, &sorter->order, &sorter->order_capacity, sorter->n_entries,
                   sizeof *sorter->order));
    for (size_t i = 0; i < sorter->n_entries; i++)
        sorter->order[i] = (int64_t)i;
    return hd_sort_by_key(op, &keyed, sorter->order, (int64_t)sorter->n_entries, &same_order);
}

/* What is held becomes a run. */
static hudi_status write_run(struct hd_op *op, hd_row_sorter *sorter)
{
    if (sorter->n_entries == 0)
        return HUDI_OK;
    HD_TRY(sort_held(op, sorter));
    HD_TRY(hd_global_sort_begin_run(op, sorter->sort));
    for (size_t i = 0; i < sorter->n_entries; i++) {
        const struct entry *const entry = &sorter->entries[sorter->order[i]];

        HD_TRY(hd_global_sort_add(op, sorter->sort, 0, key_of(sorter, sorter->order[i]),
                                  sorter->held[entry->batch].view.children,
                                  sorter->job->rows->n_children, entry->row));
    }
    sorter->has_runs = true;
    let_go(sorter);
    return HUDI_OK;
}

static hudi_status add_keys(struct hd_op *op, hd_row_sorter *sorter, const struct hd_view *view,
                            const struct hd_view *columns)
{
    const struct hd_cluster_job *const job = sorter->job;

    HD_TRY(hd_grow(op, &sorter->entries, &sorter->entry_capacity,
                   sorter->n_entries + (size_t)view->length, sizeof *sorter->entries));
    for (int64_t i = 0; i < view->length; i++) {
        struct entry *const entry = &sorter->entries[sorter->n_entries];

        *entry = (struct entry){.key_at = sorter->keys.size,
                                .batch = (uint32_t)(sorter->n_held - 1),
                                .row = (uint32_t)i};
        HD_TRY(hd_layout_key(op, job->layout, columns, job->n_sort_columns, i, &sorter->keys));
        entry->key_bytes = sorter->keys.size - entry->key_at;
        sorter->n_entries++;
    }
    return HUDI_OK;
}

hudi_status hd_row_sorter_add(struct hd_op *op, hd_row_sorter *sorter, struct ArrowArray *rows)
{
    const struct hd_cluster_job *const job = sorter->job;
    struct hd_view *columns;
    hudi_status status = hd_grow(op, &sorter->held, &sorter->held_capacity, sorter->n_held + 1,
                                 sizeof *sorter->held);

    if (status != HUDI_OK) {
        hd_array_clear(rows);
        return status;
    }
    struct held *const held = &sorter->held[sorter->n_held++];
    *held = (struct held){0};
    hd_array_move(rows, &held->rows);
    HD_TRY(hd_view_open(op, &sorter->arena, job->rows, &held->rows, &held->view));
    HD_TRY(hd_arena_array(op, &sorter->arena, job->n_sort_columns, sizeof *columns, &columns));
    for (size_t i = 0; i < job->n_sort_columns; i++)
        columns[i] = held->view.children[job->sort_columns[i]];
    const size_t key_bytes = sorter->keys.size;
    HD_TRY(add_keys(op, sorter, &held->view, columns));
    sorter->held_bytes += hd_array_bytes(job->rows, &held->rows) + (sorter->keys.size - key_bytes) +
                          (uint64_t)held->view.length * (sizeof(struct entry) + SORT_BYTES);
    return sorter->held_bytes >= job->sort_bytes ? write_run(op, sorter) : HUDI_OK;
}

/* All rows fit into memory: they are sorted there, and go out as columns. */
static hudi_status keep_held(struct hd_op *op, hd_row_sorter *sorter)
{
    if (sorter->n_entries == 0)
        return HUDI_OK;
    const uint64_t rows = BATCH_BYTES / (sorter->held_bytes / sorter->n_entries + 1);

    HD_TRY(sort_held(op, sorter));
    sorter->batch_rows = rows < 1 ? 1 : rows > MAX_BATCH_ROWS ? MAX_BATCH_ROWS : (int64_t)rows;
    HD_TRY(hd_alloc_array(op, sorter->n_held, sizeof(const struct ArrowArray *), &sorter->sources));
    for (size_t i = 0; i < sorter->n_held; i++)
        sorter->sources[i] = &sorter->held[i].rows;
    return HUDI_OK;
}

hudi_status hd_row_sorter_finish(struct hd_op *op, hd_row_sorter *sorter)
{
    if (!sorter->has_runs)
        return keep_held(op, sorter);
    HD_TRY(write_run(op, sorter));
    return hd_global_sort_finish(op, sorter->sort);
}

/* The next of the held rows. */
static hudi_status next_held(struct hd_op *op, hd_row_sorter *sorter, struct ArrowArray *out)
{
    if (sorter->next_entry == sorter->n_entries)
        return HUDI_END;
    hd_run_list_reset(&sorter->runs);
    while (sorter->next_entry < sorter->n_entries &&
           (int64_t)sorter->runs.n_rows < sorter->batch_rows) {
        const struct entry *const entry = &sorter->entries[sorter->order[sorter->next_entry++]];

        HD_TRY(hd_run_list_add(op, &sorter->runs, entry->batch, entry->row, 1));
    }
    return hd_gather(op, sorter->job->rows, sorter->sources, (uint32_t)sorter->n_held,
                     sorter->runs.runs, sorter->runs.n_runs, out);
}

hudi_status hd_row_sorter_next(struct hd_op *op, hd_row_sorter *sorter, struct ArrowArray *out)
{
    struct hd_shared_array *rows;
    struct ArrowArray keys;
    uint32_t partition;

    *out = (struct ArrowArray){0};
    if (!sorter->has_runs)
        return next_held(op, sorter, out);
    HD_TRY(hd_global_sort_next(op, sorter->sort, &partition, &rows, &keys));
    hd_array_clear(&keys);
    const hudi_status status = hd_array_share(op, rows, -1, out);
    hd_shared_array_free(rows);
    return status;
}
