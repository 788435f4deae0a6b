/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <strings.h>

#include "arrow/schema.h"
#include "arrow/view.h"
#include "format/table/internal.h"
#include "format/table/table_config.h"
#include "format/table/table_schema.h"

/*
 * Properties of a new table: options checked against each other and the schema first, then written
 * as the release of the table's version writes them: keys that it does not know are left out, and
 * refused when their value matters.
 *
 * Source: HoodieTableMetaClient.TableBuilder, HoodieTableConfig.create (Hudi 0.10.1 to 1.1.1)
 */

struct creation {
    struct hd_op *op;
    const struct hd_options *options;
    struct hd_properties properties;
    const struct hd_table_version *version;
    const char **keys, **partitions, **orderings;
    size_t n_keys, n_partitions, n_orderings;
    const char **kinds; /* of the partitions, custom generator only */
    enum hd_key_generator_type generator;
    const char *payload; /* full class name */
    bool payload_given;
};

/* How a payload class is said from version 8 on. Source: log-format 7.3, RecordMergeMode */
static const struct payload {
    const char *class_name;  /* without package */
    const char *mode;        /* version 9 */
    const char *update_mode; /* version 9, or NULL */
    bool by_time;            /* needs an ordering field */
    bool by_mode;            /* version 8 knows a mode for it; else CUSTOM with the class */
    int first_version;
} payloads[] = {
    {"OverwriteWithLatestAvroPayload", "COMMIT_TIME_ORDERING", NULL, false, true, 2},
    {"DefaultHoodieRecordPayload", "EVENT_TIME_ORDERING", NULL, true, true, 2},
    {"EventTimeAvroPayload", "EVENT_TIME_ORDERING", NULL, true, true, 3},
    {"OverwriteNonDefaultsWithLatestAvroPayload", "COMMIT_TIME_ORDERING", "IGNORE_DEFAULTS", false,
     false, 2},
    {"PartialUpdateAvroPayload", "EVENT_TIME_ORDERING", "IGNORE_DEFAULTS", true, false, 5},
    {"AWSDmsAvroPayload", "COMMIT_TIME_ORDERING", NULL, false, false, 2},
    {"EmptyHoodieRecordPayload", "CUSTOM", NULL, false, false, 2},
    {"FirstValueAvroPayload", "CUSTOM", NULL, true, false, 6}, /* new in 0.15 */
};

#define PACKAGE "org.apache.hudi.common.model."
#define KEYGEN_PACKAGE "org.apache.hudi.keygen."
#define EVENT_TIME_ID "eeb8d96f-b1e4-49fd-bbf8-28ac514178e5"
#define COMMIT_TIME_ID "ce9acb64-bde0-424c-9b91-f6ebba25356d"
#define PAYLOAD_BASED_ID "00000000-0000-0000-0000-000000000000"

static hudi_status put(struct creation *c, const char *key, const char *value)
{
    return hd_properties_set(c->op, &c->properties, key, value);
}

static hudi_status put_bool(struct creation *c, const char *key, bool value)
{
    return put(c, key, value ? "true" : "false");
}

static hudi_status put_int(struct creation *c, const char *key, int64_t value)
{
    char text[24];

    snprintf(text, sizeof text, "%" PRId64, value);
    return put(c, key, text);
}

/* A property may be given by its own name or by that of the write option. */
static hudi_status pick(struct creation *c, const char *table_key, const char *write_key,
                        const char **out)
{
    const char *a = hd_properties_get(&c->options->set, table_key);
    const char *b = write_key == NULL ? NULL : hd_properties_get(&c->options->set, write_key);

    if (a != NULL && b != NULL && strcmp(a, b) != 0)
        return hd_fail(c->op, HUDI_INVALID, "%s=%s and %s=%s contradict each other", table_key, a,
                       write_key, b);
    *out = a != NULL ? a : b;
    if (*out != NULL && (*out)[0] == '\0')
        *out = NULL;
    return HUDI_OK;
}

