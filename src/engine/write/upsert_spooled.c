/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An upsert of more records than fit into memory, in passes over files on disk:
 *
 *   1. as they come: records to buckets by the hash of their key
 *   2. some buckets at a time: pre-combined and looked up as ever, then to buckets by where they
 * go: the file group they update (or fill up), or the partition whose new file groups they make
 *   3. file group buckets: the handles, as ever
 *   4. partition buckets: streamed into new files
 *
 * Memory holds a few buckets' keys at a time. A record as it lies on disk, integers little-endian:
 *
 *   u32 partition number | u32 slice number + 1, 0: a new file group | i64 row of the old file, -1:
 * an insert | u8 the old row is dropped | u32 key bytes | key | the row (record/row_codec.h)
 */
#include <stdlib.h>

#include "arrow/builder.h"
#include "arrow/schema.h"
#include "base/cursor.h"
#include "engine/record/row_codec.h"
#include "engine/write/assign.h"
#include "engine/write/insert.h"
#include "engine/write/row_spool.h"
#include "engine/write/upsert_internal.h"

#define N_KEY_BUCKETS 256
#define N_SLICE_BUCKETS 128
#define N_PARTITION_BUCKETS 128
#define BATCH_ROWS 16384

struct hd_upsert_spooled {
    hd_row_spool *by_key;
    hd_row_spool *by_place;
    struct hd_small_file *small; /* of all partitions, in slice order; room goes down */
    size_t n_small;
    uint32_t first_bucket; /* of those in the map */
    struct hd_str record;  /* scratch */
};

/* A record's head, as it was read. */
struct head {
    uint32_t partition;
    uint32_t slice; /* number + 1 */
    int64_t row;
    bool drop;
    struct hd_slice key;
};

static hudi_status begin_record(struct hd_op *op, struct hd_str *out, const struct head *head)
{
    const uint32_t key_size = (uint32_t)head->key.size;
    const uint8_t drop = head->drop;

    out->size = 0;
    HD_TRY(hd_str_append(op, out, &head->partition, sizeof head->partition));
    HD_TRY(hd_str_append(op, out, &head->slice, sizeof head->slice));
    HD_TRY(hd_str_append(op, out, &head->row, sizeof head->row));
    HD_TRY(hd_str_append(op, out, &drop, sizeof drop));
    HD_TRY(hd_str_append(op, out, &key_size, sizeof key_size));
    return hd_str_append(op, out, head->key.data, head->key.size);
}

static hudi_status take_head(struct hd_op *op, struct hd_cursor *in, struct head *out)
{
    uint32_t key_size;
    uint64_t row;
    uint8_t drop;

    HD_TRY(hd_cursor_u32le(op, in, &out->partition));
    HD_TRY(hd_cursor_u32le(op, in, &out->slice));
    HD_TRY(hd_cursor_u64le(op, in, &row));
    HD_TRY(hd_cursor_u8(op, in, &drop));
    HD_TRY(hd_cursor_u32le(op, in, &key_size));
    out->row = (int64_t)row;
    out->drop = drop != 0;
    return hd_cursor_take(op, in, key_size, &out->key);
}

/* ---- 1: by key ------------------------------------------------------------------------------- */

static hudi_status spool_by_key(struct hd_op *op, hd_upsert *upsert, const struct head *head,
                                const struct hd_view *columns, int64_t n_columns, int64_t row)
{
    struct hd_upsert_spooled *spooled = upsert->spooled;
    uint64_t hash = hd_hash_bytes(head->key.data, head->key.size);

    if (!upsert->global)
        hash ^= (head->partition + UINT64_C(1)) * UINT64_C(0x9e3779b97f4a7c15);
    HD_TRY(begin_record(op, &spooled->record, head));
    HD_TRY(hd_row_encode(op, columns, n_columns, row, &spooled->record));
    return hd_row_spool_append(op, spooled->by_key, (uint32_t)(hash >> 32) % N_KEY_BUCKETS,
                               hd_str_slice(&spooled->record));
}

