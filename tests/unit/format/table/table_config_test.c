/* SPDX-License-Identifier: Apache-2.0 */
/* clang-format off */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */

#include <stdio.h>
#include <stdlib.h>

#include "format/table/table_config.h"
#include "support/fault.h"

/* Properties as real writers left them, in tests/unit/format/table/data. */
#define DATA HD_SOURCE_DIR "/tests/unit/format/table/data/"

static void read_data(struct hd_op *op, const char *name, struct hd_str *out)
{
    char path[512], buffer[4096];
    size_t n;

    snprintf(path, sizeof path, DATA "%s.properties", name);
    FILE *file = fopen(path, "rb");

    if (file == NULL)
        fail_msg("%s is missing", path);
    while ((n = fread(buffer, 1, sizeof buffer, file)) > 0)
        assert_int_equal(hd_str_append(op, out, buffer, n), HUDI_OK);
    fclose(file);
}

static void load(struct hd_op *op, const char *name, struct hd_table_config *out)
{
    struct hd_str text = {0};
    struct hd_properties properties;

    read_data(op, name, &text);
    assert_int_equal(hd_properties_parse(op, hd_str_slice(&text), &properties), HUDI_OK);
    hd_str_clear(&text);
    if (hd_table_config_of(op, &properties, out) != HUDI_OK)
        fail_msg("%s: %s", name, hudi_error_message(op->error));
}

static void describe_list(struct hd_op *op, struct hd_str *out, const char *const *items, size_t n)
{
    for (size_t i = 0; i < n; i++)
        assert_int_equal(hd_str_printf(op, out, "%s%s", i == 0 ? "" : ",", items[i]), HUDI_OK);
    assert_int_equal(hd_str_append_text(op, out, "|"), HUDI_OK);
}

/* version type format name|keys|partitions|kinds|ordering|generator
 * class|payload|mode|archive|flags */
static void describe(struct hd_op *op, const struct hd_table_config *c, struct hd_str *out)
{
    static const char *const generators[] = {"SIMPLE",      "COMPLEX", "NON_PARTITION",
                                             "TIMESTAMP",   "CUSTOM",  "GLOBAL_DELETE",
                                             "AUTO_RECORD", "USER"};
    const char *payload = c->payload_class == NULL ? "-" : strrchr(c->payload_class, '.') + 1;

    assert_int_equal(hd_str_printf(op, out, "%d %s %s %s|", c->version->number,
                                   c->type == HD_MERGE_ON_READ ? "mor" : "cow",
                                   c->hfile_base_files                           ? "hfile"
                                   : c->base_file_format == HD_BASE_FILE_PARQUET ? "parquet"
                                                                                 : "orc",
                                   c->name),
                     HUDI_OK);
    describe_list(op, out, c->record_key_fields, c->n_record_key_fields);
    describe_list(op, out, c->partition_fields, c->n_partition_fields);
    describe_list(op, out, c->partition_kinds,
                  c->partition_kinds == NULL ? 0 : c->n_partition_fields);
    describe_list(op, out, c->ordering_fields, c->n_ordering_fields);
    assert_int_equal(
        hd_str_printf(
            op, out, "%s|%s|%s|%s %s|%s%s%s%s%s%s%s%s", generators[c->key_generator], payload,
            c->record_merge_mode == NULL ? "-" : c->record_merge_mode, c->timeline_folder,
            c->archive_folder, c->populate_meta_fields ? "" : " nometa",
            c->hive_style_partitioning ? " hive" : "", c->url_encode_partitioning ? " encode" : "",
            c->drop_partition_columns ? " drop" : "", c->timeline_utc ? " utc" : "",
            c->cdc_enabled ? " cdc" : "", c->metadata_table ? " mdt" : "",
            c->is_bootstrap ? " boot" : ""),
        HUDI_OK);
}