static hudi_status pick_list(struct creation *c, const char *table_key, const char *write_key,
                             const char ***out, size_t *n)
{
    const char *text;

    HD_TRY(pick(c, table_key, write_key, &text));
    HD_TRY(hd_split_list(c->op, &c->properties.arena, text, out, n));
    for (size_t i = 0; i < *n; i++)
        for (size_t j = 0; j < i; j++)
            if (strcmp((*out)[i], (*out)[j]) == 0)
                return hd_fail(c->op, HUDI_INVALID, "%s names %s twice",
                               write_key == NULL ? table_key : write_key, (*out)[i]);
    return HUDI_OK;
}

static hudi_status join(struct creation *c, const char *const *parts, size_t n, struct hd_str *out)
{
    for (size_t i = 0; i < n; i++)
        HD_TRY(hd_str_printf(c->op, out, "%s%s", i == 0 ? "" : ",", parts[i]));
    return HUDI_OK;
}

static hudi_status put_list(struct creation *c, const char *key, const char *const *parts, size_t n)
{
    struct hd_str text = {0};

    if (n == 0)
        return HUDI_OK;
    hudi_status status = join(c, parts, n, &text);

    if (status == HUDI_OK)
        status = put(c, key, hd_str_text(&text));
    hd_str_clear(&text);
    return status;
}

/* ---- what was asked for ------------------------------------------------------------------- */

static hudi_status choose_version(struct creation *c)
{
    const char *asked = hd_properties_get(&c->options->set, "hoodie.write.table.version");
    const char *table = hd_properties_get(&c->options->set, "hoodie.table.version");
    int64_t number = hd_options_int(c->options, NULL, "hoodie.write.table.version");

    if (asked != NULL && table != NULL && strcmp(asked, table) != 0)
        return hd_fail(c->op, HUDI_INVALID,
                       "hoodie.write.table.version=%s and hoodie.table.version=%s contradict each "
                       "other",
                       asked, table);
    if (table != NULL)
        number = hd_options_int(c->options, NULL, "hoodie.table.version");
    HD_TRY(hd_table_version_of(c->op, (int)number, &c->version));
    if (!c->version->writes_supported)
        return hd_fail(c->op, HUDI_NOT_IMPLEMENTED, "tables of version %d are not made",
                       c->version->number);
    return HUDI_OK;
}

static hudi_status choose_fields(struct creation *c)
{
    HD_TRY(pick_list(c, "hoodie.table.recordkey.fields", "hoodie.datasource.write.recordkey.field",
                     &c->keys, &c->n_keys));
    HD_TRY(pick_list(c, "hoodie.table.partition.fields",
                     "hoodie.datasource.write.partitionpath.field", &c->partitions,
                     &c->n_partitions));
    HD_TRY(pick_list(c,
                     hd_options_has(c->options, "hoodie.table.ordering.fields")
                         ? "hoodie.table.ordering.fields"
                         : "hoodie.table.precombine.field",
                     "hoodie.datasource.write.precombine.field", &c->orderings, &c->n_orderings));
    if (c->n_orderings == 0)
        HD_TRY(pick_list(c, "hoodie.payload.ordering.field", NULL, &c->orderings, &c->n_orderings));
    /* Flink's word for "none" */
    if (c->n_orderings == 1 && strcmp(c->orderings[0], "no_precombine") == 0)
        c->n_orderings = 0;
    if (c->n_orderings > 1 && c->version->number < 9)
        return hd_fail(c->op, HUDI_INVALID, "table version %d has one ordering field, not %zu",
                       c->version->number, c->n_orderings);
    if (c->n_keys == 0 && c->version->number < 6)
        return hd_fail(c->op, HUDI_INVALID, "table version %d needs record key fields",
                       c->version->number);
    if (c->n_keys == 0 && !hd_options_bool(c->options, NULL, "hoodie.populate.meta.fields"))
        return hd_fail(c->op, HUDI_INVALID,
                       "hoodie.populate.meta.fields=false needs record key fields");
    return HUDI_OK;
}

