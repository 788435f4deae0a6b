/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ENGINE_INPUT_H
#define HD_ENGINE_INPUT_H

#include "arrow/array.h"
#include "arrow/misfit.h"
#include "engine/record/key_generator.h"
#include "engine/write/write_config.h"
#include "engine/write/write_status.h"

/**
 * From a caller's stream to records with keys: columns matched by name, cast to the table's types,
 * record keys and partition paths computed. Rows with a value that does not fit its column, or
 * without a usable key, go to the write status.
 */
struct hd_input {
    const struct hd_write_config *config;
    const struct hd_write_schema *schema;
    struct hd_write_status *status;
    struct hd_partition_set *partitions;
    struct ArrowSchema incoming;  /* as it comes */
    struct ArrowSchema canonical; /* of `incoming`, meta columns left out */
    struct ArrowSchema record;    /* schema->record; all nullable when only keys are needed */
    int32_t *columns;             /* of `incoming` that are in `canonical` */
    struct hd_projection *projection;
    hd_key_generator *generator;
    struct hd_arena arena;     /* one batch */
    struct hd_misfits misfits; /* of one batch */
    const char *name;          /* of the input, for messages, or NULL */
    int64_t n_rows_seen;
    int64_t n_rows_before; /* of the inputs before */
};

/** One batch, ready to write. */
struct hd_input_batch {
    struct hd_shared_array *records; /* struct of schema->record */
    struct hd_keys keys;
    int64_t *rows; /* good rows; NULL: all of them */
    int64_t n_rows;
};
void hd_input_batch_clear(struct hd_op *op, struct hd_input_batch *batch);

/** @param incoming  the stream's schema, copied
 *  @param name  of the stream's file in messages about rows, NULL: none. Must outlive the input.
 *  @return HUDI_SCHEMA, HUDI_INVALID */
hudi_status hd_input_open(struct hd_op *op, const struct hd_write_config *config,
                          const struct hd_write_schema *schema, const struct ArrowSchema *incoming,
                          const char *name, struct hd_partition_set *partitions,
                          struct hd_write_status *status, struct hd_input *out);
void hd_input_close(struct hd_op *op, struct hd_input *input);

/** Convert one batch of the stream (taken). */
hudi_status hd_input_convert(struct hd_op *op, struct hd_input *input, struct ArrowArray *batch,
                             struct hd_input_batch *out);

#endif
