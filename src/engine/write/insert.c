/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/write/insert.h"

#include <stdlib.h>
#include <strings.h>

#include "arrow/gather.h"
#include "arrow/schema.h"
#include "base/checked_int.h"
#include "engine/record/key_range.h"
#include "engine/record/merge.h"
#include "engine/write/global_sort.h"
#include "engine/write/insert_target.h"

/* Rows and bytes that are split by partition at a time: enough that a partition's share of a chunk
 * is worth a write call, small beside the files' own buffers. */
#define CHUNK_ROWS 262144
#define CHUNK_BYTES (64ull << 20)
/* A sorting chunk holds as much as may be sorted in memory; with GLOBAL_SORT more than one of them
 * go through disk. */
#define SORT_CHUNK_BYTES (512ull << 20)
/* An open file's row group, as it is encoded. */
#define TARGET_BYTES (16ull << 20)

enum sort_mode { SORT_NONE, SORT_PARTITION, SORT_GLOBAL };

/* One partition of the write. */
struct partition {
    hd_insert_target *target;
    struct hd_write_status status;
    bool started; /* its small files have been given out */
    uint64_t last_used;
    uint64_t next_seqno; /* after the files that were closed */
};

/* A row of the chunk. */
struct chunk_row {
    uint32_t batch;
    uint32_t row;
};

struct hd_insert {
    const struct hd_write_config *config;
    const struct hd_write_schema *schema;
    uint32_t first_ordinal;
    struct hd_partition_set *partitions;
    struct hd_write_status *status;
    hd_merger *merger;
    enum sort_mode sort;
    bool small_files;
    int64_t record_bytes;
    struct hd_arena arena;             /* views of slices, partitions */
    struct hd_file_system_view *views; /* one a partition that was looked at */
    size_t n_views, view_capacity;
    struct partition **of; /* by partition number; targets point into them */
    size_t n_of, of_capacity;
    uint64_t clock;
    size_t max_open;        /* targets */
    hd_global_sort *sorted; /* chunks on disk, in order; NULL: none yet */
    /* the chunk */
    struct hd_input_batch *batches;
    size_t n_batches, batch_capacity;
    int64_t chunk_rows;
    uint64_t chunk_bytes;
};

static enum sort_mode sort_mode_of(const struct hd_write_config *config)
{
    const char *mode = hd_write_text(config, "hoodie.bulkinsert.sort.mode");

    if (config->operation != HD_OPERATION_BULK_INSERT)
        return SORT_NONE;
    if (strcasecmp(mode, "GLOBAL_SORT") == 0)
        return SORT_GLOBAL;
    if (strcasecmp(mode, "PARTITION_SORT") == 0 ||
        strcasecmp(mode, "PARTITION_PATH_REPARTITION_AND_SORT") == 0)
        return SORT_PARTITION;
    return SORT_NONE;
}

hudi_status hd_insert_open(struct hd_op *op, const struct hd_write_config *config,
                           const struct hd_write_schema *schema,
                           struct hd_partition_set *partitions, uint32_t first_ordinal,
                           bool fill_small_files, struct hd_write_status *write_status,
                           hd_insert **out)
{
    hudi_status status = HUDI_OK;
    hd_insert *insert;

    *out = NULL;
    HD_TRY(hd_alloc(op, sizeof *insert, &insert));
    insert->config = config;
    insert->schema = schema;
    insert->first_ordinal = first_ordinal;
    insert->partitions = partitions;
    insert->status = write_status;
    insert->sort = sort_mode_of(config);
    insert->max_open =
        (size_t)hd_min_u64(HD_MAX_OPEN_TARGETS, op->budget->limit_bytes / TARGET_BYTES);
    if (insert->max_open == 0)
        insert->max_open = 1;
    insert->small_files = fill_small_files;
    HD_TRY_OUT(hd_merger_new(op, &config->table->config, &config->options, &schema->record,
                             &insert->merger));
    if (insert->small_files)
        HD_TRY_OUT(hd_average_record_bytes(op, config, &insert->record_bytes));
    *out = insert;
    return HUDI_OK;
out:
    hd_insert_free(op, insert);
    return status;
}