static hudi_status choose_generator(struct creation *c)
{
    const char *class_name, *type;

    HD_TRY(pick(c, "hoodie.table.keygenerator.class", "hoodie.datasource.write.keygenerator.class",
                &class_name));
    HD_TRY(pick(c, "hoodie.table.keygenerator.type", "hoodie.datasource.write.keygenerator.type",
                &type));
    c->generator = hd_key_generator_infer(c->keys, c->n_keys, c->partitions, c->n_partitions);
    if (class_name != NULL)
        c->generator = hd_key_generator_of_class(class_name);
    else if (type != NULL)
        c->generator = hd_key_generator_of_type(type);
    if (c->generator == HD_KEYGEN_USER || c->generator == HD_KEYGEN_AUTO_RECORD)
        return hd_fail(c->op, HUDI_NOT_IMPLEMENTED, "key generator %s is not one of Hudi's",
                       class_name != NULL ? class_name : type);
    if (class_name != NULL && type != NULL && hd_key_generator_of_type(type) != c->generator)
        return hd_fail(c->op, HUDI_INVALID, "key generators %s and %s contradict each other",
                       class_name, type);
    return HUDI_OK;
}

/* "city:simple" to the name and the kind in upper case, as 1.1 stores it. */
static hudi_status split_partition(struct creation *c, size_t i)
{
    const char *field = c->partitions[i], *colon = strchr(field, ':');
    char *name;

    if (colon == NULL)
        return hd_fail(c->op, HUDI_INVALID,
                       "the custom key generator takes %s:simple or %s:timestamp", field, field);
    if (strcasecmp(colon + 1, "simple") == 0)
        c->kinds[i] = "SIMPLE";
    else if (strcasecmp(colon + 1, "timestamp") == 0)
        c->kinds[i] = "TIMESTAMP";
    else
        return hd_fail(c->op, HUDI_INVALID, "partition field %s is neither simple nor timestamp",
                       field);
    HD_TRY(hd_arena_strndup(c->op, &c->properties.arena, field, (size_t)(colon - field), &name));
    c->partitions[i] = name;
    return HUDI_OK;
}

static hudi_status check_partitions(struct creation *c)
{
    bool timestamps = c->generator == HD_KEYGEN_TIMESTAMP;
    const char *name = hd_key_generator_class_name(c->generator);

    if (c->generator == HD_KEYGEN_CUSTOM) {
        HD_TRY(hd_arena_array(c->op, &c->properties.arena, c->n_partitions, sizeof *c->kinds,
                              &c->kinds));
        for (size_t i = 0; i < c->n_partitions; i++) {
            HD_TRY(split_partition(c, i));
            timestamps = timestamps || strcmp(c->kinds[i], "TIMESTAMP") == 0;
        }
    }
    if ((c->generator == HD_KEYGEN_NON_PARTITION || c->generator == HD_KEYGEN_GLOBAL_DELETE)
            ? c->n_partitions > 0
            : c->n_partitions == 0 && c->generator != HD_KEYGEN_COMPLEX)
        return hd_fail(c->op, HUDI_INVALID, "%s and %zu partition fields contradict each other",
                       name, c->n_partitions);
    if ((c->generator == HD_KEYGEN_SIMPLE || c->generator == HD_KEYGEN_TIMESTAMP) &&
        (c->n_partitions > 1 || c->n_keys > 1))
        return hd_fail(c->op, HUDI_INVALID,
                       "%s takes one record key and one partition field, not %zu and %zu", name,
                       c->n_keys, c->n_partitions);
    if (timestamps && !hd_options_has(c->options, "hoodie.keygen.timebased.timestamp.type"))
        return hd_fail(c->op, HUDI_INVALID,
                       "timestamp partitions need hoodie.keygen.timebased.timestamp.type");
    if (timestamps && !hd_options_has(c->options, "hoodie.keygen.timebased.output.dateformat"))
        return hd_fail(c->op, HUDI_INVALID,
                       "timestamp partitions need hoodie.keygen.timebased.output.dateformat");
    return HUDI_OK;
}

static const struct payload *find_payload(const char *class_name)
{
    const char *dot = strrchr(class_name, '.');
    const char *name = dot == NULL ? class_name : dot + 1;

    for (size_t i = 0; i < HD_ARRAY_LENGTH(payloads); i++)
        if (strcmp(payloads[i].class_name, name) == 0)
            return &payloads[i];
    return NULL;
}

