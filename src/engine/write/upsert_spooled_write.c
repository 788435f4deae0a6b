/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Passes 3 and 4 of an upsert of more records than fit into memory: upsert_spooled.h.
 */
#include "arrow/schema.h"
#include "base/checked_int.h"
#include "engine/record/row_codec.h"
#include "engine/write/append_handle.h"
#include "engine/write/insert.h"
#include "engine/write/insert_merge.h"
#include "engine/write/insert_target.h"
#include "engine/write/merge_handle.h"
#include "engine/write/spool_merge.h"
#include "engine/write/upsert_spooled.h"

#define MAX_LANES 16
/* Of the budget, for each: a handle's row groups, decoded and encoded. */
#define LANE_BYTES (128ull << 20)

uint32_t hd_upsert_lanes(const struct hd_op *op, const hd_upsert *upsert)
{
    uint64_t n = op->budget->limit_bytes / LANE_BYTES;

    n = hd_min_u64(hd_min_u64(n, MAX_LANES), upsert->n_slices);
    return n == 0 ? 1 : (uint32_t)n;
}

hudi_status hd_spooled_head_take(struct hd_op *op, struct hd_cursor *in,
                                 struct hd_spooled_head *out)
{
    uint32_t key_size;
    uint64_t row;

    HD_TRY(hd_cursor_u32le(op, in, &out->partition));
    HD_TRY(hd_cursor_u32le(op, in, &out->slice));
    HD_TRY(hd_cursor_u64le(op, in, &row));
    HD_TRY(hd_cursor_u8(op, in, &out->flags));
    HD_TRY(hd_cursor_u32le(op, in, &key_size));
    out->row = (int64_t)row;
    return hd_cursor_take(op, in, key_size, &out->key);
}

/* ---- reading a bucket ------------------------------------------------------------------------ */

hudi_status hd_bucket_reader_open(struct hd_op *op, const hd_upsert *upsert,
                                  const hd_row_spool *spool, struct hd_bucket_reader *out)
{
    hudi_status status = HUDI_OK;
    const struct hd_type text = {.id = HD_TYPE_STRING};

    *out = (struct hd_bucket_reader){.upsert = upsert, .spool = spool};
    HD_TRY_OUT(hd_builder_new(op, &upsert->schema->record, &out->rows));
    HD_TRY_OUT(hd_schema_init_field(op, &out->key_field, "key", &text, false));
    HD_TRY_OUT(hd_builder_new(op, &out->key_field, &out->keys));
    HD_TRY_OUT(hd_alloc_raw(op, HD_SPOOL_BATCH_ROWS, sizeof *out->partitions, &out->partitions));
out:
    if (status != HUDI_OK)
        hd_bucket_reader_close(op, out);
    return status;
}

void hd_bucket_reader_close(struct hd_op *op, struct hd_bucket_reader *reader)
{
    hd_builder_free(reader->rows);
    hd_builder_free(reader->keys);
    hd_schema_clear(&reader->key_field);
    hd_row_spool_reader_clear(&reader->place);
    hd_free(op, reader->partitions);
    *reader = (struct hd_bucket_reader){0};
}

void hd_bucket_reader_start(struct hd_bucket_reader *reader, uint32_t bucket, uint32_t slice)
{
    hd_row_spool_reader_start(&reader->place, bucket);
    reader->slice = slice;
}

static hudi_status give_batch(struct hd_op *op, struct hd_bucket_reader *reader, int64_t n,
                              struct hd_input_batch *out)
{
    hudi_status status = HUDI_OK;
    struct ArrowArray rows = {0};

    HD_TRY_OUT(hd_builder_finish(op, reader->keys, &out->keys.record_keys));
    HD_TRY_OUT(hd_builder_finish(op, reader->rows, &rows));
    HD_TRY_OUT(hd_shared_array_new(op, &rows, &out->records));
    HD_TRY_OUT(hd_alloc_raw(op, (size_t)n, sizeof *out->keys.partitions, &out->keys.partitions));
    memcpy(out->keys.partitions, reader->partitions, (size_t)n * sizeof *reader->partitions);
    out->keys.n_rows = out->n_rows = n;
out:
    hd_array_clear(&rows);
    if (status != HUDI_OK)
        hd_input_batch_clear(op, out);
    return status;
}

