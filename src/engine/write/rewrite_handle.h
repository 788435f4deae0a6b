/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ENGINE_REWRITE_HANDLE_H
#define HD_ENGINE_REWRITE_HANDLE_H

#include "engine/record/key_digest.h"
#include "engine/write/base_sink.h"

/**
 * A base file of rows that the table has already: of a compaction or a clustering. Rows keep their
 * commit time, sequence number and key; only `_hoodie_file_name` becomes the new file's. Crash
 * points as in base_sink.h. Source: HoodieMergeHandle with preserved metadata (Hudi 0.15.0)
 */
typedef struct hd_rewrite_handle hd_rewrite_handle;

struct hd_rewrite_request {
    const struct hd_write_config *config; /* instant_time is the service's */
    const struct hd_write_schema *schema;
    const struct ArrowSchema *rows; /* what is given: columns of schema->file. Those that
                                       hd_rewrite_handle_makes() may be left out */
    const char *partition_path;
    const char *file_id;
    uint32_t ordinal; /* as in base_sink.h */
    enum hd_io_type io_type;
};

/** Does the handle itself make a column of schema->file: partition path and file name? */
bool hd_rewrite_handle_makes(const struct hd_write_schema *schema, int32_t column);

hudi_status hd_rewrite_handle_open(struct hd_op *op, const struct hd_rewrite_request *request,
                                   hd_rewrite_handle **out);

/** Append rows: a struct array of request->rows (taken). */
hudi_status hd_rewrite_handle_add(struct hd_op *op, hd_rewrite_handle *handle,
                                  struct ArrowArray *rows);

/** Whether row groups of a base file may be appended as bytes, to this file and to those of the
 * same config and schema. A false sets no error. */
hudi_status hd_rewrite_handle_can_copy(struct hd_op *op, hd_rewrite_handle *handle,
                                       hd_base_reader *base, bool *out);
/** Whether it is worth it for this one, as by hd_base_writer_wants_copy(). */
bool hd_rewrite_handle_wants_copy(const hd_rewrite_handle *handle, const hd_base_reader *base,
                                  int32_t row_group);
/** Append a row group as it is, but for the file name where the table's version wants the new one.
 * Only its keys are decoded, for the filter and the range. */
hudi_status hd_rewrite_handle_copy(struct hd_op *op, hd_rewrite_handle *handle,
                                   hd_base_reader *base, int32_t row_group);

bool hd_rewrite_handle_can_write(const hd_rewrite_handle *handle);
/** Keys of the rows that were appended, but for those of row groups; none without meta columns. */
struct hd_key_digest hd_rewrite_handle_keys(const hd_rewrite_handle *handle);
int64_t hd_rewrite_handle_rows(const hd_rewrite_handle *handle);

/** Frees the handle in any case; `stat` (strings in `arena`) as by hd_base_sink_close(). */
hudi_status hd_rewrite_handle_close(struct hd_op *op, hd_rewrite_handle *handle,
                                    struct hd_arena *arena, struct hd_write_stat *stat);
/** Takes NULL. */
void hd_rewrite_handle_abort(struct hd_op *op, hd_rewrite_handle *handle);

#endif
