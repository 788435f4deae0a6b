/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ENGINE_LOG_RULES_H
#define HD_ENGINE_LOG_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/op.h"
#include "base/str.h"
#include "format/log/log_block.h"
#include "format/table/table_version.h"

/*
 * Which blocks of the log files of a file slice count, in which order, and what their deletes do:
 * all that differs between the releases whose tables are read (docs/format/log-format.md 6, 7). How
 * rows of one key are merged is engine/record/merge.h, which is told the version to go by.
 *
 * Invariants
 *  1. A rollback block takes out all blocks of its target that stand before it, also those below
 *     blocks of other instants, where 0.10 to 0.12 leave them. Otherwise they would show once the
 *     time of the target is before the timeline.
 *  2. A block later than the newest completed instant does not end the scan, as in 0.10 and 0.15:
 *     what is behind it may be of a completed instant.
 *  3. Rows that log compaction rewrote take the place of the newest block they were made of, never
 *     a later one: what was written in between stays above them.
 */

/** What the releases do that wrote and read a table version. */
struct hd_log_rules {
    const char *releases; /* for messages */
    /* A data or delete block counts only if the instant in its header is committed. Otherwise the
     * names of the log files say so, and the slice has no others. */
    bool by_block_instant;
    /* A delete block deletes a row of the base file whatever its ordering value. */
    bool delete_beats_base;
    /* A float that became a double has the value of its decimal text; else only where the record
     * is rewritten for other reasons (log_floats.h). */
    bool floats_by_text;
    /* Table version whose merging the rows get. */
    const struct hd_table_version *merging;
};

/** @param as_of_1x  merge a table of version 6 or below as 1.x does */
hudi_status hd_log_rules_of(struct hd_op *op, const struct hd_table_version *version, bool as_of_1x,
                            struct hd_log_rules *out);

/** A write on the timeline. */
struct hd_log_instant {
    const char *time;
    bool is_committed;  /* else pending */
    const char *schema; /* internal schema of its files; NULL: columns by name */
};

/** The timeline as blocks are held against it. Borrowed. */
struct hd_log_instants {
    const struct hd_log_instant *instants; /* ascending by time */
    size_t n_instants;
    const char
        *start; /* what is before it and not pending was archived: committed. NULL: none is */
    const char *as_of;  /* blocks after it do not count. NULL: now */
    const char *before; /* nor do blocks of this instant and later ones. NULL: no such limit */
};

/** Is `time` a committed write, at or before the time asked about? */
bool hd_log_instant_counts(const struct hd_log_rules *rules, const struct hd_log_instants *instants,
                           struct hd_slice time);

/** A block as far as it is needed to tell whether it counts. Texts are borrowed. */
struct hd_log_entry {
    enum hd_log_block_type type;
    struct hd_slice instant;
    struct hd_slice target;    /* COMMAND */
    struct hd_slice compacted; /* instants whose blocks this one replaces, comma list; or empty */
};

/** From a block's header; texts point into it. @return HUDI_CORRUPT for a data, delete or command
 * block without instant; HUDI_NOT_IMPLEMENTED for another command than rollback */
hudi_status hd_log_entry_of(struct hd_op *op, const struct hd_log_block *block,
                            struct hd_log_entry *out);

/**
 * The data and delete blocks that count.
 * @param entries  all blocks of all log files of the slice, in log order
 * @param out      numbers of the blocks, in the order in which they are merged; hd_free()
 */
hudi_status hd_log_choose(struct hd_op *op, const struct hd_log_rules *rules,
                          const struct hd_log_instants *instants,
                          const struct hd_log_entry *entries, size_t n_entries, uint32_t **out,
                          size_t *n_out);

#endif
