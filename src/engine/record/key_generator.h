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
static inline struct hd_slice hd_partition_set_path(const struct hd_partition_set *set,
                                                    uint32_t number)
{
    return set->paths.entries[number].key;
}

/** In place of a number: the row has no usable partition. */
#define HD_NO_PARTITION UINT32_MAX

/** A row that has no usable key or partition. */
struct hd_key_failure {
    int64_t row;
    const char *reason; /* static or in the arena given */
};

/** Keys of one batch. */
struct hd_keys {
    struct ArrowArray record_keys; /* STRING, no nulls; failed rows hold "" */
    uint32_t *partitions;          /* number in the partition set, one a row; HD_NO_PARTITION when
                                      that is what failed */
    int64_t n_rows;
    struct hd_key_failure *failures; /* ascending rows */
    size_t n_failures;
};
void hd_keys_clear(struct hd_op *op, struct hd_keys *keys);

typedef struct hd_key_generator hd_key_generator;

/**
 * Simple, complex, non-partitioned, timestamp-based, custom and global-delete generators over the
 * columns of `schema` (canonical; nested fields "a.b" too). One thread at a time.
 * The texts are those of Java's toString: docs/format/table-layout.md 6.
 * @return HUDI_INVALID when a key or partition field is not in the schema (naming it) or has a type
 *         that cannot be a key; HUDI_NOT_IMPLEMENTED for classes and date patterns not known.
 * Source: BuiltinKeyGenerator, KeyGenUtils, TimestampBasedAvroKeyGenerator (Hudi 0.15.0)
 */
hudi_status hd_key_generator_new(struct hd_op *op, const struct hd_table_config *config,
                                 const struct hd_options *options, const struct ArrowSchema *schema,
                                 enum hd_complex_encoding encoding, hd_key_generator **out);

/** One for hd_key_generator_record_keys() alone: `schema` need not have the partition fields. */
hudi_status hd_record_key_generator_new(struct hd_op *op, const struct hd_table_config *config,
                                        const struct hd_options *options,
                                        const struct ArrowSchema *schema,
                                        enum hd_complex_encoding encoding, hd_key_generator **out);
void hd_key_generator_free(hd_key_generator *generator);

/** Tables without key fields make keys up, "{instant}_{task}_{row}", the row counted from 0 over
 * all batches: call this before the first batch. */
hudi_status hd_key_generator_set_task(struct hd_op *op, hd_key_generator *generator,
                                      const char *instant_time, uint32_t task);

/**
 * Key and partition of every row of a struct batch. A string key of one field without nulls shares
 * the batch's buffers: out->record_keys is then valid only as long as the batch.
 *
 * Rows without key, and those whose partition value would not survive as a path, are in
 * out->failures, each once. With url-encoding off the latter are values that hold a NUL, a ':'
 * before any '/' (Hadoop cannot parse such a path), an empty level ("a//b", "/a", "tail/"), a level
 * that begins with '.' (".", ".." and hidden folders); and those that hold '/' unless the value is
 * the table's only partition field and stored in the files too, where it reads back exactly.
 * @return only faults of the whole batch
 */
hudi_status hd_key_generator_apply(struct hd_op *op, hd_key_generator *generator,
                                   const struct ArrowArray *batch, struct hd_arena *arena,
                                   struct hd_partition_set *partitions, struct hd_keys *out);

/** Record keys alone, as a STRING array: for tables without meta columns, whose stored keys are
 * rebuilt from the rows; as valid as that of hd_key_generator_apply(). @return HUDI_CORRUPT for a
 * row without key. */
hudi_status hd_key_generator_record_keys(struct hd_op *op, hd_key_generator *generator,
                                         const struct ArrowArray *batch, struct ArrowArray *out);

/** What the table's stored keys of the complex generator with one field look like, from one batch
 * of them (a STRING view): with "field:" in front in all rows or in none. `*n_seen` says how many
 * rows spoke for `*out`; 0: nothing to go by (HD_COMPLEX_WITH_FIELD).
 * @return HUDI_CONFLICT naming the table as mixed when both forms occur */
hudi_status hd_complex_encoding_detect(struct hd_op *op, const char *field,
                                       const struct hd_view *stored_keys, int64_t *n_seen,
                                       enum hd_complex_encoding *out);

/** Java's Double.toString / Float.toString as of JDK 8 to 17 for every value that round-trips. */
hudi_status hd_java_double_text(struct hd_op *op, double value, struct hd_str *out);
hudi_status hd_java_float_text(struct hd_op *op, float value, struct hd_str *out);

#endif
