/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Passes 1 and 2 of an upsert of more records than fit into memory: upsert_spooled.h.
 */
#include "engine/write/upsert_spooled.h"

#include <stdlib.h>

#include "arrow/schema.h"
#include "engine/record/row_codec.h"

#define N_KEY_BUCKETS 256

static hudi_status begin_record(struct hd_op *op, struct hd_str *out,
                                const struct hd_spooled_head *head)
{
    const uint32_t key_size = (uint32_t)head->key.size;

    out->size = 0;
    HD_TRY(hd_str_append(op, out, &head->partition, sizeof head->partition));
    HD_TRY(hd_str_append(op, out, &head->slice, sizeof head->slice));
    HD_TRY(hd_str_append(op, out, &head->row, sizeof head->row));
    HD_TRY(hd_str_append(op, out, &head->flags, sizeof head->flags));
    HD_TRY(hd_str_append(op, out, &key_size, sizeof key_size));
    return hd_str_append(op, out, head->key.data, head->key.size);
}

/* ---- 1: by key ------------------------------------------------------------------------------- */

static hudi_status spool_by_key(struct hd_op *op, hd_upsert *upsert,
                                const struct hd_spooled_head *head, const struct hd_view *columns,
                                int64_t n_columns, int64_t row)
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
        const struct hd_spooled_head head = {
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
        const struct hd_spooled_head head = {.partition = hd_upsert_partition_of(upsert, first + i),
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
    for (int64_t first = 0; first < n; first += HD_SPOOL_BATCH_ROWS)
        HD_TRY(spool_entries(op, upsert, first,
                             n - first < HD_SPOOL_BATCH_ROWS ? n - first : HD_SPOOL_BATCH_ROWS));
    hd_upsert_drop_records(op, upsert);
    return HUDI_OK;
}

void hd_upsert_free_spooled(struct hd_op *op, hd_upsert *upsert)
{
    struct hd_upsert_spooled *spooled = upsert->spooled;

    if (spooled == NULL)
        return;
    hd_row_spool_free(op, spooled->by_key);
    hd_row_spool_free(op, spooled->hits);
    hd_row_spool_free(op, spooled->inserts);
    hd_free(op, spooled->small);
    hd_free(op, spooled->insert_counts);
    hd_str_clear(&spooled->record);
    hd_free(op, spooled);
    upsert->spooled = NULL;
}

/* ---- 2: by place ----------------------------------------------------------------------------- */

/* Small files of every partition, and the numbers of slices. */
static hudi_status prepare_places(struct hd_op *op, hd_upsert *upsert)
{
    struct hd_upsert_spooled *spooled = upsert->spooled;
    const char *folder = hd_write_text(upsert->config, "hoodie.memory.spillable.map.path");
    int64_t record_bytes;

    HD_TRY(hd_alloc_array(op, upsert->n_slices, sizeof *spooled->small, &spooled->small));
    if (upsert->config->operation != HD_OPERATION_DELETE) {
        HD_TRY(hd_average_record_bytes(op, upsert->config, &record_bytes));
        hd_small_files(upsert->config, record_bytes, upsert->slices, upsert->n_slices,
                       spooled->small, &spooled->n_small);
    }
    HD_TRY(hd_alloc_array(op, upsert->n_slices, sizeof *spooled->insert_counts,
                          &spooled->insert_counts));
    spooled->n_lanes = hd_upsert_lanes(op, upsert);
    HD_TRY(hd_row_spool_new(op, folder, 0, &spooled->hits));
    return hd_row_spool_new(op, folder, HD_SPOOL_SLICE_BUCKETS + HD_SPOOL_PARTITION_BUCKETS,
                            &spooled->inserts);
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
            spooled->insert_counts[spooled->small[low].index]++;
            return (uint32_t)spooled->small[low].index + 1;
        }
    }
    return 0;
}

/* Where a record goes: bucket of a spool, and what its head says of it. */
struct placed {
    uint32_t bucket;
    uint32_t slice; /* number + 1 */
    int64_t row;
    uint8_t flags;
};

