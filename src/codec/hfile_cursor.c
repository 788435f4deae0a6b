/* SPDX-License-Identifier: Apache-2.0 */
/* Cells of an HFile, block by block. */
#include <inttypes.h>

#include "codec/hfile_internal.h"

#define DATA_MAGIC "DATABLK*"
#define NO_BLOCK SIZE_MAX

struct hd_hfile_cursor {
    const hd_hfile *hfile;
    size_t block;          /* the one at hand, NO_BLOCK: none */
    struct hd_str payload; /* of that block */
    struct hd_cursor in;   /* the next cell; at its end the next block is on */
    size_t next_block;
    bool counts; /* all cells since the first */
    uint64_t n_cells;
};

struct cell {
    struct hd_slice key, value;
};

hudi_status hd_hfile_cursor_open(struct hd_op *op, const hd_hfile *hfile, hd_hfile_cursor **out)
{
    HD_TRY(hd_alloc(op, sizeof **out, out));
    (*out)->hfile = hfile;
    (*out)->block = NO_BLOCK;
    (*out)->in = hd_cursor_over(NULL, 0, 0);
    (*out)->counts = true;
    return HUDI_OK;
}

void hd_hfile_cursor_close(struct hd_op *op, hd_hfile_cursor *cursor)
{
    if (cursor == NULL)
        return;
    hd_str_clear(&cursor->payload);
    hd_free(op, cursor);
}

/* Stand at the first cell of a block. */
static hudi_status enter(struct hd_op *op, hd_hfile_cursor *cursor, size_t block)
{
    const struct hfile_entry *const entry = &cursor->hfile->data.entries[block];

    if (cursor->block != block) {
        cursor->block = NO_BLOCK;
        cursor->payload.size = 0;
        cursor->in = hd_cursor_over(NULL, 0, 0);
        HD_TRY(hfile_block_read(op, cursor->hfile, entry, DATA_MAGIC, &cursor->payload));
        cursor->block = block;
    }
    cursor->in = hd_cursor_over(cursor->payload.data, cursor->payload.size, 0);
    cursor->next_block = block + 1;
    return HUDI_OK;
}

static hudi_status take_cell(struct hd_op *op, hd_hfile_cursor *cursor, struct cell *out)
{
    struct hd_cursor *const in = &cursor->in;
    struct hd_cursor key;
    uint32_t key_bytes, value_bytes;
    uint16_t n;
    int64_t mvcc;

    HD_TRY(hd_cursor_u32be(op, in, &key_bytes));
    HD_TRY(hd_cursor_u32be(op, in, &value_bytes));
    HD_TRY(hd_cursor_sub(op, in, key_bytes, &key));
    HD_TRY(hd_cursor_u16be(op, &key, &n));
    HD_TRY(hd_cursor_take(op, &key, n, &out->key));
    HD_TRY(hd_cursor_take(op, in, value_bytes, &out->value));
    return cursor->hfile->has_mvcc ? hfile_vint(op, in, &mvcc) : HUDI_OK;
}

hudi_status hd_hfile_next(struct hd_op *op, hd_hfile_cursor *cursor, struct hd_slice *key,
                          struct hd_slice *value)
{
    const hd_hfile *const hfile = cursor->hfile;
    struct cell cell;

    *key = *value = (struct hd_slice){0};
    while (hd_cursor_left(&cursor->in) == 0) {
        if (cursor->next_block < hfile->data.n) {
            HD_TRY(hd_op_check_cancel(op));
            HD_TRY(enter(op, cursor, cursor->next_block));
            continue;
        }
        if (cursor->counts && cursor->n_cells != hfile->n_cells)
            return hd_fail(op, HUDI_CORRUPT,
                           "an HFile has %" PRIu64 " cells and says it has %" PRIu64,
                           cursor->n_cells, hfile->n_cells);
        return HUDI_END;
    }
    HD_TRY(take_cell(op, cursor, &cell));
    cursor->n_cells++;
    *key = cell.key;
    *value = cell.value;
    return HUDI_OK;
}

/* The last block whose first key is not after `key`; the first when all are. */
static size_t block_of(const hd_hfile *hfile, struct hd_slice key)
{
    size_t low = 0, high = hfile->data.n; /* up to `low` not after, from `high` on after */

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (hd_slice_compare(hfile->data.entries[middle].key, key) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low == 0 ? 0 : low - 1;
}

hudi_status hd_hfile_seek(struct hd_op *op, hd_hfile_cursor *cursor, struct hd_slice key)
{
    const size_t block = block_of(cursor->hfile, key);

    cursor->counts = key.size == 0;
    cursor->n_cells = 0;
    if (block >= cursor->hfile->data.n) /* there is none */
        return HUDI_OK;
    HD_TRY(enter(op, cursor, block));
    for (;;) {
        const struct hd_cursor before = cursor->in;
        struct cell cell;

        if (hd_cursor_left(&cursor->in) == 0)
            return HUDI_OK; /* the next block begins with what comes after it */
        HD_TRY(take_cell(op, cursor, &cell));
        if (hd_slice_compare(cell.key, key) >= 0) {
            cursor->in = before;
            return HUDI_OK;
        }
    }
}

/* The cell at hand is of the block that `key` would be in, and not after it: no way back needed. */
static hudi_status is_ahead(struct hd_op *op, hd_hfile_cursor *cursor, struct hd_slice key,
                            bool *out)
{
    const struct hd_cursor before = cursor->in;
    struct cell cell;

    *out = false;
    if (cursor->block == NO_BLOCK || hd_cursor_left(&cursor->in) == 0 ||
        block_of(cursor->hfile, key) != cursor->block)
        return HUDI_OK;
    HD_TRY(take_cell(op, cursor, &cell));
    *out = hd_slice_compare(cell.key, key) <= 0;
    cursor->in = before;
    return HUDI_OK;
}

hudi_status hd_hfile_find(struct hd_op *op, hd_hfile_cursor *cursor, struct hd_slice key,
                          struct hd_slice *value)
{
    bool ahead;

    *value = (struct hd_slice){0};
    HD_TRY(is_ahead(op, cursor, key, &ahead));
    cursor->counts = false;
    if (!ahead)
        HD_TRY(hd_hfile_seek(op, cursor, key));
    cursor->counts = false;
    while (hd_cursor_left(&cursor->in) > 0) {
        const struct hd_cursor before = cursor->in;
        struct cell cell;

        HD_TRY(take_cell(op, cursor, &cell));
        const int order = hd_slice_compare(cell.key, key);
        if (order == 0)
            *value = cell.value;
        if (order >= 0) {
            cursor->in = before;
            return order == 0 ? HUDI_OK : HUDI_NOT_FOUND;
        }
    }
    return HUDI_NOT_FOUND;
}
