/* SPDX-License-Identifier: Apache-2.0 */
#include "format/table/table_config.h"

#include <ctype.h>
#include <stdlib.h>
#include <strings.h>

#include "format/table/internal.h"

/*
 * What the keys of hoodie.properties mean. Everything that the config holds lives in the arena of
 * its properties.
 */

/* "a.b.ComplexAvroKeyGenerator" is HD_KEYGEN_COMPLEX. */
static const struct {
    const char *class_name; /* without package */
    const char *type;       /* hoodie.table.keygenerator.type */
    enum hd_key_generator_type generator;
} generators[] = {
    {"SimpleKeyGenerator", "SIMPLE", HD_KEYGEN_SIMPLE},
    {"SimpleAvroKeyGenerator", "SIMPLE_AVRO", HD_KEYGEN_SIMPLE},
    {"ComplexKeyGenerator", "COMPLEX", HD_KEYGEN_COMPLEX},
    {"ComplexAvroKeyGenerator", "COMPLEX_AVRO", HD_KEYGEN_COMPLEX},
    {"NonpartitionedKeyGenerator", "NON_PARTITION", HD_KEYGEN_NON_PARTITION},
    {"NonpartitionedAvroKeyGenerator", "NON_PARTITION_AVRO", HD_KEYGEN_NON_PARTITION},
    {"TimestampBasedKeyGenerator", "TIMESTAMP", HD_KEYGEN_TIMESTAMP},
    {"TimestampBasedAvroKeyGenerator", "TIMESTAMP_AVRO", HD_KEYGEN_TIMESTAMP},
    {"CustomKeyGenerator", "CUSTOM", HD_KEYGEN_CUSTOM},
    {"CustomAvroKeyGenerator", "CUSTOM_AVRO", HD_KEYGEN_CUSTOM},
    {"GlobalDeleteKeyGenerator", "GLOBAL_DELETE", HD_KEYGEN_GLOBAL_DELETE},
    {"GlobalAvroDeleteKeyGenerator", "GLOBAL_DELETE_AVRO", HD_KEYGEN_GLOBAL_DELETE},
    {"AutoRecordGenWrapperKeyGenerator", "AUTO_RECORD", HD_KEYGEN_AUTO_RECORD},
    {"AutoRecordGenWrapperAvroKeyGenerator", "AUTO_RECORD_AVRO", HD_KEYGEN_AUTO_RECORD},
};

static const char *last_part(const char *class_name)
{
    const char *dot = strrchr(class_name, '.');

    return dot == NULL ? class_name : dot + 1;
}

enum hd_key_generator_type hd_key_generator_of_class(const char *class_name)
{
    for (size_t i = 0; i < HD_ARRAY_LENGTH(generators); i++)
        if (strcmp(generators[i].class_name, last_part(class_name)) == 0)
            return generators[i].generator;
    return HD_KEYGEN_USER;
}

enum hd_key_generator_type hd_key_generator_of_type(const char *type)
{
    for (size_t i = 0; i < HD_ARRAY_LENGTH(generators); i++)
        if (strcasecmp(generators[i].type, type) == 0)
            return generators[i].generator;
    return HD_KEYGEN_USER;
}

const char *hd_key_generator_class_name(enum hd_key_generator_type generator)
{
    for (size_t i = 0; i < HD_ARRAY_LENGTH(generators); i++)
        if (generators[i].generator == generator)
            return generators[i].class_name;
    return NULL;
}

const char *hd_key_generator_type_name(enum hd_key_generator_type generator)
{
    for (size_t i = 0; i < HD_ARRAY_LENGTH(generators); i++)
        if (generators[i].generator == generator)
            return generators[i].type;
    return NULL;
}

enum hd_key_generator_type hd_key_generator_infer(const char *const *key_fields, size_t n_keys,
                                                  const char *const *partition_fields,
                                                  size_t n_partitions)
{
    (void)key_fields;
    if (n_partitions == 0)
        return HD_KEYGEN_NON_PARTITION;
    if (strchr(partition_fields[0], ':') != NULL)
        return HD_KEYGEN_CUSTOM;
    return n_partitions > 1 || n_keys > 1 ? HD_KEYGEN_COMPLEX : HD_KEYGEN_SIMPLE;
}

/* An empty value counts as none: Flink stores hoodie.table.keygenerator.class so. */
static const char *text_of(const struct hd_table_config *config, const char *key)
{
    const char *value = hd_properties_get(&config->properties, key);

    return value != NULL && value[0] != '\0' ? value : NULL;
}