static hudi_status spool_placed_record(struct hd_op *op, hd_upsert *upsert, hd_row_spool *spool,
                                       uint32_t bucket, const struct hd_spooled_head *head,
                                       const struct hd_view *view, int64_t row)
{
    struct hd_str *record = &upsert->spooled->record;

    HD_TRY(begin_record(op, record, head));
    HD_TRY(hd_row_encode(op, view->children, view->n_children, row, record));
    return hd_row_spool_append(op, spool, bucket, hd_str_slice(record));
}

static int by_entry(const void *a, const void *b)
{
    const struct hd_index_hit *const *x = a, *const *y = b;

    if ((*x)->entry != (*y)->entry)
        return (*x)->entry < (*y)->entry ? -1 : 1;
    return (*x > *y) - (*x < *y);
}

/* What the records of a file's hits are to be in its logs, where each record stands once however
 * often its key is stored. A delete would take all rows of the key: where one of them stays, the
 * record does. */
static hudi_status flag_hits(struct hd_op *op, const hd_upsert *upsert,
                             const struct hd_file_hits *file, struct hd_arena *arena, uint8_t **out)
{
    const struct hd_index_hit **sorted;
    const size_t n = file->n_hits;

    HD_TRY(hd_arena_array(op, arena, n, sizeof **out, out));
    for (size_t i = 0; i < n; i++)
        (*out)[i] = file->hits[i].drop ? HD_SPOOLED_DROP | HD_SPOOLED_LOG_DROP : 0;
    if (n == 0 || upsert->config->table->config.type != HD_MERGE_ON_READ)
        return HUDI_OK;
    HD_TRY(hd_arena_array(op, arena, n, sizeof *sorted, &sorted));
    for (size_t i = 0; i < n; i++)
        sorted[i] = &file->hits[i];
    qsort(sorted, n, sizeof *sorted, by_entry);
    for (size_t first = 0, i = 1; i < n; i++) {
        if (sorted[i]->entry != sorted[first]->entry) {
            first = i;
            continue;
        }
        (*out)[sorted[i] - file->hits] |= HD_SPOOLED_AGAIN;
        if (!sorted[i]->drop)
            (*out)[sorted[first] - file->hits] &= (uint8_t)~HD_SPOOLED_LOG_DROP;
    }
    return HUDI_OK;
}

/* Records of entries: each goes to place number `*next`, which is counted on behind the newest of a
 * key. */
static hudi_status spool_records(struct hd_op *op, hd_upsert *upsert, hd_row_spool *spool,
                                 const struct placed *places, const int64_t *entries, int64_t n,
                                 size_t *next)
{
    hudi_status status = HUDI_OK;
    struct hd_arena arena = {0};
    struct ArrowArray records = {0};
    struct hd_view view;

    HD_TRY_OUT(load_entries(op, upsert, entries, n, &arena, &records, &view));
    for (int64_t i = 0; i < n; i++) {
        const bool newest = hd_spillable_map_is_newest(upsert->map, entries[i]);
        const struct placed *place = &places[*next];
        const struct hd_spooled_head head = {
            .partition = hd_upsert_partition_of(upsert, entries[i]),
            .slice = place->slice,
            .row = place->row,
            .flags = place->flags | (newest ? 0 : HD_SPOOLED_OLDER),
            .key = hd_spillable_map_key(upsert->map, entries[i])};

        HD_TRY_OUT(spool_placed_record(op, upsert, spool, place->bucket, &head, &view, i));
        *next += newest;
    }
out:
    hd_array_clear(&records);
    hd_arena_clear(&arena);
    return status;
}

