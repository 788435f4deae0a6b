/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_FORMAT_TABLE_CONFIG_H
#define HD_FORMAT_TABLE_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/op.h"
#include "format/table/config_keys.h"
#include "format/table/properties.h"
#include "format/table/table_version.h"
#include "store/base_file.h"
#include "store/file_system.h"

enum hd_table_type { HD_COPY_ON_WRITE, HD_MERGE_ON_READ };

enum hd_key_generator_type {
    HD_KEYGEN_SIMPLE,
    HD_KEYGEN_COMPLEX,
    HD_KEYGEN_NON_PARTITION,
    HD_KEYGEN_TIMESTAMP,
    HD_KEYGEN_CUSTOM,
    HD_KEYGEN_GLOBAL_DELETE,
    HD_KEYGEN_AUTO_RECORD, /* no key fields, partition path by the plain values. With no key fields
                              TIMESTAMP and CUSTOM stay what they are */
    HD_KEYGEN_USER,        /* a class this library does not know (and the metadata table's): read
                              only, writing is refused */
};

/** hoodie.properties, understood. Strings belong to the config. docs/format/table-layout.md 3 */
struct hd_table_config {
    struct hd_properties properties; /* everything in the file, unknown keys too */
    const char *name;
    enum hd_table_type type;
    const struct hd_table_version *version;
    enum hd_base_file_format base_file_format;
    const char **record_key_fields;
    size_t n_record_key_fields;    /* 0: auto-generated keys */
    const char **partition_fields; /* bare names; the custom generator's kinds are stripped */
    const char **partition_kinds;  /* "simple", "timestamp" per field; NULL unless the custom
                                      generator's were stored (not before version 8) */
    size_t n_partition_fields;
    const char **ordering_fields; /* precombine field, or v9's list */
    size_t n_ordering_fields;
    enum hd_key_generator_type key_generator;
    const char *key_generator_class; /* as written, or NULL */
    /* As written, else the version's default; version 8 and later: else the legacy class, else the
     * one of the merge mode. NULL for a custom mode without a class. */
    const char *payload_class;
    const char *record_merge_mode;   /* or NULL */
    const char *merge_strategy_id;   /* or NULL */
    const char *partial_update_mode; /* version 9, or NULL */
    const char *create_schema;       /* Avro JSON, or NULL */
    const char *default_partition; /* "default" up to version 4, else __HIVE_DEFAULT_PARTITION__ */
    const char *cdc_mode;          /* supplemental logging mode as written, or NULL */
    const char *timeline_folder;   /* below the table: ".hoodie", ".hoodie/timeline" */
    const char *archive_folder;    /* below the table */
    bool hfile_base_files;         /* a metadata table; base_file_format does not apply */
    bool populate_meta_fields;
    bool hive_style_partitioning;
    bool url_encode_partitioning;
    bool drop_partition_columns;
    bool partition_metafile_in_base_format;
    bool timeline_utc;
    bool cdc_enabled;
    bool is_bootstrap;
    bool metadata_table; /* hoodie.table.metadata.partitions lists `files` */
};

/**
 * Read TABLE/.hoodie/hoodie.properties, falling back to the backup that an interrupted update
 * leaves, retrying through the short window in which neither is whole.
 * @return HUDI_NOT_FOUND (error set: "no Hudi table at PATH") when there is no .hoodie with either
 *         file; HUDI_CORRUPT for a wrong checksum, a missing name, contradicting values;
 *         HUDI_NOT_IMPLEMENTED for a table version out of 2..9.
 * Source: HoodieTableConfig.fetchConfigs, recoverIfNeeded (Hudi 0.15.0)
 */
hudi_status hd_table_config_load(struct hd_op *op, hd_file_system *fs, const char *table_path,
                                 struct hd_table_config *out);
void hd_table_config_clear(struct hd_table_config *config);

/** Interpret properties that are not on disk yet (takes `properties` over, also on failure). */
hudi_status hd_table_config_of(struct hd_op *op, struct hd_properties *properties,
                               struct hd_table_config *out);

/**
 * Properties of a new table from the options of `create` (docs/format/table-layout.md 3.5 for its
 * version) checked against each other; `create_schema` is Avro JSON without meta columns.
 */
hudi_status hd_table_config_for_create(struct hd_op *op, const struct hd_options *options,
                                       const char *create_schema, struct hd_table_config *out);

/**
 * Options of a write against the table that is there: those that say what a table is (its
 * properties, and the options of a write that these come from) must say what it is.
 * @return HUDI_INVALID naming option, value given and value stored
 * Source: HoodieWriterUtils.validateTableConfig (Hudi 0.15.0)
 */
hudi_status hd_table_config_check_options(struct hd_op *op, const struct hd_table_config *config,
                                          const struct hd_options *options);

/** Make the folders of an empty table and hoodie.properties last (published in one step). @return
 * HUDI_EXISTS when there is a table. Source: HoodieTableMetaClient.initTableAndGetMetaClient */
hudi_status hd_table_create(struct hd_op *op, hd_file_system *fs, const char *table_path,
                            const struct hd_table_config *config);

/** Change keys (value NULL removes) by the backup protocol, every step safe to be killed after:
 * docs/format/table-layout.md 3.4. Reloads `config`. */
hudi_status hd_table_config_update(struct hd_op *op, hd_file_system *fs, const char *table_path,
                                   struct hd_table_config *config,
                                   const struct hd_property *changes, size_t n_changes);

#endif
