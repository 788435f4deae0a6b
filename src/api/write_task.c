/* SPDX-License-Identifier: Apache-2.0 */
/* The write path cut where a cluster cuts it: bytes in, bytes out. */
#include "api/api.h"
#include "arrow/stream.h"
#include "engine/commit/coordinator.h"
#include "engine/write/tagger.h"
#include "engine/write/writer.h"

struct hudi_write_task {
    hudi_context *context;
    struct hd_table_snapshot table;
    struct hd_write_config config;
    hd_writer *writer;
};

static hudi_status give_bytes(struct hd_op *op, struct hd_str *text, void **out, size_t *n_bytes)
{
    *n_bytes = text->size;
    return hd_str_take(op, text, (char **)out);
}

hudi_status hudi_write_task_description(hudi_write *write, void **out, size_t *n_bytes,
                                        hudi_error **err)
{
    HD_TRY(HD_CHECK_GIVEN(err, HD_ARG(write), HD_OUT(out), HD_OUT(n_bytes)));
    hudi_status status = HUDI_OK;
    struct hd_op op;
    struct hd_str text = {0};

    *out = NULL;
    hd_call_begin(&op, write->context, NULL);
    HD_TRY_OUT(hd_write_config_encode(&op, hd_coordinator_config(write->coordinator), &text));
    HD_TRY_OUT(give_bytes(&op, &text, out, n_bytes));
out:
    hd_str_clear(&text);
    return hd_call_end(&op, status, err);
}

hudi_status hudi_write_add_status(hudi_write *write, const void *bytes, size_t n_bytes,
                                  hudi_error **err)
{
    HD_TRY(HD_CHECK_GIVEN(err, HD_ARG(write), HD_ARG(bytes)));
    hudi_status status = HUDI_OK;
    struct hd_op op;
    struct hd_write_status done;

    hd_call_begin(&op, write->context, NULL);
    HD_TRY_OUT(hd_write_status_decode(&op, hd_slice_of(bytes, n_bytes), &done));
    HD_TRY_OUT(hd_coordinator_add_status(&op, write->coordinator, &done));
out:
    return hd_call_end(&op, status, err);
}

hudi_status hudi_write_task_open(hudi_context *context, const void *description, size_t n_bytes,
                                 uint32_t task_number, uint32_t n_tasks, uint64_t attempt,
                                 hudi_write_task **out, hudi_error **err)
{
    HD_TRY(HD_CHECK_GIVEN(err, HD_ARG(context), HD_ARG(description), HD_OUT(out)));
    hudi_status status = HUDI_OK;
    struct hd_op op;
    hudi_write_task *task = NULL;

    *out = NULL;
    hd_call_begin(&op, context, NULL);
    if (task_number >= n_tasks)
        HD_TRY_OUT(hd_fail(&op, HUDI_INVALID, "task %u of %u", task_number, n_tasks));
    HD_TRY_OUT(hd_alloc(&op, sizeof *task, &task));
    task->context = context;
    HD_TRY_OUT(hd_write_config_decode(&op, hd_slice_of(description, n_bytes), &task->table,
                                      &task->config));
    task->config.pool = context->pool;
    task->config.task = task_number;
    task->config.n_tasks = n_tasks;
    task->config.attempt = attempt;
    HD_TRY_OUT(hd_writer_open(&op, &task->config, &task->writer));
    *out = task;
    task = NULL;
out:
    hudi_write_task_free(task);
    return hd_call_end(&op, status, err);
}

hudi_status hudi_write_task_stream(hudi_write_task *task, struct ArrowArrayStream *in,
                                   hudi_cancel *cancel, hudi_error **err)
{
    if (HD_CHECK_GIVEN(err, HD_ARG(task), HD_ARG(in)) != HUDI_OK) {
        if (in != NULL)
            hd_stream_clear(in);
        return HUDI_INVALID;
    }
    struct hd_op op;

    hd_call_begin(&op, task->context, cancel);
    const hudi_status status = hd_writer_write(&op, task->writer, NULL, in);
    return hd_call_end(&op, status, err);
}

