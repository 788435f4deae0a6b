/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ENGINE_KEY_GENERATOR_INTERNAL_H
#define HD_ENGINE_KEY_GENERATOR_INTERNAL_H

#include "engine/record/field_path.h"
#include "engine/record/key_generator.h"
#include "engine/record/timestamp_key.h"

/* What the files of the key generator share. */

/** One key or partition field. */
struct hd_key_field {
    const char *name;   /* as configured */
    const char *prefix; /* "name:" */
    size_t prefix_size;
    struct hd_field_path path;
    struct hd_timestamp_key *timestamp; /* partition field of the timestamp generator, or NULL */
};

#define HD_PARTITION_CACHE_SLOTS 2048 /* a power of two */
#define HD_PARTITION_CACHE_WAYS 8

/** Partition values seen in this batch. */
struct hd_partition_cache_slot {
    uint64_t batch; /* that it was seen in; of another: free */
    uint64_t hash;
    int64_t row;
    uint32_t number;    /* HD_NO_PARTITION: this value fails */
    const char *reason; /* of the failure */
};

struct hd_key_generator {
    struct ArrowSchema schema;
    struct hd_arena arena; /* names, zones, patterns: as long as the generator */
    struct hd_arena views; /* of the batch at hand */
    struct hd_key_field *keys;
    size_t n_keys;  /* 0: keys are made up */
    bool named;     /* f1:v1,f2:v2 */
    bool keys_only; /* made by hd_record_key_generator_new() */
    struct hd_key_field *partitions;
    size_t n_partitions;
    const char *default_partition;
    bool hive_style;
    bool url_encode;
    bool drop_partition_columns;
    bool timestamps_as_text;
    char *instant_time; /* for keys that are made up */
    uint32_t task;
    int64_t next_row;
    uint32_t key_bytes;    /* a row, as guessed from the batch before */
    struct hd_str path;    /* scratch */
    struct hd_str value;   /* scratch */
    uint64_t batch_number; /* from 1 */
    struct hd_partition_cache_slot cache[HD_PARTITION_CACHE_SLOTS];
};

/** Failures of a batch in the order in which rows are looked at. */
struct hd_key_failures {
    struct hd_key_failure *list;
    size_t n;
    size_t capacity;
};

hudi_status hd_key_failures_add(struct hd_op *op, struct hd_key_failures *failures, int64_t row,
                                const char *reason);

/** Record keys of `n_rows` rows. `columns` are views of the schema's columns; `arena` takes
 * reasons. */
hudi_status hd_record_keys_make(struct hd_op *op, struct hd_key_generator *generator,
                                const struct hd_view *columns, int64_t n_rows,
                                struct hd_arena *arena, struct hd_key_failures *failures,
                                struct ArrowArray *out);

/** Partition numbers of `n_rows` rows into `numbers`. */
hudi_status hd_partition_numbers_make(struct hd_op *op, struct hd_key_generator *generator,
                                      const struct hd_view *columns, int64_t n_rows,
                                      struct hd_arena *arena, struct hd_partition_set *partitions,
                                      struct hd_key_failures *failures, uint32_t *numbers);

#endif
