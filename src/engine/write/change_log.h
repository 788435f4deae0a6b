/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ENGINE_CHANGE_LOG_H
#define HD_ENGINE_CHANGE_LOG_H

#include "arrow/array.h"
#include "engine/write/write_config.h"
#include "format/timeline/commit_metadata.h"

/**
 * The changes that a merge makes to one file group, written beside its new base file: log files of
 * CDC_DATA blocks, ".{file id}_{instant}.log.1_{token}.cdc" (docs/format/log-format.md 4.6), for
 * tables with hoodie.table.cdc.enabled. The logging mode says which images a record has; images are
 * the stored table columns.
 *
 * Every merge of such a table has one, also one that changed nothing (a block without records):
 * real readers give up on a merged file without, unless all of its rows are new.
 *
 * Each file is announced by a marker of type APPEND, by which rolling back and committing find what
 * does not count.
 *
 * Source: HoodieCDCLogger, HoodieMergeHandleWithChangeLog (Hudi 0.15.0)
 */
typedef struct hd_change_log hd_change_log;

struct hd_change_log_target {
    const struct hd_write_config *config;
    const struct hd_write_schema *schema;
    const char *partition_path; /* its folder exists */
    const char *file_id;
    uint32_t ordinal; /* as in base_sink.h: the token is that of the base file */
};

/** @return HUDI_INVALID for a logging mode that there is not */
hudi_status hd_change_log_open(struct hd_op *op, const struct hd_change_log_target *target,
                               hd_change_log **out);

/** What becomes of old rows: updates and deletes, `n` of them. */
struct hd_logged_rows {
    const struct ArrowArray *before; /* the old file's columns, in file layout */
    const uint32_t *before_rows;     /* by change */
    const struct ArrowArray *after;  /* the new file's columns, an array for each */
    const int64_t *after_rows;       /* by change; -1: deleted */
    const struct ArrowArray *keys;   /* STRING, by change */
    size_t n;
};
hudi_status hd_change_log_rows(struct hd_op *op, hd_change_log *log,
                               const struct hd_logged_rows *rows);

/** New rows: struct array of schema->record, and their keys: a STRING array, or all zero where the
 * table stores none. @return HUDI_NOT_IMPLEMENTED for a mode that needs the keys then */
hudi_status hd_change_log_inserts(struct hd_op *op, hd_change_log *log,
                                  struct hd_shared_array *records, const struct ArrowArray *keys);

/** Finish the files; sets the stat's cdc_paths and cdc_sizes, in `arena`. Frees in any case. */
hudi_status hd_change_log_close(struct hd_op *op, hd_change_log *log, struct hd_arena *arena,
                                struct hd_write_stat *stat);
/** Takes NULL. */
void hd_change_log_abort(struct hd_op *op, hd_change_log *log);

#endif