hudi_status hudi_write_task_close(hudi_write_task *task, void **out, size_t *n_bytes,
                                  hudi_error **err)
{
    HD_TRY(HD_CHECK_GIVEN(err, HD_ARG(task), HD_OUT(out), HD_OUT(n_bytes)));
    hudi_status status = HUDI_OK;
    struct hd_op op;
    struct hd_write_status done = {0};
    struct hd_str text = {0};

    *out = NULL;
    hd_call_begin(&op, task->context, NULL);
    status = hd_writer_close(&op, task->writer, &done);
    task->writer = NULL;
    HD_TRY_OUT(status);
    HD_TRY_OUT(hd_write_status_encode(&op, &done, &text));
    HD_TRY_OUT(give_bytes(&op, &text, out, n_bytes));
out:
    hd_str_clear(&text);
    hd_write_status_clear(&op, &done);
    status = hd_call_end(&op, status, err);
    hudi_write_task_free(task);
    return status;
}

void hudi_write_task_free(hudi_write_task *task)
{
    struct hd_op op;

    if (task == NULL)
        return;
    hd_call_begin(&op, task->context, NULL);
    hd_writer_abort(&op, task->writer);
    hd_write_config_clear(&task->config);
    hd_table_snapshot_clear(&op, &task->table);
    hd_free(&op, task);
    hd_call_end(&op, HUDI_OK, NULL);
}

/* ---- tagging ----------------------------------------------------------------------------------
 */

struct hudi_tagger {
    hudi_context *context;
    struct hd_table_snapshot table;
    struct hd_write_config config;
    hd_tagger *tagger;
};

hudi_status hudi_tagger_new(hudi_context *context, const void *description, size_t n_bytes,
                            uint32_t n_tasks, hudi_tagger **out, hudi_error **err)
{
    HD_TRY(HD_CHECK_GIVEN(err, HD_ARG(context), HD_ARG(description), HD_OUT(out)));
    hudi_status status = HUDI_OK;
    struct hd_op op;
    hudi_tagger *tagger = NULL;

    *out = NULL;
    hd_call_begin(&op, context, NULL);
    if (n_tasks == 0)
        HD_TRY_OUT(hd_fail(&op, HUDI_INVALID, "a write needs at least one task"));
    HD_TRY_OUT(hd_alloc(&op, sizeof *tagger, &tagger));
    tagger->context = context;
    HD_TRY_OUT(hd_write_config_decode(&op, hd_slice_of(description, n_bytes), &tagger->table,
                                      &tagger->config));
    tagger->config.pool = context->pool;
    tagger->config.n_tasks = n_tasks;
    HD_TRY_OUT(hd_tagger_new(&op, &tagger->config, &tagger->tagger));
    *out = tagger;
    tagger = NULL;
out:
    hudi_tagger_free(tagger);
    return hd_call_end(&op, status, err);
}

hudi_status hudi_tagger_tag(hudi_tagger *tagger, const struct ArrowSchema *schema,
                            const struct ArrowArray *batch, uint32_t *tasks, hudi_error **err)
{
    HD_TRY(HD_CHECK_GIVEN(err, HD_ARG(tagger), HD_ARG(schema), HD_ARG(batch), HD_ARG(tasks)));
    struct hd_op op;

    hd_call_begin(&op, tagger->context, NULL);
    return hd_call_end(&op, hd_tagger_tag(&op, tagger->tagger, schema, batch, tasks), err);
}

void hudi_tagger_free(hudi_tagger *tagger)
{
    struct hd_op op;

    if (tagger == NULL)
        return;
    hd_call_begin(&op, tagger->context, NULL);
    hd_tagger_free(&op, tagger->tagger);
    hd_write_config_clear(&tagger->config);
    hd_table_snapshot_clear(&op, &tagger->table);
    hd_free(&op, tagger);
    hd_call_end(&op, HUDI_OK, NULL);
}