static void reads_what_every_release_wrote(void **state)
{
    struct hd_op *op = *state;
    static const struct {
        const char *name, *expected;
    } cases[] = {
        {"flink010-cow-types",
         "3 cow parquet t|id|part||ts|SIMPLE|OverwriteWithLatestAvroPayload|-|"
         ".hoodie .hoodie/archived|"},
        {"flink010-mor-types",
         "3 mor parquet t|id|part||ts|SIMPLE|EventTimeAvroPayload|-|.hoodie .hoodie/archived|"},
        {"flink010-cow-url-encoded",
         "3 cow parquet t|id|dt||ts|SIMPLE|OverwriteWithLatestAvroPayload|-|"
         ".hoodie .hoodie/archived| hive encode"},
        {"spark-0.15.0-cow-hive",
         "6 cow parquet cow_hive|id|city||ts|SIMPLE|OverwriteWithLatestAvroPayload|-|"
         ".hoodie .hoodie/archived| hive mdt"},
        {"spark-0.15.0-cow-custom-keygen",
         "6 cow parquet cow_custom_keygen|id|region,ts||ts|CUSTOM|OverwriteWithLatestAvroPayload|-|"
         ".hoodie .hoodie/archived|"},
        {"spark-0.15.0-cow-ts-keygen",
         "6 cow parquet cow_ts_keygen|id|ts||ts|TIMESTAMP|OverwriteWithLatestAvroPayload|-|"
         ".hoodie .hoodie/archived|"},
        {"spark-0.15.0-orc-cow",
         "6 cow orc orc_cow|id|region||ts|SIMPLE|OverwriteWithLatestAvroPayload|-|"
         ".hoodie .hoodie/archived|"},
        {"spark-0.15.0-no-meta-fields-cow",
         "6 cow parquet no_meta_fields_cow|id|region||ts|SIMPLE|OverwriteWithLatestAvroPayload|-|"
         ".hoodie .hoodie/archived| nometa"},
        {"spark-1.0.2-cow-hive",
         "8 cow parquet cow_hive|id|city||ts|SIMPLE|DefaultHoodieRecordPayload|"
         "EVENT_TIME_ORDERING|.hoodie/timeline .hoodie/timeline/history| hive mdt"},
        {"spark-1.1.1-cow-custom-keygen",
         "9 cow parquet cow_custom_keygen|id|region,ts|simple,timestamp|ts|CUSTOM|"
         "DefaultHoodieRecordPayload|EVENT_TIME_ORDERING|"
         ".hoodie/timeline .hoodie/timeline/history|"},
        {"spark-1.1.1-payload-partial-mor",
         "9 mor parquet payload_partial_mor|id|region||ts|SIMPLE|PartialUpdateAvroPayload|"
         "EVENT_TIME_ORDERING|.hoodie/timeline .hoodie/timeline/history|"},
        {"spark-1.1.1-table-version-6",
         "6 mor parquet table_version_6|id|region||ts|SIMPLE|DefaultHoodieRecordPayload|-|"
         ".hoodie .hoodie/history|"},
        {"spark-1.1.1-upgraded-6-to-now",
         "9 mor parquet upgraded_6_to_now|id|region||ts|SIMPLE|DefaultHoodieRecordPayload|"
         "EVENT_TIME_ORDERING|.hoodie/timeline .hoodie/timeline/history| mdt"},
        {"spark-1.1.1-cdc-cow", "9 cow parquet cdc_cow|id|region||ts|SIMPLE|"
                                "DefaultHoodieRecordPayload|EVENT_TIME_ORDERING|"
                                ".hoodie/timeline .hoodie/timeline/history| cdc"},
        {"spark-1.2.0-cow-hive",
         "9 cow parquet cow_hive|id|city||ts|SIMPLE|DefaultHoodieRecordPayload|"
         "EVENT_TIME_ORDERING|.hoodie/timeline .hoodie/timeline/history| hive mdt"},
        {"spark-1.1.1-mdt-full.metadata",
         "9 mor hfile mdt_full_metadata|key||||USER|HoodieMetadataPayload|CUSTOM|"
         ".hoodie/timeline .hoodie/timeline/history| nometa"},
    };

    for (size_t i = 0; i < HD_ARRAY_LENGTH(cases); i++) {
        struct hd_table_config config;
        struct hd_str text = {0};

        load(op, cases[i].name, &config);
        describe(op, &config, &text);
        assert_string_equal(text.data, cases[i].expected);
        hd_str_clear(&text);
        hd_table_config_clear(&config);
    }
}

