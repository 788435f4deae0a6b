/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ENGINE_UPSERT_INTERNAL_H
#define HD_ENGINE_UPSERT_INTERNAL_H

/*
 * What the parts of the upsert flow share: upsert.c (the flow), upsert_records.c (key and
 * pre-combine), upsert_moves.c (global indexes), upsert_works.c (the handles), upsert_spooled.h
 * (more records than fit into memory).
 */

#include "engine/index/index.h"
#include "engine/record/merge.h"
#include "engine/record/projection.h"
#include "engine/record/spillable_map.h"
#include "engine/write/upsert.h"
#include "format/layout/file_system_view.h"
#include "store/base_file.h"

/* What is written to one file group, or to the new ones of a partition. */
struct hd_upsert_work {
    const char *partition_path;
    const struct hd_file_slice *slice; /* NULL: new file groups */
    const struct hd_index_hit *hits;
    size_t n_hits;
    const int64_t *inserts; /* entries */
    int64_t n_inserts;
    struct hd_write_status status;
};

struct hd_upsert {
    const struct hd_write_config *config;
    const struct hd_write_schema *schema;
    struct hd_partition_set *partitions;
    struct hd_write_status *status;
    enum hd_index_type index_type;
    hd_merger *merger;
    uint64_t memory_bytes; /* of the map, with keys and index: beyond it records are spooled */
    struct hd_upsert_spooled *spooled; /* NULL: all records are in the map */
    hd_spillable_map *map;
    bool combine;
    bool keep_all; /* every row of a key is in the map, as an entry of its own */
    bool global;
    /* Global index: partition number of each entry's record, and decisions of one put. */
    uint32_t *partition_of;
    size_t partition_capacity;
    uint8_t *decisions;
    size_t n_decisions, decision_capacity;
    bool merged_columns;   /* some records were made of two: their partition may be either's */
    uint8_t *settled;      /* per entry: it has found its place, or is to have none */
    struct hd_arena arena; /* of the records at hand */
    struct hd_arena slice_arena;
    struct hd_file_system_view view;
    const struct hd_file_slice **slices;
    size_t n_slices;
    struct hd_index_result tagged;
    int64_t *inserts;       /* entries without a home, grouped by partition number */
    int64_t *insert_starts; /* per partition number, and the end */
    size_t *work_of;        /* number + 1 of the work on each slice, 0: none */
    struct hd_upsert_work *works;
    size_t n_works;
    size_t work_capacity;
    uint32_t first_ordinal; /* of the works at hand: see base_sink.h */
};

/** A fresh map; sets memory_bytes. */
hudi_status hd_upsert_open_map(struct hd_op *op, hd_upsert *upsert);
/** Records into the map, pre-combined; `entries` may be NULL, else gets each row's entry. */
hudi_status hd_upsert_put(struct hd_op *op, hd_upsert *upsert, const struct hd_input_batch *batch,
                          int64_t *entries);
/** Partition number of an entry's record. */
uint32_t hd_upsert_partition_of(const hd_upsert *upsert, int64_t entry);

/** Entries with those of their keys that came before them, in the order in which they came. */
hudi_status hd_upsert_with_older(struct hd_op *op, const hd_upsert *upsert, struct hd_arena *arena,
                                 const int64_t *entries, int64_t n, const int64_t **out,
                                 int64_t *n_out);

/** Look the map's records up: tagged and inserts (with insert_starts) are set. */
hudi_status hd_upsert_place(struct hd_op *op, hd_upsert *upsert);

/** A copy of `work` to the list; run all of them, in parallel, and take their stats. */
hudi_status hd_upsert_add_work(struct hd_op *op, hd_upsert *upsert,
                               const struct hd_upsert_work *work);
hudi_status hd_upsert_run_works(struct hd_op *op, hd_upsert *upsert);

/** Forget the map and what was found for its records. */
void hd_upsert_drop_records(struct hd_op *op, hd_upsert *upsert);

/** The map has outgrown its memory: move its records to disk; then take further ones there. */
hudi_status hd_upsert_start_spooling(struct hd_op *op, hd_upsert *upsert);
hudi_status hd_upsert_spool(struct hd_op *op, hd_upsert *upsert,
                            const struct hd_input_batch *batch);
hudi_status hd_upsert_finish_spooled(struct hd_op *op, hd_upsert *upsert);
void hd_upsert_free_spooled(struct hd_op *op, hd_upsert *upsert);

/** Global index: find the partition of every record anew, after records were made of two. */
hudi_status hd_upsert_repartition(struct hd_op *op, hd_upsert *upsert);

/**
 * Global index: records whose key is stored in another partition than theirs move, as a delete
 * there and an insert here. Stored and incoming record are combined first: where the outcome
 * belongs to the stored one's partition (the stored one wins, or the record is deleted), the row is
 * updated in its file as any other. Sets `drop` of the hits whose row goes, and in upsert->settled
 * which entries need no insert.
 * Source: HoodieIndexUtils.mergeForPartitionUpdatesIfNeeded (Hudi 0.15.0)
 */
hudi_status hd_upsert_resolve_moves(struct hd_op *op, hd_upsert *upsert);

/* ---- parts of it ------------------------------------------------------------------------------
 */

/* Rows of one old file whose records are bound for other partitions. */
struct hd_upsert_moves {
    hd_upsert *upsert;
    struct hd_file_hits *file;
    size_t *which; /* hits that move, ascending */
    size_t n;
    hd_base_reader *reader;
    hd_projection *projection;
    struct ArrowSchema wanted; /* schema->record, as far as old files must have it */
};

/** Set `wanted`: columns that `stored` has not (dropped partition columns) read as null. */
hudi_status hd_upsert_want_columns(struct hd_op *op, struct hd_upsert_moves *moves,
                                   const struct ArrowSchema *stored);

/** One move: stored row `row` against an incoming record. */
hudi_status hd_upsert_decide_move(struct hd_op *op, struct hd_upsert_moves *moves,
                                  struct hd_index_hit *hit, const struct ArrowArray *stored,
                                  const struct hd_view *stored_columns, int64_t row,
                                  const struct ArrowArray *incoming,
                                  const struct hd_view *incoming_columns, int64_t incoming_row);

/** The stored row goes; its record is inserted where it belongs, unless a row of it is there. */
void hd_upsert_move_away(const struct hd_upsert_moves *moves, struct hd_index_hit *hit);

/** Decide the moves out of a slice with log files: the stored rows are those of merged reading. */
hudi_status hd_upsert_resolve_merged(struct hd_op *op, struct hd_upsert_moves *moves);

#endif