const char *hd_payload_merge_mode(const char *class_name)
{
    const struct payload *payload = find_payload(class_name);

    return payload == NULL ? NULL : payload->mode;
}

/* With an ordering field the larger value wins, without one the later row does. */
static hudi_status choose_payload(struct creation *c, const struct payload **out)
{
    const char *class_name, *mode;
    char *full;

    HD_TRY(pick(c, "hoodie.compaction.payload.class", "hoodie.datasource.write.payload.class",
                &class_name));
    HD_TRY(pick(c, "hoodie.record.merge.mode", "hoodie.write.record.merge.mode", &mode));
    c->payload_given = class_name != NULL;
    if (class_name == NULL && mode != NULL && strcmp(mode, "CUSTOM") == 0)
        return hd_fail(c->op, HUDI_NOT_IMPLEMENTED, "merge mode CUSTOM needs a payload class");
    if (class_name == NULL)
        class_name = (mode == NULL ? c->n_orderings > 0 : strcmp(mode, "EVENT_TIME_ORDERING") == 0)
                         ? HD_PAYLOAD_EVENT_TIME
                         : HD_PAYLOAD_COMMIT_TIME;
    *out = find_payload(class_name);
    if (*out == NULL)
        return hd_fail(c->op, HUDI_NOT_IMPLEMENTED, "payload class %s is Java code", class_name);
    if (c->version->number < (*out)->first_version)
        return hd_fail(c->op, HUDI_INVALID, "table version %d does not know payload class %s",
                       c->version->number, (*out)->class_name);
    if (mode != NULL && strcmp(mode, "CUSTOM") != 0 && strcmp(mode, (*out)->mode) != 0)
        return hd_fail(c->op, HUDI_INVALID, "merge mode %s and payload class %s contradict", mode,
                       class_name);
    if ((*out)->by_time && c->n_orderings == 0)
        return hd_fail(c->op, HUDI_INVALID, "%s needs an ordering field", (*out)->class_name);
    HD_TRY(hd_arena_printf(c->op, &c->properties.arena, &full, PACKAGE "%s", (*out)->class_name));
    c->payload = full;
    return HUDI_OK;
}

/* ---- against the schema ------------------------------------------------------------------- */

static hudi_status find_column(struct creation *c, const struct ArrowSchema *schema,
                               const char *path, const char *what, struct hd_type *type)
{
    const struct ArrowSchema *field = schema;

    for (const char *at = path;;) {
        const size_t n = strcspn(at, ".");
        const struct ArrowSchema *found = NULL;

        for (int64_t i = 0; strcmp(field->format, "+s") == 0 && i < field->n_children; i++)
            if (strncmp(field->children[i]->name, at, n) == 0 && field->children[i]->name[n] == 0)
                found = field->children[i];
        if (found == NULL)
            return hd_fail(c->op, HUDI_INVALID, "%s %s is not in the schema", what, path);
        field = found;
        if (at[n] == '\0')
            return hd_type_of(c->op, field, type);
        at += n + 1;
    }
}

static hudi_status check_columns(struct creation *c, const struct ArrowSchema *schema,
                                 const char *const *paths, size_t n, const char *what)
{
    for (size_t i = 0; i < n; i++) {
        struct hd_type type;

        HD_TRY(find_column(c, schema, paths[i], what, &type));
        switch (type.id) {
        case HD_TYPE_BINARY:
        case HD_TYPE_FIXED_BINARY:
        case HD_TYPE_LIST:
        case HD_TYPE_MAP:
        case HD_TYPE_STRUCT:
        case HD_TYPE_NULL:
            return hd_fail(c->op, HUDI_INVALID, "%s %s is a column of bytes, lists or structs",
                           what, paths[i]);
        default:
            break;
        }
    }
    return HUDI_OK;
}