static void reads_the_create_schema_and_the_partial_update_mode(void **state)
{
    struct hd_op *op = *state;
    struct hd_table_config config;

    load(op, "spark-0.15.0-cluster-cow", &config);
    assert_int_equal(
        strncmp(config.create_schema, "{\"type\":\"record\",\"name\":\"spark_0_15_0", 36), 0);
    assert_string_equal(config.default_partition, "__HIVE_DEFAULT_PARTITION__");
    hd_table_config_clear(&config);
    load(op, "spark-1.1.1-payload-partial-mor", &config);
    assert_string_equal(config.partial_update_mode, "IGNORE_DEFAULTS");
    assert_null(config.create_schema);
    hd_table_config_clear(&config);
    load(op, "flink010-cow-types", &config);
    assert_null(config.key_generator_class);
    assert_string_equal(config.default_partition, "default");
    hd_table_config_clear(&config);
}

#define V6 "hoodie.table.name=t\nhoodie.table.version=6\n"

static void expect_of(struct hd_op *op, const char *text, hudi_status status, const char *message)
{
    struct hd_properties properties;
    struct hd_table_config config;

    assert_int_equal(hd_properties_parse(op, hd_slice_text(text), &properties), HUDI_OK);
    const hudi_status got = hd_table_config_of(op, &properties, &config);

    assert_null(properties.entries);
    if (got != status || (got != HUDI_OK && strstr(hudi_error_message(op->error), message) == NULL))
        fail_msg("%s: %s", text, op->error == NULL ? "ok" : hudi_error_message(op->error));
    hd_op_clear_error(op);
    hd_table_config_clear(&config);
}

static void refuses_what_contradicts_itself(void **state)
{
    struct hd_op *op = *state;

    expect_of(op, V6, HUDI_OK, "");
    expect_of(op, "hoodie.table.version=6\n", HUDI_CORRUPT, "hoodie.table.name is missing");
    expect_of(op, "hoodie.table.name=t\n", HUDI_NOT_IMPLEMENTED, "version is missing");
    expect_of(op, "hoodie.table.name=t\nhoodie.table.version=10\n", HUDI_NOT_IMPLEMENTED,
              "table version 10 is not one of 2 to 9");
    expect_of(op, "hoodie.table.name=t\nhoodie.table.version=1\n", HUDI_NOT_IMPLEMENTED, "1");
    expect_of(op, "hoodie.table.name=t\nhoodie.table.version=six\n", HUDI_CORRUPT, "no number");
    expect_of(op, V6 "hoodie.timeline.layout.version=2\n", HUDI_CORRUPT, "layout");
    expect_of(op, V6 "hoodie.table.type=MERGE\n", HUDI_CORRUPT, "hoodie.table.type=MERGE");
    expect_of(op, V6 "hoodie.table.base.file.format=HFILE\n", HUDI_NOT_IMPLEMENTED, "HFILE");
    expect_of(op, V6 "hoodie.table.base.file.format=LANCE\n", HUDI_NOT_IMPLEMENTED, "LANCE");
    expect_of(op, V6 "hoodie.populate.meta.fields=1\n", HUDI_CORRUPT, "true nor false");
    expect_of(op, V6 "hoodie.table.timeline.timezone=CET\n", HUDI_CORRUPT, "timezone");
    expect_of(op, V6 "hoodie.record.merge.mode=X\n", HUDI_CORRUPT, "merge.mode=X");
    expect_of(op, V6 "hoodie.archivelog.folder=../../etc\n", HUDI_CORRUPT, "no folder");
    expect_of(op, V6 "hoodie.archivelog.folder=/etc\n", HUDI_CORRUPT, "no folder");
    expect_of(op, V6 "hoodie.archivelog.folder=a//b\n", HUDI_CORRUPT, "no folder");
    expect_of(op, V6 "hoodie.archivelog.folder=a/\n", HUDI_CORRUPT, "no folder");
    expect_of(op,
              V6 "hoodie.table.keygenerator.class=CustomKeyGenerator\n"
                 "hoodie.table.partition.fields=a:simple,b\n",
              HUDI_CORRUPT, "kinds for some");
    expect_of(op,
              V6 "hoodie.table.keygenerator.class=CustomKeyGenerator\n"
                 "hoodie.table.partition.fields=a:other\n",
              HUDI_CORRUPT, "neither simple nor timestamp");
}

/* ---- create ------------------------------------------------------------------------------- */