hudi_status hd_bucket_reader_next(struct hd_op *op, struct hd_bucket_reader *reader,
                                  struct hd_input_batch *out)
{
    int64_t n = 0;

    *out = (struct hd_input_batch){0};
    while (n < HD_SPOOL_BATCH_ROWS) {
        struct hd_slice record;
        struct hd_spooled_head head;
        const hudi_status status =
            hd_row_spool_reader_next(op, reader->spool, &reader->place, &record);

        if (status == HUDI_END)
            break;
        HD_TRY(status);
        struct hd_cursor in = hd_cursor_over(record.data, record.size, 0);
        HD_TRY(hd_spooled_head_take(op, &in, &head));
        if (reader->slice != 0 && head.slice != reader->slice)
            continue;
        HD_TRY(hd_builder_append_bytes(op, reader->keys, head.key));
        HD_TRY(hd_row_decode(op, &reader->upsert->schema->record, &in, reader->rows));
        reader->partitions[n++] = head.partition;
    }
    return n == 0 ? HUDI_END : give_batch(op, reader, n, out);
}

/* ---- 3: file groups -------------------------------------------------------------------------- */

/* One lane and the slice that it is at. */
struct lane {
    hd_upsert *upsert;
    uint32_t number;
    uint32_t slice; /* at hand */
    hd_spool_merge *records;
    struct hd_bucket_reader inserts;
    hd_builder *rows, *keys;
    struct hd_index_hit *hits;
    size_t n_hits, hit_capacity;
    bool *drop;
    size_t drop_capacity;
    struct hd_write_status status;
};

/* Slice + 1 and row of a record, which this process wrote and the spool checked. */
static void place_of(struct hd_slice record, uint32_t *slice, int64_t *row)
{
    memcpy(slice, record.data + sizeof(uint32_t), sizeof *slice);
    memcpy(row, record.data + 2 * sizeof(uint32_t), sizeof *row);
}

static int by_place(struct hd_slice a, struct hd_slice b)
{
    uint32_t slice_a, slice_b;
    int64_t row_a, row_b;

    place_of(a, &slice_a, &row_a);
    place_of(b, &slice_b, &row_b);
    if (slice_a != slice_b)
        return slice_a < slice_b ? -1 : 1;
    return (row_a > row_b) - (row_a < row_b);
}

/* Whether a record of the slice is at hand, and its row, which may be HD_INDEX_ROW_IN_LOGS. */
static bool has_record(const struct lane *lane, int64_t *row)
{
    struct hd_slice record;
    uint32_t slice;

    if (!hd_spool_merge_peek(lane->records, &record))
        return false;
    place_of(record, &slice, row);
    return slice == lane->slice + 1;
}

/* For the merge handle: a file that is rewritten has no logs. */
static int64_t next_row(const void *self)
{
    int64_t row;

    return has_record(self, &row) ? row : INT64_MAX;
}

/* The record at hand to the builders and the list; it is passed over when it has the flag
 * `superfluous`. */
