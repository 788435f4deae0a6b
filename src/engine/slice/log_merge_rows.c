/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <string.h>

#include "arrow/array.h"
#include "arrow/java_text.h"
#include "arrow/schema.h"
#include "engine/slice/log_merge_internal.h"

/*
 * Whether rows of the base file find their entries by their number in the file. The blocks'
 * positions are bytes that nothing vouches for, and a wrong one gives two wrong rows, so:
 *
 *  1. Where the record key of the rows is read anyway, and where what is read replaces the log
 *     files, keys serve.
 *  2. All blocks that count must have positions in the very base file that is read, as many as
 *     records (log_scan.c, log_rows.c); rows and keys must be one to one, within the file
 *     (row_entries.h).
 *  3. The key of an entry must be within the bounds of the keys of its row's row group, where
 *     the footer has such.
 *  4. Where the one record key field is read, of a type whose text is the key, rows that meet an
 *     entry must have it. That a text differs proves nothing: then the keys of the row group are
 *     read, and it is an error if one is not that of its entry.
 *
 * Otherwise (1 to 3) keys serve for the whole slice, which costs nothing but what was hoped for:
 * entries are kept by key. What is wrong in the blocks is warned about.
 */

#define FOUND_AT_ONCE 65536

hudi_status hd_log_merge_try_rows(struct hd_op *op, hd_log_merge *merge, hd_base_reader *base)
{
    const struct hd_merge_columns *const columns = merge->columns;
    const struct hd_slice_query *const query = &columns->query;

    if (!query->use_positions || query->replaces_logs || query->digests_keys || base == NULL ||
        columns->key < 0 || columns->wants_key || !merge->scan.has_positions)
        return HUDI_OK;
    HD_TRY(hd_log_merge_key_column(op, merge, base, &merge->key_column));
    if (merge->key_column < 0) /* by key no row has a record */
        return HUDI_OK;
    merge->base = base;
    merge->tries_rows = true;
    return hd_row_entries_init(op, hd_base_reader_n_rows(base), &merge->row_entries);
}

hudi_status hd_log_merge_add_rows(struct hd_op *op, hd_log_merge *merge,
                                  const struct hd_log_batch *batch, int64_t n)
{
    if (!hd_log_merge_tries_rows(merge))
        return HUDI_OK;
    if (batch->positions == NULL)
        hd_row_entries_drop(op, &merge->row_entries, "a block has none that can be used", false);
    return hd_row_entries_add(op, &merge->row_entries, merge->put_numbers, batch->positions, n);
}

/* Of the entries whose rows are the `n` from `first` on. */
static hudi_status check_bounds(struct hd_op *op, hd_log_merge *merge,
                                const struct hd_key_bounds *bounds, uint64_t first, uint64_t n)
{
    for (uint64_t at = 0; at < n; at += FOUND_AT_ONCE) {
        const uint64_t n_looked = n - at < FOUND_AT_ONCE ? n - at : FOUND_AT_ONCE;

        merge->n_hits = hd_row_entries_find(&merge->row_entries, first + at, n_looked, merge->rows,
                                            merge->hits);
        for (int64_t i = 0; i < merge->n_hits; i++) {
            const struct hd_slice key = hd_spillable_map_key(merge->map, merge->hits[i]);

            if (hd_slice_compare(key, bounds->min) >= 0 && hd_slice_compare(key, bounds->max) <= 0)
                continue;
            hd_row_entries_drop(op, &merge->row_entries,
                                "the row group of one does not have its record key", true);
            return HUDI_OK;
        }
    }
    return HUDI_OK;
}

static hudi_status check_row_groups(struct hd_op *op, hd_log_merge *merge)
{
    hd_base_reader *const base = merge->base;
    struct hd_arena arena = {0};
    hudi_status status = HUDI_OK;
    uint64_t first = 0;

    HD_TRY(hd_grow(op, &merge->rows, &merge->row_capacity, FOUND_AT_ONCE, sizeof *merge->rows));
    HD_TRY(hd_grow(op, &merge->hits, &merge->hit_capacity, FOUND_AT_ONCE, sizeof *merge->hits));
    for (int32_t i = 0; i < hd_base_reader_n_row_groups(base); i++) {
        const uint64_t n = (uint64_t)hd_base_reader_row_group_rows(base, i);
        struct hd_key_bounds bounds;

        hd_arena_reset(&arena);
        if (merge->row_entries.flaw == NULL && hd_row_entries_any(&merge->row_entries, first, n)) {
            HD_TRY_OUT(hd_log_merge_key_bounds(op, &arena, base, i, merge->key_column, &bounds));
            if (bounds.is_known)
                HD_TRY_OUT(check_bounds(op, merge, &bounds, first, n));
        }
        first += n;
    }
out:
    hd_arena_clear(&arena);
    return status;
}

static hudi_status find_key_field(struct hd_op *op, hd_log_merge *merge)
{
    const struct hd_merge_columns *const columns = merge->columns;
    const struct hd_table_config *const config = columns->query.config;
    struct hd_type type;

    merge->key_field = -1;
    if (config->n_record_key_fields != 1)
        return HUDI_OK;
    const int32_t column = hd_schema_find(&columns->base.read, config->record_key_fields[0]);
    if (column < 0 || columns->base.file.column_of[column] < 0)
        return HUDI_OK;
    HD_TRY(hd_type_of(op, columns->base.read.children[column], &type));
    if (type.id == HD_TYPE_STRING || type.id == HD_TYPE_INT32 || type.id == HD_TYPE_INT64)
        merge->key_field = column;
    return HUDI_OK;
}

