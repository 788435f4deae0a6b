/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ENGINE_CHANGES_INTERNAL_H
#define HD_ENGINE_CHANGES_INTERNAL_H

#include "arrow/array.h"
#include "arrow/view.h"
#include "engine/record/spillable_map.h"
#include "engine/scan/changes.h"
#include "engine/slice/slice_reader.h"

/* Between the files of the changes. */

/* ---- units -------------------------------------------------------------------------------- */

enum hd_change_kind {
    HD_CHANGE_REPLACED, /* rows of `before`: deletes */
    HD_CHANGE_DELETED,  /* the same, of a base file that lost all rows */
    HD_CHANGE_INSERTED, /* rows of `after`: inserts */
    HD_CHANGE_LOGGED,   /* records of `cdc_paths` */
    HD_CHANGE_COMPARED, /* `before` against `after` */
};

/** What one instant did to one file group. Strings live as long as its commit metadata. */
struct hd_change_unit {
    enum hd_change_kind kind;
    const char *partition_path;
    const char *file_id;
    bool is_log;             /* a log file, of a merge-on-read table */
    const char *path;        /* what the instant wrote, relative to the table; NULL: replaced */
    uint64_t size_bytes;     /* of it */
    const char *prev_commit; /* of the base file before; NULL: there was none */
    const char *base_file;   /* name of that under a log file; NULL: none, or not said */
    const char *const *cdc_paths;
    const int64_t *cdc_sizes; /* in bytes, as the commit has them */
    size_t n_cdc;
};

struct hd_changes {
    hd_scan_plan *plan;
    const struct hd_table_snapshot *table;
    struct hd_timeline timeline; /* as the query sees it; its instants are in the plan's arena */
    struct ArrowSchema schema;   /* of the stream */

    /* Rows of slices: the columns of an image, then record key and commit time. */
    struct hd_slice_query images;
    struct hd_log_instants blocks; /* that count: those up to `instant`, or before it */
    struct ArrowSchema image_schema;
    int32_t n_image_columns;
    struct ArrowSchema logged_schema; /* records of .cdc files: hd_logged_column */

    /* Where the stream is. */
    size_t next_instant;
    const struct hd_instant *instant;
    struct hd_commit_metadata commit; /* of `instant` */
    struct hd_change_unit *units;     /* of `instant` */
    size_t n_units, next_unit;
    struct hd_change_rows *rows; /* that are given out */
    struct hd_change_reader *reader;

    struct hd_file_system_view view; /* loaded when first asked for */
    bool has_view;
};

/** The units of changes->commit, in order. `changes->units` is to be freed. */
hudi_status hd_change_units(struct hd_op *op, struct hd_changes *changes);

/** The slice that the unit's instant found, or left. Its strings are in `arena`. @return
 * HUDI_NOT_FOUND when it was cleaned */
hudi_status hd_change_slice_before(struct hd_op *op, struct hd_changes *changes,
                                   const struct hd_change_unit *unit, struct hd_arena *arena,
                                   struct hd_slice_source *out);
hudi_status hd_change_slice_after(struct hd_op *op, struct hd_changes *changes,
                                  const struct hd_change_unit *unit, struct hd_arena *arena,
                                  struct hd_slice_source *out);

/** After a HUDI_NOT_FOUND: say what is missing instead; other statuses pass. */
hudi_status hd_change_is_gone(struct hd_op *op, hudi_status status,
                              const struct hd_changes *changes, const struct hd_change_unit *unit,
                              const char *path);

/* ---- images ------------------------------------------------------------------------------- */

/** Append the first `n_columns` columns of a row as a JSON object. Dates, times and timestamps are
 * their numbers, as in Hudi's own images; decimals strings; bytes base64. */
hudi_status hd_change_image(struct hd_op *op, const struct hd_view *row_view, int64_t n_columns,
                            int64_t row, struct hd_str *out);

/* ---- rows --------------------------------------------------------------------------------- */

/** A side of some changes: rows of a struct array, printed up to `n_columns`. */
struct hd_change_side {
    struct ArrowArray array; /* owned */
    struct hd_view view;
    int64_t n_columns;
    int64_t *rows; /* by change: its row, or -1. NULL: there is none on this side */
};

/** Changes that are decided, waiting to be given out. All zero is none. */
struct hd_change_rows {
    struct hd_arena arena; /* of views, ops and row numbers */
    int64_t n_rows, next_row;
    char *ops; /* by change: 'i', 'u' or 'd' */
    struct hd_change_side before, after;
};
void hd_change_rows_clear(struct hd_change_rows *rows);

/** Of a unit: its changes, batch by batch. */
struct hd_change_reader;
hudi_status hd_change_reader_open(struct hd_op *op, struct hd_changes *changes,
                                  const struct hd_change_unit *unit, struct hd_change_reader **out);
/** `rows` is all zero. HUDI_END after the last. */
hudi_status hd_change_reader_next(struct hd_op *op, struct hd_change_reader *reader,
                                  struct hd_change_rows *rows);
/** Takes NULL. */
void hd_change_reader_close(struct hd_op *op, struct hd_change_reader *reader);

/* ---- logged changes ----------------------------------------------------------------------- */

/* Columns of logged_schema; a file has some of them. */
enum hd_logged_column {
    HD_LOGGED_OP,
    HD_LOGGED_TS_MS,
    HD_LOGGED_KEY,
    HD_LOGGED_BEFORE,
    HD_LOGGED_AFTER,
    HD_N_LOGGED_COLUMNS
};

/** The records of a unit's .cdc files as batches of logged_schema. */
typedef struct hd_logged_changes hd_logged_changes;
hudi_status hd_logged_changes_open(struct hd_op *op, const struct hd_changes *changes,
                                   const struct hd_change_unit *unit, hd_logged_changes **out);
/** `*has_before` and `*has_after`: the images that were logged with these. */
hudi_status hd_logged_changes_next(struct hd_op *op, hd_logged_changes *logged,
                                   struct ArrowArray *out, bool *has_before, bool *has_after);
/** Takes NULL. */
void hd_logged_changes_close(struct hd_op *op, hd_logged_changes *logged);

#endif
