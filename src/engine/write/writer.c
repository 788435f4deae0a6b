/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/write/writer.h"

#include "arrow/array.h"
#include "arrow/cast.h"
#include "arrow/schema.h"
#include "arrow/stream.h"
#include "engine/write/insert.h"
#include "engine/write/upsert.h"

struct hd_writer {
    const struct hd_write_config *config;
    struct hd_write_schema schema;
    bool has_schema;
    struct hd_partition_set partitions;
    struct hd_write_status status;
    hd_upsert *upsert; /* one of the two */
    hd_insert *insert;
    int64_t n_rows; /* of the inputs that are done */
};

hudi_status hd_writer_open(struct hd_op *op, const struct hd_write_config *config, hd_writer **out)
{
    hudi_status status = HUDI_OK;
    hd_writer *writer;

    *out = NULL;
    HD_TRY(hd_alloc(op, sizeof *writer, &writer));
    writer->config = config;
    writer->status.task = config->task;
    writer->status.attempt = config->attempt;
    HD_TRY_OUT(hd_arena_strdup(op, &writer->status.arena, config->instant_time,
                               (char **)&writer->status.instant_time));
    *out = writer;
    return HUDI_OK;
out:
    hd_writer_abort(op, writer);
    return status;
}

/* Records are collected by key first: to be looked up, or because inserts are to be pre-combined.
 */
static bool collects_by_key(const struct hd_write_config *config)
{
    return hd_operation_looks_up(config->operation) ||
           hd_write_bool(config, "hoodie.combine.before.insert");
}

/* The first input settles the columns of the write. */
static hudi_status begin(struct hd_op *op, hd_writer *writer, const struct ArrowSchema *incoming)
{
    struct ArrowSchema canonical = {0};

    if (writer->has_schema)
        return HUDI_OK;
    HD_TRY(hd_canonical_schema(op, incoming, &canonical));
    const hudi_status status = hd_write_schema_new(op, writer->config, &canonical, &writer->schema);
    hd_schema_clear(&canonical);
    HD_TRY(status);
    writer->has_schema = true;
    HD_TRY(hd_arena_strdup(op, &writer->status.arena, writer->schema.avro,
                           (char **)&writer->status.avro_schema));
    if (collects_by_key(writer->config))
        return hd_upsert_open(op, writer->config, &writer->schema, &writer->partitions,
                              &writer->status, &writer->upsert);
    return hd_insert_open(op, writer->config, &writer->schema, &writer->partitions, 0,
                          hd_write_fills_small_files(writer->config), &writer->status,
                          &writer->insert);
}

static hudi_status take_batch(struct hd_op *op, hd_writer *writer, struct hd_input *input,
                              struct ArrowArray *array)
{
    struct hd_input_batch batch;

    hudi_status status = hd_op_check_cancel(op);
    if (status == HUDI_OK)
        status = hd_input_convert(op, input, array, &batch);
    else
        hd_array_clear(array);
    HD_TRY(status);
    status = writer->upsert != NULL ? hd_upsert_add(op, writer->upsert, &batch)
                                    : hd_insert_add(op, writer->insert, &batch);
    hd_input_batch_clear(op, &batch);
    return status;
}

hudi_status hd_writer_fail_record(struct hd_op *op, hd_writer *writer, int64_t n_rows,
                                  const char *where, const char *reason)
{
    const struct hd_write_config *config = writer->config;

    return hd_write_status_fail(op, &writer->status,
                                hd_options_double(&config->options,
                                                  &config->table->config.properties,
                                                  "hoodie.memory.writestatus.failure.fraction"),
                                hd_left_out_at(writer->n_rows + n_rows), where, reason);
}

hudi_status hd_writer_write(struct hd_op *op, hd_writer *writer, const char *name,
                            struct ArrowArrayStream *in)
{
    hudi_status status = HUDI_OK;
    struct ArrowSchema incoming = {0};
    struct hd_input input = {0};

    if (writer->config->operation == HD_OPERATION_DELETE_PARTITION) {
        status = hd_fail(op, HUDI_INVALID, "delete_partition takes no rows");
        goto out;
    }
    HD_TRY_OUT(hd_stream_schema(op, in, &incoming));
    HD_TRY_OUT(begin(op, writer, &incoming));
    HD_TRY_OUT(hd_input_open(op, writer->config, &writer->schema, &incoming, name,
                             &writer->partitions, &writer->status, &input));
    input.n_rows_before = writer->n_rows;
    for (;;) {
        struct ArrowArray array = {0};

        status = hd_stream_next(op, in, &array);
        if (status == HUDI_END) {
            status = HUDI_OK;
            break;
        }
        HD_TRY_OUT(status);
        HD_TRY_OUT(take_batch(op, writer, &input, &array));
    }
out:
    writer->n_rows += input.n_rows_seen;
    hd_input_close(op, &input);
    hd_schema_clear(&incoming);
    hd_stream_clear(in);
    return status;
}

hudi_status hd_writer_close(struct hd_op *op, hd_writer *writer, struct hd_write_status *out)
{
    hudi_status status = HUDI_OK;

    *out = (struct hd_write_status){0};
    if (writer->upsert != NULL)
        HD_TRY_OUT(hd_upsert_finish(op, writer->upsert));
    if (writer->insert != NULL)
        HD_TRY_OUT(hd_insert_finish(op, writer->insert));
    *out = writer->status;
    writer->status = (struct hd_write_status){0};
out:
    hd_writer_abort(op, writer);
    return status;
}

void hd_writer_abort(struct hd_op *op, hd_writer *writer)
{
    if (writer == NULL)
        return;
    hd_upsert_free(op, writer->upsert);
    hd_insert_free(op, writer->insert);
    hd_write_schema_clear(op, &writer->schema);
    hd_map_clear(&writer->partitions.paths);
    hd_write_status_clear(op, &writer->status);
    hd_free(op, writer);
}
