/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/scan/changes.h"

#include <string.h>

#include "arrow/builder.h"
#include "arrow/schema.h"
#include "arrow/stream.h"
#include "engine/scan/changes_internal.h"
#include "format/table/table_schema.h"
#include "format/timeline/archived_timeline.h"

/* The changes of a range: instants in order -> units (change_units.c) -> changes (change_reader.c)
 * -> rows of texts. */

#define BATCH_ROWS 8192
#define BATCH_BYTES (UINT64_C(4) << 20)

enum { COLUMN_OP, COLUMN_TS_MS, COLUMN_BEFORE, COLUMN_AFTER, N_COLUMNS };

struct stream {
    struct hd_changes changes;
    hd_builder *builder; /* of the batch that is made */
    struct hd_str text;  /* of the image that is made */
    struct hd_change_rows rows;
    int64_t rows_left; /* -1: no limit */
    struct hd_op op;   /* to close with: what is open holds parts of the budget */
};

/* ---- schemas ------------------------------------------------------------------------------ */

static hudi_status text_columns(struct hd_op *op, const char *const *names, int64_t n,
                                int64_t n_children, struct ArrowSchema *out)
{
    const struct hd_type text = {.id = HD_TYPE_STRING};

    HD_TRY(hd_schema_init_struct(op, out, "", false, n_children));
    for (int64_t i = 0; i < n; i++)
        HD_TRY(hd_schema_init_field(op, out->children[i], names[i], &text, true));
    return HUDI_OK;
}

/* An image as it was logged: the columns asked for but meta columns. All may be null: the file can
 * be older than a column. */
static hudi_status logged_image(struct hd_op *op, const hd_scan_plan *plan, const char *name,
                                struct ArrowSchema *out)
{
    int64_t n = 0;

    for (int32_t i = 0; i < plan->query.n_columns; i++)
        n += !hd_is_meta_column(plan->schema.children[plan->query.columns[i]]->name);
    HD_TRY(hd_schema_init_struct(op, out, name, true, n));
    n = 0;
    for (int32_t i = 0; i < plan->query.n_columns; i++) {
        const struct ArrowSchema *column = plan->schema.children[plan->query.columns[i]];

        if (!hd_is_meta_column(column->name))
            HD_TRY(hd_schema_copy_as(op, column, column->name, true, out->children[n++]));
    }
    return HUDI_OK;
}

static hudi_status make_schemas(struct hd_op *op, struct hd_changes *changes)
{
    static const char *const COLUMNS[] = {"op", "ts_ms", "before", "after"};
    static const char *const LOGGED[] = {"op", "ts_ms", "record_key"};
    hd_scan_plan *plan = changes->plan;
    const int32_t n = plan->query.n_columns;
    int32_t *columns;

    HD_TRY(text_columns(op, COLUMNS, N_COLUMNS, N_COLUMNS, &changes->schema));
    HD_TRY(
        text_columns(op, LOGGED, HD_LOGGED_BEFORE, HD_N_LOGGED_COLUMNS, &changes->logged_schema));
    HD_TRY(logged_image(op, plan, "before", changes->logged_schema.children[HD_LOGGED_BEFORE]));
    HD_TRY(logged_image(op, plan, "after", changes->logged_schema.children[HD_LOGGED_AFTER]));

    HD_TRY(hd_arena_array(op, &plan->arena, (size_t)n + 2, sizeof *columns, &columns));
    memcpy(columns, plan->query.columns, (size_t)n * sizeof *columns);
    changes->images = plan->query;
    changes->images.columns = columns;
    changes->n_image_columns = n;
    if (changes->table->config.populate_meta_fields && plan->avro != NULL) {
        columns[n] = hd_schema_find(&plan->schema, HD_META_RECORD_KEY);
        columns[n + 1] = hd_schema_find(&plan->schema, HD_META_COMMIT_TIME);
        changes->images.n_columns = n + 2;
    }
    return hd_slice_query_schema(op, &changes->images, &changes->image_schema);
}

/* ---- instants ----------------------------------------------------------------------------- */

/* Compaction and clustering move rows, they change none.
 * Source: WriteOperationType.isDataChange (Hudi 0.15.0) */