/* ---- partitions and their open files ----------------------------------------------------------
 */

static hudi_status partition_small_files(struct hd_op *op, hd_insert *insert, const char *path,
                                         struct hd_small_file **out, size_t *n)
{
    const struct hd_table_snapshot *table = insert->config->table;
    const struct hd_file_slice **slices;
    size_t n_slices;

    HD_TRY(hd_grow(op, &insert->views, &insert->view_capacity, insert->n_views + 1,
                   sizeof *insert->views));
    struct hd_file_system_view *view = &insert->views[insert->n_views];
    *view = (struct hd_file_system_view){0};
    HD_TRY(hd_file_system_view_load(op, NULL, table->fs, table->path, &table->config,
                                    &table->timeline, &path, 1, view));
    insert->n_views++;
    HD_TRY(hd_file_system_view_slices(op, view, NULL, &insert->arena, &slices, &n_slices));
    HD_TRY(hd_arena_array(op, &insert->arena, n_slices, sizeof **out, out));
    hd_small_files(insert->config, insert->record_bytes, slices, n_slices, *out, n);
    return HUDI_OK;
}

static hudi_status open_target(struct hd_op *op, hd_insert *insert, uint32_t number)
{
    struct partition *partition = insert->of[number];
    const char *path = (const char *)hd_partition_set_path(insert->partitions, number).data;
    struct hd_small_file *small = NULL;
    size_t n_small = 0;
    const uint32_t ordinal =
        insert->config->task + insert->config->n_tasks * (insert->first_ordinal + number);

    if (insert->small_files && !partition->started)
        HD_TRY(partition_small_files(op, insert, path, &small, &n_small));
    partition->started = true;
    return hd_insert_target_open(op, insert->config, insert->schema, insert->merger, path, ordinal,
                                 partition->next_seqno, small, n_small, &partition->status,
                                 &partition->target);
}

static hudi_status close_target(struct hd_op *op, struct partition *partition)
{
    hd_insert_target *target = partition->target;

    partition->target = NULL;
    return target == NULL ? HUDI_OK : hd_insert_target_close(op, target, &partition->next_seqno);
}

/* Close files until `wanted` more may be open, the longest unused first. */
static hudi_status limit_open_targets(struct hd_op *op, hd_insert *insert, size_t wanted)
{
    for (;;) {
        struct partition *oldest = NULL;
        size_t n_open = 0;

        for (size_t i = 0; i < insert->n_of; i++) {
            struct partition *partition = insert->of[i];
            if (partition->target == NULL)
                continue;
            n_open++;
            if (partition->last_used != insert->clock &&
                (oldest == NULL || partition->last_used < oldest->last_used))
                oldest = partition;
        }
        if (n_open + wanted <= insert->max_open || oldest == NULL)
            return HUDI_OK;
        HD_TRY(close_target(op, oldest));
    }
}

/* ---- a chunk: split by partition, written -----------------------------------------------------
 */

/* The rows of one partition in the chunk. */
struct share {
    uint32_t partition;
    struct chunk_row *rows;
    int64_t n_rows;
};

struct chunk_job {
    hd_insert *insert;
    struct share *shares;
    size_t n_shares;
    struct hd_view *keys; /* one a batch */
    const struct ArrowArray **records;
    const struct ArrowArray **key_arrays;
};

static int by_record_key(const void *a, const void *b, void *argument)
{
    const struct chunk_row *x = a, *y = b;
    const struct hd_view *keys = argument;
    const int order = hd_key_compare(hd_view_bytes(&keys[x->batch], x->row),
                                     hd_view_bytes(&keys[y->batch], y->row));

    if (order != 0)
        return order;
    return x->batch != y->batch ? (x->batch > y->batch ? 1 : -1)
                                : (x->row > y->row) - (x->row < y->row);
}