static hudi_status take_record(struct hd_op *op, struct lane *lane, bool with_keys,
                               uint8_t superfluous)
{
    struct hd_slice record;
    struct hd_spooled_head head;

    (void)hd_spool_merge_peek(lane->records, &record);
    struct hd_cursor in = hd_cursor_over(record.data, record.size, 0);
    HD_TRY(hd_spooled_head_take(op, &in, &head));
    if ((head.flags & superfluous) == 0) {
        HD_TRY(hd_grow(op, &lane->hits, &lane->hit_capacity, lane->n_hits + 1, sizeof *lane->hits));
        HD_TRY(
            hd_grow(op, &lane->drop, &lane->drop_capacity, lane->n_hits + 1, sizeof *lane->drop));
        lane->hits[lane->n_hits] = (struct hd_index_hit){
            .row = head.row, .entry = -1, .drop = (head.flags & HD_SPOOLED_DROP) != 0};
        lane->drop[lane->n_hits++] = (head.flags & HD_SPOOLED_LOG_DROP) != 0;
        if (with_keys)
            HD_TRY(hd_builder_append_bytes(op, lane->keys, head.key));
        HD_TRY(hd_row_decode(op, &lane->upsert->schema->record, &in, lane->rows));
    }
    return hd_spool_merge_pass(op, lane->records);
}

static hudi_status take_hits(struct hd_op *op, void *self, int64_t end_row,
                             const struct hd_index_hit **hits, size_t *n_hits,
                             struct ArrowArray *records, struct ArrowArray *keys)
{
    struct lane *lane = self;

    lane->n_hits = 0;
    while (next_row(lane) < end_row)
        HD_TRY(take_record(op, lane, keys != NULL, HD_SPOOLED_OLDER));
    if (keys != NULL)
        HD_TRY(hd_builder_finish(op, lane->keys, keys));
    *hits = lane->hits;
    *n_hits = lane->n_hits;
    return hd_builder_finish(op, lane->rows, records);
}

/* What takes a slice's inserts: one of the two. */
struct insert_sink {
    hd_merge_handle *handle; /* behind its old rows */
    hd_insert_merge *merge;
    int64_t n_dropped;
};

static hudi_status give_inserts(struct hd_op *op, const hd_upsert *upsert, struct insert_sink *sink,
                                struct hd_input_batch *batch)
{
    struct ArrowArray *keys = &batch->keys.record_keys;

    if (sink->merge != NULL)
        return hd_insert_merge_append(op, sink->merge, batch->records, keys);
    HD_TRY(hd_drop_deletes(op, upsert->schema, upsert->merger, &batch->records, keys,
                           &sink->n_dropped));
    return hd_merge_handle_append(op, sink->handle, batch->records, keys);
}

static hudi_status append_inserts(struct hd_op *op, struct lane *lane, struct insert_sink *sink)
{
    const hd_upsert *upsert = lane->upsert;

    hd_bucket_reader_start(&lane->inserts, hd_spool_slice_bucket(upsert, lane->slice),
                           lane->slice + 1);
    for (;;) {
        struct hd_input_batch batch;
        hudi_status status = hd_bucket_reader_next(op, &lane->inserts, &batch);

        if (status == HUDI_END)
            return HUDI_OK;
        HD_TRY(status);
        status = give_inserts(op, upsert, sink, &batch);
        hd_input_batch_clear(op, &batch);
        HD_TRY(status);
    }
}

static uint32_t ordinal_of(const struct lane *lane)
{
    const hd_upsert *upsert = lane->upsert;

    return upsert->config->task + upsert->config->n_tasks * (upsert->first_ordinal + lane->slice);
}

/* Inserts that nobody has looked up: their file is, and has no hits of others. */
static hudi_status merge_inserts(struct hd_op *op, struct lane *lane,
                                 const struct hd_merge_request *request)
{
    hudi_status status = HUDI_OK;
    struct insert_sink sink = {0};

    HD_TRY(hd_insert_merge_open(op, request, lane->upsert->spooled->n_lanes, &sink.merge));
    HD_TRY_OUT(append_inserts(op, lane, &sink));
    status = hd_insert_merge_close(op, sink.merge, &lane->status, NULL);
    sink.merge = NULL;
out:
    hd_insert_merge_abort(op, sink.merge);
    return status;
}

