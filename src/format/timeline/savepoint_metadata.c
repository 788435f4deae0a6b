/* SPDX-License-Identifier: Apache-2.0 */
#include "format/timeline/savepoint_metadata.h"

#include "codec/avro_value.h"
#include "format/timeline/plan_fields.h"

static const char SCHEMA[] =
    "{\"type\":\"record\",\"name\":\"HoodieSavepointMetadata\",\"namespace\":\"org.apache.hudi."
    "avro.model\",\"fields\":[{\"name\":\"savepointedBy\",\"type\":\"string\"},"
    "{\"name\":\"savepointedAt\",\"type\":\"long\"},{\"name\":\"comments\",\"type\":\"string\"},"
    "{\"name\":\"partitionMetadata\",\"type\":{\"type\":\"map\",\"values\":{\"type\":\"record\","
    "\"name\":\"HoodieSavepointPartitionMetadata\",\"fields\":[{\"name\":\"partitionPath\","
    "\"type\":\"string\"},{\"name\":\"savepointDataFile\",\"type\":{\"type\":\"array\",\"items\":"
    "\"string\"}}]}}},{\"name\":\"version\",\"type\":[\"int\",\"null\"],\"default\":1}]}";

/* ---- writing ------------------------------------------------------------------------------ */

static struct hd_avro_value text(const char *value)
{
    return hd_avro_string_value(hd_slice_text(value));
}

static hudi_status partition_value(struct hd_op *op, struct hd_arena *arena,
                                   const struct hd_avro_schema *schema,
                                   const struct hd_savepoint_partition *partition,
                                   struct hd_avro_value *out)
{
    struct hd_avro_value files;

    HD_TRY(hd_avro_record_new(op, arena, schema, out));
    HD_TRY(hd_avro_set(op, out, "partitionPath", text(partition->partition_path)));
    HD_TRY(hd_plan_texts_value(op, arena, partition->files, partition->n_files, &files));
    return hd_avro_set(op, out, "savepointDataFile", files);
}

hudi_status hd_savepoint_metadata_encode(struct hd_op *op,
                                         const struct hd_savepoint_metadata *metadata,
                                         struct hd_str *out)
{
    hudi_status status = HUDI_OK;
    struct hd_arena arena = {0};
    const struct hd_slice json = hd_slice_of(SCHEMA, sizeof SCHEMA - 1);
    struct hd_avro_schema *schema;
    struct hd_avro_value record, partitions;

    HD_TRY_OUT(hd_avro_schema_parse(op, &arena, json, &schema));
    HD_TRY_OUT(hd_avro_record_new(op, &arena, schema, &record));
    HD_TRY_OUT(hd_avro_set(op, &record, "savepointedBy", text(metadata->user)));
    HD_TRY_OUT(hd_avro_set(op, &record, "savepointedAt", hd_avro_long_value(metadata->made_ms)));
    HD_TRY_OUT(hd_avro_set(op, &record, "comments", text(metadata->comments)));
    HD_TRY_OUT(hd_avro_map_new(op, &arena, metadata->n_partitions, &partitions));
    const struct hd_avro_schema *const items =
        hd_avro_schema_of_items(hd_avro_schema_of_field(schema, "partitionMetadata"));
    for (size_t i = 0; i < metadata->n_partitions; i++) {
        partitions.keys[i] = hd_slice_text(metadata->partitions[i].partition_path);
        HD_TRY_OUT(
            partition_value(op, &arena, items, &metadata->partitions[i], &partitions.items[i]));
    }
    HD_TRY_OUT(hd_avro_set(op, &record, "partitionMetadata", partitions));
    HD_TRY_OUT(hd_avro_write_single(op, schema, &record, out));
out:
    hd_arena_clear(&arena);
    return status;
}

/* ---- reading ------------------------------------------------------------------------------ */

static hudi_status read_metadata(struct hd_op *op, const struct hd_avro_value *record, void *result)
{
    struct hd_savepoint_metadata *const out = result;
    struct hd_arena *const arena = &out->arena;
    const struct hd_avro_value *map;

    HD_TRY(hd_plan_find_text(op, arena, record, "savepointedBy", &out->user));
    HD_TRY(hd_plan_find_text(op, arena, record, "comments", &out->comments));
    HD_TRY(hd_avro_find_long(op, record, "savepointedAt", 0, &out->made_ms));
    HD_TRY(hd_avro_find_container(op, record, "partitionMetadata", HD_AVRO_MAP, &map));
    if (out->user == NULL)
        out->user = "";
    if (out->comments == NULL)
        out->comments = "";
    if (map == NULL)
        return hd_fail(op, HUDI_CORRUPT, "the metadata of a savepoint names no files");
    HD_TRY(hd_arena_array(op, arena, map->n_items, sizeof *out->partitions, &out->partitions));
    for (; out->n_partitions < map->n_items; out->n_partitions++) {
        struct hd_savepoint_partition *const partition = &out->partitions[out->n_partitions];

        HD_TRY(hd_plan_key(op, arena, map->keys[out->n_partitions], "a partition path",
                           &partition->partition_path));
        HD_TRY(hd_plan_find_texts(op, arena, &map->items[out->n_partitions], "savepointDataFile",
                                  &partition->files, &partition->n_files));
    }
    return HUDI_OK;
}

hudi_status hd_savepoint_metadata_decode(struct hd_op *op, struct hd_slice bytes,
                                         struct hd_savepoint_metadata *out)
{
    return hd_plan_decode(op, bytes, read_metadata, out, sizeof *out, &out->arena);
}

void hd_savepoint_metadata_clear(struct hd_savepoint_metadata *metadata)
{
    hd_arena_clear(&metadata->arena);
    *metadata = (struct hd_savepoint_metadata){0};
}

hudi_status hd_savepoint_metadata_read(struct hd_op *op, const struct hd_timeline *timeline,
                                       const struct hd_instant *instant,
                                       struct hd_savepoint_metadata *out)
{
    uint8_t *bytes;
    size_t n;

    *out = (struct hd_savepoint_metadata){0};
    HD_TRY(hd_timeline_read(op, timeline, instant, HD_COMPLETED, &bytes, &n));
    const hudi_status status = hd_savepoint_metadata_decode(op, hd_slice_of(bytes, n), out);
    hd_free(op, bytes);
    return status == HUDI_OK ? HUDI_OK
                             : hd_timeline_fail_path(op, status, timeline, instant, HD_COMPLETED);
}
