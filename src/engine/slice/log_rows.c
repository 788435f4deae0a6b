/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/slice/log_rows.h"

#include <inttypes.h>
#include <string.h>

#include "arrow/array.h"
#include "arrow/avro_decoder.h"
#include "arrow/schema.h"
#include "codec/avro_schema.h"
#include "engine/slice/log_cells.h"
#include "engine/slice/log_floats.h"
#include "engine/slice/log_rows_internal.h"
#include "format/log/log_positions.h"
#include "format/log/log_records.h"
#include "format/table/table_schema.h"
#include "store/base_file.h"

#define BATCH_ROWS 65536

/* What a schema of Avro records means for the columns that are read. Kept from block to block. */
struct avro_file {
    const uint8_t *schema_text; /* as the scan keeps it: the same pointer is the same schema */
    const char *file_schema;
    struct hd_arena arena;
    struct hd_avro_schema *schema;
    struct hd_slice_file file;
    struct ArrowSchema wanted; /* of the file's columns those that are needed */
    hd_avro_decoder *decoder;
};

struct hd_log_rows {
    const struct hd_merge_columns *columns;
    uint64_t batch_bytes;
    bool wants_positions;
    struct hd_log_block block;
    struct hd_arena arena;  /* of a batch's views */
    struct ArrowArray made; /* keys of a batch that are no column of it */
    struct avro_file avro;

    /* Of the block. */
    bool is_partial;
    bool *present; /* by column that is read: the block has it */
    struct hd_log_records records;
    bool has_records;
    hd_log_cells *cells; /* HFILE_DATA */
    hd_base_reader *parquet;
    hd_base_batches *batches;
    struct hd_slice_file parquet_file;
    struct hd_log_deletes deletes;
    size_t next_delete;
    bool has_deletes;
    uint64_t *positions; /* NULL: none */
    size_t n_positions, next_position;
    uint64_t position_bytes; /* taken from the op's budget for them */
};

/* ---- the block's schema -------------------------------------------------------------------- */

static void clear_avro(struct hd_op *op, struct avro_file *avro)
{
    hd_avro_decoder_free(op, avro->decoder);
    hd_schema_clear(&avro->wanted);
    hd_slice_file_clear(op, &avro->file);
    hd_arena_clear(&avro->arena);
    *avro = (struct avro_file){0};
}

/* Bind the file's columns. Floats that are wanted as doubles are decoded as such, exactly or by
 * their text, for a cast goes by the text; `file` has them so afterwards. */
static hudi_status bind_file(struct hd_op *op, const struct hd_merge_columns *columns,
                             struct ArrowSchema *file, struct avro_file *avro)
{
    const struct ArrowSchema *read = &columns->nullable;
    bool changed = false;

    HD_TRY(hd_slice_file_init(op, &columns->query, avro->file_schema, read, file, &avro->file));
    for (int64_t i = 0; i < read->n_children; i++) {
        const int32_t at = avro->file.column_of[i];

        if (at >= 0)
            HD_TRY(hd_log_widen_floats(op, file->children[at], avro->file.schema.children[at],
                                       read->children[i], &changed));
    }
    if (!changed)
        return HUDI_OK;
    hd_slice_file_clear(op, &avro->file);
    return hd_slice_file_init(op, &columns->query, avro->file_schema, read, file, &avro->file);
}

static hudi_status parse_avro(struct hd_op *op, const struct hd_merge_columns *columns,
                              struct hd_slice text, struct avro_file *avro)
{
    struct hd_avro_decoder_options options = {0};
    struct ArrowSchema file = {0};
    hudi_status status;
    int32_t n;

    HD_TRY_OUT(hd_avro_schema_parse(op, &avro->arena, text, &avro->schema));
    HD_TRY_OUT(hd_table_schema_from_avro(op, (const char *)text.data, &file));
    options.floats_by_text = columns->rules.floats_by_text || avro->file_schema != NULL ||
                             hd_log_is_rewritten(&file, columns->query.schema);
    HD_TRY_OUT(bind_file(op, columns, &file, avro));
    const int32_t *numbers = hd_projection_file_columns(avro->file.projection, &n);
    HD_TRY_OUT(hd_schema_select(op, &file, numbers, n, &avro->wanted));
    HD_TRY_OUT(hd_avro_decoder_new_with(op, avro->schema, &avro->wanted, &options, &avro->decoder));
out:
    hd_schema_clear(&file);
    return status;
}

