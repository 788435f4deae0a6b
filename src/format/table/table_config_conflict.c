/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <strings.h>

#include "format/table/internal.h"
#include "format/table/table_config.h"

/*
 * Options of a write against the table that is there. What a table is was said when it was made:
 * an option that says otherwise would be followed by no code, so it is an error.
 *
 * Source: HoodieWriterUtils.validateTableConfig (Hudi 0.15.0), which compares less: nothing that
 * the table has no property for.
 */

struct conflict_check {
    struct hd_op *op;
    const struct hd_table_config *config;
    const char *key;   /* as the option is named */
    const char *given; /* not empty */
    struct hd_arena arena;
};

static hudi_status fail_conflict(const struct conflict_check *check, const char *stored)
{
    if (stored == NULL || stored[0] == '\0')
        return hd_fail(check->op, HUDI_INVALID, "config conflict: %s=%s, and the table has none",
                       check->key, check->given);
    return hd_fail(check->op, HUDI_INVALID, "config conflict: %s=%s, and the table has %s",
                   check->key, check->given, stored);
}

static hudi_status compare_text(const struct conflict_check *check, const char *stored)
{
    return stored != NULL && strcasecmp(check->given, stored) == 0 ? HUDI_OK
                                                                   : fail_conflict(check, stored);
}

static hudi_status compare_number(const struct conflict_check *check, int stored)
{
    char text[24];

    snprintf(text, sizeof text, "%d", stored);
    return compare_text(check, text);
}

/* Class names, with or without their package. */
static hudi_status compare_class(const struct conflict_check *check, const char *stored)
{
    const char *const a = strrchr(check->given, '.'), *const b = stored == NULL
                                                                     ? NULL
                                                                     : strrchr(stored, '.');

    if (stored != NULL && strcmp(a == NULL ? check->given : a + 1, b == NULL ? stored : b + 1) == 0)
        return HUDI_OK;
    return fail_conflict(check, stored);
}

/* `kinds`: the custom key generator's, behind a colon, do not count. */
static hudi_status compare_fields(struct conflict_check *check, const char *const *fields, size_t n,
                                  bool kinds)
{
    struct hd_str stored = {0};
    const char **given;
    size_t n_given;

    HD_TRY(hd_split_list(check->op, &check->arena, check->given, &given, &n_given));
    bool same = n_given == n;
    for (size_t i = 0; i < n && same; i++) {
        const size_t size = kinds ? strcspn(given[i], ":") : strlen(given[i]);

        same = size == strlen(fields[i]) && memcmp(given[i], fields[i], size) == 0;
    }
    if (same)
        return HUDI_OK;
    hudi_status status = HUDI_OK;
    for (size_t i = 0; i < n && status == HUDI_OK; i++)
        status = hd_str_printf(check->op, &stored, "%s%s", i == 0 ? "" : ",", fields[i]);
    if (status == HUDI_OK)
        status = fail_conflict(check, n == 0 ? NULL : hd_str_text(&stored));
    hd_str_clear(&stored);
    return status;
}

static hudi_status compare_ordering(struct conflict_check *check)
{
    /* Flink's word for "none" */
    if (strcmp(check->given, "no_precombine") == 0 && check->config->n_ordering_fields == 0)
        return HUDI_OK;
    return compare_fields(check, check->config->ordering_fields, check->config->n_ordering_fields,
                          false);
}

static hudi_status compare_keys(struct conflict_check *check)
{
    return compare_fields(check, check->config->record_key_fields,
                          check->config->n_record_key_fields, false);
}

static hudi_status compare_partitions(struct conflict_check *check)
{
    return compare_fields(check, check->config->partition_fields, check->config->n_partition_fields,
                          check->config->key_generator == HD_KEYGEN_CUSTOM);
}

static hudi_status compare_type(struct conflict_check *check)
{
    return compare_text(check, check->config->type == HD_MERGE_ON_READ ? "MERGE_ON_READ"
                                                                       : "COPY_ON_WRITE");
}

static hudi_status compare_version(struct conflict_check *check)
{
    return compare_number(check, check->config->version->number);
}

/* Generators are Hudi's, some under two names ("SIMPLE_AVRO"); without key fields the table's is
 * its own. */
static hudi_status compare_generator(const struct conflict_check *check,
                                     enum hd_key_generator_type given)
{
    const enum hd_key_generator_type stored = check->config->key_generator;

