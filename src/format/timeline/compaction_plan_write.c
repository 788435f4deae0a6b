/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/avro.h"
#include "format/timeline/compaction_plan.h"
#include "format/timeline/plan_fields.h"

#define PLAN_VERSION 2
#define STRATEGY_VERSION 1

static const char SCHEMA_START[] =
    "{\"type\":\"record\",\"name\":\"HoodieCompactionPlan\",\"namespace\":\"org.apache.hudi.avro."
    "model\",\"fields\":[{\"name\":\"operations\",\"type\":[\"null\",{\"type\":\"array\","
    "\"items\":{\"type\":\"record\",\"name\":\"HoodieCompactionOperation\",\"fields\":["
    "{\"name\":\"baseInstantTime\",\"type\":[\"null\",\"string\"]},{\"name\":\"deltaFilePaths\","
    "\"type\":[\"null\",{\"type\":\"array\",\"items\":\"string\"}],\"default\":null},{\"name\":"
    "\"dataFilePath\",\"type\":[\"null\",\"string\"],\"default\":null},{\"name\":\"fileId\","
    "\"type\":[\"null\",\"string\"]},{\"name\":\"partitionPath\",\"type\":[\"null\",\"string\"],"
    "\"default\":null},{\"name\":\"metrics\",\"type\":[\"null\",{\"type\":\"map\",\"values\":"
    "\"double\"}],\"default\":null},{\"name\":\"bootstrapFilePath\",\"type\":[\"null\","
    "\"string\"],\"default\":null}]}}],\"default\":null},{\"name\":\"extraMetadata\",\"type\":"
    "[\"null\",{\"type\":\"map\",\"values\":\"string\"}],\"default\":null},{\"name\":\"version\","
    "\"type\":[\"int\",\"null\"],\"default\":1}";
static const char SCHEMA_STRATEGY[] =
    ",{\"name\":\"strategy\",\"type\":[\"null\",{\"type\":\"record\",\"name\":"
    "\"HoodieCompactionStrategy\",\"fields\":[{\"name\":\"compactorClassName\",\"type\":"
    "[\"null\",\"string\"],\"default\":null},{\"name\":\"strategyParams\",\"type\":[\"null\","
    "{\"type\":\"map\",\"values\":\"string\"}],\"default\":null},{\"name\":\"version\",\"type\":"
    "[\"int\",\"null\"],\"default\":1}]}],\"default\":null},{\"name\":\"preserveHoodieMetadata\","
    "\"type\":[\"boolean\",\"null\"],\"default\":false}";

/* A value of a union of null and something else. */
static hudi_status put_branch(struct hd_op *op, struct hd_str *out, bool is_null)
{
    return hd_avro_write_long(op, out, is_null ? 0 : 1);
}

static hudi_status put_text(struct hd_op *op, struct hd_str *out, const char *text)
{
    HD_TRY(put_branch(op, out, text == NULL));
    return text == NULL ? HUDI_OK : hd_avro_write_bytes(op, out, hd_slice_text(text));
}

static hudi_status put_texts(struct hd_op *op, struct hd_str *out, const char *const *texts,
                             size_t n)
{
    HD_TRY(put_branch(op, out, false));
    if (n > 0)
        HD_TRY(hd_avro_write_long(op, out, (int64_t)n));
    for (size_t i = 0; i < n; i++)
        HD_TRY(hd_avro_write_bytes(op, out, hd_slice_text(texts[i])));
    return hd_avro_write_long(op, out, 0);
}

/* In the order in which Java's hash map gives them. */
static hudi_status put_metrics(struct hd_op *op, struct hd_str *out,
                               const struct hd_compaction_operation *operation)
{
    const struct hd_compaction_metrics *const metrics = &operation->metrics;
    const struct {
        const char *name;
        double value;
    } entries[] = {
        {"TOTAL_LOG_FILES", (double)operation->n_delta_files},
        {"TOTAL_IO_MB", (double)(metrics->read_mb + metrics->write_mb)},
        {"TOTAL_IO_READ_MB", (double)metrics->read_mb},
        {"TOTAL_LOG_FILES_SIZE", (double)metrics->log_bytes},
        {"TOTAL_IO_WRITE_MB", (double)metrics->write_mb},
    };

    HD_TRY(put_branch(op, out, false));
    HD_TRY(hd_avro_write_long(op, out, HD_ARRAY_LENGTH(entries)));
    for (size_t i = 0; i < HD_ARRAY_LENGTH(entries); i++) {
        HD_TRY(hd_avro_write_bytes(op, out, hd_slice_text(entries[i].name)));
        HD_TRY(hd_avro_write_double(op, out, entries[i].value));
    }
    return hd_avro_write_long(op, out, 0);
}

static hudi_status put_operation(struct hd_op *op, struct hd_str *out,
                                 const struct hd_compaction_operation *operation)
{
    HD_TRY(put_text(op, out, operation->base_instant));
    HD_TRY(put_texts(op, out, operation->delta_files, operation->n_delta_files));
    HD_TRY(put_text(op, out, operation->data_file));
    HD_TRY(put_text(op, out, operation->file_id));
    HD_TRY(put_text(op, out, operation->partition_path));
    HD_TRY(put_metrics(op, out, operation));
    return put_text(op, out, NULL); /* bootstrapFilePath */
}

static hudi_status put_record(struct hd_op *op, struct hd_str *out,
                              const struct hd_compaction_plan *plan, bool has_strategy)
{
    HD_TRY(put_branch(op, out, false));
    if (plan->n_operations > 0)
        HD_TRY(hd_avro_write_long(op, out, (int64_t)plan->n_operations));
    for (size_t i = 0; i < plan->n_operations; i++)
        HD_TRY(put_operation(op, out, &plan->operations[i]));
    HD_TRY(hd_avro_write_long(op, out, 0));
    HD_TRY(put_branch(op, out, true));      /* extraMetadata */
    HD_TRY(hd_avro_write_long(op, out, 0)); /* version: an int */
    HD_TRY(hd_avro_write_long(op, out, PLAN_VERSION));
    if (!has_strategy)
        return HUDI_OK;
    HD_TRY(put_branch(op, out, plan->compactor == NULL));
    if (plan->compactor != NULL) {
        HD_TRY(put_text(op, out, plan->compactor));
        HD_TRY(put_branch(op, out, true));      /* strategyParams */
        HD_TRY(hd_avro_write_long(op, out, 0)); /* version: an int */
        HD_TRY(hd_avro_write_long(op, out, STRATEGY_VERSION));
    }
    HD_TRY(hd_avro_write_long(op, out, 0)); /* preserveHoodieMetadata: a boolean */
    return hd_avro_write_boolean(op, out, plan->compactor != NULL);
}

hudi_status hd_compaction_plan_encode(struct hd_op *op, const struct hd_compaction_plan *plan,
                                      const struct hd_table_version *version, struct hd_str *out)
{
    hudi_status status = HUDI_OK;
    struct hd_str schema = {0}, record = {0};

    HD_TRY_OUT(hd_str_append_text(op, &schema, SCHEMA_START));
    if (version->compaction_has_strategy)
        HD_TRY_OUT(hd_str_append_text(op, &schema, SCHEMA_STRATEGY));
    HD_TRY_OUT(hd_str_append_text(op, &schema, "]}"));
    HD_TRY_OUT(put_record(op, &record, plan, version->compaction_has_strategy));
    HD_TRY_OUT(hd_plan_file(op, hd_str_slice(&schema), hd_str_slice(&record), out));
out:
    hd_str_clear(&schema);
    hd_str_clear(&record);
    return status;
}