static hudi_status open_avro(struct hd_op *op, hd_log_rows *rows, struct hd_slice text,
                             const char *file_schema)
{
    struct avro_file *avro = &rows->avro;

    if (text.size == 0)
        return hd_fail(op, HUDI_CORRUPT, "log block at byte %" PRIu64 " has no schema",
                       rows->block.offset);
    if (avro->decoder == NULL || avro->schema_text != text.data ||
        avro->file_schema != file_schema) {
        clear_avro(op, avro);
        avro->schema_text = text.data;
        avro->file_schema = file_schema;
        const hudi_status status = parse_avro(op, rows->columns, text, avro);
        if (status != HUDI_OK) {
            clear_avro(op, avro);
            return status;
        }
    }
    for (int32_t i = 0; i < rows->columns->n_read; i++)
        rows->present[i] = avro->file.column_of[i] >= 0;
    return HUDI_OK;
}

/* ---- positions ------------------------------------------------------------------------------ */

static void forget_positions(struct hd_op *op, hd_log_rows *rows)
{
    hd_free(op, rows->positions);
    rows->positions = NULL;
    if (rows->position_bytes > 0)
        hd_budget_release(op, rows->position_bytes);
    rows->position_bytes = 0;
}

static uint64_t n_rows_of_block(const hd_log_rows *rows)
{
    if (rows->has_records)
        return rows->records.n_records;
    return rows->has_deletes ? rows->deletes.n : (uint64_t)hd_base_reader_n_rows(rows->parquet);
}

/* The block's positions, if there is one for each row. What is wrong with them costs them alone. */
static hudi_status find_positions(struct hd_op *op, hd_log_rows *rows, const char *path)
{
    const uint64_t n_rows = n_rows_of_block(rows);
    struct hd_slice text;

    if (n_rows > UINT32_MAX || !hd_budget_try_reserve(op, n_rows * sizeof *rows->positions))
        return HUDI_OK;
    rows->position_bytes = n_rows * sizeof *rows->positions;
    hudi_status status = hd_log_header_find(op, &rows->block, HD_LOG_RECORD_POSITIONS, &text);
    if (status == HUDI_OK)
        status = hd_log_positions_decode(op, text, n_rows, &rows->positions, &rows->n_positions);
    if (status == HUDI_OK && rows->n_positions != n_rows)
        status = hd_fail(op, HUDI_CORRUPT, "%zu record positions of %" PRIu64 " records",
                         rows->n_positions, n_rows);
    rows->next_position = 0;
    if (status != HUDI_OK)
        forget_positions(op, rows);
    if (status == HUDI_NOT_FOUND)
        return HUDI_OK;
    if (status != HUDI_CORRUPT)
        return status;
    hd_log(op, HD_LOG_WARN, "%s: the log block at byte %" PRIu64 " is merged by key: %s", path,
           rows->block.offset, hudi_error_message(op->error));
    hd_op_clear_error(op);
    return HUDI_OK;
}

/* Those of the next `n` rows, or NULL. */
static const uint64_t *take_positions(hd_log_rows *rows, int64_t n)
{
    if (rows->positions == NULL || (uint64_t)n > rows->n_positions - rows->next_position)
        return NULL;
    rows->next_position += (size_t)n;
    return rows->positions + rows->next_position - n;
}

/* ---- from and to a block ------------------------------------------------------------------- */

static void end_block(struct hd_op *op, hd_log_rows *rows)
{
    if (rows->has_records)
        hd_log_records_close(op, &rows->records);
    rows->has_records = false;
    hd_log_cells_close(op, rows->cells);
    rows->cells = NULL;
    hd_base_batches_close(rows->batches);
    rows->batches = NULL;
    hd_base_reader_close(rows->parquet);
    rows->parquet = NULL;
    hd_slice_file_clear(op, &rows->parquet_file);
    if (rows->has_deletes)
        hd_log_deletes_clear(op, &rows->deletes);
    rows->has_deletes = false;
    forget_positions(op, rows);
    hd_log_block_clear(op, &rows->block);
}

hudi_status hd_log_rows_new(struct hd_op *op, const struct hd_merge_columns *columns,
                            uint64_t batch_bytes, bool positions, hd_log_rows **out)
{
    hd_log_rows *rows;

    *out = NULL;
    HD_TRY(hd_alloc(op, sizeof *rows, &rows));
    rows->columns = columns;
    rows->batch_bytes = batch_bytes;
    rows->wants_positions = positions;
    const hudi_status status =
        hd_alloc_array(op, (size_t)columns->n_read, sizeof *rows->present, &rows->present);
    if (status != HUDI_OK) {
        hd_free(op, rows);
        return status;
    }
    *out = rows;
    return HUDI_OK;
}

void hd_log_rows_free(struct hd_op *op, hd_log_rows *rows)
{
    if (rows == NULL)
        return;
    end_block(op, rows);
    clear_avro(op, &rows->avro);
    hd_array_clear(&rows->made);
    hd_arena_clear(&rows->arena);
    hd_free(op, rows->present);
    hd_free(op, rows);
}