hudi_status hd_upsert_spool(struct hd_op *op, hd_upsert *upsert, const struct hd_input_batch *batch)
{
    hudi_status status = HUDI_OK;
    const struct hd_type text = {.id = HD_TYPE_STRING};
    struct ArrowSchema field = {0};
    struct hd_arena arena = {0};
    struct hd_view keys, records;

    HD_TRY_OUT(hd_schema_init_field(op, &field, "key", &text, false));
    HD_TRY_OUT(hd_view_open(op, &arena, &field, &batch->keys.record_keys, &keys));
    HD_TRY_OUT(hd_view_open(op, &arena, &upsert->schema->record,
                            hd_shared_array_get(batch->records), &records));
    for (int64_t i = 0; i < batch->n_rows; i++) {
        const int64_t row = batch->rows != NULL ? batch->rows[i] : i;
        const struct head head = {
            .partition = batch->keys.partitions[row], .row = -1, .key = hd_view_bytes(&keys, row)};
        HD_TRY_OUT(spool_by_key(op, upsert, &head, records.children, records.n_children, row));
    }
out:
    hd_schema_clear(&field);
    hd_arena_clear(&arena);
    return status;
}

/* Entries [first, first + n) of the map: their records and views on them. */
static hudi_status load_entries(struct hd_op *op, const hd_upsert *upsert, const int64_t *entries,
                                int64_t n, struct hd_arena *arena, struct ArrowArray *records,
                                struct hd_view *view)
{
    HD_TRY(hd_spillable_map_get(op, upsert->map, entries, n, records));
    return hd_view_open(op, arena, &upsert->schema->record, records, view);
}

static hudi_status spool_entries(struct hd_op *op, hd_upsert *upsert, int64_t first, int64_t n)
{
    hudi_status status = HUDI_OK;
    struct hd_arena arena = {0};
    struct ArrowArray records = {0};
    struct hd_view view;
    int64_t *entries;

    HD_TRY_OUT(hd_arena_array(op, &arena, (size_t)n, sizeof *entries, &entries));
    for (int64_t i = 0; i < n; i++)
        entries[i] = first + i;
    HD_TRY_OUT(load_entries(op, upsert, entries, n, &arena, &records, &view));
    for (int64_t i = 0; i < n; i++) {
        const struct head head = {.partition = hd_upsert_partition_of(upsert, first + i),
                                  .row = -1,
                                  .key = hd_spillable_map_key(upsert->map, first + i)};
        HD_TRY_OUT(spool_by_key(op, upsert, &head, view.children, view.n_children, i));
    }
out:
    hd_array_clear(&records);
    hd_arena_clear(&arena);
    return status;
}

hudi_status hd_upsert_start_spooling(struct hd_op *op, hd_upsert *upsert)
{
    const int64_t n = hd_spillable_map_length(upsert->map);
    const char *folder = hd_write_text(upsert->config, "hoodie.memory.spillable.map.path");

    HD_TRY(hd_alloc(op, sizeof *upsert->spooled, &upsert->spooled));
    HD_TRY(hd_row_spool_new(op, folder, N_KEY_BUCKETS, &upsert->spooled->by_key));
    for (int64_t first = 0; first < n; first += BATCH_ROWS)
        HD_TRY(spool_entries(op, upsert, first, n - first < BATCH_ROWS ? n - first : BATCH_ROWS));
    hd_upsert_drop_records(op, upsert);
    return HUDI_OK;
}

void hd_upsert_free_spooled(struct hd_op *op, hd_upsert *upsert)
{
    struct hd_upsert_spooled *spooled = upsert->spooled;

    if (spooled == NULL)
        return;
    hd_row_spool_free(op, spooled->by_key);
    hd_row_spool_free(op, spooled->by_place);
    hd_free(op, spooled->small);
    hd_str_clear(&spooled->record);
    hd_free(op, spooled);
    upsert->spooled = NULL;
}

/* ---- reading a bucket ------------------------------------------------------------------------ */

/* Records of a bucket as batches; `heads` are of the batch's rows, without their keys. */
struct bucket_reader {
    hd_upsert *upsert;
    hd_row_spool *spool;
    hd_builder *rows;
    hd_builder *keys;
    struct ArrowSchema key_field;
    struct head *heads;
};

static void close_reader(struct hd_op *op, struct bucket_reader *reader)
{
    hd_builder_free(reader->rows);
    hd_builder_free(reader->keys);
    hd_schema_clear(&reader->key_field);
    hd_free(op, reader->heads);
}