static hudi_status gather_share(struct hd_op *op, const struct chunk_job *job,
                                const struct hd_run_list *runs, struct hd_shared_array **records,
                                struct ArrowArray *keys)
{
    hudi_status status = HUDI_OK;
    const uint32_t n_batches = (uint32_t)job->insert->n_batches;
    const struct hd_type text = {.id = HD_TYPE_STRING};
    struct ArrowSchema field = {0};
    struct ArrowArray rows = {0};

    HD_TRY_OUT(hd_gather(op, &job->insert->schema->record, job->records, n_batches, runs->runs,
                         runs->n_runs, &rows));
    HD_TRY_OUT(hd_schema_init_field(op, &field, "key", &text, false));
    HD_TRY_OUT(hd_gather(op, &field, job->key_arrays, n_batches, runs->runs, runs->n_runs, keys));
    HD_TRY_OUT(hd_shared_array_new(op, &rows, records));
out:
    hd_schema_clear(&field);
    hd_array_clear(&rows);
    return status;
}

/* Write one partition's share, a row group's worth at a time. */
static hudi_status write_share(struct hd_op *op, void *argument, size_t i)
{
    hudi_status status = HUDI_OK;
    struct chunk_job *job = argument;
    hd_insert *insert = job->insert;
    struct share *share = &job->shares[i];
    struct hd_run_list runs = {0};

    if (insert->sort != SORT_NONE)
        qsort_r(share->rows, (size_t)share->n_rows, sizeof *share->rows, by_record_key, job->keys);
    for (int64_t done = 0; done < share->n_rows;) {
        const int64_t end = share->n_rows - done > CHUNK_ROWS ? done + CHUNK_ROWS : share->n_rows;
        struct hd_shared_array *records = NULL;
        struct ArrowArray keys = {0};

        hd_run_list_reset(&runs);
        for (; done < end; done++)
            HD_TRY_OUT(
                hd_run_list_add(op, &runs, share->rows[done].batch, share->rows[done].row, 1));
        status = gather_share(op, job, &runs, &records, &keys);
        if (status == HUDI_OK)
            status =
                hd_insert_target_append(op, insert->of[share->partition]->target, records, &keys);
        hd_shared_array_free(records);
        hd_array_clear(&keys);
        HD_TRY_OUT(status);
    }
out:
    hd_free(op, runs.runs);
    return status;
}

/* Counting sort of the chunk's rows by partition. */
static hudi_status make_shares(struct hd_op *op, struct chunk_job *job, struct hd_arena *arena)
{
    hd_insert *insert = job->insert;
    const size_t n_partitions = insert->partitions->paths.n_entries;
    int64_t *starts;
    struct chunk_row *rows;

    HD_TRY(hd_arena_array(op, arena, n_partitions + 1, sizeof *starts, &starts));
    HD_TRY(hd_arena_array(op, arena, (size_t)insert->chunk_rows, sizeof *rows, &rows));
    HD_TRY(hd_arena_array(op, arena, n_partitions, sizeof *job->shares, &job->shares));
    for (int pass = 0; pass < 2; pass++) {
        for (size_t b = 0; b < insert->n_batches; b++) {
            const struct hd_input_batch *batch = &insert->batches[b];
            for (int64_t i = 0; i < batch->n_rows; i++) {
                const int64_t row = batch->rows != NULL ? batch->rows[i] : i;
                const uint32_t partition = batch->keys.partitions[row];
                if (pass == 0)
                    starts[partition + 1]++;
                else
                    rows[starts[partition]++] = (struct chunk_row){(uint32_t)b, (uint32_t)row};
            }
        }
        if (pass == 0)
            for (size_t p = 0; p < n_partitions; p++)
                starts[p + 1] += starts[p];
    }
    int64_t start = 0; /* starts[p] is now the end of p */
    for (size_t p = 0; p < n_partitions; p++) {
        if (starts[p] > start)
            job->shares[job->n_shares++] =
                (struct share){(uint32_t)p, rows + start, starts[p] - start};
        start = starts[p];
    }
    return HUDI_OK;
}