    if (stored == HD_KEYGEN_USER)
        return compare_class(check, check->config->key_generator_class);
    if (stored == HD_KEYGEN_AUTO_RECORD || given == stored)
        return HUDI_OK;
    return fail_conflict(check, hd_key_generator_class_name(stored));
}

static hudi_status compare_generator_class(struct conflict_check *check)
{
    return compare_generator(check, hd_key_generator_of_class(check->given));
}

static hudi_status compare_generator_type(struct conflict_check *check)
{
    return compare_generator(check, hd_key_generator_of_type(check->given));
}

static hudi_status compare_payload(struct conflict_check *check)
{
    return compare_class(check, check->config->payload_class);
}

/* Below version 8 the payload class stands for the mode. */
static hudi_status compare_mode(struct conflict_check *check)
{
    const char *stored = check->config->record_merge_mode;

    if (stored == NULL && check->config->payload_class != NULL)
        stored = hd_payload_merge_mode(check->config->payload_class);
    if (strcasecmp(check->given, "CUSTOM") == 0 && check->config->version->number < 8)
        return HUDI_OK;
    return compare_text(check, stored);
}

static hudi_status compare_cdc_mode(struct conflict_check *check)
{
    return check->config->cdc_enabled ? compare_text(check, check->config->cdc_mode) : HUDI_OK;
}

static hudi_status compare_nothing(struct conflict_check *check)
{
    (void)check;
    return HUDI_OK;
}

/* Keys that are more than the property of their name. */
static const struct {
    const char *key;
    hudi_status (*compare)(struct conflict_check *check);
} comparisons[] = {
    {"hoodie.table.recordkey.fields", compare_keys},
    {"hoodie.datasource.write.recordkey.field", compare_keys},
    {"hoodie.table.partition.fields", compare_partitions},
    {"hoodie.datasource.write.partitionpath.field", compare_partitions},
    {"hoodie.table.precombine.field", compare_ordering},
    {"hoodie.table.ordering.fields", compare_ordering},
    {"hoodie.datasource.write.precombine.field", compare_ordering},
    {"hoodie.payload.ordering.field", compare_ordering},
    {"hoodie.table.type", compare_type},
    {"hoodie.datasource.write.table.type", compare_type},
    {"hoodie.table.version", compare_version},
    {"hoodie.write.table.version", compare_version},
    {"hoodie.table.keygenerator.class", compare_generator_class},
    {"hoodie.datasource.write.keygenerator.class", compare_generator_class},
    {"hoodie.table.keygenerator.type", compare_generator_type},
    {"hoodie.datasource.write.keygenerator.type", compare_generator_type},
    {"hoodie.compaction.payload.class", compare_payload},
    {"hoodie.record.merge.mode", compare_mode},
    {"hoodie.table.cdc.supplemental.logging.mode", compare_cdc_mode},
    /* The newest commit's schema counts, and sums are not the caller's. */
    {"hoodie.table.create.schema", compare_nothing},
    {"hoodie.table.checksum", compare_nothing},
};

/* A table property by its own name: against what is stored, else against the default. Without
 * either, key generators read it from the options. */
static hudi_status compare_property(const struct conflict_check *check,
                                    const struct hd_config_key *key)
{
    const struct hd_properties *const stored = &check->config->properties;
    const char *const value = hd_options_text(NULL, stored, check->key);
    const bool is_stored = value != NULL && value != key->default_value;

    if (!is_stored && (value == NULL || strncmp(key->name, "hoodie.keygen.", 14) == 0))
        return HUDI_OK;
    return compare_text(check, value);
}

static hudi_status compare_option(struct conflict_check *check)
{
    const struct hd_config_key *const key = hd_config_key_find(check->key);

    for (size_t i = 0; i < HD_ARRAY_LENGTH(comparisons); i++)
        if (strcmp(comparisons[i].key, check->key) == 0)
            return comparisons[i].compare(check);
    if (key == NULL || (key->scope & HD_KEY_TABLE) == 0 || (key->scope & HD_KEY_ACCEPTED) != 0)
        return HUDI_OK;
    return compare_property(check, key);
}

hudi_status hd_table_config_check_options(struct hd_op *op, const struct hd_table_config *config,
                                          const struct hd_options *options)
{
    struct conflict_check check = {.op = op, .config = config};
    hudi_status status = HUDI_OK;

    for (size_t i = 0; i < options->set.n_entries && status == HUDI_OK; i++) {
        check.key = options->set.entries[i].key;
        check.given = options->set.entries[i].value;
        if (check.given[0] != '\0')
            status = compare_option(&check);
    }
    hd_arena_clear(&check.arena);
    return status;
}