static hudi_status flag_of(struct hd_op *op, const struct hd_table_config *config, const char *key,
                           bool fallback, bool *out)
{
    const char *value = text_of(config, key);

    *out = fallback;
    if (value == NULL)
        return HUDI_OK;
    if (strcasecmp(value, "true") == 0)
        *out = true;
    else if (strcasecmp(value, "false") == 0)
        *out = false;
    else
        return hd_fail(op, HUDI_CORRUPT, "%s=%s is neither true nor false", key, value);
    return HUDI_OK;
}

hudi_status hd_split_list(struct hd_op *op, struct hd_arena *arena, const char *text,
                          const char ***out, size_t *n)
{
    size_t room = 1;

    *out = NULL;
    *n = 0;
    if (text == NULL)
        return HUDI_OK;
    for (const char *c = text; *c != '\0'; c++)
        room += *c == ',';
    HD_TRY(hd_arena_array(op, arena, room, sizeof **out, out));
    for (const char *at = text; *at != '\0';) {
        const char *end = at + strcspn(at, ",");
        const char *next = *end == ',' ? end + 1 : end;
        char *part;

        while (at < end && isspace((unsigned char)*at))
            at++;
        while (at < end && isspace((unsigned char)end[-1]))
            end--;
        if (end > at) {
            HD_TRY(hd_arena_strndup(op, arena, at, (size_t)(end - at), &part));
            (*out)[(*n)++] = part;
        }
        at = next;
    }
    return HUDI_OK;
}

/* "city:SIMPLE,ts:TIMESTAMP" to the names and the kinds in lower case. */
static hudi_status split_kinds(struct hd_op *op, struct hd_table_config *config)
{
    struct hd_arena *arena = &config->properties.arena;
    size_t n_kinds = 0;

    HD_TRY(hd_arena_array(op, arena, config->n_partition_fields, sizeof(char *),
                          &config->partition_kinds));
    for (size_t i = 0; i < config->n_partition_fields; i++) {
        const char *field = config->partition_fields[i];
        const char *colon = strchr(field, ':');
        char *name, *kind;

        if (colon == NULL)
            continue;
        HD_TRY(hd_arena_strndup(op, arena, field, (size_t)(colon - field), &name));
        HD_TRY(hd_arena_strdup(op, arena, colon + 1, &kind));
        for (char *c = kind; *c != '\0'; c++)
            *c = (char)tolower((unsigned char)*c);
        if (strcmp(kind, "simple") != 0 && strcmp(kind, "timestamp") != 0)
            return hd_fail(op, HUDI_CORRUPT, "partition field %s is neither simple nor timestamp",
                           field);
        config->partition_fields[i] = name;
        config->partition_kinds[i] = kind;
        n_kinds++;
    }
    if (n_kinds == 0)
        config->partition_kinds = NULL; /* up to version 7 the kinds are not stored */
    else if (n_kinds < config->n_partition_fields)
        return hd_fail(op, HUDI_CORRUPT, "hoodie.table.partition.fields=%s has kinds for some",
                       text_of(config, "hoodie.table.partition.fields"));
    return HUDI_OK;
}

static hudi_status read_version(struct hd_op *op, struct hd_table_config *config)
{
    const char *text = text_of(config, "hoodie.table.version");
    const char *layout = text_of(config, "hoodie.timeline.layout.version");
    char *end;

    if (text == NULL)
        return hd_fail(op, HUDI_NOT_IMPLEMENTED,
                       "hoodie.table.version is missing: a table of Hudi before 0.6");
    const long number = strtol(text, &end, 10);

    if (*end != '\0' || !isdigit((unsigned char)text[0]) || number > 1000000)
        return hd_fail(op, HUDI_CORRUPT, "hoodie.table.version=%s is no number", text);
    HD_TRY(hd_table_version_of(op, (int)number, &config->version));
    if (layout != NULL && (layout[0] != '0' + config->version->timeline_layout || layout[1] != 0))
        return hd_fail(op, HUDI_CORRUPT,
                       "table version %ld goes with timeline layout %d, "
                       "hoodie.timeline.layout.version=%s",
                       number, config->version->timeline_layout, layout);
    return HUDI_OK;
}

/* A folder below another one, as a property may give it: no way out of the table. */
static bool is_relative_folder(const char *path)
{
    if (path[0] == '/')
        return false;
    for (const char *at = path; *at != '\0';) {
        const size_t n = strcspn(at, "/");

        if (n == 0 || (n == 1 && at[0] == '.') || (n == 2 && at[0] == '.' && at[1] == '.'))
            return false;
        at += n;
        if (*at == '/' && at[1] == '\0')
            return false;
        at += *at == '/';
    }
    return true;
}