static hudi_status check_schema(struct creation *c, const char *create_schema)
{
    struct ArrowSchema schema;
    hudi_status status = HUDI_OK;

    HD_TRY(hd_table_schema_from_avro(c->op, create_schema, &schema));
    HD_TRY_OUT(hd_table_schema_check_names(c->op, &schema));
    HD_TRY_OUT(check_columns(c, &schema, c->keys, c->n_keys, "record key field"));
    HD_TRY_OUT(check_columns(c, &schema, c->partitions, c->n_partitions, "partition field"));
    HD_TRY_OUT(check_columns(c, &schema, c->orderings, c->n_orderings, "ordering field"));
    if (c->n_partitions > 0 && schema.n_children == (int64_t)c->n_partitions &&
        hd_options_bool(c->options, NULL, "hoodie.datasource.write.drop.partition.columns"))
        status = hd_fail(c->op, HUDI_INVALID, "no column is left without the partition columns");
out:
    hd_schema_clear(&schema);
    return status;
}

/* ---- writing them down -------------------------------------------------------------------- */

static hudi_status put_basics(struct creation *c)
{
    const char *name = hd_options_text(c->options, NULL, "hoodie.table.name");
    const char *database = hd_options_text(c->options, NULL, "hoodie.database.name");
    const char *type;
    const int version = c->version->number;

    if (name == NULL || name[0] == '\0')
        return hd_fail(c->op, HUDI_INVALID, "a table needs hoodie.table.name");
    HD_TRY(pick(c, "hoodie.table.type", "hoodie.datasource.write.table.type", &type));
    HD_TRY(put(c, "hoodie.table.name", name));
    if (version >= 4 && (database != NULL || version < 8))
        HD_TRY(put(c, "hoodie.database.name", database == NULL ? "" : database));
    HD_TRY(put(c, "hoodie.table.type", type == NULL ? "COPY_ON_WRITE" : type));
    HD_TRY(put_int(c, "hoodie.table.version", version));
    HD_TRY(put_int(c, "hoodie.timeline.layout.version", c->version->timeline_layout));
    HD_TRY(put(c, "hoodie.table.base.file.format", "PARQUET"));
    HD_TRY(put(c, "hoodie.archivelog.folder",
               c->version->timeline_layout == 1 ? "archived" : "history"));
    if (version >= 8) {
        HD_TRY(put_int(c, "hoodie.table.initial.version", version));
        HD_TRY(put(c, "hoodie.timeline.path", "timeline"));
        HD_TRY(put(c, "hoodie.timeline.history.path", "history"));
        HD_TRY(put(c, "hoodie.table.multiple.base.file.formats.enable", "false"));
    }
    if (version >= 9)
        HD_TRY(put(c, "hoodie.table.format", "native"));
    if (!c->version->has_checksum)
        return HUDI_OK;
    return put_int(c, "hoodie.table.checksum", hd_table_checksum(&c->properties));
}

/* hoodie.keygen.timebased.*: below version 6 by the names of those releases. */
static hudi_status put_time_options(struct creation *c)
{
    static const char prefix[] = "hoodie.keygen.timebased.";
    char key[160];

    for (size_t i = 0; i < c->options->set.n_entries; i++) {
        const struct hd_property *option = &c->options->set.entries[i];

        if (strncmp(option->key, prefix, sizeof prefix - 1) != 0)
            continue;
        snprintf(key, sizeof key, "%s%s",
                 c->version->number < 6 ? "hoodie.deltastreamer.keygen.timebased." : prefix,
                 option->key + sizeof prefix - 1);
        HD_TRY(put(c, key, option->value));
    }
    return HUDI_OK;
}

static hudi_status put_keys(struct creation *c)
{
    char class_name[96];

    HD_TRY(put_list(c, "hoodie.table.recordkey.fields", c->keys, c->n_keys));
    if (c->version->number >= 8 && c->kinds != NULL) {
        const char **with_kinds;

        HD_TRY(hd_arena_array(c->op, &c->properties.arena, c->n_partitions, sizeof *with_kinds,
                              &with_kinds));
        for (size_t i = 0; i < c->n_partitions; i++) {
            char *text;

            HD_TRY(hd_arena_printf(c->op, &c->properties.arena, &text, "%s:%s", c->partitions[i],
                                   c->kinds[i]));
            with_kinds[i] = text;
        }
        HD_TRY(put_list(c, "hoodie.table.partition.fields", with_kinds, c->n_partitions));
    } else {
        HD_TRY(put_list(c, "hoodie.table.partition.fields", c->partitions, c->n_partitions));
    }
    HD_TRY(put_list(c,
                    c->version->number >= 9 ? "hoodie.table.ordering.fields"
                                            : "hoodie.table.precombine.field",
                    c->orderings, c->n_orderings));
    HD_TRY(put_time_options(c));
    if (c->version->key_generator_as_type)
        return put(c, "hoodie.table.keygenerator.type", hd_key_generator_type_name(c->generator));
    snprintf(class_name, sizeof class_name, KEYGEN_PACKAGE "%s",
             hd_key_generator_class_name(c->generator));
    return put(c, "hoodie.table.keygenerator.class", class_name);
}

