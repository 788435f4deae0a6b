/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_FORMAT_TABLE_INTERNAL_H
#define HD_FORMAT_TABLE_INTERNAL_H

#include <stdint.h>

#include "arrow/column_path.h"
#include "arrow/type.h"
#include "base/arena.h"
#include "codec/avro_schema.h"
#include "format/table/table_config.h"

/* For the files of format/table alone. */

#define HD_PAYLOAD_EVENT_TIME "org.apache.hudi.common.model.DefaultHoodieRecordPayload"
#define HD_PAYLOAD_COMMIT_TIME "org.apache.hudi.common.model.OverwriteWithLatestAvroPayload"

/** The parts of a comma-separated list, blanks around them and empty ones dropped, in the arena.
 * NULL gives none. */
hudi_status hd_split_list(struct hd_op *op, struct hd_arena *arena, const char *text,
                          const char ***out, size_t *n);

/** HD_KEYGEN_USER for a class or type that is not Hudi's own. */
enum hd_key_generator_type hd_key_generator_of_class(const char *class_name);
enum hd_key_generator_type hd_key_generator_of_type(const char *type);

/** Class without package ("SimpleKeyGenerator"), and hoodie.table.keygenerator.type ("SIMPLE");
 * NULL for HD_KEYGEN_USER. */
const char *hd_key_generator_class_name(enum hd_key_generator_type generator);
const char *hd_key_generator_type_name(enum hd_key_generator_type generator);

/** What Hudi takes when nothing is set. Source: KeyGenUtils.inferKeyGeneratorType (Hudi 0.14.0) */
enum hd_key_generator_type hd_key_generator_infer(const char *const *key_fields, size_t n_keys,
                                                  const char *const *partition_fields,
                                                  size_t n_partitions);

/** The merge mode that a payload class of Hudi's stands for, with or without its package; NULL for
 * one that this library does not know. */
const char *hd_payload_merge_mode(const char *class_name);

/** hoodie.table.checksum of these properties. Source: HoodieTableConfig.generateChecksum */
uint32_t hd_table_checksum(const struct hd_properties *properties);

/** As hd_table_schema_check_names(), for any schema: only what Avro forbids. */
hudi_status hd_table_schema_check_avro_names(struct hd_op *op, const struct ArrowSchema *schema);

#endif