static hudi_status open_chunk(struct hd_op *op, struct chunk_job *job, struct hd_arena *arena)
{
    hd_insert *insert = job->insert;
    const struct hd_type text = {.id = HD_TYPE_STRING};
    struct ArrowSchema field = {0};
    hudi_status status = HUDI_OK;

    HD_TRY(hd_arena_array(op, arena, insert->n_batches, sizeof *job->keys, &job->keys));
    HD_TRY(hd_arena_array(op, arena, insert->n_batches, sizeof *job->records, &job->records));
    HD_TRY(hd_arena_array(op, arena, insert->n_batches, sizeof *job->key_arrays, &job->key_arrays));
    HD_TRY(hd_schema_init_field(op, &field, "key", &text, false));
    for (size_t b = 0; b < insert->n_batches && status == HUDI_OK; b++) {
        job->records[b] = hd_shared_array_get(insert->batches[b].records);
        job->key_arrays[b] = &insert->batches[b].keys.record_keys;
        status = hd_view_open(op, arena, &field, job->key_arrays[b], &job->keys[b]);
    }
    hd_schema_clear(&field);
    return status;
}

static void drop_chunk(struct hd_op *op, hd_insert *insert)
{
    for (size_t b = 0; b < insert->n_batches; b++)
        hd_input_batch_clear(op, &insert->batches[b]);
    insert->n_batches = 0;
    insert->chunk_rows = 0;
    insert->chunk_bytes = 0;
}

/* Write shares, no more of them at a time than files may be open. */
static hudi_status write_shares(struct hd_op *op, struct chunk_job *job)
{
    hd_insert *insert = job->insert;
    struct chunk_job part = *job;

    for (size_t first = 0; first < job->n_shares; first += part.n_shares) {
        part.shares = job->shares + first;
        part.n_shares = job->n_shares - first;
        if (part.n_shares > insert->max_open)
            part.n_shares = insert->max_open;
        insert->clock++;
        size_t n_new = 0;
        for (size_t i = 0; i < part.n_shares; i++) {
            insert->of[part.shares[i].partition]->last_used = insert->clock;
            n_new += insert->of[part.shares[i].partition]->target == NULL;
        }
        HD_TRY(limit_open_targets(op, insert, n_new));
        for (size_t i = 0; i < part.n_shares; i++)
            if (insert->of[part.shares[i].partition]->target == NULL)
                HD_TRY(open_target(op, insert, part.shares[i].partition));
        HD_TRY(hd_pool_each(op, insert->config->pool, part.n_shares, write_share, &part));
    }
    return HUDI_OK;
}

/* All rows of the chunk belong to one partition and need no order: the batches go as they are. */
static hudi_status write_whole_batches(struct hd_op *op, hd_insert *insert, uint32_t partition)
{
    insert->clock++;
    insert->of[partition]->last_used = insert->clock;
    if (insert->of[partition]->target == NULL) {
        HD_TRY(limit_open_targets(op, insert, 1));
        HD_TRY(open_target(op, insert, partition));
    }
    for (size_t b = 0; b < insert->n_batches; b++)
        HD_TRY(hd_insert_target_append(op, insert->of[partition]->target,
                                       insert->batches[b].records,
                                       &insert->batches[b].keys.record_keys));
    return HUDI_OK;
}

static bool all_rows_good(const hd_insert *insert)
{
    for (size_t b = 0; b < insert->n_batches; b++)
        if (insert->batches[b].rows != NULL)
            return false;
    return true;
}

static hudi_status know_partitions(struct hd_op *op, hd_insert *insert)
{
    const size_t n = insert->partitions->paths.n_entries;

    HD_TRY(hd_grow(op, &insert->of, &insert->of_capacity, n, sizeof *insert->of));
    for (; insert->n_of < n; insert->n_of++)
        HD_TRY(hd_arena_alloc(op, &insert->arena, sizeof **insert->of, &insert->of[insert->n_of]));
    return HUDI_OK;
}