static hudi_status merge_slice(struct hd_op *op, struct lane *lane)
{
    hudi_status status = HUDI_OK;
    const hd_upsert *upsert = lane->upsert;
    const struct hd_merge_feed feed = {next_row, take_hits, lane};
    struct insert_sink sink = {0};
    struct hd_write_stat stat;
    struct hd_merge_request request = {.config = upsert->config,
                                       .schema = upsert->schema,
                                       .merger = upsert->merger,
                                       .slice = upsert->slices[lane->slice],
                                       .ordinal = ordinal_of(lane),
                                       .deletes = upsert->config->operation == HD_OPERATION_DELETE};

    if (hd_write_merges_inserts(upsert->config))
        return merge_inserts(op, lane, &request);
    request.feed = &feed;
    HD_TRY(hd_merge_handle_open(op, &request, &sink.handle));
    if (upsert->spooled->insert_counts[lane->slice] > 0)
        HD_TRY_OUT(append_inserts(op, lane, &sink));
    status = hd_merge_handle_close(op, sink.handle, &lane->status.arena, &stat);
    sink.handle = NULL;
    HD_TRY_OUT(status);
    stat.num_deletes += sink.n_dropped;
    status = hd_write_status_add(op, &lane->status, &stat);
out:
    hd_merge_handle_abort(op, sink.handle);
    return status;
}

/* The next hits of the slice to its log. */
static hudi_status append_hits(struct hd_op *op, struct lane *lane, hd_append_handle *handle)
{
    hudi_status status = HUDI_OK;
    struct ArrowArray rows = {0}, keys = {0};
    struct hd_shared_array *records = NULL;
    int64_t row;

    lane->n_hits = 0;
    while (lane->n_hits < HD_SPOOL_BATCH_ROWS && has_record(lane, &row))
        HD_TRY(take_record(op, lane, true, HD_SPOOLED_AGAIN));
    if (lane->n_hits == 0)
        return HUDI_OK;
    HD_TRY_OUT(hd_builder_finish(op, lane->keys, &keys));
    HD_TRY_OUT(hd_builder_finish(op, lane->rows, &rows));
    HD_TRY_OUT(hd_shared_array_new(op, &rows, &records));
    status = hd_append_handle_append(op, handle, records, &keys, lane->drop);
out:
    hd_shared_array_free(records);
    hd_array_clear(&rows);
    hd_array_clear(&keys);
    return status;
}

static hudi_status log_slice(struct hd_op *op, struct lane *lane)
{
    hudi_status status = HUDI_OK;
    const hd_upsert *upsert = lane->upsert;
    hd_append_handle *handle = NULL;
    int64_t row;
    const struct hd_append_request request = {.config = upsert->config,
                                              .schema = upsert->schema,
                                              .merger = upsert->merger,
                                              .slice = upsert->slices[lane->slice],
                                              .ordinal = ordinal_of(lane),
                                              .deletes =
                                                  upsert->config->operation == HD_OPERATION_DELETE};

    HD_TRY(hd_append_handle_open(op, &request, &lane->status, &handle));
    while (has_record(lane, &row))
        HD_TRY_OUT(append_hits(op, lane, handle));
    status = hd_append_handle_close(op, handle);
    handle = NULL;
out:
    hd_append_handle_abort(op, handle);
    return status;
}

static hudi_status run_slices(struct hd_op *op, struct lane *lane)
{
    const hd_upsert *upsert = lane->upsert;
    const bool logs = upsert->config->table->config.type == HD_MERGE_ON_READ;
    struct hd_slice left;
    int64_t row;

    for (size_t slice = 0; slice < upsert->n_slices; slice++) {
        if (hd_upsert_lane(upsert, slice) != lane->number)
            continue;
        lane->slice = (uint32_t)slice;
        const bool fills = upsert->spooled->insert_counts[slice] > 0;
        if (!fills && !has_record(lane, &row))
            continue;
        HD_TRY(logs && !fills ? log_slice(op, lane) : merge_slice(op, lane));
    }
    return hd_spool_merge_peek(lane->records, &left)
               ? hd_fail(op, HUDI_INTERNAL, "records are left behind the last file group")
               : HUDI_OK;
}

