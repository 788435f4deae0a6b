/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/write/input.h"

#include <inttypes.h>
#include <stdio.h>

#include "arrow/cast.h"
#include "arrow/schema.h"
#include "arrow/text_check.h"
#include "engine/record/projection.h"
#include "format/table/table_schema.h"

#define ROW_NAME_BYTES 400

static hudi_status choose_columns(struct hd_op *op, struct hd_input *input)
{
    hudi_status status = HUDI_OK;
    struct ArrowSchema kept = {0};
    int32_t n = 0;

    HD_TRY(hd_alloc_array(op, (size_t)input->incoming.n_children, sizeof *input->columns,
                          &input->columns));
    for (int32_t i = 0; i < input->incoming.n_children; i++)
        if (!hd_is_meta_column(input->incoming.children[i]->name))
            input->columns[n++] = i;
    HD_TRY_OUT(hd_schema_select(op, &input->incoming, input->columns, n, &kept));
    HD_TRY_OUT(hd_canonical_schema(op, &kept, &input->canonical));
out:
    hd_schema_clear(&kept);
    return status;
}

/* A delete brings keys; what else the table has, and must have, is of no matter to it. */
static hudi_status record_schema(struct hd_op *op, struct hd_input *input)
{
    HD_TRY(hd_schema_copy(op, &input->schema->record, &input->record));
    if (input->config->operation == HD_OPERATION_DELETE)
        for (int64_t i = 0; i < input->record.n_children; i++)
            input->record.children[i]->flags |= ARROW_FLAG_NULLABLE;
    return HUDI_OK;
}

/* Key and partition fields must come with the rows: filled up with nulls they would fail one by
 * one. */
static hudi_status check_key_fields(struct hd_op *op, const struct hd_input *input)
{
    const struct hd_table_config *table = &input->config->table->config;
    const struct {
        const char **fields;
        size_t n;
        const char *what;
    } kinds[] = {{table->record_key_fields, table->n_record_key_fields, "record key"},
                 {table->partition_fields, table->n_partition_fields, "partition"}};

    for (size_t k = 0; k < HD_ARRAY_LENGTH(kinds); k++) {
        for (size_t i = 0; i < kinds[k].n; i++) {
            char top[256];
            const char *field = kinds[k].fields[i];

            snprintf(top, sizeof top, "%.*s", (int)strcspn(field, "."), field);
            if (hd_schema_find(&input->canonical, field) < 0 &&
                hd_schema_find(&input->canonical, top) < 0)
                return hd_fail(op, HUDI_SCHEMA, "the input has no column \"%s\", a %s field", field,
                               kinds[k].what);
        }
    }
    return HUDI_OK;
}

hudi_status hd_input_open(struct hd_op *op, const struct hd_write_config *config,
                          const struct hd_write_schema *schema, const struct ArrowSchema *incoming,
                          const char *name, struct hd_partition_set *partitions,
                          struct hd_write_status *status_out, struct hd_input *out)
{
    hudi_status status = HUDI_OK;

    *out = (struct hd_input){.config = config,
                             .schema = schema,
                             .name = name,
                             .partitions = partitions,
                             .status = status_out};
    HD_TRY_OUT(hd_schema_copy(op, incoming, &out->incoming));
    HD_TRY_OUT(choose_columns(op, out));
    HD_TRY_OUT(record_schema(op, out));
    HD_TRY_OUT(check_key_fields(op, out));
    for (int64_t i = 0; i < out->canonical.n_children; i++) {
        const char *column = out->canonical.children[i]->name;
        if (hd_schema_find(&out->record, column) < 0) {
            status = hd_fail(op, HUDI_SCHEMA,
                             "column \"%s\" is neither in the table nor in the first input of this "
                             "write",
                             column);
            goto out;
        }
    }
    HD_TRY_OUT(hd_projection_new(op, &out->record, &out->canonical, NULL, HD_CAST_INPUT,
                                 &out->projection));
    HD_TRY_OUT(hd_key_generator_new(op, &config->table->config, &config->options, &out->record,
                                    config->encoding, &out->generator));
    HD_TRY_OUT(hd_key_generator_set_task(op, out->generator, config->instant_time, config->task));
    return HUDI_OK;
out:
    hd_input_close(op, out);
    return status;
}

void hd_input_close(struct hd_op *op, struct hd_input *input)
{
    hd_schema_clear(&input->incoming);
    hd_schema_clear(&input->canonical);
    hd_schema_clear(&input->record);
    hd_free(op, input->columns);
    hd_projection_free(input->projection);
    hd_key_generator_free(input->generator);
    hd_arena_clear(&input->arena);
    hd_misfits_clear(op, &input->misfits);
    *input = (struct hd_input){0};
}

