/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ENGINE_MERGE_HANDLE_H
#define HD_ENGINE_MERGE_HANDLE_H

#include "engine/index/index.h"
#include "engine/record/merge.h"
#include "engine/write/write_config.h"
#include "format/layout/file_system_view.h"
#include "format/timeline/commit_metadata.h"

/**
 * A new version of a base file: its rows, those with an incoming record combined with it, and new
 * rows behind them. Rows come from the old file in its order; what does not change is copied, with
 * its commit time and sequence number. Row groups without a hit are copied as bytes, not decoded,
 * where the file's Parquet schema is the one written here.
 *
 * The index has said which rows are hit, so nothing is looked up here. With no hits this is Hudi's
 * concat handle.
 *
 * Invariant: rows of the new file = rows of the old file - deleted + appended; checked at close.
 * Source: HoodieMergeHandle, HoodieConcatHandle (Hudi 0.15.0)
 */
typedef struct hd_merge_handle hd_merge_handle;

/** Hits and their records in the order of the old rows, where they are more than memory holds. */
struct hd_merge_feed {
    /** Old row of the next hit; INT64_MAX: there is none left. */
    int64_t (*next_row)(const void *self);
    /** Take the hits before old row `end_row` and their records, one row each (schema->record).
     * `*hits` is valid until the next call, entry numbers in it mean nothing. `keys` is NULL or
     * gets their record keys (STRING). */
    hudi_status (*take)(struct hd_op *op, void *self, int64_t end_row,
                        const struct hd_index_hit **hits, size_t *n_hits,
                        struct ArrowArray *records, struct ArrowArray *keys);
    void *self;
};

struct hd_merge_request {
    const struct hd_write_config *config;
    const struct hd_write_schema *schema;
    const hd_merger *merger;
    const struct hd_file_slice *slice;
    uint32_t ordinal; /* as in base_sink.h */
    uint64_t first_seqno;
    const struct hd_spillable_map *map; /* records of schema->record; NULL with no hits */
    const struct hd_index_hit *hits;    /* ascending by row */
    size_t n_hits;
    const struct hd_merge_feed *feed; /* in place of map and hits, or NULL */
    bool deletes;                     /* the operation deletes: incoming records hold only keys */
};

/** Open the old and the new file and write all old rows. @return HUDI_SCHEMA when the old file's
 * columns cannot become the table's */
hudi_status hd_merge_handle_open(struct hd_op *op, const struct hd_merge_request *request,
                                 hd_merge_handle **out);

/** Append new rows; as hd_base_sink_new_rows(). */
hudi_status hd_merge_handle_append(struct hd_op *op, hd_merge_handle *handle,
                                   struct hd_shared_array *records, struct ArrowArray *keys);

uint64_t hd_merge_handle_next_seqno(const hd_merge_handle *handle);
bool hd_merge_handle_can_write(const hd_merge_handle *handle);

/** Frees the handle in any case. Strings of `stat` are in `arena`. */
hudi_status hd_merge_handle_close(struct hd_op *op, hd_merge_handle *handle, struct hd_arena *arena,
                                  struct hd_write_stat *stat);
void hd_merge_handle_abort(struct hd_op *op, hd_merge_handle *handle);

#endif