hudi_status hd_log_merge_settle_rows(struct hd_op *op, hd_log_merge *merge)
{
    struct hd_row_entries *const rows = &merge->row_entries;

    if (!merge->tries_rows)
        return HUDI_OK;
    merge->tries_rows = false;
    HD_TRY(find_key_field(op, merge));
    HD_TRY(hd_row_entries_seal(op, rows));
    if (rows->flaw == NULL)
        HD_TRY(check_row_groups(op, merge));
    merge->is_by_row = rows->flaw == NULL;
    merge->stats.is_by_row = merge->is_by_row;
    if (!merge->is_by_row)
        hd_log(op, rows->is_wrong ? HD_LOG_WARN : HD_LOG_INFO,
               "%s is merged with its log files by key, not by record positions: %s",
               merge->slice->base_path, rows->flaw);
    return HUDI_OK;
}

/* ---- rows that are read ---------------------------------------------------------------------- */

static hudi_status check_keys(struct hd_op *op, const hd_log_merge *merge,
                              const struct hd_view *keys, uint64_t first, uint32_t *rows,
                              int64_t *numbers)
{
    const int64_t n =
        hd_row_entries_find(&merge->row_entries, first, (uint64_t)keys->length, rows, numbers);

    for (int64_t i = 0; i < n; i++) {
        const struct hd_slice key = hd_spillable_map_key(merge->map, numbers[i]);

        if (!hd_view_is_null(keys, rows[i]) && hd_slice_equal(hd_view_bytes(keys, rows[i]), key))
            continue;
        return hd_fail(op, HUDI_CORRUPT,
                       "row %" PRIu64 " has another record key than \"%.*s\", which log files give "
                       "its position; hoodie.merge.use.record.positions=false merges by key",
                       first + rows[i], (int)(key.size < 200 ? key.size : 200), key.data);
    }
    return HUDI_OK;
}

/* The keys of all rows of a row group that have an entry. */
static hudi_status check_row_group(struct hd_op *op, const hd_log_merge *merge, int32_t row_group,
                                   uint64_t first)
{
    const struct hd_base_read_options options = {.columns = &merge->key_column,
                                                 .n_columns = 1,
                                                 .row_groups = &row_group,
                                                 .n_row_groups = 1,
                                                 .batch_rows = FOUND_AT_ONCE};
    const struct ArrowSchema *const field =
        hd_base_reader_schema(merge->base)->children[merge->key_column];
    hudi_status status = HUDI_OK;
    hd_base_batches *batches = NULL;
    struct ArrowArray batch = {0};
    struct hd_arena arena = {0};
    struct hd_view keys;
    uint32_t *rows = NULL;
    int64_t *numbers = NULL;

    HD_TRY_OUT(hd_alloc_array(op, FOUND_AT_ONCE, sizeof *rows, &rows));
    HD_TRY_OUT(hd_alloc_array(op, FOUND_AT_ONCE, sizeof *numbers, &numbers));
    HD_TRY_OUT(hd_base_reader_read(op, merge->base, &options, &batches));
    while ((status = hd_base_batches_next(op, batches, &batch)) == HUDI_OK) {
        hd_arena_reset(&arena);
        HD_TRY_OUT(hd_op_check_cancel(op));
        HD_TRY_OUT(hd_view_open(op, &arena, field, batch.children[0], &keys));
        HD_TRY_OUT(check_keys(op, merge, &keys, first, rows, numbers));
        first += (uint64_t)keys.length;
        hd_array_clear(&batch);
    }
out:
    hd_array_clear(&batch);
    hd_arena_clear(&arena);
    hd_base_batches_close(batches);
    hd_free(op, rows);
    hd_free(op, numbers);
    return status == HUDI_END ? HUDI_OK : status;
}

static hudi_status check_row_group_of(struct hd_op *op, hd_log_merge *merge, uint64_t row)
{
    uint64_t first = 0;

    if (row >= merge->first_checked && row < merge->end_checked)
        return HUDI_OK;
    for (int32_t i = 0; i < hd_base_reader_n_row_groups(merge->base); i++) {
        const uint64_t n = (uint64_t)hd_base_reader_row_group_rows(merge->base, i);

        if (row - first < n) {
            HD_TRY(check_row_group(op, merge, i, first));
            merge->first_checked = first;
            merge->end_checked = first + n;
            return HUDI_OK;
        }
        first += n;
    }
    return hd_fail(op, HUDI_INTERNAL, "there is no row %" PRIu64, row);
}

/* Is `key` the text of the value, or "name:" and that, as complex keys of one field are? */
static bool is_text_of(struct hd_slice key, struct hd_slice name, const struct hd_view *values,
                       int64_t row)
{
    char scratch[HD_JAVA_TEXT_BYTES];

    if (hd_view_is_null(values, row))
        return false;
    const struct hd_slice text = hd_java_text(values, row, false, scratch);
    if (hd_slice_equal(key, text))
        return true;
    return key.size == name.size + 1 + text.size && memcmp(key.data, name.data, name.size) == 0 &&
           key.data[name.size] == ':' &&
           hd_slice_equal(hd_slice_of(key.data + name.size + 1, text.size), text);
}

hudi_status hd_log_merge_check_hits(struct hd_op *op, hd_log_merge *merge,
                                    const struct hd_view *columns, uint64_t first_row)
{
    if (merge->key_field < 0)
        return HUDI_OK;
    const struct hd_slice name =
        hd_slice_text(merge->columns->base.read.children[merge->key_field]->name);
    for (int64_t i = 0; i < merge->n_hits; i++) {
        const struct hd_slice key = hd_spillable_map_key(merge->map, merge->hits[i]);

        if (!is_text_of(key, name, &columns[merge->key_field], merge->rows[i]))
            HD_TRY(check_row_group_of(op, merge, first_row + merge->rows[i]));
    }
    return HUDI_OK;
}