/* The newest records of `n` keys, `places` of them, and the older ones before each. */
static hudi_status spool_all_records(struct hd_op *op, hd_upsert *upsert, hd_row_spool *spool,
                                     const struct placed *places, const int64_t *entries, int64_t n)
{
    hudi_status status = HUDI_OK;
    struct hd_arena arena = {0};
    const int64_t *all;
    int64_t n_all;
    size_t next = 0;

    HD_TRY_OUT(hd_upsert_with_older(op, upsert, &arena, entries, n, &all, &n_all));
    for (int64_t done = 0; done < n_all; done += HD_SPOOL_BATCH_ROWS) {
        const int64_t left = n_all - done;
        HD_TRY_OUT(spool_records(op, upsert, spool, places, all + done,
                                 left < HD_SPOOL_BATCH_ROWS ? left : HD_SPOOL_BATCH_ROWS, &next));
    }
out:
    hd_arena_clear(&arena);
    return status;
}

/* Hits [first, first + n) of one file. */
static hudi_status spool_hits(struct hd_op *op, hd_upsert *upsert, const struct hd_file_hits *file,
                              const uint8_t *flags, uint32_t slice, size_t first, size_t n)
{
    hudi_status status = HUDI_OK;
    struct hd_upsert_spooled *spooled = upsert->spooled;
    const uint32_t bucket = spooled->n_rounds * spooled->n_lanes + hd_upsert_lane(upsert, slice);
    struct hd_arena arena = {0};
    struct placed *places;
    int64_t *entries;

    HD_TRY_OUT(hd_arena_array(op, &arena, n, sizeof *entries, &entries));
    HD_TRY_OUT(hd_arena_array(op, &arena, n, sizeof *places, &places));
    for (size_t i = 0; i < n; i++) {
        const struct hd_index_hit *hit = &file->hits[first + i];

        entries[i] = hit->entry;
        places[i] = (struct placed){bucket, slice + 1, hit->row, flags[first + i]};
    }
    status = spool_all_records(op, upsert, spooled->hits, places, entries, (int64_t)n);
out:
    hd_arena_clear(&arena);
    return status;
}

/* A small file takes the newest record of a key, new files take all. */
static hudi_status spool_inserts(struct hd_op *op, hd_upsert *upsert, const int64_t *entries,
                                 int64_t n)
{
    hudi_status status = HUDI_OK;
    hd_row_spool *spool = upsert->spooled->inserts;
    struct hd_arena arena = {0};
    uint32_t *slices;
    struct placed *places;
    int64_t *split; /* those for small files, then the others */
    int64_t n_small = 0, at_small = 0;
    size_t next = 0;

    HD_TRY_OUT(hd_arena_array(op, &arena, (size_t)n, sizeof *slices, &slices));
    HD_TRY_OUT(hd_arena_array(op, &arena, (size_t)n, sizeof *split, &split));
    HD_TRY_OUT(hd_arena_array(op, &arena, (size_t)n, sizeof *places, &places));
    for (int64_t i = 0; i < n; i++) {
        slices[i] = place_insert(upsert, hd_upsert_partition_of(upsert, entries[i]));
        n_small += slices[i] > 0;
    }
    for (int64_t i = 0, at_new = n_small; i < n; i++) {
        const uint32_t partition = hd_upsert_partition_of(upsert, entries[i]);
        const int64_t at = slices[i] > 0 ? at_small++ : at_new++;

        split[at] = entries[i];
        places[at] =
            (struct placed){.bucket = slices[i] > 0 ? hd_spool_slice_bucket(upsert, slices[i] - 1)
                                                    : HD_SPOOL_SLICE_BUCKETS +
                                                          partition % HD_SPOOL_PARTITION_BUCKETS,
                            .slice = slices[i],
                            .row = -1};
    }
    HD_TRY_OUT(spool_records(op, upsert, spool, places, split, n_small, &next));
    status = spool_all_records(op, upsert, spool, places + n_small, split + n_small, n - n_small);
out:
    hd_arena_clear(&arena);
    return status;
}

