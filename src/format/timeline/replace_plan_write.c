/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/avro.h"
#include "format/timeline/plan_fields.h"
#include "format/timeline/replace_plan.h"

#define MB (UINT64_C(1) << 20)

static hudi_status put_branch(struct hd_op *op, struct hd_str *out, bool is_null)
{
    return hd_avro_write_long(op, out, is_null ? 0 : 1);
}

static hudi_status put_text(struct hd_op *op, struct hd_str *out, const char *text)
{
    HD_TRY(put_branch(op, out, false));
    return hd_avro_write_bytes(op, out, hd_slice_text(text));
}

static hudi_status put_version(struct hd_op *op, struct hd_str *out)
{
    HD_TRY(hd_avro_write_long(op, out, 0)); /* an int */
    return hd_avro_write_long(op, out, 1);
}

static hudi_status put_empty_map(struct hd_op *op, struct hd_str *out)
{
    HD_TRY(put_branch(op, out, false));
    return hd_avro_write_long(op, out, 0);
}

/* "URI/partition/name", without the branch of a union. */
static hudi_status put_path(struct hd_op *op, struct hd_str *out, const char *table_uri,
                            const char *partition, const char *name)
{
    struct hd_str path = {0};
    hudi_status status = hd_str_printf(op, &path, "%s%s%s/%s", table_uri,
                                       partition[0] == '\0' ? "" : "/", partition, name);

    if (status == HUDI_OK)
        status = hd_avro_write_bytes(op, out, hd_str_slice(&path));
    hd_str_clear(&path);
    return status;
}

static hudi_status put_slice(struct hd_op *op, struct hd_str *out,
                             const struct hd_clustering_slice *slice, const char *table_uri)
{
    HD_TRY(put_branch(op, out, false));
    if (slice->data_file == NULL)
        HD_TRY(hd_avro_write_bytes(op, out, hd_slice_text("")));
    else
        HD_TRY(put_path(op, out, table_uri, slice->partition_path, slice->data_file));
    HD_TRY(put_branch(op, out, false));
    if (slice->n_delta_files > 0)
        HD_TRY(hd_avro_write_long(op, out, (int64_t)slice->n_delta_files));
    for (size_t i = 0; i < slice->n_delta_files; i++)
        HD_TRY(put_path(op, out, table_uri, slice->partition_path, slice->delta_files[i]));
    HD_TRY(hd_avro_write_long(op, out, 0));
    HD_TRY(put_text(op, out, slice->file_id));
    HD_TRY(put_text(op, out, slice->partition_path));
    HD_TRY(put_text(op, out, "")); /* bootstrapFilePath */
    return put_version(op, out);
}

static hudi_status put_metrics(struct hd_op *op, struct hd_str *out,
                               const struct hd_clustering_slice *slices, size_t n)
{
    uint64_t n_logs = 0, log_bytes = 0, read_mb = 0, write_mb = 0;

    for (size_t i = 0; i < n; i++) {
        n_logs += slices[i].n_delta_files;
        log_bytes += slices[i].log_bytes;
        read_mb += (slices[i].base_bytes + slices[i].log_bytes) / MB;
        write_mb += slices[i].base_bytes / MB;
    }
    const struct {
        const char *name;
        uint64_t value;
    } entries[] = {{"TOTAL_LOG_FILES", n_logs},
                   {"TOTAL_IO_MB", read_mb + write_mb},
                   {"TOTAL_IO_READ_MB", read_mb},
                   {"TOTAL_LOG_FILES_SIZE", log_bytes},
                   {"TOTAL_IO_WRITE_MB", write_mb}};

    HD_TRY(put_branch(op, out, false));
    HD_TRY(hd_avro_write_long(op, out, HD_ARRAY_LENGTH(entries)));
    for (size_t i = 0; i < HD_ARRAY_LENGTH(entries); i++) {
        HD_TRY(hd_avro_write_bytes(op, out, hd_slice_text(entries[i].name)));
        HD_TRY(hd_avro_write_double(op, out, (double)entries[i].value));
    }
    return hd_avro_write_long(op, out, 0);
}

static hudi_status put_group(struct hd_op *op, struct hd_str *out,
                             const struct hd_clustering_slice *slices, size_t n,
                             const char *table_uri)
{
    HD_TRY(put_branch(op, out, false));
    HD_TRY(hd_avro_write_long(op, out, (int64_t)n));
    for (size_t i = 0; i < n; i++)
        HD_TRY(put_slice(op, out, &slices[i], table_uri));
    HD_TRY(hd_avro_write_long(op, out, 0));
    HD_TRY(put_metrics(op, out, slices, n));
    HD_TRY(hd_avro_write_long(op, out, 0)); /* numOutputFileGroups: an int */
    HD_TRY(hd_avro_write_long(op, out, slices[0].n_output_files));
    HD_TRY(put_branch(op, out, true)); /* extraMetadata */
    return put_version(op, out);
}

static hudi_status put_strategy(struct hd_op *op, struct hd_str *out,
                                const struct hd_replace_plan *plan)
{
    HD_TRY(put_branch(op, out, false));
    HD_TRY(put_text(op, out, plan->strategy_class));
    HD_TRY(put_branch(op, out, false));
    if (plan->n_params > 0)
        HD_TRY(hd_avro_write_long(op, out, (int64_t)plan->n_params));
    for (size_t i = 0; i < plan->n_params; i++) {
        HD_TRY(hd_avro_write_bytes(op, out, hd_slice_text(plan->param_keys[i])));
        HD_TRY(hd_avro_write_bytes(op, out, hd_slice_text(plan->param_values[i])));
    }
    HD_TRY(hd_avro_write_long(op, out, 0));
    return put_version(op, out);
}

static hudi_status put_record(struct hd_op *op, struct hd_str *out,
                              const struct hd_replace_plan *plan, const char *table_uri)
{
    HD_TRY(put_text(op, out, "CLUSTER"));
    HD_TRY(put_branch(op, out, false));
    HD_TRY(put_branch(op, out, false));
    if (plan->n_groups > 0)
        HD_TRY(hd_avro_write_long(op, out, (int64_t)plan->n_groups));
    for (size_t i = 0, end; i < plan->n_slices; i = end) {
        for (end = i + 1; end < plan->n_slices && plan->slices[end].group == plan->slices[i].group;)
            end++;
        HD_TRY(put_group(op, out, &plan->slices[i], end - i, table_uri));
    }
    HD_TRY(hd_avro_write_long(op, out, 0));
    HD_TRY(put_strategy(op, out, plan));
    HD_TRY(put_empty_map(op, out));
    HD_TRY(put_version(op, out));
    HD_TRY(put_branch(op, out, false)); /* preserveHoodieMetadata */
    HD_TRY(hd_avro_write_boolean(op, out, true));
    HD_TRY(put_empty_map(op, out));
    return put_version(op, out);
}

hudi_status hd_replace_plan_encode(struct hd_op *op, const struct hd_replace_plan *plan,
                                   const char *table_uri, struct hd_str *out)
{
    struct hd_str record = {0};
    hudi_status status = put_record(op, &record, plan, table_uri);

    if (status == HUDI_OK)
        status = hd_plan_file(op, hd_replace_plan_schema(), hd_str_slice(&record), out);
    hd_str_clear(&record);
    return status;
}
