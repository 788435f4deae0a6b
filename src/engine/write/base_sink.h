/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ENGINE_BASE_SINK_H
#define HD_ENGINE_BASE_SINK_H

#include "arrow/array.h"
#include "codec/bloom.h"
#include "engine/write/write_config.h"
#include "format/marker/marker.h"
#include "format/timeline/commit_metadata.h"
#include "store/base_file.h"

/**
 * One base file being written: what the create handle and the merge handle share. Steps, each safe
 * to be killed after (nothing shows before the commit names the file, and the marker tells a
 * rollback what to remove):
 *
 *   1. partition folder and its metafile   2. marker   3. the file, rows as they come
 *   4. footer with bloom filter and key range, sync, close
 *
 * Meta columns of new rows are made here: commit time, `{instant}_{ordinal}_{n}` as sequence
 * number, record key, partition path, file name.
 */
typedef struct hd_base_sink hd_base_sink;

struct hd_base_sink_target {
    const char *partition_path;
    const char *file_id;
    /* Number of the run of files this one belongs to, unique over all tasks of the instant;
     * together with `first_seqno`, which goes on where the run's previous file ended, it makes
     * sequence numbers unique. Part of the write token. */
    uint32_t ordinal;
    uint64_t first_seqno;
    enum hd_io_type io_type;
    /* Merging: rows copied from older files bring their own commit time (and file name in tables
     * where copied rows keep it), so these columns are plain strings instead of one constant. */
    bool copied_rows;
};

hudi_status hd_base_sink_open(struct hd_op *op, const struct hd_write_config *config,
                              const struct hd_write_schema *schema,
                              const struct hd_base_sink_target *target, hd_base_sink **out);

/** Append new rows: `records` is a struct array of schema->record, shared; `keys` a STRING array of
 * as many rows (taken; ignored and released for tables without meta columns). */
hudi_status hd_base_sink_new_rows(struct hd_op *op, hd_base_sink *sink,
                                  struct hd_shared_array *records, struct ArrowArray *keys);

/** Sequence numbers for `n` rows, the next ones of this file, as a STRING array. */
hudi_status hd_base_sink_sequence_numbers(struct hd_op *op, hd_base_sink *sink, int64_t n,
                                          struct ArrowArray *out);

/** Append rows whose columns are complete, in the order of hd_base_sink_schema() (taken). Their
 * keys are in the bloom filter and range already, or are added by the caller. */
hudi_status hd_base_sink_file_rows(struct hd_op *op, hd_base_sink *sink, struct ArrowArray *columns,
                                   int64_t n_rows);

/** Whether row groups of an older file may be copied into this one as bytes, and whether a certain
 * one is worth it; as hd_base_writer_can_copy(), hd_base_writer_wants_copy(). */
hudi_status hd_base_sink_can_copy(struct hd_op *op, hd_base_sink *sink, hd_base_reader *reader,
                                  bool *out);
bool hd_base_sink_wants_copy(const hd_base_sink *sink, const hd_base_reader *reader,
                             int32_t row_group);

/** Append a row group of an older version of this file as it is, but for the file name where the
 * table's version wants the new one in copied rows. Its keys are in filter and range already. */
hudi_status hd_base_sink_copy_row_group(struct hd_op *op, hd_base_sink *sink,
                                        hd_base_reader *reader, int32_t row_group);

/**
 * A Parquet file as all that Hudi's writers make, into `file` (taken): codec, pages and row groups
 * by the options of the write, the Avro schema in its footer.
 * @param columns  schema->file, where constant columns may be dictionaries
 */
hudi_status hd_rows_writer_open(struct hd_op *op, const struct hd_write_config *config,
                                const struct hd_write_schema *schema,
                                const struct ArrowSchema *columns, hd_output_file *file,
                                hd_base_writer **out);

/** The file's columns with dictionary types where a column is one constant. */
const struct ArrowSchema *hd_base_sink_schema(const hd_base_sink *sink);
const char *hd_base_sink_file_name(const hd_base_sink *sink);

/** Go on from an older file's filter (taken) instead of an empty one. */
/** Codec and level that the options ask for. @return HUDI_INVALID for a level that the codec has
 * not
 */
hudi_status hd_base_sink_check_codec(struct hd_op *op, const struct hd_write_config *config);

/** The file gets a bloom filter and a key range: it has meta columns, and
 * hoodie.parquet.bloom.filter.enabled is not off. */
bool hd_base_sink_has_bloom(const hd_base_sink *sink);
void hd_base_sink_set_bloom(struct hd_op *op, hd_base_sink *sink, hd_bloom *bloom);
/** Add to filter and range: keys of rows [0, length) of a STRING view; or widen the range alone. */
hudi_status hd_base_sink_add_keys(struct hd_op *op, hd_base_sink *sink, const struct hd_view *keys);
hudi_status hd_base_sink_widen_range(struct hd_op *op, hd_base_sink *sink, struct hd_slice key);

/** Where the next file of the run goes on. */
uint64_t hd_base_sink_next_seqno(const hd_base_sink *sink);

/** The file has not reached its size limit. */
bool hd_base_sink_can_write(const hd_base_sink *sink);
/**
 * How many rows to write before looking at the size again, at least 1. Half of those that are
 * expected to fit, so that looks grow closer as the file fills up: about 20 for a file, which ends
 * within two per cent of its limit, or 100 rows, when rows are much alike.
 * Source: HoodieBaseParquetWriter.canWrite
 */
int64_t hd_base_sink_rows_to_look(const hd_base_sink *sink);
int64_t hd_base_sink_rows(const hd_base_sink *sink);

/** Finish the file; sets file id, partition, path and sizes of `stat` (strings in `arena`). Frees
 * the sink in any case; on failure the file is removed. */
hudi_status hd_base_sink_close(struct hd_op *op, hd_base_sink *sink, struct hd_arena *arena,
                               struct hd_write_stat *stat);

/** Remove what was written. Takes NULL. */
void hd_base_sink_abort(struct hd_op *op, hd_base_sink *sink);

#endif
