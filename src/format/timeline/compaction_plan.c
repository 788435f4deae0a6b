/* SPDX-License-Identifier: Apache-2.0 */

#include "format/timeline/compaction_plan.h"

#include "format/timeline/plan_fields.h"

static hudi_status find_number(struct hd_op *op, const struct hd_avro_value *map, const char *name,
                               int64_t *out)
{
    const struct hd_avro_value *const value = map == NULL ? NULL : hd_avro_value_lookup(map, name);

    *out = 0;
    if (value == NULL)
        return HUDI_OK;
    if (value->type != HD_AVRO_DOUBLE)
        return hd_fail(op, HUDI_CORRUPT, "metric %s of a compaction operation is no number", name);
    if (value->real >= 0 && value->real < 0x1p62)
        *out = (int64_t)value->real;
    return HUDI_OK;
}

static hudi_status read_metrics(struct hd_op *op, const struct hd_avro_value *record,
                                struct hd_compaction_metrics *out)
{
    const struct hd_avro_value *map;

    HD_TRY(hd_avro_find_container(op, record, "metrics", HD_AVRO_MAP, &map));
    HD_TRY(find_number(op, map, "TOTAL_LOG_FILES_SIZE", &out->log_bytes));
    HD_TRY(find_number(op, map, "TOTAL_IO_READ_MB", &out->read_mb));
    return find_number(op, map, "TOTAL_IO_WRITE_MB", &out->write_mb);
}

static hudi_status read_operation(struct hd_op *op, struct hd_arena *arena,
                                  const struct hd_avro_value *record,
                                  struct hd_compaction_operation *out)
{
    HD_TRY(hd_plan_find_text(op, arena, record, "partitionPath", &out->partition_path));
    HD_TRY(hd_plan_find_text(op, arena, record, "fileId", &out->file_id));
    HD_TRY(hd_plan_find_text(op, arena, record, "baseInstantTime", &out->base_instant));
    HD_TRY(hd_plan_find_text(op, arena, record, "dataFilePath", &out->data_file));
    HD_TRY(hd_plan_find_texts(op, arena, record, "deltaFilePaths", &out->delta_files,
                              &out->n_delta_files));
    HD_TRY(read_metrics(op, record, &out->metrics));
    if (out->file_id == NULL || out->base_instant == NULL)
        return hd_fail(op, HUDI_CORRUPT,
                       "a compaction operation names no file group or no base instant");
    if (out->partition_path == NULL)
        out->partition_path = "";
    out->data_file = hd_plan_file_name(out->data_file);
    for (size_t i = 0; i < out->n_delta_files; i++)
        out->delta_files[i] = hd_plan_file_name(out->delta_files[i]);
    return HUDI_OK;
}

static hudi_status read_operations(struct hd_op *op, const struct hd_avro_value *record,
                                   void *result)
{
    struct hd_compaction_plan *const out = result;
    const struct hd_avro_value *operations;

    HD_TRY(hd_avro_find_container(op, record, "operations", HD_AVRO_ARRAY, &operations));
    const size_t n = operations == NULL ? 0 : operations->n_items;
    HD_TRY(hd_arena_array(op, &out->arena, n, sizeof *out->operations, &out->operations));
    for (; out->n_operations < n; out->n_operations++)
        HD_TRY(read_operation(op, &out->arena, &operations->items[out->n_operations],
                              &out->operations[out->n_operations]));
    return HUDI_OK;
}

hudi_status hd_compaction_plan_parse(struct hd_op *op, struct hd_slice bytes,
                                     struct hd_compaction_plan *out)
{
    return hd_plan_decode(op, bytes, read_operations, out, sizeof *out, &out->arena);
}

hudi_status hd_compaction_plan_read(struct hd_op *op, const struct hd_timeline *timeline,
                                    const struct hd_instant *instant,
                                    struct hd_compaction_plan *out)
{
    uint8_t *bytes;
    size_t n;

    *out = (struct hd_compaction_plan){0};
    HD_TRY(hd_timeline_read(op, timeline, instant, HD_REQUESTED, &bytes, &n));
    hudi_status status = hd_compaction_plan_parse(op, hd_slice_of(bytes, n), out);
    hd_free(op, bytes);
    return status == HUDI_OK ? HUDI_OK
                             : hd_timeline_fail_path(op, status, timeline, instant, HD_REQUESTED);
}

void hd_compaction_plan_clear(struct hd_compaction_plan *plan)
{
    hd_arena_clear(&plan->arena);
    *plan = (struct hd_compaction_plan){0};
}