static hudi_status folder_of(struct hd_op *op, struct hd_table_config *config, const char *key,
                             const char *fallback, const char *parent, const char **out)
{
    const char *value = text_of(config, key);
    char *path;

    if (value != NULL && !is_relative_folder(value))
        return hd_fail(op, HUDI_CORRUPT, "%s=%s is no folder of the table", key, value);
    HD_TRY(hd_arena_printf(op, &config->properties.arena, &path, "%s/%s", parent,
                           value == NULL ? fallback : value));
    *out = path;
    return HUDI_OK;
}

static hudi_status read_folders(struct hd_op *op, struct hd_table_config *config)
{
    if (config->version->timeline_layout == 1) {
        config->timeline_folder = config->version->timeline_folder;
        return folder_of(op, config, "hoodie.archivelog.folder", "archived", ".hoodie",
                         &config->archive_folder);
    }
    HD_TRY(folder_of(op, config, "hoodie.timeline.path", "timeline", ".hoodie",
                     &config->timeline_folder));
    return folder_of(op, config, "hoodie.timeline.history.path", "history", config->timeline_folder,
                     &config->archive_folder);
}

static bool is_metadata_table(const struct hd_table_config *config)
{
    const char *payload = text_of(config, "hoodie.compaction.payload.class");

    return payload != NULL && strcmp(last_part(payload), "HoodieMetadataPayload") == 0;
}

static hudi_status read_type_and_format(struct hd_op *op, struct hd_table_config *config)
{
    const char *type = text_of(config, "hoodie.table.type");
    const char *format = text_of(config, "hoodie.table.base.file.format");

    config->name = text_of(config, "hoodie.table.name");
    if (config->name == NULL)
        return hd_fail(op, HUDI_CORRUPT, "hoodie.table.name is missing");
    if (type == NULL || strcasecmp(type, "COPY_ON_WRITE") == 0)
        config->type = HD_COPY_ON_WRITE;
    else if (strcasecmp(type, "MERGE_ON_READ") == 0)
        config->type = HD_MERGE_ON_READ;
    else
        return hd_fail(op, HUDI_CORRUPT, "hoodie.table.type=%s is none of Hudi's", type);

    config->base_file_format = HD_BASE_FILE_PARQUET;
    if (format == NULL || strcasecmp(format, "PARQUET") == 0)
        return HUDI_OK;
    if (strcasecmp(format, "ORC") == 0)
        config->base_file_format = HD_BASE_FILE_ORC;
    else if (strcasecmp(format, "HFILE") == 0 && is_metadata_table(config))
        config->hfile_base_files = true;
    else
        return hd_fail(op, HUDI_NOT_IMPLEMENTED, "base files of format %s", format);
    return HUDI_OK;
}

static hudi_status read_key_generator(struct hd_op *op, struct hd_table_config *config)
{
    const char *type = text_of(config, "hoodie.table.keygenerator.type");
    const char *class_name = text_of(config, "hoodie.table.keygenerator.class");

    config->key_generator_class = class_name;
    if (type != NULL && (class_name == NULL || config->version->key_generator_as_type))
        config->key_generator = hd_key_generator_of_type(type);
    else if (class_name != NULL)
        config->key_generator = hd_key_generator_of_class(class_name);
    else
        config->key_generator =
            hd_key_generator_infer(config->record_key_fields, config->n_record_key_fields,
                                   config->partition_fields, config->n_partition_fields);

    if (config->key_generator == HD_KEYGEN_CUSTOM)
        HD_TRY(split_kinds(op, config));
    switch (config->key_generator) {
    case HD_KEYGEN_SIMPLE:
    case HD_KEYGEN_COMPLEX:
    case HD_KEYGEN_NON_PARTITION:
    case HD_KEYGEN_GLOBAL_DELETE:
        if (config->n_record_key_fields == 0)
            config->key_generator = HD_KEYGEN_AUTO_RECORD;
        break;
    case HD_KEYGEN_TIMESTAMP:
    case HD_KEYGEN_CUSTOM:
    case HD_KEYGEN_AUTO_RECORD:
    case HD_KEYGEN_USER:
        break;
    }
    return HUDI_OK;
}

static hudi_status read_fields(struct hd_op *op, struct hd_table_config *config)
{
    struct hd_arena *arena = &config->properties.arena;
    const char *ordering = text_of(config, "hoodie.table.ordering.fields");

    if (ordering == NULL)
        ordering = text_of(config, "hoodie.table.precombine.field");
    HD_TRY(hd_split_list(op, arena, text_of(config, "hoodie.table.recordkey.fields"),
                         &config->record_key_fields, &config->n_record_key_fields));
    HD_TRY(hd_split_list(op, arena, text_of(config, "hoodie.table.partition.fields"),
                         &config->partition_fields, &config->n_partition_fields));
    return hd_split_list(op, arena, ordering, &config->ordering_fields, &config->n_ordering_fields);
}

