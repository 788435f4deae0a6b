/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ENGINE_LOG_SCAN_H
#define HD_ENGINE_LOG_SCAN_H

#include "base/arena.h"
#include "engine/slice/log_rules.h"
#include "engine/slice/slice_reader.h"
#include "format/log/log_reader.h"

/* Private to engine/slice: the blocks of a slice's log files, from their headers alone. */

struct hd_log_scan_block {
    uint32_t file; /* number in the slice's log files */
    uint64_t offset;
    struct hd_slice schema; /* SCHEMA, empty without; equal texts are the same bytes */
    bool is_partial;        /* IS_PARTIAL: rows hold changed columns alone */
    bool has_positions;     /* RECORD_POSITIONS of the slice's base file */
};

struct hd_log_scan {
    struct hd_arena arena; /* of the texts */
    struct hd_log_scan_block *blocks;
    struct hd_log_entry *entries; /* the same blocks, for the rules */
    size_t n_blocks;
    size_t block_capacity, entry_capacity;
    uint32_t *chosen; /* blocks that count, in the order in which they are merged */
    size_t n_chosen;
    bool is_partial;              /* one of these is a partial update */
    bool has_positions;           /* all of these have, and there are some */
    struct hd_slice base_instant; /* of the slice's base file; borrowed, empty without */
    struct hd_slice_merge_stats stats;
};

/** Walk the log files of a slice and choose. Damage is warned about and passed over. */
hudi_status hd_log_scan_load(struct hd_op *op, const struct hd_slice_query *query,
                             const struct hd_slice_source *slice, const struct hd_log_rules *rules,
                             struct hd_log_scan *out);
void hd_log_scan_clear(struct hd_op *op, struct hd_log_scan *scan);

/** Open a log file of the slice; errors name it. */
hudi_status hd_log_scan_open_file(struct hd_op *op, const struct hd_slice_query *query,
                                  const struct hd_slice_source *slice, uint32_t file,
                                  hd_log_reader **out);

#endif