void hd_input_batch_clear(struct hd_op *op, struct hd_input_batch *batch)
{
    hd_shared_array_free(batch->records);
    hd_keys_clear(op, &batch->keys);
    hd_free(op, batch->rows);
    *batch = (struct hd_input_batch){0};
}

/* The columns the projection wants, in canonical layout. */
static hudi_status take_columns(struct hd_op *op, struct hd_input *input, struct ArrowArray *batch,
                                struct ArrowArray *out)
{
    hudi_status status = HUDI_OK;
    struct hd_shared_array *shared = NULL;
    struct ArrowArray *columns = NULL;
    int32_t n;
    const int32_t *wanted = hd_projection_file_columns(input->projection, &n);
    const int64_t n_rows = batch->length;

    HD_TRY_OUT(hd_shared_array_new(op, batch, &shared));
    HD_TRY_OUT(hd_alloc_array(op, (size_t)n, sizeof *columns, &columns));
    for (int32_t i = 0; i < n; i++) {
        struct ArrowArray column = {0};
        const int32_t from = input->columns[wanted[i]];

        HD_TRY_OUT(hd_array_share(op, shared, from, &column));
        HD_TRY_OUT(hd_cast_rows(op, input->incoming.children[from], &column,
                                input->canonical.children[wanted[i]], HD_CAST_CANONICAL,
                                &input->misfits, &columns[i]));
    }
    HD_TRY_OUT(hd_array_struct(op, columns, n, n_rows, out));
out:
    for (int32_t i = 0; columns != NULL && i < n; i++)
        hd_array_clear(&columns[i]);
    hd_free(op, columns);
    hd_shared_array_free(shared);
    hd_array_clear(batch);
    return status;
}

static hudi_status fail_row(struct hd_op *op, struct hd_input *input, double fraction, int64_t row,
                            const char *reason)
{
    char where[ROW_NAME_BYTES];

    snprintf(where, sizeof where, "%s%srow %" PRId64, input->name == NULL ? "" : input->name,
             input->name == NULL ? "" : " ", input->n_rows_seen + row + 1);
    return hd_write_status_fail(op, input->status, fraction,
                                hd_failed_row_at(input->n_rows_before + input->n_rows_seen + row),
                                where, reason);
}

/* Failed rows to the write status, the others' numbers to the batch. */
static hudi_status set_failed_aside(struct hd_op *op, struct hd_input *input,
                                    struct hd_input_batch *batch)
{
    const double fraction =
        hd_options_double(&input->config->options, &input->config->table->config.properties,
                          "hoodie.memory.writestatus.failure.fraction");
    const struct hd_misfits *misfits = &input->misfits;
    size_t next_failure = 0, next_misfit = 0;

    HD_TRY(hd_alloc_raw(op, (size_t)batch->keys.n_rows, sizeof *batch->rows, &batch->rows));
    batch->n_rows = 0;
    for (int64_t row = 0; row < batch->keys.n_rows; row++) {
        const char *reason = NULL;

        if (next_failure < batch->keys.n_failures && batch->keys.failures[next_failure].row == row)
            reason = batch->keys.failures[next_failure++].reason;
        /* A key that was made of a value that does not fit says less. */
        if (next_misfit < misfits->n && misfits->list[next_misfit].row == row)
            reason = misfits->list[next_misfit++].reason;
        if (reason == NULL)
            batch->rows[batch->n_rows++] = row;
        else
            HD_TRY(fail_row(op, input, fraction, row, reason));
    }
    return HUDI_OK;
}

hudi_status hd_input_convert(struct hd_op *op, struct hd_input *input, struct ArrowArray *batch,
                             struct hd_input_batch *out)
{
    hudi_status status = HUDI_OK;
    struct ArrowArray canonical = {0}, records = {0};

    *out = (struct hd_input_batch){0};
    hd_arena_reset(&input->arena);
    hd_misfits_reset(&input->misfits);
    HD_TRY_OUT(take_columns(op, input, batch, &canonical));
    HD_TRY_OUT(
        hd_projection_apply_rows(op, input->projection, &canonical, &input->misfits, &records));
    HD_TRY_OUT(hd_check_texts(op, &input->arena, &input->record, &records, &input->misfits));
    HD_TRY_OUT(hd_misfits_sort(op, &input->misfits));
    HD_TRY_OUT(hd_key_generator_apply(op, input->generator, &records, &input->arena,
                                      input->partitions, &out->keys));
    HD_TRY_OUT(hd_shared_array_new(op, &records, &out->records));
    out->n_rows = out->keys.n_rows;
    if (out->keys.n_failures > 0 || input->misfits.n > 0)
        HD_TRY_OUT(set_failed_aside(op, input, out));
    input->n_rows_seen += out->keys.n_rows;
out:
    hd_array_clear(batch);
    hd_array_clear(&canonical);
    hd_array_clear(&records);
    if (status != HUDI_OK)
        hd_input_batch_clear(op, out);
    return status;
}
