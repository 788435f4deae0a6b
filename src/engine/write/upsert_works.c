/* SPDX-License-Identifier: Apache-2.0 */
/* Write handles: one owner per file group, file groups in parallel. */
#include <stdlib.h>

#include "engine/write/append_handle.h"
#include "engine/write/insert_merge.h"
#include "engine/write/insert_target.h"
#include "engine/write/merge_handle.h"
#include "engine/write/upsert_internal.h"

#define BATCH_ROWS 65536

hudi_status hd_upsert_add_work(struct hd_op *op, hd_upsert *upsert,
                               const struct hd_upsert_work *work)
{
    HD_TRY(hd_grow(op, &upsert->works, &upsert->work_capacity, upsert->n_works + 1,
                   sizeof *upsert->works));
    upsert->works[upsert->n_works++] = *work;
    return HUDI_OK;
}

static hudi_status run_merge(struct hd_op *op, hd_upsert *upsert, struct hd_upsert_work *work,
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
    HD_TRY_OUT(hd_append_entries(op, &request, upsert->map, work->inserts, work->n_inserts, handle,
                                 &n_dropped));
    status = hd_merge_handle_close(op, handle, &work->status.arena, &stat);
    handle = NULL;
    HD_TRY_OUT(status);
    stat.num_deletes += n_dropped;
    status = hd_write_status_add(op, &work->status, &stat);
out:
    hd_merge_handle_abort(op, handle);
    return status;
}

/* Inserts into a file whose keys they may bring. */
static hudi_status run_insert_merge(struct hd_op *op, hd_upsert *upsert,
                                    struct hd_upsert_work *work, uint32_t ordinal)
{
    hudi_status status = HUDI_OK;
    hd_insert_merge *merge = NULL;
    const struct hd_merge_request request = {.config = upsert->config,
                                             .schema = upsert->schema,
                                             .merger = upsert->merger,
                                             .slice = work->slice,
                                             .ordinal = ordinal};

    HD_TRY(hd_insert_merge_open(op, &request, (uint32_t)hd_pool_threads(upsert->config->pool),
                                &merge));
    for (int64_t done = 0; done < work->n_inserts; done += BATCH_ROWS) {
        const int64_t left = work->n_inserts - done;
        struct hd_shared_array *records = NULL;
        struct ArrowArray keys = {0};

        status = hd_spillable_map_batch(op, upsert->map, work->inserts + done,
                                        left < BATCH_ROWS ? left : BATCH_ROWS, &records, &keys);
        if (status == HUDI_OK)
            status = hd_insert_merge_append(op, merge, records, &keys);
        hd_shared_array_free(records);
        hd_array_clear(&keys);
        HD_TRY_OUT(status);
    }
    status = hd_insert_merge_close(op, merge, &work->status, NULL);
    merge = NULL;
out:
    hd_insert_merge_abort(op, merge);
    return status;
}

static hudi_status run_create(struct hd_op *op, hd_upsert *upsert, struct hd_upsert_work *work,
                              uint32_t ordinal)
{
    hudi_status status = HUDI_OK;
    hd_insert_target *target = NULL;

    HD_TRY(hd_insert_target_open(op, upsert->config, upsert->schema, upsert->merger,
                                 work->partition_path, ordinal, 0, NULL, 0, &work->status,
                                 &target));
    for (int64_t done = 0; done < work->n_inserts; done += BATCH_ROWS) {
        const int64_t left = work->n_inserts - done;
        struct hd_shared_array *records = NULL;
        struct ArrowArray keys = {0};

        status = hd_spillable_map_batch(op, upsert->map, work->inserts + done,
                                        left < BATCH_ROWS ? left : BATCH_ROWS, &records, &keys);
        if (status == HUDI_OK)
            status = hd_insert_target_append(op, target, records, &keys);
        hd_shared_array_free(records);
        hd_array_clear(&keys);
        HD_TRY_OUT(status);
    }
    status = hd_insert_target_close(op, target, NULL);
    target = NULL;
out:
    hd_insert_target_abort(op, target);
    return status;
}

static hudi_status append_records(struct hd_op *op, hd_upsert *upsert, hd_append_handle *handle,
                                  const int64_t *entries, const bool *drop, int64_t n)
{
    hudi_status status = HUDI_OK;
    struct hd_shared_array *records = NULL;
    struct ArrowArray keys = {0};

    HD_TRY_OUT(hd_spillable_map_batch(op, upsert->map, entries, n, &records, &keys));
    HD_TRY_OUT(hd_append_handle_append(op, handle, records, &keys, drop));
out:
    hd_shared_array_free(records);
    hd_array_clear(&keys);
    return status;
}

/* The next hits, at most a batch of them; without combining all rows of a key go to the log, in the
 * order in which they came. */