/* ---- more than a chunk in one order, or into more files than may be open ----------------------
 */

/* Whether the rows of the chunk would make small files without end: they belong to a partition
 * whose file was closed to open others, or in turns to more partitions than files may be open while
 * further chunks follow. */
static bool is_scattered(const hd_insert *insert, const struct chunk_job *job, bool is_last)
{
    uint32_t last = UINT32_MAX;
    size_t n_changes = 0;

    for (size_t i = 0; i < job->n_shares; i++) {
        const struct partition *partition = insert->of[job->shares[i].partition];
        if (partition->started && partition->target == NULL)
            return true;
    }
    if (is_last || job->n_shares <= insert->max_open)
        return false;
    for (size_t b = 0; b < insert->n_batches; b++) {
        const struct hd_input_batch *batch = &insert->batches[b];
        for (int64_t i = 0; i < batch->n_rows; i++) {
            const uint32_t partition =
                batch->keys.partitions[batch->rows != NULL ? batch->rows[i] : i];
            n_changes += partition != last;
            last = partition;
        }
    }
    return n_changes > 2 * job->n_shares;
}

static hudi_status sort_share(struct hd_op *op, void *argument, size_t i)
{
    const struct chunk_job *job = argument;

    (void)op;
    qsort_r(job->shares[i].rows, (size_t)job->shares[i].n_rows, sizeof *job->shares[i].rows,
            by_record_key, job->keys);
    return HUDI_OK;
}

static hudi_status spill_shares(struct hd_op *op, const struct chunk_job *job,
                                const struct hd_view *records)
{
    hd_insert *insert = job->insert;

    HD_TRY(hd_global_sort_begin_run(op, insert->sorted));
    for (size_t s = 0; s < job->n_shares; s++) {
        const struct share *share = &job->shares[s];
        for (int64_t i = 0; i < share->n_rows; i++) {
            const struct chunk_row *row = &share->rows[i];
            const struct hd_view *columns = &records[row->batch];
            HD_TRY(hd_global_sort_add(op, insert->sorted, share->partition,
                                      hd_view_bytes(&job->keys[row->batch], row->row),
                                      columns->children, columns->n_children, row->row));
        }
    }
    return HUDI_OK;
}

/* The chunk becomes a run on disk. */
static hudi_status spill(struct hd_op *op, const struct chunk_job *job, struct hd_arena *arena)
{
    hd_insert *insert = job->insert;
    struct hd_view *records;

    if (insert->sorted == NULL) {
        hd_log(op, HD_LOG_INFO, "more rows than fit into memory: they are %s through disk",
               insert->sort == SORT_NONE ? "split by partition" : "sorted");
        HD_TRY(hd_global_sort_new(op, &insert->schema->record, insert->sort != SORT_NONE,
                                  hd_write_text(insert->config, "hoodie.memory.spillable.map.path"),
                                  &insert->sorted));
    }
    HD_TRY(hd_arena_array(op, arena, insert->n_batches, sizeof *records, &records));
    for (size_t b = 0; b < insert->n_batches; b++)
        HD_TRY(hd_view_open(op, arena, &insert->schema->record, job->records[b], &records[b]));
    if (insert->sort != SORT_NONE)
        HD_TRY(hd_pool_each(op, insert->config->pool, job->n_shares, sort_share, (void *)job));
    return spill_shares(op, job, records);
}