static hudi_status open_reader(struct hd_op *op, hd_upsert *upsert, hd_row_spool *spool,
                               struct bucket_reader *out)
{
    hudi_status status = HUDI_OK;
    const struct hd_type text = {.id = HD_TYPE_STRING};

    *out = (struct bucket_reader){.upsert = upsert, .spool = spool};
    HD_TRY_OUT(hd_builder_new(op, &upsert->schema->record, &out->rows));
    HD_TRY_OUT(hd_schema_init_field(op, &out->key_field, "key", &text, false));
    HD_TRY_OUT(hd_builder_new(op, &out->key_field, &out->keys));
    HD_TRY_OUT(hd_alloc_raw(op, BATCH_ROWS, sizeof *out->heads, &out->heads));
out:
    if (status != HUDI_OK)
        close_reader(op, out);
    return status;
}

/* The bucket's next records; HUDI_END. */
static hudi_status read_batch(struct hd_op *op, struct bucket_reader *reader,
                              struct hd_input_batch *out)
{
    hudi_status status = HUDI_OK;
    struct ArrowArray rows = {0};
    int64_t n = 0;

    *out = (struct hd_input_batch){0};
    for (; n < BATCH_ROWS; n++) {
        struct hd_slice record;
        struct hd_cursor in;

        status = hd_row_spool_next(op, reader->spool, &record);
        if (status == HUDI_END)
            break;
        HD_TRY_OUT(status);
        in = hd_cursor_over(record.data, record.size, 0);
        HD_TRY_OUT(take_head(op, &in, &reader->heads[n]));
        HD_TRY_OUT(hd_builder_append_bytes(op, reader->keys, reader->heads[n].key));
        HD_TRY_OUT(hd_row_decode(op, &reader->upsert->schema->record, &in, reader->rows));
    }
    if (n == 0)
        return HUDI_END;
    HD_TRY_OUT(hd_builder_finish(op, reader->keys, &out->keys.record_keys));
    HD_TRY_OUT(hd_builder_finish(op, reader->rows, &rows));
    HD_TRY_OUT(hd_shared_array_new(op, &rows, &out->records));
    HD_TRY_OUT(hd_alloc_raw(op, (size_t)n, sizeof *out->keys.partitions, &out->keys.partitions));
    for (int64_t i = 0; i < n; i++)
        out->keys.partitions[i] = reader->heads[i].partition;
    out->keys.n_rows = out->n_rows = n;
out:
    hd_array_clear(&rows);
    if (status != HUDI_OK && status != HUDI_END)
        hd_input_batch_clear(op, out);
    return status == HUDI_END ? HUDI_OK : status;
}

/* ---- 2: by place ----------------------------------------------------------------------------- */

/* Small files of every partition, and the numbers of slices. */
static hudi_status prepare_places(struct hd_op *op, hd_upsert *upsert)
{
    struct hd_upsert_spooled *spooled = upsert->spooled;
    int64_t record_bytes;

    HD_TRY(hd_alloc_array(op, upsert->n_slices, sizeof *spooled->small, &spooled->small));
    if (upsert->config->operation != HD_OPERATION_DELETE) {
        HD_TRY(hd_average_record_bytes(op, upsert->config, &record_bytes));
        hd_small_files(upsert->config, record_bytes, upsert->slices, upsert->n_slices,
                       spooled->small, &spooled->n_small);
    }
    return hd_row_spool_new(op, hd_write_text(upsert->config, "hoodie.memory.spillable.map.path"),
                            N_SLICE_BUCKETS + N_PARTITION_BUCKETS, &spooled->by_place);
}

static uint32_t slice_bucket(const hd_upsert *upsert, size_t slice)
{
    return (uint32_t)(slice * N_SLICE_BUCKETS / upsert->n_slices);
}

/* Where an insert of a partition goes: slice number + 1 of a small file with room, 0 when there is
 * none. Small files stand in slice order, so a partition's are side by side. */