#define SCHEMA                                                                                     \
    "{\"type\":\"record\",\"name\":\"r\",\"fields\":["                                             \
    "{\"name\":\"id\",\"type\":\"string\"},{\"name\":\"ts\",\"type\":\"long\"},"                   \
    "{\"name\":\"city\",\"type\":[\"null\",\"string\"],\"default\":null},"                         \
    "{\"name\":\"b\",\"type\":\"bytes\"},"                                                         \
    "{\"name\":\"s\",\"type\":{\"type\":\"record\",\"name\":\"s\",\"fields\":["                    \
    "{\"name\":\"x\",\"type\":\"int\"}]}}]}"

/* "key=value key=value" */
static void set_options(struct hd_op *op, const char *text, struct hd_options *out)
{
    char *copy, *rest;

    assert_int_equal(hd_strdup(op, text, &copy), HUDI_OK);
    for (char *one = strtok_r(copy, " ", &rest); one != NULL; one = strtok_r(NULL, " ", &rest)) {
        char *value = strchr(one, '=');

        *value++ = '\0';
        if (hd_options_set(op, out, one, value) != HUDI_OK)
            fail_msg("%s: %s", one, hudi_error_message(op->error));
    }
    hd_free(op, copy);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* All keys in order, without schema and name. */
static void expect_created(struct hd_op *op, const char *text, const char *expected)
{
    struct hd_options options = {0};
    struct hd_table_config config;
    struct hd_str all = {0};
    char *lines[64];

    set_options(op, text, &options);
    if (hd_table_config_for_create(op, &options, SCHEMA, &config) != HUDI_OK)
        fail_msg("%s: %s", text, hudi_error_message(op->error));
    assert_string_equal(config.create_schema, SCHEMA);
    const size_t n = config.properties.n_entries;

    for (size_t i = 0; i < n; i++)
        assert_int_equal(hd_asprintf(op, &lines[i], "%s=%s\n", config.properties.entries[i].key,
                                     config.properties.entries[i].value),
                         HUDI_OK);
    qsort(lines, n, sizeof *lines, by_text);
    for (size_t i = 0; i < n; i++) {
        if (strncmp(lines[i], "hoodie.table.create.schema", 26) != 0)
            assert_int_equal(hd_str_append_text(op, &all, lines[i]), HUDI_OK);
        hd_free(op, lines[i]);
    }
    assert_string_equal(all.data, expected);
    hd_str_clear(&all);
    hd_options_clear(&options);
    hd_table_config_clear(&config);
}

#define NAME "hoodie.table.name=cow_hive "
#define KEY "hoodie.datasource.write.recordkey.field=id "
#define CITY "hoodie.datasource.write.partitionpath.field=city "
#define ORDER "hoodie.datasource.write.precombine.field=ts "
#define NO_ORDER "hoodie.datasource.write.precombine.field=no_precombine "
#define HIVE "hoodie.datasource.write.hive_style_partitioning=true "

/* The fixtures spark-0.15.0-cow-hive and the like, but for what the first write adds and for the
 * payload class, which new tables of ours store. */
static void a_new_table_has_the_keys_of_its_version(void **state)
{
    struct hd_op *op = *state;

    expect_created(op, NAME KEY CITY ORDER HIVE,
                   "hoodie.archivelog.folder=archived\n"
                   "hoodie.compaction.payload.class="
                   "org.apache.hudi.common.model.DefaultHoodieRecordPayload\n"
                   "hoodie.database.name=\n"
                   "hoodie.datasource.write.drop.partition.columns=false\n"
                   "hoodie.datasource.write.hive_style_partitioning=true\n"
                   "hoodie.datasource.write.partitionpath.urlencode=false\n"
                   "hoodie.partition.metafile.use.base.format=false\n"
                   "hoodie.populate.meta.fields=true\n"
                   "hoodie.table.base.file.format=PARQUET\n"
                   "hoodie.table.cdc.enabled=false\n"
                   "hoodie.table.checksum=3740129100\n"
                   "hoodie.table.keygenerator.class=org.apache.hudi.keygen.SimpleKeyGenerator\n"
                   "hoodie.table.name=cow_hive\n"
                   "hoodie.table.partition.fields=city\n"
                   "hoodie.table.precombine.field=ts\n"
                   "hoodie.table.recordkey.fields=id\n"
                   "hoodie.table.timeline.timezone=LOCAL\n"
                   "hoodie.table.type=COPY_ON_WRITE\n"
                   "hoodie.table.version=6\n"
                   "hoodie.timeline.layout.version=1\n");
    expect_created(op,
                   NAME KEY NO_ORDER "hoodie.write.table.version=3 hoodie.table.type=MERGE_ON_READ",
                   "hoodie.archivelog.folder=archived\n"
                   "hoodie.compaction.payload.class="
                   "org.apache.hudi.common.model.OverwriteWithLatestAvroPayload\n"
                   "hoodie.datasource.write.hive_style_partitioning=false\n"
                   "hoodie.datasource.write.partitionpath.urlencode=false\n"
                   "hoodie.populate.meta.fields=true\n"
                   "hoodie.table.base.file.format=PARQUET\n"
                   "hoodie.table.keygenerator.class="
                   "org.apache.hudi.keygen.NonpartitionedKeyGenerator\n"
                   "hoodie.table.name=cow_hive\n"
                   "hoodie.table.recordkey.fields=id\n"
                   "hoodie.table.type=MERGE_ON_READ\n"
                   "hoodie.table.version=3\n"
                   "hoodie.timeline.layout.version=1\n");
    expect_created(op, NAME KEY CITY ORDER HIVE "hoodie.write.table.version=8",
                   "hoodie.archivelog.folder=history\n"
                   "hoodie.compaction.payload.class="
                   "org.apache.hudi.common.model.DefaultHoodieRecordPayload\n"
                   "hoodie.datasource.write.drop.partition.columns=false\n"
                   "hoodie.datasource.write.hive_style_partitioning=true\n"
                   "hoodie.datasource.write.partitionpath.urlencode=false\n"
                   "hoodie.partition.metafile.use.base.format=false\n"
                   "hoodie.populate.meta.fields=true\n"
                   "hoodie.record.merge.mode=EVENT_TIME_ORDERING\n"
                   "hoodie.record.merge.strategy.id=eeb8d96f-b1e4-49fd-bbf8-28ac514178e5\n"
                   "hoodie.table.base.file.format=PARQUET\n"
                   "hoodie.table.cdc.enabled=false\n"
                   "hoodie.table.checksum=3740129100\n"
                   "hoodie.table.initial.version=8\n"
                   "hoodie.table.keygenerator.type=SIMPLE\n"
                   "hoodie.table.multiple.base.file.formats.enable=false\n"
                   "hoodie.table.name=cow_hive\n"
                   "hoodie.table.partition.fields=city\n"
                   "hoodie.table.precombine.field=ts\n"
                   "hoodie.table.recordkey.fields=id\n"
                   "hoodie.table.timeline.timezone=LOCAL\n"
                   "hoodie.table.type=COPY_ON_WRITE\n"
                   "hoodie.table.version=8\n"
                   "hoodie.timeline.history.path=history\n"
                   "hoodie.timeline.layout.version=2\n"
                   "hoodie.timeline.path=timeline\n");
    expect_created(op,
                   NAME KEY ORDER
                   "hoodie.write.table.version=9 hoodie.database.name=d "
                   "hoodie.datasource.write.partitionpath.field=city:simple,ts:"
                   "timestamp hoodie.keygen.timebased.timestamp.type="
                   "EPOCHMILLISECONDS hoodie.keygen.timebased.output.dateformat=yyyy "
                   "payload.class=PartialUpdateAvroPayload",
                   "hoodie.archivelog.folder=history\n"
                   "hoodie.database.name=d\n"
                   "hoodie.datasource.write.drop.partition.columns=false\n"
                   "hoodie.datasource.write.hive_style_partitioning=false\n"
                   "hoodie.datasource.write.partitionpath.urlencode=false\n"
                   "hoodie.keygen.timebased.output.dateformat=yyyy\n"
                   "hoodie.keygen.timebased.timestamp.type=EPOCHMILLISECONDS\n"
                   "hoodie.partition.metafile.use.base.format=false\n"
                   "hoodie.populate.meta.fields=true\n"
                   "hoodie.record.merge.mode=EVENT_TIME_ORDERING\n"
                   "hoodie.table.base.file.format=PARQUET\n"
                   "hoodie.table.cdc.enabled=false\n"
                   "hoodie.table.checksum=56758174\n"
                   "hoodie.table.format=native\n"
                   "hoodie.table.initial.version=9\n"
                   "hoodie.table.keygenerator.type=CUSTOM\n"
                   "hoodie.table.legacy.payload.class="
                   "org.apache.hudi.common.model.PartialUpdateAvroPayload\n"
                   "hoodie.table.multiple.base.file.formats.enable=false\n"
                   "hoodie.table.name=cow_hive\n"
                   "hoodie.table.ordering.fields=ts\n"
                   "hoodie.table.partial.update.mode=IGNORE_DEFAULTS\n"
                   "hoodie.table.partition.fields=city:SIMPLE,ts:TIMESTAMP\n"
                   "hoodie.table.recordkey.fields=id\n"
                   "hoodie.table.timeline.timezone=LOCAL\n"
                   "hoodie.table.type=COPY_ON_WRITE\n"
                   "hoodie.table.version=9\n"
                   "hoodie.timeline.history.path=history\n"
                   "hoodie.timeline.layout.version=2\n"
                   "hoodie.timeline.path=timeline\n");
}

static void expect_ordering(struct hd_op *op, const char *text, const char *field)
{
    struct hd_options options = {0};
    struct hd_table_config config;

    set_options(op, text, &options);
    assert_int_equal(hd_table_config_for_create(op, &options, SCHEMA, &config), HUDI_OK);
    assert_int_equal(config.n_ordering_fields, field == NULL ? 0 : 1);
    if (field != NULL)
        assert_string_equal(config.ordering_fields[0], field);
    hd_table_config_clear(&config);
    hd_options_clear(&options);
}

/* hoodie.datasource.write.precombine.field has the default ts in Hudi up to 0.15. */
static void a_column_ts_orders_when_nothing_else_is_said(void **state)
{
    struct hd_op *op = *state;

    expect_ordering(op, NAME KEY, "ts");
    expect_ordering(op, NAME KEY NO_ORDER, NULL);
    expect_ordering(op, NAME KEY "hoodie.datasource.write.precombine.field=id", "id");
}

static void expect_generator(struct hd_op *op, const char *text, enum hd_key_generator_type type,
                             const char *class_name)
{
    struct hd_options options = {0};
    struct hd_table_config config;

    set_options(op, text, &options);
    if (hd_table_config_for_create(op, &options, SCHEMA, &config) != HUDI_OK)
        fail_msg("%s: %s", text, hudi_error_message(op->error));
    assert_int_equal(config.key_generator, type);
    assert_string_equal(strrchr(config.key_generator_class, '.') + 1, class_name);
    hd_table_config_clear(&config);
    hd_options_clear(&options);
}

static void the_number_of_columns_chooses_the_key_generator(void **state)
{
    struct hd_op *op = *state;

    expect_generator(op, NAME KEY, HD_KEYGEN_NON_PARTITION, "NonpartitionedKeyGenerator");
    expect_generator(op, NAME KEY CITY, HD_KEYGEN_SIMPLE, "SimpleKeyGenerator");
    expect_generator(op, NAME KEY "hoodie.datasource.write.partitionpath.field=city,s.x",
                     HD_KEYGEN_COMPLEX, "ComplexKeyGenerator");
    expect_generator(op, NAME CITY "hoodie.datasource.write.recordkey.field=id,ts",
                     HD_KEYGEN_COMPLEX, "ComplexKeyGenerator");
    expect_generator(op, NAME KEY "hoodie.datasource.write.partitionpath.field=city:simple",
                     HD_KEYGEN_CUSTOM, "CustomKeyGenerator");
    expect_generator(op, NAME CITY, HD_KEYGEN_AUTO_RECORD, "SimpleKeyGenerator");
    expect_generator(op,
                     NAME KEY CITY "hoodie.datasource.write.keygenerator.class="
                                   "org.apache.hudi.keygen.ComplexAvroKeyGenerator",
                     HD_KEYGEN_COMPLEX, "ComplexKeyGenerator");
}

static void expect_refused(struct hd_op *op, const char *text, hudi_status status,
                           const char *message)
{
    struct hd_options options = {0};
    struct hd_table_config config;

    set_options(op, text, &options);
    const hudi_status got = hd_table_config_for_create(op, &options, SCHEMA, &config);

    if (got != status || strstr(hudi_error_message(op->error), message) == NULL)
        fail_msg("%s: %s", text, got == HUDI_OK ? "ok" : hudi_error_message(op->error));
    assert_null(config.properties.entries);
    hd_op_clear_error(op);
    hd_options_clear(&options);
}

static void refuses_options_that_do_not_fit_each_other_or_the_schema(void **state)
{
    struct hd_op *op = *state;

    expect_refused(op, KEY, HUDI_INVALID, "needs hoodie.table.name");
    expect_refused(op, NAME "hoodie.datasource.write.recordkey.field=nope", HUDI_INVALID,
                   "record key field nope is not in the schema");
    expect_refused(op, NAME "hoodie.datasource.write.recordkey.field=b", HUDI_INVALID, "bytes");
    expect_refused(op, NAME "hoodie.datasource.write.recordkey.field=s.y", HUDI_INVALID,
                   "record key field s.y");
    expect_refused(op, NAME "hoodie.datasource.write.recordkey.field=id,id", HUDI_INVALID, "twice");
    expect_refused(op, NAME KEY "hoodie.datasource.write.precombine.field=x", HUDI_INVALID,
                   "ordering field x");
    expect_refused(op, NAME KEY "hoodie.datasource.write.partitionpath.field=x", HUDI_INVALID,
                   "partition field x");
    expect_refused(op, NAME KEY "hoodie.datasource.write.precombine.field=ts,city", HUDI_INVALID,
                   "one ordering field, not 2");
    expect_refused(op, NAME KEY "hoodie.table.recordkey.fields=ts", HUDI_INVALID, "contradict");
    expect_refused(op, NAME "hoodie.write.table.version=3", HUDI_INVALID, "needs record key");
    expect_refused(op, NAME "hoodie.populate.meta.fields=false", HUDI_INVALID, "needs record key");
    expect_refused(op, NAME KEY "hoodie.write.table.version=7", HUDI_NOT_IMPLEMENTED, "version 7");
    expect_refused(op, NAME KEY "payload.class=com.example.Mine", HUDI_NOT_IMPLEMENTED,
                   "Java code");
    expect_refused(op, NAME KEY NO_ORDER "payload.class=DefaultHoodieRecordPayload", HUDI_INVALID,
                   "needs an ordering field");
    expect_refused(op,
                   NAME KEY ORDER "record.merge.mode=COMMIT_TIME_ORDERING "
                                  "payload.class=DefaultHoodieRecordPayload",
                   HUDI_INVALID, "contradict");
    expect_refused(op, NAME KEY "hoodie.datasource.write.keygenerator.class=com.example.Mine",
                   HUDI_NOT_IMPLEMENTED, "com.example.Mine");
    expect_refused(op, NAME KEY "hoodie.datasource.write.keygenerator.type=SIMPLE", HUDI_INVALID,
                   "0 partition fields");
    expect_refused(op, NAME KEY CITY "hoodie.datasource.write.keygenerator.type=TIMESTAMP",
                   HUDI_INVALID, "timestamp.type");
    expect_refused(op,
                   NAME KEY CITY "hoodie.write.table.version=3 "
                                 "hoodie.datasource.write.drop.partition.columns=true",
                   HUDI_INVALID, "needs table version 4");
    expect_refused(op, NAME KEY "hoodie.write.table.version=4 hoodie.table.cdc.enabled=true",
                   HUDI_INVALID, "needs table version 5");
}

int main(void)
{
#define TEST(test) cmocka_unit_test_setup_teardown(test, test_op_setup, test_op_teardown)
    const struct CMUnitTest tests[] = {
        TEST(reads_what_every_release_wrote),
        TEST(reads_the_create_schema_and_the_partial_update_mode),
        TEST(refuses_what_contradicts_itself),
        TEST(a_new_table_has_the_keys_of_its_version),
        TEST(a_column_ts_orders_when_nothing_else_is_said),
        TEST(the_number_of_columns_chooses_the_key_generator),
        TEST(refuses_options_that_do_not_fit_each_other_or_the_schema),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
