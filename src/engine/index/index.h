/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ENGINE_INDEX_H
#define HD_ENGINE_INDEX_H

#include "base/op.h"
#include "base/pool.h"
#include "engine/record/key_generator.h"
#include "engine/record/spillable_map.h"
#include "format/layout/file_system_view.h"
#include "format/layout/table_snapshot.h"

/*
 * Where the records of a write live already: record key -> file group, and within it the row, so
 * that the merge needs no look-up of its own. docs/format/index.md
 */
enum hd_index_type {
    HD_INDEX_BLOOM,
    HD_INDEX_SIMPLE,
    HD_INDEX_GLOBAL_BLOOM,
    HD_INDEX_GLOBAL_SIMPLE,
};

/** From hoodie.index.type; HUDI_NOT_IMPLEMENTED naming a type that is not one of these. */
hudi_status hd_index_type_of(struct hd_op *op, const char *name, enum hd_index_type *out);
/** Keys are unique over all partitions. */
bool hd_index_is_global(enum hd_index_type type);
/** The global index that looks keys up in the same way; a global one is its own. */
enum hd_index_type hd_index_global_form(enum hd_index_type type);

/* Row of a key that only log files hold: behind all rows of the base file. */
#define HD_INDEX_ROW_IN_LOGS INT64_MAX

/** A stored row whose key is that of an incoming record. */
struct hd_index_hit {
    int64_t row;   /* of the base file, or HD_INDEX_ROW_IN_LOGS */
    int64_t entry; /* of the map */
    bool drop;     /* the row goes, whatever the record says: it moves to another partition */
};

/** Hits of one slice, ascending by row. A key stored twice hits twice. */
struct hd_file_hits {
    const struct hd_file_slice *slice;
    struct hd_index_hit *hits;
    size_t n_hits;
};

struct hd_index_request {
    const struct hd_table_snapshot *table;
    const struct hd_options *options;
    hd_pool *pool;
    enum hd_index_type type;
    enum hd_complex_encoding encoding;  /* tables without meta columns: how keys are rebuilt */
    const struct hd_spillable_map *map; /* spaces are numbers of `partitions`; global: all 0 */
    const struct hd_partition_set *partitions;
    /* Latest slices of the partitions concerned (all partitions when global), in view order. */
    const struct hd_file_slice *const *slices;
    size_t n_slices;
};

struct hd_index_result {
    struct hd_file_hits *files; /* only those with hits, in slice order */
    size_t n_files;
};

/**
 * Find the map's keys in the slices' base files: files whose key range holds none are passed over,
 * then those whose bloom filter denies all (bloom types), then the key column of the row groups
 * that remain is read. Files are looked at in parallel.
 *
 * Keys that no base file holds are looked for in the log files of slices that have any, by reading
 * these slices' keys merged: other writers (Flink's) may have put inserts there. Hudi's bloom and
 * simple indexes do not, and insert such a key a second time.
 *
 * A key whose row of the base file is deleted by the slice's log files hits there only if it lives
 * nowhere else, and with a global index under a rule that fills rows from stored ones not even then
 * (looked at where base files of several slices hold it, or further slices of its
 * partition, with a global index of the table, have log files). Hudi's indexes hit both places, and
 * the record is there twice.
 * @return HUDI_CORRUPT, HUDI_IO naming the file
 * Source: HoodieBloomIndex.tagLocation, HoodieSimpleIndex.tagLocation (Hudi 0.15.0)
 */
hudi_status hd_index_tag(struct hd_op *op, const struct hd_index_request *request,
                         struct hd_index_result *out);
void hd_index_result_clear(struct hd_op *op, struct hd_index_result *result);

#endif
