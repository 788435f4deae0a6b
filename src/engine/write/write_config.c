/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/write/write_config.h"

#include <stdio.h>
#include <strings.h>

#include "base/checked_int.h"
#include "codec/json.h"
#include "engine/write/base_sink.h"

static const struct {
    const char *name;
    bool replaces; /* takes file groups out */
} OPERATIONS[] = {
    [HD_OPERATION_UPSERT] = {"UPSERT", false},
    [HD_OPERATION_INSERT] = {"INSERT", false},
    [HD_OPERATION_BULK_INSERT] = {"BULK_INSERT", false},
    [HD_OPERATION_DELETE] = {"DELETE", false},
    [HD_OPERATION_INSERT_OVERWRITE] = {"INSERT_OVERWRITE", true},
    [HD_OPERATION_INSERT_OVERWRITE_TABLE] = {"INSERT_OVERWRITE_TABLE", true},
    [HD_OPERATION_DELETE_PARTITION] = {"DELETE_PARTITION", true},
};

const char *hd_operation_name(enum hd_operation operation)
{
    return OPERATIONS[operation].name;
}

bool hd_operation_parse(const char *text, enum hd_operation *out)
{
    for (size_t i = 0; i < HD_ARRAY_LENGTH(OPERATIONS); i++) {
        if (strcasecmp(text, OPERATIONS[i].name) == 0) {
            *out = (enum hd_operation)i;
            return true;
        }
    }
    return false;
}

enum hd_action hd_write_action(const struct hd_write_config *config)
{
    if (OPERATIONS[config->operation].replaces)
        return HD_ACTION_REPLACECOMMIT;
    return config->table->config.type == HD_MERGE_ON_READ ? HD_ACTION_DELTACOMMIT
                                                          : HD_ACTION_COMMIT;
}

bool hd_operation_looks_up(enum hd_operation operation)
{
    return operation == HD_OPERATION_UPSERT || operation == HD_OPERATION_DELETE;
}

bool hd_write_fills_small_files(const struct hd_write_config *config)
{
    return config->operation == HD_OPERATION_UPSERT || config->operation == HD_OPERATION_INSERT;
}

bool hd_write_merges_inserts(const struct hd_write_config *config)
{
    return config->operation == HD_OPERATION_INSERT &&
           !hd_write_bool(config, "hoodie.merge.allow.duplicate.on.inserts");
}

uint64_t hd_write_merge_memory(const struct hd_op *op, const struct hd_write_config *config)
{
    /* A budget on the whole process leaves half of it to the files being read and written. */
    return hd_min_u64((uint64_t)hd_write_int(config, "hoodie.memory.merge.max.size"),
                      op->budget->limit_bytes / 2);
}

hudi_status hd_write_open_map(struct hd_op *op, const struct hd_write_config *config,
                              const struct ArrowSchema *schema, uint64_t memory_bytes,
                              bool keep_all, hd_spillable_map **out)
{
    const bool rocks_db =
        strcmp(hd_write_text(config, "hoodie.common.spillable.diskmap.type"), "ROCKS_DB") == 0;
    const struct hd_spillable_map_options options = {
        .schema = schema,
        .memory_bytes = memory_bytes,
        .disk_map = rocks_db ? HD_DISK_MAP_ROCKS_DB : HD_DISK_MAP_BITCASK,
        .compress = hd_write_bool(config, "hoodie.common.diskmap.compression.enabled"),
        .folder = hd_write_text(config, "hoodie.memory.spillable.map.path"),
        .keep_all = keep_all,
    };

    return hd_spillable_map_new(op, &options, out);
}

const char *hd_write_text(const struct hd_write_config *config, const char *key)
{
    return hd_options_text(&config->options, &config->table->config.properties, key);
}

bool hd_write_bool(const struct hd_write_config *config, const char *key)
{
    return hd_options_bool(&config->options, &config->table->config.properties, key);
}

int64_t hd_write_int(const struct hd_write_config *config, const char *key)
{
    return hd_options_int(&config->options, &config->table->config.properties, key);
}