static hudi_status begin_parquet(struct hd_op *op, hd_log_rows *rows, hd_log_reader *file,
                                 const char *file_schema)
{
    const struct hd_merge_columns *columns = rows->columns;
    struct hd_base_read_options options = {.batch_rows = BATCH_ROWS};
    hd_input_file *content;

    HD_TRY(hd_log_reader_content(op, file, &rows->block));
    HD_TRY(
        hd_input_file_of_bytes(op, rows->block.content.data, rows->block.content.size, &content));
    HD_TRY(hd_base_reader_open(op, content, HD_BASE_FILE_PARQUET, &rows->parquet));
    HD_TRY(hd_slice_file_init(op, &columns->query, file_schema, &columns->nullable,
                              hd_base_reader_schema(rows->parquet), &rows->parquet_file));
    for (int32_t i = 0; i < columns->n_read; i++)
        rows->present[i] = rows->parquet_file.column_of[i] >= 0;
    options.columns = hd_projection_file_columns(rows->parquet_file.projection, &options.n_columns);
    return hd_base_reader_read(op, rows->parquet, &options, &rows->batches);
}

static hudi_status open_rows(struct hd_op *op, hd_log_rows *rows, hd_log_reader *file,
                             const struct hd_log_scan_block *info, const char *file_schema)
{
    switch (rows->block.type) {
    case HD_LOG_AVRO_DATA:
        HD_TRY(open_avro(op, rows, info->schema, file_schema));
        HD_TRY(hd_log_records_open(op, hd_log_reader_file(file), &rows->block, &rows->records));
        rows->has_records = true;
        return HUDI_OK;
    case HD_LOG_HFILE_DATA:
        HD_TRY(open_avro(op, rows, info->schema, file_schema));
        return hd_log_cells_open(op, hd_log_reader_file(file), &rows->block, &rows->cells);
    case HD_LOG_PARQUET_DATA:
        return begin_parquet(op, rows, file, file_schema);
    case HD_LOG_DELETE:
        HD_TRY(hd_log_reader_content(op, file, &rows->block));
        HD_TRY(hd_log_deletes_decode(op, rows->block.content, rows->block.content_offset,
                                     &rows->deletes));
        rows->next_delete = 0;
        rows->has_deletes = true;
        return HUDI_OK;
    default:
        return hd_fail(op, HUDI_NOT_IMPLEMENTED, "log block at byte %" PRIu64 " is of type %s",
                       rows->block.offset, hd_log_block_type_name(rows->block.type));
    }
}

hudi_status hd_log_rows_begin(struct hd_op *op, hd_log_rows *rows, hd_log_reader *file,
                              const struct hd_log_scan_block *info, const char *file_schema)
{
    end_block(op, rows);
    hd_log_reader_seek(file, info->offset);
    HD_TRY(hd_log_reader_next(op, file, &rows->block));
    rows->is_partial = info->is_partial;
    HD_TRY(open_rows(op, rows, file, info, file_schema));
    if (!rows->wants_positions || !info->has_positions)
        return HUDI_OK;
    return find_positions(op, rows, hd_input_file_path(hd_log_reader_file(file)));
}

/* ---- rows ---------------------------------------------------------------------------------- */

static hudi_status next_record(struct hd_op *op, hd_log_rows *rows, struct hd_slice *out)
{
    return rows->cells != NULL ? hd_log_cells_next(op, rows->cells, out)
                               : hd_log_records_next(op, &rows->records, out);
}

/* The next batch of a block of Avro records, as columns of `nullable`. */
static hudi_status next_avro(struct hd_op *op, hd_log_rows *rows, struct ArrowArray *out)
{
    struct avro_file *avro = &rows->avro;
    struct ArrowArray stored;
    struct hd_slice record;
    hudi_status status = HUDI_OK;

    while (hd_avro_decoder_n_rows(avro->decoder) < BATCH_ROWS &&
           hd_avro_decoder_bytes(avro->decoder) < rows->batch_bytes) {
        status = next_record(op, rows, &record);
        if (status == HUDI_OK)
            status = hd_avro_decoder_add(op, avro->decoder, record);
        if (status != HUDI_OK)
            break;
    }
    if (status != HUDI_END)
        HD_TRY(status);
    if (hd_avro_decoder_n_rows(avro->decoder) == 0)
        return HUDI_END;
    HD_TRY(hd_avro_decoder_finish(op, avro->decoder, &stored));
    return hd_projection_apply(op, avro->file.projection, &stored, out);
}

static hudi_status next_parquet(struct hd_op *op, hd_log_rows *rows, struct ArrowArray *out)
{
    struct ArrowArray stored;

    HD_TRY(hd_base_batches_next(op, rows->batches, &stored));
    return hd_projection_apply(op, rows->parquet_file.projection, &stored, out);
}