static bool changes_rows(const struct hd_commit_metadata *commit)
{
    static const char *const OTHERS[] = {"COMPACT", "LOG_COMPACT", "CLUSTER", "INDEX",
                                         "ALTER_SCHEMA"};

    for (size_t i = 0; commit->operation_type != NULL && i < sizeof OTHERS / sizeof *OTHERS; i++) {
        if (strcmp(commit->operation_type, OTHERS[i]) == 0)
            return false;
    }
    return true;
}

/* Changes are told by the commits of the active timeline: archived ones do not name files of
 * changes any more, and the cleaner has been there. */
static hudi_status check_archive(struct hd_op *op, const struct hd_changes *changes)
{
    const struct hd_table_snapshot *table = changes->table;
    const hd_scan_plan *plan = changes->plan;
    struct hd_archived_timeline archive;
    const char *last = NULL;

    if (changes->timeline.start != NULL && strcmp(plan->begin, changes->timeline.start) >= 0)
        return HUDI_OK;
    const bool by_time = table->config.version->timeline_layout < 2;
    HD_TRY(hd_archived_timeline_load(op, table->fs, table->path, &table->config,
                                     by_time ? plan->begin : NULL, by_time ? plan->end : NULL,
                                     &archive));
    for (size_t i = 0; i < archive.n_instants; i++) {
        const struct hd_archived_instant *instant = &archive.instants[i];

        if (instant->has_commit && instant->state == HD_COMPLETED &&
            hd_scan_is_in_range(plan, instant->time, instant->completion_time) &&
            changes_rows(&instant->commit))
            last = instant->time;
    }
    const hudi_status status =
        last == NULL ? HUDI_OK
                     : hd_fail(op, HUDI_NOT_FOUND,
                               "changes up to %s were archived: those after it can be read", last);
    hd_archived_timeline_clear(&archive);
    return status;
}

static void close_instant(struct hd_op *op, struct hd_changes *changes)
{
    hd_commit_metadata_clear(&changes->commit);
    hd_free(op, changes->units);
    changes->units = NULL;
    changes->n_units = changes->next_unit = 0;
}

/* HUDI_END after the last one of the range. */
static hudi_status open_next_instant(struct hd_op *op, struct hd_changes *changes)
{
    const struct hd_timeline *timeline = &changes->timeline;
    const hd_scan_plan *plan = changes->plan;

    close_instant(op, changes);
    while (changes->next_instant < timeline->n_instants) {
        const struct hd_instant *instant = &timeline->instants[changes->next_instant++];

        if (!hd_instant_is_completed_write(instant) ||
            !hd_scan_is_in_range(plan, instant->time, instant->completion_time))
            continue;
        HD_TRY(hd_timeline_read_commit(op, timeline, instant, &changes->commit));
        if (changes_rows(&changes->commit)) {
            changes->instant = instant;
            const hudi_status status = hd_change_units(op, changes);
            return status == HUDI_OK
                       ? HUDI_OK
                       : hd_timeline_fail_path(op, status, timeline, instant, HD_COMPLETED);
        }
        hd_commit_metadata_clear(&changes->commit);
    }
    return HUDI_END;
}

/* ---- rows --------------------------------------------------------------------------------- */

static hudi_status append_image(struct hd_op *op, struct stream *stream,
                                const struct hd_change_side *side, int64_t i, hd_builder *column)
{
    if (side->rows == NULL || side->rows[i] < 0)
        return hd_builder_append_null(op, column);
    stream->text.size = 0;
    HD_TRY(hd_change_image(op, &side->view, side->n_columns, side->rows[i], &stream->text));
    return hd_builder_append_bytes(op, column, hd_str_slice(&stream->text));
}

static hudi_status append_rows(struct hd_op *op, struct stream *stream)
{
    struct hd_change_rows *rows = &stream->rows;
    hd_builder *builder = stream->builder;
    const struct hd_slice time = hd_slice_text(stream->changes.instant->time);

    while (rows->next_row < rows->n_rows && stream->rows_left != 0 &&
           hd_builder_length(builder) < BATCH_ROWS && hd_builder_bytes(builder) < BATCH_BYTES) {
        const int64_t i = rows->next_row;

        HD_TRY(hd_builder_append_bytes(op, hd_builder_child(builder, COLUMN_OP),
                                       hd_slice_of(&rows->ops[i], 1)));
        HD_TRY(hd_builder_append_bytes(op, hd_builder_child(builder, COLUMN_TS_MS), time));
        HD_TRY(
            append_image(op, stream, &rows->before, i, hd_builder_child(builder, COLUMN_BEFORE)));
        HD_TRY(append_image(op, stream, &rows->after, i, hd_builder_child(builder, COLUMN_AFTER)));
        HD_TRY(hd_builder_append_valid(op, builder));
        rows->next_row++;
        stream->rows_left -= stream->rows_left > 0;
    }
    return HUDI_OK;
}