static uint32_t place_insert(hd_upsert *upsert, uint32_t partition)
{
    struct hd_upsert_spooled *spooled = upsert->spooled;
    const char *path = (const char *)hd_partition_set_path(upsert->partitions, partition).data;
    size_t low = 0, high = spooled->n_small;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (strcmp(spooled->small[middle].slice->partition_path, path) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < spooled->n_small && strcmp(spooled->small[low].slice->partition_path, path) == 0;
         low++) {
        if (spooled->small[low].room > 0) {
            spooled->small[low].room--;
            return (uint32_t)spooled->small[low].index + 1;
        }
    }
    return 0;
}

static hudi_status spool_by_place(struct hd_op *op, hd_upsert *upsert, const struct head *head,
                                  const struct hd_view *columns, int64_t n_columns, int64_t row)
{
    struct hd_upsert_spooled *spooled = upsert->spooled;
    const uint32_t bucket = head->slice > 0
                                ? slice_bucket(upsert, head->slice - 1)
                                : N_SLICE_BUCKETS + head->partition % N_PARTITION_BUCKETS;

    HD_TRY(begin_record(op, &spooled->record, head));
    HD_TRY(hd_row_encode(op, columns, n_columns, row, &spooled->record));
    return hd_row_spool_append(op, spooled->by_place, bucket, hd_str_slice(&spooled->record));
}

/* Hits [first, first + n) of one file. */
static hudi_status spool_hits(struct hd_op *op, hd_upsert *upsert, const struct hd_file_hits *file,
                              uint32_t slice, size_t first, size_t n)
{
    hudi_status status = HUDI_OK;
    struct hd_arena arena = {0};
    struct ArrowArray records = {0};
    struct hd_view view;
    int64_t *entries;

    HD_TRY_OUT(hd_arena_array(op, &arena, n, sizeof *entries, &entries));
    for (size_t i = 0; i < n; i++)
        entries[i] = file->hits[first + i].entry;
    HD_TRY_OUT(load_entries(op, upsert, entries, (int64_t)n, &arena, &records, &view));
    for (size_t i = 0; i < n; i++) {
        const struct hd_index_hit *hit = &file->hits[first + i];
        const struct head head = {.partition = hd_upsert_partition_of(upsert, hit->entry),
                                  .slice = slice + 1,
                                  .row = hit->row,
                                  .drop = hit->drop,
                                  .key = hd_spillable_map_key(upsert->map, hit->entry)};
        HD_TRY_OUT(spool_by_place(op, upsert, &head, view.children, view.n_children, (int64_t)i));
    }
out:
    hd_array_clear(&records);
    hd_arena_clear(&arena);
    return status;
}

static hudi_status spool_inserts(struct hd_op *op, hd_upsert *upsert, const int64_t *entries,
                                 int64_t n)
{
    hudi_status status = HUDI_OK;
    struct hd_arena arena = {0};
    struct ArrowArray records = {0};
    struct hd_view view;

    HD_TRY_OUT(load_entries(op, upsert, entries, n, &arena, &records, &view));
    for (int64_t i = 0; i < n; i++) {
        const uint32_t partition = hd_upsert_partition_of(upsert, entries[i]);
        const struct head head = {.partition = partition,
                                  .slice = place_insert(upsert, partition),
                                  .row = -1,
                                  .key = hd_spillable_map_key(upsert->map, entries[i])};
        HD_TRY_OUT(spool_by_place(op, upsert, &head, view.children, view.n_children, i));
    }
out:
    hd_array_clear(&records);
    hd_arena_clear(&arena);
    return status;
}

static hudi_status spool_placed(struct hd_op *op, hd_upsert *upsert)
{
    const size_t n_partitions = upsert->partitions->paths.n_entries;
    const int64_t n_inserts = upsert->insert_starts[n_partitions];
    size_t slice = 0;

    for (size_t f = 0; f < upsert->tagged.n_files; f++) {
        const struct hd_file_hits *file = &upsert->tagged.files[f];

        while (upsert->slices[slice] != file->slice) /* both in the order of the view */
            slice++;
        for (size_t first = 0; first < file->n_hits; first += BATCH_ROWS) {
            const size_t left = file->n_hits - first;
            HD_TRY(spool_hits(op, upsert, file, (uint32_t)slice, first,
                              left < BATCH_ROWS ? left : BATCH_ROWS));
        }
    }
    for (int64_t first = 0; first < n_inserts; first += BATCH_ROWS) {
        const int64_t left = n_inserts - first;
        HD_TRY(spool_inserts(op, upsert, upsert->inserts + first,
                             left < BATCH_ROWS ? left : BATCH_ROWS));
    }
    return HUDI_OK;
}