/* Below version 8 the class says how rows merge; from 8 on the mode, which a class is inferred
 * from where only code that knows classes asks. */
static hudi_status read_merging(struct hd_op *op, struct hd_table_config *config)
{
    const char *mode = text_of(config, "hoodie.record.merge.mode");

    config->record_merge_mode = mode;
    config->merge_strategy_id = text_of(config, "hoodie.record.merge.strategy.id");
    if (config->merge_strategy_id == NULL)
        config->merge_strategy_id = text_of(config, "hoodie.compaction.record.merger.strategy");
    config->partial_update_mode = text_of(config, "hoodie.table.partial.update.mode");
    config->payload_class = text_of(config, "hoodie.compaction.payload.class");
    if (mode != NULL && strcasecmp(mode, "COMMIT_TIME_ORDERING") != 0 &&
        strcasecmp(mode, "EVENT_TIME_ORDERING") != 0 && strcasecmp(mode, "CUSTOM") != 0)
        return hd_fail(op, HUDI_CORRUPT, "hoodie.record.merge.mode=%s is none of Hudi's", mode);
    if (config->payload_class != NULL)
        return HUDI_OK;
    config->payload_class = config->version->default_payload_class;
    if (config->payload_class == NULL)
        config->payload_class = text_of(config, "hoodie.table.legacy.payload.class");
    if (config->payload_class == NULL) {
        if (mode == NULL ? config->n_ordering_fields > 0
                         : strcasecmp(mode, "EVENT_TIME_ORDERING") == 0)
            config->payload_class = HD_PAYLOAD_EVENT_TIME;
        else if (mode == NULL || strcasecmp(mode, "COMMIT_TIME_ORDERING") == 0)
            config->payload_class = HD_PAYLOAD_COMMIT_TIME;
    }
    return HUDI_OK;
}

static hudi_status read_flags(struct hd_op *op, struct hd_table_config *config)
{
    const char *zone = text_of(config, "hoodie.table.timeline.timezone");
    const char **listed;
    size_t n_listed;

    HD_TRY(flag_of(op, config, "hoodie.populate.meta.fields", true, &config->populate_meta_fields));
    HD_TRY(flag_of(op, config, "hoodie.datasource.write.hive_style_partitioning", false,
                   &config->hive_style_partitioning));
    HD_TRY(flag_of(op, config, "hoodie.datasource.write.partitionpath.urlencode", false,
                   &config->url_encode_partitioning));
    HD_TRY(flag_of(op, config, "hoodie.datasource.write.drop.partition.columns", false,
                   &config->drop_partition_columns));
    HD_TRY(flag_of(op, config, "hoodie.partition.metafile.use.base.format", false,
                   &config->partition_metafile_in_base_format));
    HD_TRY(flag_of(op, config, "hoodie.table.cdc.enabled", false, &config->cdc_enabled));
    config->cdc_mode = text_of(config, "hoodie.table.cdc.supplemental.logging.mode");
    config->is_bootstrap = text_of(config, "hoodie.bootstrap.base.path") != NULL;
    config->create_schema = text_of(config, "hoodie.table.create.schema");
    config->default_partition = config->version->default_partition;

    if (zone != NULL && strcasecmp(zone, "UTC") != 0 && strcasecmp(zone, "LOCAL") != 0)
        return hd_fail(op, HUDI_CORRUPT, "hoodie.table.timeline.timezone=%s is none of Hudi's",
                       zone);
    config->timeline_utc = zone != NULL && strcasecmp(zone, "UTC") == 0;

    HD_TRY(hd_split_list(op, &config->properties.arena,
                         text_of(config, "hoodie.table.metadata.partitions"), &listed, &n_listed));
    for (size_t i = 0; i < n_listed; i++)
        config->metadata_table = config->metadata_table || strcmp(listed[i], "files") == 0;
    return HUDI_OK;
}

hudi_status hd_table_config_of(struct hd_op *op, struct hd_properties *properties,
                               struct hd_table_config *out)
{
    hudi_status status = HUDI_OK;

    *out = (struct hd_table_config){.properties = *properties};
    *properties = (struct hd_properties){0};
    HD_TRY_OUT(read_version(op, out));
    HD_TRY_OUT(read_type_and_format(op, out));
    HD_TRY_OUT(read_folders(op, out));
    HD_TRY_OUT(read_fields(op, out));
    HD_TRY_OUT(read_key_generator(op, out));
    HD_TRY_OUT(read_merging(op, out));
    HD_TRY_OUT(read_flags(op, out));
out:
    if (status != HUDI_OK)
        hd_table_config_clear(out);
    return status;
}

void hd_table_config_clear(struct hd_table_config *config)
{
    hd_properties_clear(&config->properties);
    *config = (struct hd_table_config){0};
}
