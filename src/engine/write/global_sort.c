/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A record on disk, integers little-endian:
 *
 *   u32 partition number | u32 key bytes | key | the row (record/row_codec.h)
 */
#include "engine/write/global_sort.h"

#include "arrow/builder.h"
#include "arrow/schema.h"
#include "base/cursor.h"
#include "engine/record/key_range.h"
#include "engine/record/row_codec.h"
#include "engine/write/spool_merge.h"

#define BATCH_ROWS 16384
#define BATCH_BYTES (8u << 20)

struct hd_global_sort {
    const struct ArrowSchema *record;
    const char *folder;
    hd_spool_compare *order;
    hd_row_spool *spool; /* a bucket a run */
    hd_spool_merge *merge;
    struct hd_str scratch;
    struct ArrowSchema key_field;
    hd_builder *rows, *keys;
};

/* ---- records --------------------------------------------------------------------------------- */

struct head {
    uint32_t partition;
    struct hd_slice key;
};

/* Of a record that this file wrote and the spool checked. */
static struct head head_of(struct hd_slice record)
{
    struct head head;
    uint32_t key_size;

    memcpy(&head.partition, record.data, sizeof head.partition);
    memcpy(&key_size, record.data + sizeof head.partition, sizeof key_size);
    head.key = hd_slice_of(record.data + sizeof head.partition + sizeof key_size, key_size);
    return head;
}

static int by_partition(struct hd_slice a, struct hd_slice b)
{
    uint32_t x, y;

    memcpy(&x, a.data, sizeof x);
    memcpy(&y, b.data, sizeof y);
    return (x > y) - (x < y);
}

static int by_partition_and_key(struct hd_slice a, struct hd_slice b)
{
    const struct head x = head_of(a), y = head_of(b);

    if (x.partition != y.partition)
        return x.partition < y.partition ? -1 : 1;
    return hd_key_compare(x.key, y.key);
}

static hudi_status decode(struct hd_op *op, hd_global_sort *sort, struct hd_slice record)
{
    struct hd_cursor in = hd_cursor_over(record.data, record.size, 0);
    uint32_t partition, key_size;
    struct hd_slice key;

    HD_TRY(hd_cursor_u32le(op, &in, &partition));
    HD_TRY(hd_cursor_u32le(op, &in, &key_size));
    HD_TRY(hd_cursor_take(op, &in, key_size, &key));
    HD_TRY(hd_builder_append_bytes(op, sort->keys, key));
    return hd_row_decode(op, sort->record, &in, sort->rows);
}

/* ---- runs ------------------------------------------------------------------------------------ */

hudi_status hd_global_sort_new(struct hd_op *op, const struct ArrowSchema *record, bool by_key,
                               const char *folder, hd_global_sort **out)
{
    hudi_status status = HUDI_OK;
    const struct hd_type text = {.id = HD_TYPE_STRING};
    hd_global_sort *sort;

    *out = NULL;
    HD_TRY(hd_alloc(op, sizeof *sort, &sort));
    sort->record = record;
    sort->folder = folder;
    sort->order = by_key ? by_partition_and_key : by_partition;
    HD_TRY_OUT(hd_schema_init_field(op, &sort->key_field, "key", &text, false));
    HD_TRY_OUT(hd_builder_new(op, &sort->key_field, &sort->keys));
    HD_TRY_OUT(hd_builder_new(op, record, &sort->rows));
    HD_TRY_OUT(hd_row_spool_new(op, folder, 0, &sort->spool));
    *out = sort;
    return HUDI_OK;
out:
    hd_global_sort_free(op, sort);
    return status;
}

void hd_global_sort_free(struct hd_op *op, hd_global_sort *sort)
{
    if (sort == NULL)
        return;
    hd_spool_merge_free(op, sort->merge);
    hd_row_spool_free(op, sort->spool);
    hd_builder_free(sort->rows);
    hd_builder_free(sort->keys);
    hd_schema_clear(&sort->key_field);
    hd_str_clear(&sort->scratch);
    hd_free(op, sort);
}

hudi_status hd_global_sort_begin_run(struct hd_op *op, hd_global_sort *sort)
{
    const uint32_t n = hd_row_spool_n_buckets(sort->spool);

    if (n > 0)
        HD_TRY(hd_row_spool_seal_bucket(op, sort->spool, n - 1));
    return hd_row_spool_add_bucket(op, sort->spool);
}

