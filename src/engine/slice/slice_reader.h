/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ENGINE_SLICE_READER_H
#define HD_ENGINE_SLICE_READER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/op.h"
#include "engine/record/key_digest.h"
#include "engine/record/projection.h"
#include "engine/slice/log_rules.h"
#include "engine/slice/predicate.h"
#include "format/table/config_keys.h"
#include "format/table/table_config.h"
#include "hudi/arrow_c.h"
#include "store/base_file.h"
#include "store/file_system.h"

/** What all slices of one query share. Borrowed; must outlive the readers. */
struct hd_slice_query {
    hd_file_system *fs;
    const char *table_path;
    const struct hd_table_config *config;
    /* Every column that a query can name, canonical: the stored meta columns, then the table's. */
    const struct ArrowSchema *schema;
    const int32_t *columns; /* the ones to give, numbers in `schema`, in output order */
    int32_t n_columns;
    const hd_predicate *predicate;      /* over `schema`; NULL: all rows */
    const hd_internal_schema *internal; /* the newest one: columns by id; NULL: by name */
    bool read_optimized;                /* base files alone */
    bool use_statistics;                /* skip row groups by what the footer says */
    int64_t batch_rows;                 /* at most; 0: what suits the file */

    /* Merging of log files. */
    const struct hd_options *options; /* libhudi.merge.rules, hoodie.payload.delete.*, those of the
                                         spillable map; NULL: defaults */
    const struct hd_log_instants *log_instants; /* NULL: the timeline is empty */
    bool digests_keys;                          /* fill the statistics' `keys` */
    bool use_positions;   /* hoodie.merge.use.record.positions: merge by row where blocks say which
                             and the record key is not asked for; else by key */
    uint64_t merge_bytes; /* for records of log files in memory; 0: half of the op's budget */
    bool replaces_logs;   /* the rows take the place of the log files: whole blocks that cannot be
                             understood are an error */
    bool recover;         /* libhudi.read.recover: they are passed over all the same, those of
                             unknown types and versions too */
};

/** A file slice to read. Strings are borrowed while the reader is open. */
struct hd_slice_source {
    const char *partition_path;
    const char *file_id;
    const char *instant;
    const char *base_path; /* relative to the table; NULL: log files only */
    uint64_t base_bytes;
    const char *const *log_paths; /* relative to the table, in log order */
    size_t n_logs;
    const char *file_schema; /* internal schema of the base file; NULL without query->internal */
};

/** What merging has come upon: what compaction writes into its statistics. */
struct hd_slice_merge_stats {
    int64_t n_log_files;
    int64_t n_blocks; /* all of them, those below too */
    int64_t n_corrupt_blocks;
    int64_t n_rollback_blocks;
    int64_t n_records; /* in blocks that count, deletes too */
    int64_t n_entries; /* keys of these */
    int64_t n_updated; /* rows of the base file that were changed, */
    int64_t n_deleted; /* and deleted, */
    int64_t n_added;   /* and rows that the base file did not have; so far */
    int64_t n_met;     /* keys that rows of the base file have, */
    int64_t n_void;    /* and deletes of keys that none has: with n_added these are all keys */
    int64_t n_spilled;
    bool is_by_row;  /* by record positions, not by key */
    int64_t n_reads; /* of blocks that count: each once, or twice when keys do not fit */
    /* With query->digests_keys of rows that have meta columns, where `has_keys`: keys of the base
     * file's rows, less the deleted and with the added ones. Row groups that were given away are
     * not among them. */
    struct hd_key_digest keys;
    bool has_keys;
};

typedef struct hd_slice_reader hd_slice_reader;

/**
 * Open a slice: its rows as batches of the query's columns, in the table's types whatever the file
 * has. Columns that the file lacks are null; partition columns that the table does not store come
 * from the partition path. Rows that `_hoodie_operation` marks as deleted (D) or overwritten (-U)
 * are left out. Unless read_optimized, the log files are merged into the base file by the table's
 * rules: rows come in the order of the base file, then those that only log files have, in the order
 * in which their keys first came. Meta columns are those of the record that won. Damaged blocks are
 * warnings in the op's log (log_damage.h). The records of the log files are read when the slice is
 * opened, and what does not fit into `merge_bytes` waits on disk.
 * @return HUDI_NOT_FOUND for a file that is gone; HUDI_CORRUPT; HUDI_SCHEMA for a column whose type
 *         does not become the table's; HUDI_NOT_IMPLEMENTED for a payload class or block type that
 *         is not known
 * Source: HoodieBaseRelation, HoodieFileGroupReader (Hudi 0.15.0)
 */
hudi_status hd_slice_reader_open(struct hd_op *op, const struct hd_slice_query *query,
                                 const struct hd_slice_source *slice, hd_slice_reader **out);

/** The next batch, never empty: a struct array of the query's columns. @return HUDI_END */
hudi_status hd_slice_reader_next(struct hd_op *op, hd_slice_reader *reader, struct ArrowArray *out);

/** Who takes row groups of a base file whole, as the bytes that they are. */
struct hd_row_group_taker {
    void *self;
    bool (*wants)(void *self, const hd_base_reader *base, int32_t row_group);
    hudi_status (*take)(struct hd_op *op, void *self, hd_base_reader *base, int32_t row_group);
};

/** The base file; NULL: there is none. The reader's. */
hd_base_reader *hd_slice_reader_base(const hd_slice_reader *reader);

/**
 * Before the first batch, of a query without filter: let `taker` have the row groups that it wants
 * of those in which no record of the log files has a key, so that all their rows are the slice's,
 * as the file has them (hidden rows too: the taker sees to it that there are none). From now on
 * hd_slice_reader_next() hands them over when their turn comes, after the batches of all rows
 * before.
 */
hudi_status hd_slice_reader_give_row_groups(struct hd_op *op, hd_slice_reader *reader,
                                            const struct hd_row_group_taker *taker);

/** Row groups of the base file, and how many of them statistics left to be read. */
void hd_slice_reader_row_groups(const hd_slice_reader *reader, int32_t *n_all, int32_t *n_read);

/** Of a slice with log files; what is counted on the way is complete after the last batch. */
struct hd_slice_merge_stats hd_slice_reader_merge_stats(const hd_slice_reader *reader);

/** Takes NULL. */
void hd_slice_reader_close(hd_slice_reader *reader);

/** The schema of the batches of hd_slice_reader_next(), for any slice of the query. */
hudi_status hd_slice_query_schema(struct hd_op *op, const struct hd_slice_query *query,
                                  struct ArrowSchema *out);

#endif