/* The records of the bucket that the reader is at, into the map. */
static hudi_status load_bucket(struct hd_op *op, hd_upsert *upsert, struct bucket_reader *reader)
{
    for (;;) {
        struct hd_input_batch batch;
        hudi_status status = read_batch(op, reader, &batch);

        if (status == HUDI_END)
            return HUDI_OK;
        HD_TRY(status);
        status = hd_upsert_put(op, upsert, &batch, NULL);
        hd_input_batch_clear(op, &batch);
        HD_TRY(status);
    }
}

/* As many key buckets as the map holds at a time: each round reads the files' keys once. */
static hudi_status place_buckets(struct hd_op *op, hd_upsert *upsert, struct bucket_reader *reader)
{
    for (uint32_t b = 0; b < N_KEY_BUCKETS; b++) {
        if (upsert->map == NULL)
            HD_TRY(hd_upsert_open_map(op, upsert));
        hd_row_spool_rewind(upsert->spooled->by_key, b);
        HD_TRY(load_bucket(op, upsert, reader));
        /* Buckets are about equal: one more must fit as well. */
        const uint64_t used = hd_spillable_map_memory_bytes(upsert->map);
        const uint64_t one = used / (b - upsert->spooled->first_bucket + 1);
        if (used + one < upsert->memory_bytes && b + 1 < N_KEY_BUCKETS)
            continue;
        upsert->spooled->first_bucket = b + 1;
        if (hd_spillable_map_length(upsert->map) > 0) {
            HD_TRY(hd_upsert_place(op, upsert));
            HD_TRY(spool_placed(op, upsert));
        }
        hd_upsert_drop_records(op, upsert);
    }
    return HUDI_OK;
}

static hudi_status place_all(struct hd_op *op, hd_upsert *upsert)
{
    struct hd_upsert_spooled *spooled = upsert->spooled;
    struct bucket_reader reader;

    HD_TRY(hd_row_spool_seal(op, spooled->by_key));
    HD_TRY(open_reader(op, upsert, spooled->by_key, &reader));
    const hudi_status status = place_buckets(op, upsert, &reader);
    close_reader(op, &reader);
    hd_row_spool_free(op, spooled->by_key);
    spooled->by_key = NULL;
    HD_TRY(status);
    return hd_row_spool_seal(op, spooled->by_place);
}

/* ---- 3: file groups -------------------------------------------------------------------------- */

/* Where a record of the bucket at hand goes. */
struct placed {
    uint32_t slice;
    struct hd_index_hit hit; /* row -1: an insert into the small file */
};

struct placed_list {
    struct placed *items;
    size_t n, capacity;
};

static hudi_status load_placed(struct hd_op *op, hd_upsert *upsert, struct bucket_reader *reader,
                               struct placed_list *out)
{
    hudi_status status = HUDI_OK;
    int64_t *entries = NULL;

    HD_TRY(hd_upsert_open_map(op, upsert));
    HD_TRY(hd_alloc_raw(op, BATCH_ROWS, sizeof *entries, &entries));
    for (;;) {
        struct hd_input_batch batch;

        status = read_batch(op, reader, &batch);
        if (status == HUDI_END) {
            status = HUDI_OK;
            break;
        }
        HD_TRY_OUT(status);
        const int64_t n = batch.n_rows;
        status = hd_upsert_put(op, upsert, &batch, entries);
        hd_input_batch_clear(op, &batch);
        HD_TRY_OUT(status);
        HD_TRY_OUT(
            hd_grow(op, &out->items, &out->capacity, out->n + (size_t)n, sizeof *out->items));
        for (int64_t i = 0; i < n; i++)
            out->items[out->n++] = (struct placed){.slice = reader->heads[i].slice - 1,
                                                   .hit = {.row = reader->heads[i].row,
                                                           .entry = entries[i],
                                                           .drop = reader->heads[i].drop}};
    }
out:
    hd_free(op, entries);
    return status;
}