static hudi_status run_lane(struct hd_op *op, void *argument, size_t number)
{
    hudi_status status = HUDI_OK;
    struct lane *lane = &((struct lane *)argument)[number];
    const hd_upsert *upsert = lane->upsert;
    const struct hd_upsert_spooled *spooled = upsert->spooled;

    HD_TRY_OUT(hd_bucket_reader_open(op, upsert, spooled->inserts, &lane->inserts));
    HD_TRY_OUT(hd_builder_new(op, &upsert->schema->record, &lane->rows));
    HD_TRY_OUT(hd_builder_new(op, &lane->inserts.key_field, &lane->keys));
    HD_TRY_OUT(hd_spool_merge_open(op, spooled->hits, lane->number, spooled->n_lanes,
                                   spooled->n_rounds, by_place, &lane->records));
    status = run_slices(op, lane);
out:
    hd_spool_merge_free(op, lane->records);
    hd_builder_free(lane->rows);
    hd_builder_free(lane->keys);
    hd_bucket_reader_close(op, &lane->inserts);
    hd_free(op, lane->hits);
    hd_free(op, lane->drop);
    return status;
}

static hudi_status write_file_groups(struct hd_op *op, hd_upsert *upsert)
{
    hudi_status status;
    const uint32_t n = upsert->spooled->n_lanes;
    struct lane *lanes;

    if (upsert->n_slices == 0)
        return HUDI_OK;
    HD_TRY(hd_alloc_array(op, n, sizeof *lanes, &lanes));
    for (uint32_t i = 0; i < n; i++)
        lanes[i] = (struct lane){.upsert = upsert, .number = i};
    status = hd_pool_each(op, upsert->config->pool, n, run_lane, lanes);
    for (uint32_t i = 0; i < n; i++) {
        if (status == HUDI_OK)
            status = hd_write_status_absorb(op, upsert->status, &lanes[i].status);
        hd_write_status_clear(op, &lanes[i].status);
    }
    hd_free(op, lanes);
    upsert->first_ordinal += (uint32_t)upsert->n_slices;
    return status;
}

/* ---- 4: new file groups ---------------------------------------------------------------------- */

/* The inserts of a bucket, which has all of its partitions: their files are open at the same time,
 * those of other buckets are not. */
static hudi_status write_bucket(struct hd_op *op, hd_upsert *upsert,
                                struct hd_bucket_reader *reader)
{
    hudi_status status = HUDI_OK;
    hd_insert *insert = NULL;

    for (;;) {
        struct hd_input_batch batch;

        status = hd_bucket_reader_next(op, reader, &batch);
        if (status == HUDI_END)
            break;
        HD_TRY_OUT(status);
        if (insert == NULL)
            status = hd_insert_open(op, upsert->config, upsert->schema, upsert->partitions,
                                    upsert->first_ordinal, false, upsert->status, &insert);
        if (status == HUDI_OK)
            status = hd_insert_add(op, insert, &batch);
        hd_input_batch_clear(op, &batch);
        HD_TRY_OUT(status);
    }
    status = insert == NULL ? HUDI_OK : hd_insert_finish(op, insert);
out:
    hd_insert_free(op, insert);
    return status;
}

static hudi_status write_inserts(struct hd_op *op, hd_upsert *upsert)
{
    hudi_status status = HUDI_OK;
    struct hd_bucket_reader reader;

    HD_TRY(hd_bucket_reader_open(op, upsert, upsert->spooled->inserts, &reader));
    for (uint32_t b = 0; status == HUDI_OK && b < HD_SPOOL_PARTITION_BUCKETS; b++) {
        hd_bucket_reader_start(&reader, HD_SPOOL_SLICE_BUCKETS + b, 0);
        status = write_bucket(op, upsert, &reader);
    }
    hd_bucket_reader_close(op, &reader);
    return status;
}

hudi_status hd_upsert_write_spooled(struct hd_op *op, hd_upsert *upsert)
{
    HD_TRY(write_file_groups(op, upsert));
    return write_inserts(op, upsert);
}
