/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ENGINE_CREATE_HANDLE_H
#define HD_ENGINE_CREATE_HANDLE_H

#include "arrow/array.h"
#include "engine/write/write_config.h"
#include "format/timeline/commit_metadata.h"

/**
 * A new file group's first base file. Source: HoodieCreateHandle (Hudi 0.15.0)
 */
typedef struct hd_create_handle hd_create_handle;

/** A fresh file id ("{UUID}-0") in the partition; `ordinal` and `first_seqno` as in base_sink.h. */
hudi_status hd_create_handle_open(struct hd_op *op, const struct hd_write_config *config,
                                  const struct hd_write_schema *schema, const char *partition_path,
                                  uint32_t ordinal, uint64_t first_seqno, hd_create_handle **out);

/** Append new rows (none of them a delete); as hd_base_sink_new_rows(). */
hudi_status hd_create_handle_append(struct hd_op *op, hd_create_handle *handle,
                                    struct hd_shared_array *records, struct ArrowArray *keys);

uint64_t hd_create_handle_next_seqno(const hd_create_handle *handle);
bool hd_create_handle_can_write(const hd_create_handle *handle);
/** As hd_base_sink_rows_to_look. */
int64_t hd_create_handle_rows_to_look(const hd_create_handle *handle);

/** Frees the handle in any case. Strings of `stat` are in `arena`. */
hudi_status hd_create_handle_close(struct hd_op *op, hd_create_handle *handle,
                                   struct hd_arena *arena, struct hd_write_stat *stat);
void hd_create_handle_abort(struct hd_op *op, hd_create_handle *handle);

#endif