/* The chunk goes to its partitions' files, or to disk. */
static hudi_status flush(struct hd_op *op, hd_insert *insert, bool is_last)
{
    hudi_status status = HUDI_OK;
    struct hd_arena arena = {0};
    struct chunk_job job = {.insert = insert};

    if (insert->chunk_rows == 0)
        goto out;
    HD_TRY_OUT(hd_op_check_cancel(op));
    HD_TRY_OUT(know_partitions(op, insert));
    HD_TRY_OUT(make_shares(op, &job, &arena));
    const bool through_disk =
        insert->sorted != NULL ||
        (insert->sort == SORT_GLOBAL ? !is_last : is_scattered(insert, &job, is_last));
    if (!through_disk && job.n_shares == 1 && insert->sort == SORT_NONE && all_rows_good(insert)) {
        HD_TRY_OUT(write_whole_batches(op, insert, job.shares[0].partition));
        goto out;
    }
    HD_TRY_OUT(open_chunk(op, &job, &arena));
    status = through_disk ? spill(op, &job, &arena) : write_shares(op, &job);
out:
    drop_chunk(op, insert);
    hd_arena_clear(&arena);
    return status;
}

/* All runs, merged, to the files: one partition after the other. */
static hudi_status write_sorted(struct hd_op *op, hd_insert *insert)
{
    uint32_t last = UINT32_MAX;

    HD_TRY(know_partitions(op, insert));
    HD_TRY(hd_global_sort_finish(op, insert->sorted));
    for (;;) {
        struct hd_shared_array *records;
        struct ArrowArray keys;
        uint32_t number;
        hudi_status status = hd_global_sort_next(op, insert->sorted, &number, &records, &keys);

        if (status == HUDI_END)
            return HUDI_OK;
        HD_TRY(status);
        if (number != last && last != UINT32_MAX)
            status = close_target(op, insert->of[last]);
        last = number;
        if (status == HUDI_OK && insert->of[number]->target == NULL)
            status = open_target(op, insert, number);
        if (status == HUDI_OK)
            status = hd_insert_target_append(op, insert->of[number]->target, records, &keys);
        hd_shared_array_free(records);
        hd_array_clear(&keys);
        HD_TRY(status);
    }
}

hudi_status hd_insert_add(struct hd_op *op, hd_insert *insert, struct hd_input_batch *batch)
{
    const bool sorting = insert->sort != SORT_NONE;

    HD_TRY(hd_grow(op, &insert->batches, &insert->batch_capacity, insert->n_batches + 1,
                   sizeof *insert->batches));
    insert->batches[insert->n_batches++] = *batch;
    *batch = (struct hd_input_batch){0};
    const struct hd_input_batch *kept = &insert->batches[insert->n_batches - 1];
    insert->chunk_rows += kept->n_rows;
    insert->chunk_bytes +=
        hd_array_bytes(&insert->schema->record, hd_shared_array_get(kept->records));
    const uint64_t limit =
        hd_min_u64(sorting ? SORT_CHUNK_BYTES : CHUNK_BYTES, op->budget->limit_bytes / 4);
    if (insert->chunk_bytes < limit && (sorting || insert->chunk_rows < CHUNK_ROWS))
        return HUDI_OK;
    return flush(op, insert, false);
}

hudi_status hd_insert_finish(struct hd_op *op, hd_insert *insert)
{
    HD_TRY(flush(op, insert, true));
    if (insert->sorted != NULL)
        HD_TRY(write_sorted(op, insert));
    for (size_t i = 0; i < insert->n_of; i++)
        HD_TRY(close_target(op, insert->of[i]));
    for (size_t i = 0; i < insert->n_of; i++)
        HD_TRY(hd_write_status_absorb(op, insert->status, &insert->of[i]->status));
    return HUDI_OK;
}

void hd_insert_free(struct hd_op *op, hd_insert *insert)
{
    if (insert == NULL)
        return;
    drop_chunk(op, insert);
    hd_global_sort_free(op, insert->sorted);
    for (size_t i = 0; i < insert->n_of; i++) {
        hd_insert_target_abort(op, insert->of[i]->target);
        hd_write_status_clear(op, &insert->of[i]->status);
    }
    for (size_t i = 0; i < insert->n_views; i++)
        hd_file_system_view_clear(&insert->views[i]);
    hd_free(op, insert->views);
    hd_free(op, insert->of);
    hd_free(op, insert->batches);
    hd_merger_free(insert->merger);
    hd_arena_clear(&insert->arena);
    hd_free(op, insert);
}
