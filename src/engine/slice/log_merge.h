/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ENGINE_LOG_MERGE_H
#define HD_ENGINE_LOG_MERGE_H

#include "engine/record/spillable_map.h"
#include "engine/slice/merge_columns.h"

/*
 * Private to engine/slice: the records of a slice's log files, merged by key, and how the rows of
 * the base file and they become the slice's rows.
 *
 * Invariants
 *  1. Blocks are merged in the order of hd_log_choose(), oldest first, by the pre-combine of the
 *     table's rule; then each row of the base file with the entry of its key, by its combine.
 *  2. An entry is given out by itself only if no row of the base file had its key: then it is at
 *     the end, in the order in which keys first came in the log files. An entry that meets several
 *     rows of its key (bulk_insert may leave them) changes them all.
 *  3. A batch that no entry meets is handed on as it is.
 *  4. Keys are held in memory. When there are more than fit, all entries go to disk by the hash of
 *     their key (entry_spool.h) and the slice is read in parts of the hashes, each a pass over its
 *     own entries and the base file. So a block is read once or twice, whatever the number of
 *     parts, and an entry from disk a bounded number of times; the base file is read once a part.
 *     Rows are then in the order of (part, base file, log files).
 *  5. Rows are merged before they are filtered. Row groups may be left out by their statistics only
 *     under hd_log_merge_replaces(), and of these the keys are read (skipped_rows.h).
 *  6. Entries are merged among each other by key, always. Where all blocks say which rows of this
 *     base file their records belong to (RECORD_POSITIONS), and nothing speaks against it
 *     (log_merge_rows.c), rows find their entries by their number in the file, and their keys need
 *     not be decoded. What is read is the same.
 */
typedef struct hd_log_merge hd_log_merge;

/** Read the log files of a slice, for the first part. `slice`, `columns` and `base` are borrowed;
 * `columns` gets its schema of entries here.
 * @param base  the base file; NULL: none
 * @return HUDI_CORRUPT for a record that is none, naming the file; HUDI_NO_MEMORY when not even a
 *         small part of the keys fits */
hudi_status hd_log_merge_load(struct hd_op *op, const struct hd_slice_source *slice,
                              struct hd_merge_columns *columns, hd_base_reader *base,
                              hd_log_merge **out);
/** Takes NULL. */
void hd_log_merge_free(struct hd_op *op, hd_log_merge *merge);

/** After the rest of a part: go to the next one, for which the base file is read again.
 * @return HUDI_END when that was the last */
hudi_status hd_log_merge_next_part(struct hd_op *op, hd_log_merge *merge);

/** No record at all: the slice is its base file. */
bool hd_log_merge_is_empty(const hd_log_merge *merge);

/** Rows and entries are brought together by the number of the row in the base file, keys of the
 * base file are not looked at (6). */
bool hd_log_merge_is_by_row(const hd_log_merge *merge);

/** Of a row and the entry of its key one stays as it is, and key and ordering values tell which:
 * the row's other columns need not be read when the row itself is not wanted. */
bool hd_log_merge_replaces(const hd_log_merge *merge);

/** Clear those of `untouched` (by row group) of which some row has, or may have, the key of an
 * entry. What stays set has none (untouched.c). */
hudi_status hd_log_merge_untouched(struct hd_op *op, const hd_log_merge *merge,
                                   hd_base_reader *base, bool *untouched);

/** Under hd_log_merge_replaces(): what comes of rows that are not wanted and of which only the
 * columns that merging goes by are read (a batch of `keys`' `read` columns): for each that an entry
 * has, the entry, unless that is a delete or the row wins. `*out` (columns of `read`) may come out
 * empty. */
hudi_status hd_log_merge_replace(struct hd_op *op, hd_log_merge *merge,
                                 const struct hd_merge_columns *keys,
                                 const struct ArrowArray *batch, uint64_t first_row,
                                 struct ArrowArray *out);

/** Merge a batch of rows of the base file (columns of `read`), in place; it may come out empty.
 * @param first_row  number in the file of the batch's first row; only looked at by row */
hudi_status hd_log_merge_apply(struct hd_op *op, hd_log_merge *merge, struct ArrowArray *batch,
                               uint64_t first_row);

/** After the last of them: the next rows that the base file did not have. @return HUDI_END */
hudi_status hd_log_merge_rest(struct hd_op *op, hd_log_merge *merge, struct ArrowArray *out);

struct hd_slice_merge_stats hd_log_merge_stats(const hd_log_merge *merge);

#endif