/* By slice, hits by row, then inserts in the order they came. */
static int by_slice_and_row(const void *a, const void *b)
{
    const struct placed *x = a, *y = b;
    const uint64_t row_x = (uint64_t)x->hit.row, row_y = (uint64_t)y->hit.row; /* -1 is last */

    if (x->slice != y->slice)
        return x->slice < y->slice ? -1 : 1;
    if (row_x != row_y)
        return row_x < row_y ? -1 : 1;
    return (x->hit.entry > y->hit.entry) - (x->hit.entry < y->hit.entry);
}

static hudi_status make_works(struct hd_op *op, hd_upsert *upsert, struct placed_list *placed)
{
    struct hd_index_hit *hits;
    int64_t *inserts;

    if (placed->n > 0)
        qsort(placed->items, placed->n, sizeof *placed->items, by_slice_and_row);
    HD_TRY(hd_arena_array(op, &upsert->arena, placed->n, sizeof *hits, &hits));
    HD_TRY(hd_arena_array(op, &upsert->arena, placed->n, sizeof *inserts, &inserts));
    for (size_t i = 0; i < placed->n;) {
        const uint32_t slice = placed->items[i].slice;
        struct hd_upsert_work work = {.partition_path = upsert->slices[slice]->partition_path,
                                      .slice = upsert->slices[slice],
                                      .hits = hits,
                                      .inserts = inserts};

        for (; i < placed->n && placed->items[i].slice == slice; i++) {
            if (placed->items[i].hit.row >= 0)
                hits[work.n_hits++] = placed->items[i].hit;
            else
                inserts[work.n_inserts++] = placed->items[i].hit.entry;
        }
        hits += work.n_hits;
        inserts += work.n_inserts;
        HD_TRY(hd_upsert_add_work(op, upsert, &work));
    }
    return HUDI_OK;
}

static hudi_status write_file_groups(struct hd_op *op, hd_upsert *upsert)
{
    hudi_status status = HUDI_OK;
    struct bucket_reader reader;
    struct placed_list placed = {0};

    HD_TRY(open_reader(op, upsert, upsert->spooled->by_place, &reader));
    for (uint32_t b = 0; b < N_SLICE_BUCKETS; b++) {
        hd_row_spool_rewind(upsert->spooled->by_place, b);
        placed.n = 0;
        HD_TRY_OUT(load_placed(op, upsert, &reader, &placed));
        HD_TRY_OUT(make_works(op, upsert, &placed));
        HD_TRY_OUT(hd_upsert_run_works(op, upsert));
        hd_upsert_drop_records(op, upsert);
    }
out:
    hd_free(op, placed.items);
    close_reader(op, &reader);
    return status;
}

/* ---- 4: new file groups ---------------------------------------------------------------------- */

static hudi_status write_inserts(struct hd_op *op, hd_upsert *upsert)
{
    hudi_status status = HUDI_OK;
    struct bucket_reader reader;
    hd_insert *insert = NULL;

    HD_TRY(open_reader(op, upsert, upsert->spooled->by_place, &reader));
    HD_TRY_OUT(hd_insert_open(op, upsert->config, upsert->schema, upsert->partitions,
                              upsert->first_ordinal, upsert->status, &insert));
    for (uint32_t b = 0; b < N_PARTITION_BUCKETS; b++) {
        hd_row_spool_rewind(upsert->spooled->by_place, N_SLICE_BUCKETS + b);
        for (;;) {
            struct hd_input_batch batch;

            status = read_batch(op, &reader, &batch);
            if (status == HUDI_END)
                break;
            HD_TRY_OUT(status);
            status = hd_insert_add(op, insert, &batch);
            hd_input_batch_clear(op, &batch);
            HD_TRY_OUT(status);
        }
    }
    HD_TRY_OUT(hd_insert_finish(op, insert));
out:
    hd_insert_free(op, insert);
    close_reader(op, &reader);
    return status;
}

hudi_status hd_upsert_finish_spooled(struct hd_op *op, hd_upsert *upsert)
{
    hd_log(op, HD_LOG_INFO, "more records than fit into memory: they go through disk");
    HD_TRY(prepare_places(op, upsert));
    HD_TRY(place_all(op, upsert));
    HD_TRY(write_file_groups(op, upsert));
    return write_inserts(op, upsert);
}