/* Changes to give out, HUDI_END when there are no more. */
static hudi_status load_rows(struct hd_op *op, struct stream *stream)
{
    struct hd_changes *changes = &stream->changes;

    hd_change_rows_clear(&stream->rows);
    for (;;) {
        HD_TRY(hd_op_check_cancel(op));
        if (changes->reader != NULL) {
            const hudi_status status = hd_change_reader_next(op, changes->reader, &stream->rows);
            if (status != HUDI_END)
                return status;
            hd_change_reader_close(op, changes->reader);
            changes->reader = NULL;
        }
        if (changes->next_unit < changes->n_units)
            HD_TRY(hd_change_reader_open(op, changes, &changes->units[changes->next_unit++],
                                         &changes->reader));
        else
            HD_TRY(open_next_instant(op, changes));
    }
}

static hudi_status stream_next(struct hd_op *op, void *self, struct ArrowArray *out)
{
    struct stream *stream = self;

    while (stream->rows_left != 0 && hd_builder_length(stream->builder) < BATCH_ROWS &&
           hd_builder_bytes(stream->builder) < BATCH_BYTES) {
        if (stream->rows.next_row == stream->rows.n_rows) {
            const hudi_status status = load_rows(op, stream);
            if (status == HUDI_END)
                break;
            HD_TRY(status);
        }
        HD_TRY(append_rows(op, stream));
    }
    if (hd_builder_length(stream->builder) == 0)
        return HUDI_END;
    return hd_builder_finish(op, stream->builder, out);
}

static hudi_status stream_schema(struct hd_op *op, void *self, struct ArrowSchema *out)
{
    return hd_schema_copy(op, &((struct stream *)self)->changes.schema, out);
}

static void stream_close(void *self)
{
    struct stream *stream = self;
    struct hd_changes *changes = &stream->changes;

    hd_change_rows_clear(&stream->rows);
    hd_change_reader_close(&stream->op, changes->reader);
    close_instant(&stream->op, changes);
    hd_file_system_view_clear(&changes->view);
    hd_schema_clear(&changes->schema);
    hd_schema_clear(&changes->image_schema);
    hd_schema_clear(&changes->logged_schema);
    hd_builder_free(stream->builder);
    hd_str_clear(&stream->text);
    hd_scan_plan_free(changes->plan);
    hd_op_clear(&stream->op);
    hd_free(NULL, stream);
}

static hudi_status open_stream(struct hd_op *op, struct stream *stream)
{
    struct hd_changes *changes = &stream->changes;
    hd_scan_plan *plan = changes->plan;

    changes->table = plan->table;
    stream->rows_left = plan->limit;
    HD_TRY(
        hd_scan_visible_timeline(op, plan->table, plan->recover, &plan->arena, &changes->timeline));
    HD_TRY(check_archive(op, changes));
    HD_TRY(make_schemas(op, changes));
    return hd_builder_new(op, &changes->schema, &stream->builder);
}

hudi_status hd_changes_stream(struct hd_op *op, hd_scan_plan *plan, struct ArrowArrayStream *out)
{
    static const struct hd_stream_ops OPS = {stream_schema, stream_next, stream_close};
    struct stream *stream;

    *out = (struct ArrowArrayStream){0};
    hudi_status status = hd_alloc(op, sizeof *stream, &stream);
    if (status != HUDI_OK) {
        hd_scan_plan_free(plan);
        return status;
    }
    hd_op_init_child(&stream->op, op);
    stream->changes.plan = plan;
    status = open_stream(op, stream);
    if (status == HUDI_OK)
        status = hd_stream_export(op, &OPS, stream, out);
    if (status != HUDI_OK)
        stream_close(stream);
    return status;
}
