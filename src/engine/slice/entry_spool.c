/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/slice/entry_spool.h"

#include "arrow/array.h"
#include "arrow/builder.h"
#include "arrow/schema.h"
#include "base/map.h"
#include "engine/record/row_codec.h"
#include "engine/record/row_spool.h"

#define BATCH_ROWS 16384

struct hd_entry_spool {
    const struct ArrowSchema *entry;
    hd_row_spool *rows;
    struct hd_str record; /* scratch */
    struct hd_arena arena;
    struct ArrowSchema key_field;
    hd_builder *entries, *keys; /* of the bucket that is read */
    struct ArrowArray read_keys;
};

hudi_status hd_entry_spool_new(struct hd_op *op, const struct ArrowSchema *entry,
                               const char *folder, hd_entry_spool **out)
{
    const struct hd_type text = {.id = HD_TYPE_STRING};
    hd_entry_spool *spool;
    hudi_status status;

    *out = NULL;
    HD_TRY(hd_alloc(op, sizeof *spool, &spool));
    spool->entry = entry;
    HD_TRY_OUT(hd_schema_init_field(op, &spool->key_field, "key", &text, false));
    HD_TRY_OUT(hd_row_spool_new(op, folder, 1u << HD_ENTRY_SPOOL_BITS, &spool->rows));
    *out = spool;
    return HUDI_OK;
out:
    hd_entry_spool_free(op, spool);
    return status;
}

void hd_entry_spool_free(struct hd_op *op, hd_entry_spool *spool)
{
    if (spool == NULL)
        return;
    hd_row_spool_free(op, spool->rows);
    hd_str_clear(&spool->record);
    hd_arena_clear(&spool->arena);
    hd_schema_clear(&spool->key_field);
    hd_builder_free(spool->entries);
    hd_builder_free(spool->keys);
    hd_array_clear(&spool->read_keys);
    hd_free(op, spool);
}

static uint32_t bucket_of(uint64_t hash)
{
    return (uint32_t)(hash / HD_ENTRY_SPOOL_WIDTH);
}

/* ---- writing ------------------------------------------------------------------------------- */

static hudi_status add_entry(struct hd_op *op, hd_entry_spool *spool, struct hd_slice key,
                             const struct hd_view *entries, int64_t row)
{
    const uint32_t size = (uint32_t)key.size;

    spool->record.size = 0;
    HD_TRY(hd_str_append(op, &spool->record, &size, sizeof size));
    HD_TRY(hd_str_append(op, &spool->record, key.data, key.size));
    HD_TRY(hd_row_encode(op, entries->children, entries->n_children, row, &spool->record));
    return hd_row_spool_append(op, spool->rows, bucket_of(hd_hash_bytes(key.data, key.size) >> 32),
                               hd_str_slice(&spool->record));
}

hudi_status hd_entry_spool_add(struct hd_op *op, hd_entry_spool *spool,
                               const struct hd_log_batch *batch)
{
    struct hd_view entries;

    hd_arena_reset(&spool->arena);
    HD_TRY(hd_view_open(op, &spool->arena, spool->entry, &batch->entries, &entries));
    for (int64_t i = 0; i < batch->entries.length; i++)
        HD_TRY(add_entry(op, spool, hd_view_bytes(&batch->keys, i), &entries, i));
    return HUDI_OK;
}

hudi_status hd_entry_spool_seal(struct hd_op *op, hd_entry_spool *spool)
{
    return hd_row_spool_seal(op, spool->rows);
}

/* ---- reading ------------------------------------------------------------------------------- */

hudi_status hd_entry_spool_start(struct hd_op *op, hd_entry_spool *spool, uint64_t hash)
{
    hd_builder_free(spool->entries); /* may have rows of a bucket that was given up */
    hd_builder_free(spool->keys);
    spool->entries = spool->keys = NULL;
    HD_TRY(hd_builder_new(op, spool->entry, &spool->entries));
    HD_TRY(hd_builder_new(op, &spool->key_field, &spool->keys));
    hd_row_spool_rewind(spool->rows, bucket_of(hash));
    return HUDI_OK;
}

static hudi_status read_entry(struct hd_op *op, hd_entry_spool *spool, struct hd_slice record)
{
    struct hd_cursor in = hd_cursor_over(record.data, record.size, 0);
    struct hd_slice key;
    uint32_t size;

    HD_TRY(hd_cursor_u32le(op, &in, &size));
    HD_TRY(hd_cursor_take(op, &in, size, &key));
    HD_TRY(hd_builder_append_bytes(op, spool->keys, key));
    return hd_row_decode(op, spool->entry, &in, spool->entries);
}

static hudi_status read_entries(struct hd_op *op, hd_entry_spool *spool, uint64_t batch_bytes,
                                int64_t *n)
{
    struct hd_slice record;
    uint64_t n_bytes = 0;

    for (*n = 0; *n == 0 || (*n < BATCH_ROWS && n_bytes < batch_bytes); (*n)++) {
        const hudi_status status = hd_row_spool_next(op, spool->rows, &record);

        if (status == HUDI_END)
            return HUDI_OK;
        HD_TRY(status);
        HD_TRY(read_entry(op, spool, record));
        n_bytes += record.size;
    }
    return HUDI_OK;
}

hudi_status hd_entry_spool_next(struct hd_op *op, hd_entry_spool *spool, uint64_t batch_bytes,
                                struct hd_log_batch *out)
{
    hudi_status status;
    int64_t n;

    *out = (struct hd_log_batch){0};
    HD_TRY(hd_op_check_cancel(op));
    HD_TRY(read_entries(op, spool, batch_bytes, &n));
    if (n == 0)
        return HUDI_END;
    hd_array_clear(&spool->read_keys);
    hd_arena_reset(&spool->arena);
    HD_TRY_OUT(hd_builder_finish(op, spool->keys, &spool->read_keys));
    HD_TRY_OUT(hd_builder_finish(op, spool->entries, &out->entries));
    HD_TRY_OUT(hd_view_open(op, &spool->arena, &spool->key_field, &spool->read_keys, &out->keys));
out:
    if (status != HUDI_OK)
        hd_array_clear(&out->entries);
    return status;
}
