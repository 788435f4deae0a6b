/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ENGINE_APPEND_HANDLE_H
#define HD_ENGINE_APPEND_HANDLE_H

#include "arrow/array.h"
#include "engine/record/merge.h"
#include "engine/write/write_config.h"
#include "engine/write/write_status.h"
#include "format/layout/file_system_view.h"

/**
 * Records for a file group of a merge-on-read table, as blocks of its log files; no stored row is
 * read: what the records do to the stored ones is for readers and compaction to say. Steps, each
 * safe to be killed after (blocks of an instant count once it completes):
 *
 *   1. partition folder and its metafile   2. marker   3. the file, a group of blocks at a time
 *
 * A group is a data block, when hoodie.logfile.data.block.max.size is reached and at the end, and
 * at the end a delete block behind it. A log file that was written here is of this handle alone,
 * unless libhudi.log.append.enable asks for the newest one of the slice to be written on
 * (log_writer.h): what a write that died left there is made void by a rollback block.
 *
 * Meta columns are as in base_sink.h, but for the file name, which is the bare file id.
 * Source: HoodieAppendHandle (Hudi 0.15.0); docs/format/write-path.md 2.4
 */
typedef struct hd_append_handle hd_append_handle;

struct hd_append_request {
    const struct hd_write_config *config;
    const struct hd_write_schema *schema;
    const hd_merger *merger;
    const struct hd_file_slice *slice; /* the latest of its group */
    uint32_t ordinal;                  /* as in base_sink.h */
    const char *compacted; /* NULL, or of log compaction: the instants whose blocks these replace */
    bool deletes; /* the operation deletes: records hold only keys, and take effect by arrival */
};

/** `status` gets the stats of the files, at close. */
hudi_status hd_append_handle_open(struct hd_op *op, const struct hd_append_request *request,
                                  struct hd_write_status *status, hd_append_handle **out);

/**
 * Append records: `records` is a struct array of schema->record, shared; `keys` a STRING array of
 * as many rows (taken). A record whose key was appended before stands behind it.
 * @param drop  NULL, or per row: a delete whatever the record says (it moves to another partition)
 */
hudi_status hd_append_handle_append(struct hd_op *op, hd_append_handle *handle,
                                    struct hd_shared_array *records, struct ArrowArray *keys,
                                    const bool *drop);

/**
 * With request->compacted: entries of log files, merged, which keep their meta columns. `rows` (of
 * schema->file; shared) and `keys` (STRING) of `n` entries; of deletes only key and ordering value
 * count. The merger is that of the entries.
 */
hudi_status hd_append_handle_append_merged(struct hd_op *op, hd_append_handle *handle,
                                           const struct ArrowArray *rows,
                                           const struct ArrowArray *keys, const bool *is_delete,
                                           const bool *by_arrival);

/** Frees the handle in any case. */
hudi_status hd_append_handle_close(struct hd_op *op, hd_append_handle *handle);
void hd_append_handle_abort(struct hd_op *op, hd_append_handle *handle);

#endif