hudi_status hd_constant_flags(struct hd_op *op, bool value, int64_t n_rows, struct ArrowArray *out)
{
    const uint64_t n_bytes = ((uint64_t)n_rows + 7) / 8;
    uint8_t *bits = NULL;

    HD_TRY(hd_buffer_new(op, n_bytes, &bits));
    if (value)
        memset(bits, 0xff, n_bytes);
    return hd_array_fixed(op, n_rows, 0, NULL, bits, out);
}

/* `batch` (taken) with the columns that only entries have. */
static hudi_status make_entries(struct hd_op *op, const hd_log_rows *rows, struct ArrowArray *batch,
                                struct ArrowArray *out)
{
    const struct hd_merge_columns *columns = rows->columns;
    const int32_t n = (int32_t)columns->entry.n_children;
    const int64_t n_rows = batch->length;
    struct hd_shared_array *shared = NULL;
    struct ArrowArray *parts = NULL;
    hudi_status status;
    int32_t *marks = NULL;

    HD_TRY_OUT(hd_shared_array_new(op, batch, &shared));
    HD_TRY_OUT(hd_alloc_array(op, (size_t)n, sizeof *parts, &parts));
    for (int32_t i = 0; i < columns->n_read; i++)
        HD_TRY_OUT(hd_array_share(op, shared, i, &parts[i]));
    HD_TRY_OUT(hd_buffer_new(op, (uint64_t)n_rows * sizeof *marks, &marks));
    HD_TRY_OUT(hd_array_fixed(op, n_rows, 0, NULL, marks, &parts[hd_merge_columns_mark(columns)]));
    for (int32_t i = 0; columns->is_partial && i < columns->n_read; i++)
        HD_TRY_OUT(hd_constant_flags(op, !rows->is_partial || rows->present[i], n_rows,
                                     &parts[hd_merge_columns_presence(columns, i)]));
    HD_TRY_OUT(hd_array_struct(op, parts, n, n_rows, out));
out:
    for (int32_t i = 0; parts != NULL && i < n; i++)
        hd_array_clear(&parts[i]);
    hd_free(op, parts);
    hd_shared_array_free(shared);
    hd_array_clear(batch);
    return status;
}

/* `made` as keys. */
static hudi_status open_made(struct hd_op *op, hd_log_rows *rows, struct hd_view *out)
{
    const struct hd_type text = {.id = HD_TYPE_STRING};
    struct ArrowSchema field;

    HD_TRY(hd_schema_init_field(op, &field, HD_META_RECORD_KEY, &text, false));
    const hudi_status status = hd_view_open(op, &rows->arena, &field, &rows->made, out);
    hd_schema_clear(&field);
    return status;
}

static hudi_status find_keys(struct hd_op *op, hd_log_rows *rows, struct ArrowArray *batch,
                             struct hd_view *out)
{
    if (rows->cells == NULL)
        return hd_merge_columns_keys(op, rows->columns, batch, &rows->arena, &rows->made, out);
    HD_TRY(hd_log_cells_keys(op, rows->cells, &rows->made));
    HD_TRY(hd_log_cells_fill(op, rows->columns, &rows->made, batch));
    return open_made(op, rows, out);
}

static hudi_status next_rows(struct hd_op *op, hd_log_rows *rows, struct hd_log_batch *out)
{
    struct ArrowArray batch;

    HD_TRY(rows->parquet == NULL ? next_avro(op, rows, &batch) : next_parquet(op, rows, &batch));
    hudi_status status = find_keys(op, rows, &batch, &out->keys);
    if (status == HUDI_OK)
        status = make_entries(op, rows, &batch, &out->entries);
    hd_array_clear(&batch);
    return status;
}

static hudi_status next_deletes(struct hd_op *op, hd_log_rows *rows, struct hd_log_batch *out)
{
    size_t n = rows->deletes.n - rows->next_delete;

    if (n == 0)
        return HUDI_END;
    if (n > BATCH_ROWS)
        n = BATCH_ROWS;
    HD_TRY(hd_delete_entries(op, rows->columns, &rows->deletes, rows->next_delete, n, &rows->made,
                             &out->entries));
    rows->next_delete += n;
    const hudi_status status = open_made(op, rows, &out->keys);
    if (status != HUDI_OK)
        hd_array_clear(&out->entries);
    return status;
}

hudi_status hd_log_rows_next(struct hd_op *op, hd_log_rows *rows, struct hd_log_batch *out)
{
    *out = (struct hd_log_batch){0};
    HD_TRY(hd_op_check_cancel(op));
    hd_array_clear(&rows->made);
    hd_arena_reset(&rows->arena);
    const hudi_status status =
        rows->has_deletes ? next_deletes(op, rows, out) : next_rows(op, rows, out);
    if (status == HUDI_OK)
        out->positions = take_positions(rows, out->entries.length);
    if (status != HUDI_OK && status != HUDI_END)
        clear_avro(op, &rows->avro); /* with the rows before the damage */
    return status;
}
