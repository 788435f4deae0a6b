/* SPDX-License-Identifier: Apache-2.0 */
#include "service/preview.h"

#include "api/api.h"
#include "service/savepoint.h"
#include "service/undo.h"

struct hudi_preview {
    struct hd_preview preview;
};

/* Takes `preview`. */
static hudi_status give(struct hd_op *op, hudi_status status, hudi_preview *preview,
                        hudi_preview **out, hudi_error **err)
{
    if (status == HUDI_OK)
        *out = preview;
    else
        hudi_preview_free(preview);
    return hd_call_end(op, status, err);
}

static hudi_status begin(struct hd_op *op, hudi_table *table, const hudi_cancel *cancel,
                         hudi_preview **preview, hudi_preview **out)
{
    *out = NULL;
    *preview = NULL;
    hd_call_begin(op, table->context, cancel);
    return hd_alloc(op, sizeof **preview, preview);
}

hudi_status hudi_rollback_preview(hudi_table *table, const char *instant_time, hudi_preview **out,
                                  hudi_error **err)
{
    HD_TRY(HD_CHECK_GIVEN(err, HD_ARG(table), HD_ARG(instant_time), HD_OUT(out)));
    struct hd_op op;
    hudi_preview *preview;

    hudi_status status = begin(&op, table, NULL, &preview, out);
    if (status == HUDI_OK)
        status = hd_undo_preview(&op, table->snapshot.uri, &table->options, instant_time,
                                 &preview->preview);
    return give(&op, status, preview, out, err);
}

hudi_status hudi_restore_preview(hudi_table *table, const char *instant_time, hudi_cancel *cancel,
                                 hudi_preview **out, hudi_error **err)
{
    HD_TRY(HD_CHECK_GIVEN(err, HD_ARG(table), HD_ARG(instant_time), HD_OUT(out)));
    struct hd_op op;
    hudi_preview *preview;

    hudi_status status = begin(&op, table, cancel, &preview, out);
    if (status == HUDI_OK)
        status = hd_restore_preview(&op, table->context->pool, table->snapshot.uri, &table->options,
                                    instant_time, &preview->preview);
    return give(&op, status, preview, out, err);
}

hudi_status hudi_savepoint_preview(hudi_table *table, const char *instant_time, hudi_preview **out,
                                   hudi_error **err)
{
    HD_TRY(HD_CHECK_GIVEN(err, HD_ARG(table), HD_ARG(instant_time), HD_OUT(out)));
    struct hd_op op;
    hudi_preview *preview;

    hudi_status status = begin(&op, table, NULL, &preview, out);
    if (status == HUDI_OK)
        status = hd_savepoint_preview(&op, table->context->pool, table->snapshot.uri,
                                      &table->options, instant_time, &preview->preview);
    return give(&op, status, preview, out, err);
}

hudi_status hudi_savepoint_delete_preview(hudi_table *table, const char *instant_time,
                                          hudi_preview **out, hudi_error **err)
{
    HD_TRY(HD_CHECK_GIVEN(err, HD_ARG(table), HD_ARG(instant_time), HD_OUT(out)));
    struct hd_op op;
    hudi_preview *preview;

    hudi_status status = begin(&op, table, NULL, &preview, out);
    if (status == HUDI_OK)
        status = hd_savepoint_delete_preview(&op, table->snapshot.uri, &table->options,
                                             instant_time, &preview->preview);
    return give(&op, status, preview, out, err);
}

size_t hudi_preview_length(const hudi_preview *preview)
{
    return preview->preview.n_instants;
}

const char *hudi_preview_instant(const hudi_preview *preview, size_t i)
{
    return preview->preview.instants[i].time;
}

const char *hudi_preview_action(const hudi_preview *preview, size_t i)
{
    return preview->preview.instants[i].action;
}

const char *hudi_preview_state(const hudi_preview *preview, size_t i)
{
    return preview->preview.instants[i].state;
}

size_t hudi_preview_files(const hudi_preview *preview, size_t i)
{
    return preview->preview.instants[i].n_files;
}

int64_t hudi_preview_bytes(const hudi_preview *preview, size_t i)
{
    return (int64_t)preview->preview.instants[i].n_bytes;
}

const char *hudi_preview_file(const hudi_preview *preview, size_t i, size_t f,
                              const char **partition)
{
    const struct hd_preview_instant *const instant = &preview->preview.instants[i];

    if (f >= instant->n_files)
        return NULL;
    *partition = instant->files[f].partition_path;
    return instant->files[f].name;
}

const char *hudi_preview_log_file(const hudi_preview *preview, size_t i, size_t f,
                                  const char **partition)
{
    const struct hd_preview_instant *const instant = &preview->preview.instants[i];

    if (f >= instant->n_logs)
        return NULL;
    *partition = instant->logs[f].partition_path;
    return instant->logs[f].name;
}

void hudi_preview_free(hudi_preview *preview)
{
    if (preview == NULL)
        return;
    hd_preview_clear(&preview->preview);
    hd_free(NULL, preview);
}