static hudi_status put_merging(struct creation *c, const struct payload *payload)
{
    if (c->version->number < 8)
        return put(c, "hoodie.compaction.payload.class", c->payload);
    if (c->version->number == 8) {
        HD_TRY(put(c, "hoodie.compaction.payload.class", c->payload));
        HD_TRY(put(c, "hoodie.record.merge.mode", payload->by_mode ? payload->mode : "CUSTOM"));
        return put(c, "hoodie.record.merge.strategy.id",
                   !payload->by_mode  ? PAYLOAD_BASED_ID
                   : payload->by_time ? EVENT_TIME_ID
                                      : COMMIT_TIME_ID);
    }
    HD_TRY(put(c, "hoodie.record.merge.mode", payload->mode));
    if (c->payload_given)
        HD_TRY(put(c, "hoodie.table.legacy.payload.class", c->payload));
    if (payload->update_mode != NULL)
        HD_TRY(put(c, "hoodie.table.partial.update.mode", payload->update_mode));
    if (strcmp(payload->class_name, "AWSDmsAvroPayload") != 0)
        return HUDI_OK;
    HD_TRY(put(c, "hoodie.record.merge.property.hoodie.payload.delete.field", "Op"));
    return put(c, "hoodie.record.merge.property.hoodie.payload.delete.marker", "D");
}

/* A flag that releases before `first_version` do not know: it must be off for them. */
static hudi_status put_flag(struct creation *c, const char *key, int first_version,
                            bool always_written)
{
    const bool value = hd_options_bool(c->options, NULL, key);

    if (value && c->version->number < first_version)
        return hd_fail(c->op, HUDI_INVALID, "%s=true needs table version %d or later, not %d", key,
                       first_version, c->version->number);
    if (c->version->number < first_version || (!always_written && !value))
        return HUDI_OK;
    return put_bool(c, key, value);
}

static hudi_status put_cdc(struct creation *c)
{
    const char *mode =
        hd_options_text(c->options, NULL, "hoodie.table.cdc.supplemental.logging.mode");
    char lower[32];
    size_t n = 0;

    HD_TRY(put_flag(c, "hoodie.table.cdc.enabled", 5, c->version->number >= 6));
    if (!hd_options_bool(c->options, NULL, "hoodie.table.cdc.enabled"))
        return HUDI_OK;
    if (c->version->number >= 6)
        return put(c, "hoodie.table.cdc.supplemental.logging.mode", mode);
    for (; mode[n] != '\0' && n < sizeof lower - 1; n++) /* 0.13 knows it in lower case */
        lower[n] = mode[n] >= 'A' && mode[n] <= 'Z' ? (char)(mode[n] + 32) : mode[n];
    lower[n] = '\0';
    return put(c, "hoodie.table.cdc.supplemental.logging.mode", lower);
}

static hudi_status put_flags(struct creation *c)
{
    const char *zone = hd_options_text(c->options, NULL, "hoodie.table.timeline.timezone");
    const int version = c->version->number;

    HD_TRY(put_bool(c, "hoodie.populate.meta.fields",
                    hd_options_bool(c->options, NULL, "hoodie.populate.meta.fields")));
    HD_TRY(put_flag(c, "hoodie.datasource.write.hive_style_partitioning", 2, version >= 3));
    HD_TRY(put_flag(c, "hoodie.datasource.write.partitionpath.urlencode", 2, version >= 3));
    HD_TRY(put_flag(c, "hoodie.datasource.write.drop.partition.columns", 4, true));
    HD_TRY(put_flag(c, "hoodie.partition.metafile.use.base.format", 4, true));
    HD_TRY(put_cdc(c));
    if (version < 4 && strcmp(zone, "UTC") == 0)
        return hd_fail(c->op, HUDI_INVALID,
                       "hoodie.table.timeline.timezone=UTC needs table version 4 or later, not %d",
                       version);
    return version < 4 ? HUDI_OK : put(c, "hoodie.table.timeline.timezone", zone);
}

