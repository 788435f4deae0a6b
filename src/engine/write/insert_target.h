/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ENGINE_INSERT_TARGET_H
#define HD_ENGINE_INSERT_TARGET_H

#include "arrow/array.h"
#include "engine/record/merge.h"
#include "engine/write/assign.h"
#include "engine/write/write_status.h"

/**
 * Where the new rows of one partition go: its small files, one after the other until each is full,
 * then new base files that roll over at the size limit. Rows that are deletes are dropped and
 * counted, but where small files are merged (insert_merge.h). Nothing is opened before the first
 * row. A partition that insert_overwrite brings only deletes for gets an empty file.
 */
typedef struct hd_insert_target hd_insert_target;

/* Of a write at a time: each has a file open and buffers up to a row group. */
#define HD_MAX_OPEN_TARGETS 64

/**
 * @param ordinal     as in base_sink.h, of this target and those that go on where it ended
 * @param small       may be NULL; copied
 * @param status      gets the stats of finished files; used by append and close
 */
hudi_status hd_insert_target_open(struct hd_op *op, const struct hd_write_config *config,
                                  const struct hd_write_schema *schema, const hd_merger *merger,
                                  const char *partition_path, uint32_t ordinal,
                                  uint64_t first_seqno, const struct hd_small_file *small,
                                  size_t n_small, struct hd_write_status *status,
                                  hd_insert_target **out);

/** `records` is shared, `keys` (STRING array of as many rows) taken. */
hudi_status hd_insert_target_append(struct hd_op *op, hd_insert_target *target,
                                    struct hd_shared_array *records, struct ArrowArray *keys);

/** Finish the open file; `*next_seqno` (may be NULL) is where a target of the same ordinal goes on.
 * Frees the target in any case. */
hudi_status hd_insert_target_close(struct hd_op *op, hd_insert_target *target,
                                   uint64_t *next_seqno);
void hd_insert_target_abort(struct hd_op *op, hd_insert_target *target);

/** Take out the rows that are deletes: `*records` and `keys` are replaced when there are any, and
 * `*n_deleted` grows by their number. */
hudi_status hd_drop_deletes(struct hd_op *op, const struct hd_write_schema *schema,
                            const hd_merger *merger, struct hd_shared_array **records,
                            struct ArrowArray *keys, int64_t *n_deleted);

#endif
