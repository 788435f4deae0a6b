/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ENGINE_KEY_GENERATOR_H
#define HD_ENGINE_KEY_GENERATOR_H

#include "arrow/view.h"
#include "base/map.h"
#include "base/op.h"
#include "format/table/table_config.h"
#include "hudi/arrow_c.h"

/** How the complex generator writes a key of one field: releases differ, the table's data decides
 * (docs/format/table-layout.md 6.2.1). */
enum hd_complex_encoding { HD_COMPLEX_WITH_FIELD, HD_COMPLEX_BARE };

/** Partition paths seen by one writer task, numbered in the order of first sight. */
struct hd_partition_set {
    struct hd_map paths; /* path -> number */
};
static inline struct hd_slice hd_partition_set_path(const struct hd_partition_set *set, uint32_t number)
{
    return set->paths.entries[number].key;
}

/** A row that has no usable key or partition. */
struct hd_key_failure {
    int64_t row;
    const char *reason; /* static or in the arena given */
};

/** Keys of one batch. */
struct hd_keys {
    struct ArrowArray record_keys; /* STRING, no nulls; failed rows hold "" */
    uint32_t *partitions;          /* number in the partition set, one a row */
    int64_t n_rows;
    struct hd_key_failure *failures; /* ascending rows */
    size_t n_failures;
};
void hd_keys_clear(struct hd_op *op, struct hd_keys *keys);

typedef struct hd_key_generator hd_key_generator;

/**
 * Simple, complex, non-partitioned, timestamp-based, custom and global-delete generators over the
 * columns of `schema` (nested fields "a.b" too). `instant_time` and `task` make the keys of tables
 * without key fields. The texts are those of Java's toString: docs/format/table-layout.md 6.
 * @return HUDI_INVALID when a key or partition field is not in the schema (naming it) or has a type
 *         that cannot be a key; HUDI_NOT_IMPLEMENTED for classes and date patterns not known.
 * Source: BuiltinKeyGenerator, KeyGenUtils, TimestampBasedAvroKeyGenerator (Hudi 0.15.0)
 */
hudi_status hd_key_generator_new(struct hd_op *op, const struct hd_table_config *config,
                                 const struct hd_options *options, const struct ArrowSchema *schema,
                                 enum hd_complex_encoding encoding, hd_key_generator **out);
void hd_key_generator_free(hd_key_generator *generator);

/** Key and partition of every row of a struct batch. A string key of one field without nulls shares
 * the batch's buffers. With url-encoding off, a partition value that would not survive as a path
 * (holds '/', is "." or "..", begins like a hidden file where readers skip those) is a failure of
 * its row. @return only faults of the whole batch; rows without key are in out->failures. */
hudi_status hd_key_generator_apply(struct hd_op *op, hd_key_generator *generator,
                                   const struct ArrowArray *batch, struct hd_arena *arena,
                                   struct hd_partition_set *partitions, struct hd_keys *out);

/** Record keys alone, as a STRING array: for tables without meta columns, whose stored keys are
 * rebuilt from the rows. */
hudi_status hd_key_generator_record_keys(struct hd_op *op, hd_key_generator *generator,
                                         const struct ArrowArray *batch, struct ArrowArray *out);

/** What the table's stored keys look like, from one batch of (stored key, key column text): decided
 * by all rows; HUDI_CONFLICT naming the table as mixed when both forms occur. `*n_seen` says how many
 * rows spoke for `*out`; 0: nothing to go by. */
hudi_status hd_complex_encoding_detect(struct hd_op *op, const char *field,
                                       const struct hd_view *stored_keys, int64_t *n_seen,
                                       enum hd_complex_encoding *out);

/** Java's Double.toString / Float.toString as of JDK 8 to 17 for every value that round-trips. */
hudi_status hd_java_double_text(struct hd_op *op, double value, struct hd_str *out);
hudi_status hd_java_float_text(struct hd_op *op, float value, struct hd_str *out);

#endif