hudi_status hd_global_sort_add(struct hd_op *op, hd_global_sort *sort, uint32_t partition,
                               struct hd_slice key, const struct hd_view *columns,
                               int64_t n_columns, int64_t row)
{
    const uint32_t key_size = (uint32_t)key.size;

    sort->scratch.size = 0;
    HD_TRY(hd_str_append(op, &sort->scratch, &partition, sizeof partition));
    HD_TRY(hd_str_append(op, &sort->scratch, &key_size, sizeof key_size));
    HD_TRY(hd_str_append(op, &sort->scratch, key.data, key.size));
    HD_TRY(hd_row_encode(op, columns, n_columns, row, &sort->scratch));
    return hd_row_spool_append(op, sort->spool, hd_row_spool_n_buckets(sort->spool) - 1,
                               hd_str_slice(&sort->scratch));
}

/* Runs [first, first + n) as one run of another spool. */
static hudi_status merge_runs(struct hd_op *op, const hd_row_spool *from, uint32_t first,
                              uint32_t n, hd_spool_compare *order, hd_row_spool *to)
{
    hudi_status status = HUDI_OK;
    hd_spool_merge *merge = NULL;
    struct hd_slice record;
    const uint32_t bucket = hd_row_spool_n_buckets(to);

    HD_TRY_OUT(hd_row_spool_add_bucket(op, to));
    HD_TRY_OUT(hd_spool_merge_open(op, from, first, 1, n, order, &merge));
    while (hd_spool_merge_peek(merge, &record)) {
        HD_TRY_OUT(hd_row_spool_append(op, to, bucket, record));
        HD_TRY_OUT(hd_spool_merge_pass(op, merge));
    }
    status = hd_row_spool_seal_bucket(op, to, bucket);
out:
    hd_spool_merge_free(op, merge);
    return status;
}

/* One pass: every HD_GLOBAL_SORT_FAN_IN runs become one. */
static hudi_status merge_pass(struct hd_op *op, hd_global_sort *sort)
{
    hudi_status status = HUDI_OK;
    const uint32_t n_runs = hd_row_spool_n_buckets(sort->spool);
    hd_row_spool *fewer = NULL;

    HD_TRY(hd_row_spool_new(op, sort->folder, 0, &fewer));
    for (uint32_t i = 0; i < n_runs && status == HUDI_OK; i += HD_GLOBAL_SORT_FAN_IN)
        status = merge_runs(op, sort->spool, i,
                            n_runs - i < HD_GLOBAL_SORT_FAN_IN ? n_runs - i : HD_GLOBAL_SORT_FAN_IN,
                            sort->order, fewer);
    if (status != HUDI_OK) {
        hd_row_spool_free(op, fewer);
        return status;
    }
    hd_row_spool_free(op, sort->spool);
    sort->spool = fewer;
    return HUDI_OK;
}

hudi_status hd_global_sort_finish(struct hd_op *op, hd_global_sort *sort)
{
    HD_TRY(hd_row_spool_seal(op, sort->spool));
    while (hd_row_spool_n_buckets(sort->spool) > HD_GLOBAL_SORT_FAN_IN)
        HD_TRY(merge_pass(op, sort));
    return hd_spool_merge_open(op, sort->spool, 0, 1, hd_row_spool_n_buckets(sort->spool),
                               sort->order, &sort->merge);
}

hudi_status hd_global_sort_next(struct hd_op *op, hd_global_sort *sort, uint32_t *partition,
                                struct hd_shared_array **records, struct ArrowArray *keys)
{
    hudi_status status = HUDI_OK;
    struct ArrowArray rows = {0};
    struct hd_slice record;

    *records = NULL;
    *keys = (struct ArrowArray){0};
    if (!hd_spool_merge_peek(sort->merge, &record))
        return HUDI_END;
    *partition = head_of(record).partition;
    do {
        HD_TRY_OUT(decode(op, sort, record));
        HD_TRY_OUT(hd_spool_merge_pass(op, sort->merge));
    } while (hd_spool_merge_peek(sort->merge, &record) && head_of(record).partition == *partition &&
             hd_builder_length(sort->keys) < BATCH_ROWS &&
             hd_builder_bytes(sort->rows) < BATCH_BYTES);
    HD_TRY_OUT(hd_builder_finish(op, sort->keys, keys));
    HD_TRY_OUT(hd_builder_finish(op, sort->rows, &rows));
    status = hd_shared_array_new(op, &rows, records);
out:
    hd_array_clear(&rows);
    if (status != HUDI_OK)
        hd_array_clear(keys);
    return status;
}