static hudi_status append_hits(struct hd_op *op, hd_upsert *upsert, hd_append_handle *handle,
                               const struct hd_index_hit *hits, size_t n_hits, int64_t *entries,
                               bool *drop)
{
    hudi_status status = HUDI_OK;
    struct hd_arena arena = {0};
    const int64_t *all;
    int64_t n_all;

    for (size_t i = 0; i < n_hits; i++) {
        entries[i] = hits[i].entry;
        drop[i] = hits[i].drop;
    }
    HD_TRY_OUT(hd_upsert_with_older(op, upsert, &arena, entries, (int64_t)n_hits, &all, &n_all));
    if (upsert->keep_all) /* no global index: nothing is dropped */
        memset(drop, 0, BATCH_ROWS * sizeof *drop);
    for (int64_t done = 0; done < n_all; done += BATCH_ROWS)
        HD_TRY_OUT(append_records(op, upsert, handle, all + done, drop,
                                  n_all - done < BATCH_ROWS ? n_all - done : BATCH_ROWS));
out:
    hd_arena_clear(&arena);
    return status;
}

static int by_entry(const void *a, const void *b)
{
    const struct hd_index_hit *x = a, *y = b;

    return (x->entry > y->entry) - (x->entry < y->entry);
}

/* Each record once, however often its key is stored. A delete would take all rows of the key: where
 * one of them stays, the record does. */
static size_t unique_hits(struct hd_index_hit *hits, size_t n)
{
    size_t n_kept = 0;

    qsort(hits, n, sizeof *hits, by_entry);
    for (size_t i = 0; i < n; i++) {
        if (n_kept > 0 && hits[n_kept - 1].entry == hits[i].entry)
            hits[n_kept - 1].drop &= hits[i].drop;
        else
            hits[n_kept++] = hits[i];
    }
    return n_kept;
}

static hudi_status run_append(struct hd_op *op, hd_upsert *upsert, struct hd_upsert_work *work,
                              uint32_t ordinal)
{
    hudi_status status = HUDI_OK;
    hd_append_handle *handle = NULL;
    struct hd_index_hit *hits = NULL;
    int64_t *entries = NULL;
    bool *drop = NULL;
    const struct hd_append_request request = {.config = upsert->config,
                                              .schema = upsert->schema,
                                              .merger = upsert->merger,
                                              .slice = work->slice,
                                              .ordinal = ordinal,
                                              .deletes =
                                                  upsert->config->operation == HD_OPERATION_DELETE};

    HD_TRY_OUT(hd_alloc_raw(op, work->n_hits, sizeof *hits, &hits));
    HD_TRY_OUT(hd_alloc_raw(op, BATCH_ROWS, sizeof *entries, &entries));
    HD_TRY_OUT(hd_alloc_raw(op, BATCH_ROWS, sizeof *drop, &drop));
    memcpy(hits, work->hits, work->n_hits * sizeof *hits);
    const size_t n_hits = unique_hits(hits, work->n_hits);
    HD_TRY_OUT(hd_append_handle_open(op, &request, &work->status, &handle));
    for (size_t done = 0; done < n_hits; done += BATCH_ROWS) {
        const size_t left = n_hits - done;
        HD_TRY_OUT(append_hits(op, upsert, handle, hits + done,
                               left < BATCH_ROWS ? left : BATCH_ROWS, entries, drop));
    }
    status = hd_append_handle_close(op, handle);
    handle = NULL;
out:
    hd_append_handle_abort(op, handle);
    hd_free(op, hits);
    hd_free(op, entries);
    hd_free(op, drop);
    return status;
}

static hudi_status run_work(struct hd_op *op, void *argument, size_t i)
{
    hd_upsert *upsert = argument;
    struct hd_upsert_work *work = &upsert->works[i];
    const uint32_t ordinal =
        upsert->config->task + upsert->config->n_tasks * (upsert->first_ordinal + (uint32_t)i);

    if (work->slice == NULL)
        return run_create(op, upsert, work, ordinal);
    /* A file that inserts fill up is rewritten with its updates: no look-up would find them in
     * logs.
     */
    if (upsert->config->table->config.type == HD_MERGE_ON_READ && work->n_inserts == 0)
        return run_append(op, upsert, work, ordinal);
    if (hd_write_merges_inserts(upsert->config))
        return run_insert_merge(op, upsert, work, ordinal);
    return run_merge(op, upsert, work, ordinal);
}

hudi_status hd_upsert_run_works(struct hd_op *op, hd_upsert *upsert)
{
    hudi_status status = hd_pool_each(op, upsert->config->pool, upsert->n_works, run_work, upsert);

    for (size_t i = 0; i < upsert->n_works; i++) {
        if (status == HUDI_OK)
            status = hd_write_status_absorb(op, upsert->status, &upsert->works[i].status);
        hd_write_status_clear(op, &upsert->works[i].status);
    }
    upsert->first_ordinal += (uint32_t)upsert->n_works;
    upsert->n_works = 0;
    return status;
}