static hudi_status spool_file(struct hd_op *op, hd_upsert *upsert, const struct hd_file_hits *file,
                              uint32_t slice)
{
    hudi_status status = HUDI_OK;
    struct hd_arena arena = {0};
    uint8_t *flags;

    HD_TRY_OUT(flag_hits(op, upsert, file, &arena, &flags));
    for (size_t first = 0; first < file->n_hits; first += HD_SPOOL_BATCH_ROWS) {
        const size_t left = file->n_hits - first;
        HD_TRY_OUT(spool_hits(op, upsert, file, flags, slice, first,
                              left < HD_SPOOL_BATCH_ROWS ? left : HD_SPOOL_BATCH_ROWS));
    }
out:
    hd_arena_clear(&arena);
    return status;
}

/* One round: a bucket of hits for each lane, in the order of slices and rows. */
static hudi_status spool_placed(struct hd_op *op, hd_upsert *upsert)
{
    struct hd_upsert_spooled *spooled = upsert->spooled;
    const size_t n_partitions = upsert->partitions->paths.n_entries;
    const int64_t n_inserts = upsert->insert_starts[n_partitions];
    size_t slice = 0;

    for (uint32_t i = 0; i < spooled->n_lanes; i++)
        HD_TRY(hd_row_spool_add_bucket(op, spooled->hits));
    for (size_t f = 0; f < upsert->tagged.n_files; f++) {
        while (upsert->slices[slice] != upsert->tagged.files[f].slice) /* both in view order */
            slice++;
        HD_TRY(spool_file(op, upsert, &upsert->tagged.files[f], (uint32_t)slice));
    }
    for (uint32_t i = 0; i < spooled->n_lanes; i++)
        HD_TRY(
            hd_row_spool_seal_bucket(op, spooled->hits, spooled->n_rounds * spooled->n_lanes + i));
    spooled->n_rounds++;
    for (int64_t first = 0; first < n_inserts; first += HD_SPOOL_BATCH_ROWS) {
        const int64_t left = n_inserts - first;
        HD_TRY(spool_inserts(op, upsert, upsert->inserts + first,
                             left < HD_SPOOL_BATCH_ROWS ? left : HD_SPOOL_BATCH_ROWS));
    }
    return HUDI_OK;
}

/* The records of the bucket that the reader is at, into the map. */
static hudi_status load_bucket(struct hd_op *op, hd_upsert *upsert, struct hd_bucket_reader *reader)
{
    for (;;) {
        struct hd_input_batch batch;
        hudi_status status = hd_bucket_reader_next(op, reader, &batch);

        if (status == HUDI_END)
            return HUDI_OK;
        HD_TRY(status);
        status = hd_upsert_put(op, upsert, &batch, NULL);
        hd_input_batch_clear(op, &batch);
        HD_TRY(status);
    }
}

/* As many key buckets as the map holds at a time: each round reads the files' keys once. */
static hudi_status place_buckets(struct hd_op *op, hd_upsert *upsert,
                                 struct hd_bucket_reader *reader)
{
    for (uint32_t b = 0; b < N_KEY_BUCKETS; b++) {
        if (upsert->map == NULL)
            HD_TRY(hd_upsert_open_map(op, upsert));
        hd_bucket_reader_start(reader, b, 0);
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
    struct hd_bucket_reader reader;

    HD_TRY(hd_row_spool_seal(op, spooled->by_key));
    HD_TRY(hd_bucket_reader_open(op, upsert, spooled->by_key, &reader));
    const hudi_status status = place_buckets(op, upsert, &reader);
    hd_bucket_reader_close(op, &reader);
    hd_row_spool_free(op, spooled->by_key);
    spooled->by_key = NULL;
    HD_TRY(status);
    return hd_row_spool_seal(op, spooled->inserts);
}

hudi_status hd_upsert_finish_spooled(struct hd_op *op, hd_upsert *upsert)
{
    hd_log(op, HD_LOG_INFO, "more records than fit into memory: they go through disk");
    HD_TRY(prepare_places(op, upsert));
    HD_TRY(place_all(op, upsert));
    return hd_upsert_write_spooled(op, upsert);
}
