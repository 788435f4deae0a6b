/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/index/merged_rows.h"

#include "arrow/schema.h"
#include "format/table/table_schema.h"

/* Every column that is stored: the meta columns, then the table's. */
static hudi_status make_schema(struct hd_op *op, const struct hd_table_snapshot *table,
                               struct ArrowSchema *out)
{
    hudi_status status = HUDI_OK;
    const struct hd_type text = {.id = HD_TYPE_STRING};
    const int64_t n_meta = table->config.populate_meta_fields ? HD_N_META_COLUMNS : 0;
    struct ArrowSchema own = {0};
    char *avro = NULL, *latest = NULL;

    HD_TRY_OUT(
        hd_timeline_table_schema(op, &table->timeline, &table->config, NULL, &avro, &latest));
    HD_TRY_OUT(hd_table_schema_from_avro(op, avro, &own));
    HD_TRY_OUT(hd_schema_init_struct(op, out, "", false, n_meta + own.n_children));
    for (int64_t i = 0; i < n_meta; i++)
        HD_TRY_OUT(hd_schema_init_field(op, out->children[i], hd_meta_columns[i], &text, true));
    for (int64_t i = 0; i < own.n_children; i++)
        HD_TRY_OUT(hd_schema_copy(op, own.children[i], out->children[n_meta + i]));
out:
    hd_schema_clear(&own);
    hd_free(op, avro);
    hd_free(op, latest);
    return status;
}

/* The timeline as blocks are held against it. */
static hudi_status find_instants(struct hd_op *op, const struct hd_timeline *timeline,
                                 struct hd_merged_rows *rows)
{
    struct hd_log_instant *instants;

    HD_TRY(hd_arena_array(op, &rows->arena, timeline->n_instants, sizeof *instants, &instants));
    rows->instants = (struct hd_log_instants){.instants = instants, .start = timeline->start};
    for (size_t i = 0; i < timeline->n_instants; i++) {
        const struct hd_instant *instant = &timeline->instants[i];

        if (hd_instant_is_write(instant))
            instants[rows->instants.n_instants++] = (struct hd_log_instant){
                .time = instant->time, .is_committed = hd_instant_is_completed_write(instant)};
    }
    return HUDI_OK;
}

static hudi_status choose_columns(struct hd_op *op, struct hd_merged_rows *rows,
                                  const char *const *names, size_t n)
{
    int32_t *columns;

    if (names == NULL)
        n = (size_t)rows->schema.n_children;
    HD_TRY(hd_arena_array(op, &rows->arena, n, sizeof *columns, &columns));
    for (size_t i = 0; i < n; i++) {
        columns[i] = names == NULL ? (int32_t)i : hd_schema_find(&rows->schema, names[i]);
        if (columns[i] < 0)
            return HUDI_NOT_FOUND;
    }
    rows->query.columns = columns;
    rows->query.n_columns = (int32_t)n;
    return hd_schema_select(op, &rows->schema, columns, (int32_t)n, &rows->rows);
}

hudi_status hd_merged_rows_open(struct hd_op *op, const struct hd_table_snapshot *table,
                                const struct hd_options *options, const char *const *columns,
                                size_t n_columns, size_t n_readers, struct hd_merged_rows *out)
{
    hudi_status status = HUDI_OK;

    *out = (struct hd_merged_rows){0};
    HD_TRY_OUT(make_schema(op, table, &out->schema));
    HD_TRY_OUT(find_instants(op, &table->timeline, out));
    out->query = (struct hd_slice_query){
        .fs = table->fs,
        .table_path = table->path,
        .config = &table->config,
        .schema = &out->schema,
        .options = options,
        .log_instants = &out->instants,
        .recover = hd_options_bool(options, NULL, "libhudi.read.recover"),
        .merge_bytes = op->budget->limit_bytes / 4 / (n_readers == 0 ? 1 : n_readers)};
    status = choose_columns(op, out, columns, n_columns);
out:
    if (status != HUDI_OK)
        hd_merged_rows_close(op, out);
    return status;
}

void hd_merged_rows_close(struct hd_op *op, struct hd_merged_rows *rows)
{
    (void)op;
    hd_schema_clear(&rows->rows);
    hd_schema_clear(&rows->schema);
    hd_arena_clear(&rows->arena);
    *rows = (struct hd_merged_rows){0};
}

hudi_status hd_merged_slice_open(struct hd_op *op, const struct hd_merged_rows *rows,
                                 const struct hd_file_slice *slice, struct hd_merged_slice *out)
{
    *out = (struct hd_merged_slice){0};
    HD_TRY(hd_alloc_array(op, slice->n_logs, sizeof *out->log_paths, &out->log_paths));
    for (size_t i = 0; i < slice->n_logs; i++)
        out->log_paths[i] = slice->logs[i].path;
    out->source =
        (struct hd_slice_source){.partition_path = slice->partition_path,
                                 .file_id = slice->file_id,
                                 .instant = slice->base_instant,
                                 .base_path = slice->base == NULL ? NULL : slice->base->path,
                                 .base_bytes = slice->base == NULL ? 0 : slice->base->size_bytes,
                                 .log_paths = out->log_paths,
                                 .n_logs = slice->n_logs};
    const hudi_status status = hd_slice_reader_open(op, &rows->query, &out->source, &out->reader);
    if (status != HUDI_OK)
        hd_merged_slice_close(op, out);
    return status;
}

void hd_merged_slice_close(struct hd_op *op, struct hd_merged_slice *slice)
{
    hd_slice_reader_close(slice->reader);
    hd_free(op, slice->log_paths);
    *slice = (struct hd_merged_slice){0};
}