hudi_status hd_write_index_type(struct hd_op *op, const struct hd_write_config *config,
                                enum hd_index_type *out)
{
    HD_TRY(hd_index_type_of(op, hd_write_text(config, "hoodie.index.type"), out));
    if (hd_write_bool(config, "index.global.enabled"))
        *out = hd_index_global_form(*out);
    else if (hd_index_is_global(*out) && hd_options_has(&config->options, "index.global.enabled"))
        return hd_fail(op, HUDI_INVALID,
                       "hoodie.index.type=%s and index.global.enabled=false contradict each other",
                       hd_write_text(config, "hoodie.index.type"));
    return HUDI_OK;
}

/* An insert_overwrite that is static and names no partitions takes out what the whole table has. */
static bool overwrites_table(const struct hd_write_config *config)
{
    const char *mode = hd_write_text(config, "hoodie.datasource.overwrite.mode");

    return mode != NULL && strcmp(mode, "STATIC") == 0;
}

static hudi_status check_partitions_to_delete(struct hd_op *op,
                                              const struct hd_write_config *config)
{
    const char *list = hd_write_text(config, "hoodie.datasource.write.partitions.to.delete");

    if (config->operation == HD_OPERATION_DELETE_PARTITION && (list == NULL || *list == '\0'))
        return hd_fail(op, HUDI_INVALID,
                       "delete_partition needs the partitions to delete "
                       "(hoodie.datasource.write.partitions.to.delete)");
    return HUDI_OK;
}

hudi_status hd_write_config_init(struct hd_op *op, const struct hd_options *options,
                                 struct hd_write_config *config)
{
    if (options != NULL)
        HD_TRY(hd_options_merge(op, &config->options, options));
    const char *operation = hd_write_text(config, "hoodie.datasource.write.operation");
    if (!hd_operation_parse(operation, &config->operation))
        return hd_fail(op, HUDI_INVALID, "operation \"%s\" is not known", operation);
    config->n_tasks = 1;
    if (config->operation == HD_OPERATION_INSERT_OVERWRITE && overwrites_table(config))
        config->operation = HD_OPERATION_INSERT_OVERWRITE_TABLE;
    enum hd_index_type index_type;
    HD_TRY(hd_write_index_type(op, config, &index_type));
    HD_TRY(hd_base_sink_check_codec(op, config));
    HD_TRY(check_partitions_to_delete(op, config));
    if (config->table->config.version->log_content_version < 2 &&
        strcasecmp(hd_write_text(config, "hoodie.logfile.data.block.format"), "parquet") == 0)
        return hd_fail(op, HUDI_INVALID,
                       "hoodie.logfile.data.block.format=parquet: releases of a table of version "
                       "%d have no such blocks",
                       config->table->config.version->number);
    return HUDI_OK;
}

hudi_status hd_write_config_load_pending(struct hd_op *op, struct hd_write_config *config)
{
    struct hd_pending_file_group *pending;

    HD_TRY(hd_pending_clustering_file_ids(op, &config->table->timeline, &config->arena, &pending,
                                          &config->n_pending));
    config->pending = pending;
    return HUDI_OK;
}

bool hd_write_is_pending(const struct hd_write_config *config, const char *partition_path,
                         const char *file_id)
{
    return hd_pending_file_group_find(config->pending, config->n_pending, partition_path,
                                      file_id) != NULL;
}

void hd_write_config_clear(struct hd_write_config *config)
{
    hd_options_clear(&config->options);
    hd_arena_clear(&config->arena);
    *config = (struct hd_write_config){0};
}

hudi_status hd_write_config_encode(struct hd_op *op, const struct hd_write_config *config,
                                   struct hd_str *out)
{
    struct hd_json_writer json;