/* With no ordering field given, a column `ts` that has an order is it, as in Hudi; "no_precombine"
 * says that there is to be none. */
static hudi_status default_ordering(struct creation *c, const char *create_schema)
{
    struct ArrowSchema schema;
    struct hd_type type;

    if (c->n_orderings > 0 || create_schema == NULL ||
        hd_options_has(c->options, "hoodie.table.precombine.field") ||
        hd_options_has(c->options, "hoodie.table.ordering.fields") ||
        hd_options_has(c->options, "hoodie.datasource.write.precombine.field"))
        return HUDI_OK;
    HD_TRY(hd_table_schema_from_avro(c->op, create_schema, &schema));
    const int32_t column = hd_schema_find(&schema, "ts");
    hudi_status status = HUDI_OK;
    if (column >= 0)
        status = hd_type_of(c->op, schema.children[column], &type);
    if (status == HUDI_OK && column >= 0 && hd_type_comparable(&type, &type) &&
        type.id != HD_TYPE_LIST && type.id != HD_TYPE_STRUCT && type.id != HD_TYPE_MAP) {
        status =
            hd_arena_array(c->op, &c->properties.arena, 1, sizeof *c->orderings, &c->orderings);
        if (status == HUDI_OK) {
            c->orderings[0] = "ts";
            c->n_orderings = 1;
        }
    }
    hd_schema_clear(&schema);
    return status;
}

static hudi_status create(struct creation *c, const char *create_schema)
{
    const struct payload *payload;

    HD_TRY(choose_version(c));
    HD_TRY(choose_fields(c));
    HD_TRY(default_ordering(c, create_schema));
    HD_TRY(choose_generator(c));
    HD_TRY(check_partitions(c));
    HD_TRY(choose_payload(c, &payload));
    if (create_schema != NULL)
        HD_TRY(check_schema(c, create_schema));
    HD_TRY(put_basics(c));
    HD_TRY(put_keys(c));
    HD_TRY(put_merging(c, payload));
    HD_TRY(put_flags(c));
    return create_schema == NULL ? HUDI_OK : put(c, "hoodie.table.create.schema", create_schema);
}

/* Below version 8 the kinds of partition fields are not stored: the writer that makes the table
 * still knows them. */
static hudi_status keep_kinds(struct creation *c, struct hd_table_config *config)
{
    if (c->kinds == NULL || config->partition_kinds != NULL)
        return HUDI_OK;
    HD_TRY(hd_arena_array(c->op, &config->properties.arena, config->n_partition_fields,
                          sizeof *config->partition_kinds, &config->partition_kinds));
    for (size_t i = 0; i < config->n_partition_fields; i++)
        config->partition_kinds[i] = strcmp(c->kinds[i], "SIMPLE") == 0 ? "simple" : "timestamp";
    return HUDI_OK;
}

hudi_status hd_table_config_for_create(struct hd_op *op, const struct hd_options *options,
                                       const char *create_schema, struct hd_table_config *out)
{
    struct creation c = {.op = op, .options = options};

    *out = (struct hd_table_config){0};
    if (create_schema == NULL)
        create_schema = hd_options_text(options, NULL, "hoodie.table.create.schema");
    hudi_status status = create(&c, create_schema);

    if (status != HUDI_OK) {
        hd_properties_clear(&c.properties);
        return status;
    }
    status = hd_table_config_of(op, &c.properties, out);
    if (status == HUDI_OK)
        status = keep_kinds(&c, out);
    /* What was asked for and is not what the table is: this version has no place for it. */
    if (status == HUDI_OK)
        status = hd_table_config_check_options(op, out, options);
    if (status != HUDI_OK)
        hd_table_config_clear(out);
    return status;
}
