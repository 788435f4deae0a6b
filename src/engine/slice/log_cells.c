/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/slice/log_cells.h"

#include <string.h>

#include "arrow/array.h"
#include "arrow/builder.h"
#include "arrow/gather.h"
#include "arrow/schema.h"
#include "codec/hfile.h"
#include "format/table/table_schema.h"

#define KEY_FIELD "key"

struct hd_log_cells {
    hd_hfile *hfile;
    hd_hfile_cursor *cursor;
    hd_builder *keys;
};

static hudi_status read_at(struct hd_op *op, void *self, uint64_t offset, void *into, uint64_t n)
{
    return hd_input_file_read_at(op, self, offset, into, n);
}

static hudi_status open_keys(struct hd_op *op, hd_builder **out)
{
    const struct hd_type text = {.id = HD_TYPE_STRING};
    struct ArrowSchema field;

    HD_TRY(hd_schema_init_field(op, &field, HD_META_RECORD_KEY, &text, false));
    const hudi_status status = hd_builder_new(op, &field, out);
    hd_schema_clear(&field);
    return status;
}

hudi_status hd_log_cells_open(struct hd_op *op, hd_input_file *file,
                              const struct hd_log_block *block, hd_log_cells **out)
{
    const struct hd_hfile_source source = {.read_at = read_at,
                                           .self = file,
                                           .base = block->content_offset,
                                           .size = block->content_bytes};
    hd_log_cells *cells;
    hudi_status status;

    *out = NULL;
    HD_TRY(hd_alloc(op, sizeof *cells, &cells));
    HD_TRY_OUT(open_keys(op, &cells->keys));
    HD_TRY_OUT(hd_hfile_open(op, &source, &cells->hfile));
    HD_TRY_OUT(hd_hfile_cursor_open(op, cells->hfile, &cells->cursor));
    *out = cells;
    return HUDI_OK;
out:
    hd_log_cells_close(op, cells);
    return status;
}

void hd_log_cells_close(struct hd_op *op, hd_log_cells *cells)
{
    if (cells == NULL)
        return;
    hd_hfile_cursor_close(op, cells->cursor);
    hd_hfile_close(op, cells->hfile);
    hd_builder_free(cells->keys);
    hd_free(op, cells);
}

hudi_status hd_log_cells_next(struct hd_op *op, hd_log_cells *cells, struct hd_slice *value)
{
    struct hd_slice key;

    HD_TRY(hd_hfile_next(op, cells->cursor, &key, value));
    return hd_builder_append_bytes(op, cells->keys, key);
}

hudi_status hd_log_cells_keys(struct hd_op *op, hd_log_cells *cells, struct ArrowArray *out)
{
    return hd_builder_finish(op, cells->keys, out);
}

static bool holds_keys(const struct ArrowSchema *field)
{
    struct hd_type type;

    return hd_type_parse(field, &type) && type.id == HD_TYPE_STRING &&
           (strcmp(field->name, KEY_FIELD) == 0 || strcmp(field->name, HD_META_RECORD_KEY) == 0);
}

hudi_status hd_log_cells_fill(struct hd_op *op, const struct hd_merge_columns *columns,
                              const struct ArrowArray *keys, struct ArrowArray *batch)
{
    const int32_t n = columns->n_read;
    const int64_t n_rows = batch->length;
    struct hd_shared_array *shared = NULL;
    struct ArrowArray *parts = NULL;
    hudi_status status;

    HD_TRY_OUT(hd_shared_array_new(op, batch, &shared));
    HD_TRY_OUT(hd_alloc_array(op, (size_t)n, sizeof *parts, &parts));
    for (int32_t i = 0; i < n; i++) {
        const struct hd_run all = {.source = 0, .start = 0, .length = (uint32_t)n_rows};

        if (holds_keys(columns->nullable.children[i]))
            HD_TRY_OUT(hd_gather(op, columns->nullable.children[i], &keys, 1, &all, 1, &parts[i]));
        else
            HD_TRY_OUT(hd_array_share(op, shared, i, &parts[i]));
    }
    HD_TRY_OUT(hd_array_struct(op, parts, n, n_rows, batch));
out:
    for (int32_t i = 0; parts != NULL && i < n; i++)
        hd_array_clear(&parts[i]);
    hd_free(op, parts);
    hd_shared_array_free(shared);
    return status;
}