    hd_json_writer_init(&json, out, HD_JSON_COMPACT);
    HD_TRY(hd_json_begin_object(op, &json));
    HD_TRY(hd_json_put_int64(op, &json, "version", 1));
    HD_TRY(hd_json_put_text(op, &json, "table", config->table->uri));
    HD_TRY(hd_json_put_text(op, &json, "instant", config->instant_time));
    HD_TRY(hd_json_put_text(op, &json, "base_instant", config->base_instant));
    HD_TRY(hd_json_put_text(op, &json, "operation", hd_operation_name(config->operation)));
    HD_TRY(hd_json_put_bool(op, &json, "bare_complex_keys", config->encoding == HD_COMPLEX_BARE));
    HD_TRY(hd_json_key(op, &json, "options"));
    HD_TRY(hd_json_begin_object(op, &json));
    for (size_t i = 0; i < config->options.set.n_entries; i++) {
        const struct hd_property *option = &config->options.set.entries[i];
        HD_TRY(hd_json_put_text(op, &json, option->key, option->value));
    }
    HD_TRY(hd_json_end_object(op, &json));
    return hd_json_end_object(op, &json);
}

static hudi_status take_instant(struct hd_op *op, const hd_json *document, const char *key,
                                char out[HD_INSTANT_TIME_BYTES])
{
    struct hd_slice text;

    HD_TRY(hd_json_get_string(op, document, key, &text));
    if (text.size >= HD_INSTANT_TIME_BYTES)
        return hd_fail(op, HUDI_CORRUPT, "task description: %s of %zu characters", key, text.size);
    memcpy(out, text.data, text.size);
    out[text.size] = '\0';
    return HUDI_OK;
}

static hudi_status parse_document(struct hd_op *op, const hd_json *document, const char **uri,
                                  struct hd_write_config *config)
{
    int64_t version;
    struct hd_slice text, key;
    const hd_json *options, *value;
    struct hd_json_iter iter = {0};
    bool bare;

    HD_TRY(hd_json_get_int64(op, document, "version", &version));
    if (version != 1)
        return hd_fail(op, HUDI_NOT_IMPLEMENTED, "task description of version %lld",
                       (long long)version);
    HD_TRY(hd_json_get_string(op, document, "table", &text));
    HD_TRY(hd_arena_strdup(op, &config->arena, (const char *)text.data, (char **)uri));
    HD_TRY(hd_json_get_object(op, document, "options", &options));
    while (hd_json_next(options, &iter, &key, &value)) {
        HD_TRY(hd_json_as_string(op, value, "an option of the task description", &text));
        HD_TRY(
            hd_options_set(op, &config->options, (const char *)key.data, (const char *)text.data));
    }
    HD_TRY(hd_json_get_string(op, document, "operation", &text));
    if (!hd_operation_parse((const char *)text.data, &config->operation))
        return hd_fail(op, HUDI_CORRUPT, "task description: operation \"%s\"",
                       (const char *)text.data);
    HD_TRY(hd_json_get_bool(op, document, "bare_complex_keys", &bare));
    config->encoding = bare ? HD_COMPLEX_BARE : HD_COMPLEX_WITH_FIELD;
    HD_TRY(take_instant(op, document, "instant", config->instant_time));
    HD_TRY(take_instant(op, document, "base_instant", config->base_instant));
    config->n_tasks = 1;
    return HUDI_OK;
}

hudi_status hd_write_config_parse(struct hd_op *op, struct hd_slice bytes, const char **uri,
                                  struct hd_write_config *config)
{
    hd_json *document = NULL;

    *uri = NULL;
    *config = (struct hd_write_config){0};
    HD_TRY(hd_json_parse(op, bytes, &document));
    const hudi_status status = parse_document(op, document, uri, config);
    hd_json_free(document);
    return status;
}

hudi_status hd_write_config_decode(struct hd_op *op, struct hd_slice bytes,
                                   struct hd_table_snapshot *table, struct hd_write_config *config)
{
    const char *uri;

    HD_TRY(hd_write_config_parse(op, bytes, &uri, config));
    HD_TRY(hd_table_snapshot_load(op, uri, table));
    config->table = table;
    return hd_write_config_load_pending(op, config);
}
