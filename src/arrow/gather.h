/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ARROW_GATHER_H
#define HD_ARROW_GATHER_H

#include <stdint.h>

#include "arrow/type.h"
#include "base/op.h"
#include "hudi/arrow_c.h"

#define HD_RUN_NULLS UINT32_MAX

/** `length` rows of `sources[source]` from `start` on; source HD_RUN_NULLS: that many nulls. */
struct hd_run {
    uint32_t source;
    uint32_t start;
    uint32_t length;
};

/**
 * The one kernel behind take, concatenate, filter and merge: a new array of the runs' rows in
 * order. Long runs are memcpy; single rows cost a load and a store. All sources have the type of
 * `field` (canonical; nested types too); runs are in range (asserted).
 * @return HUDI_INVALID when strings would pass 2 GiB in one array: ask for fewer rows.
 */
hudi_status hd_gather(struct hd_op *op, const struct ArrowSchema *field,
                      const struct ArrowArray *const *sources, uint32_t n_sources,
                      const struct hd_run *runs, size_t n_runs, struct ArrowArray *out);

/** Runs that grow; neighbours are joined. All zero is empty; release with hd_free(op, runs). */
struct hd_run_list {
    struct hd_run *runs;
    size_t n_runs;
    size_t capacity;
    uint64_t n_rows;
};

hudi_status hd_run_list_add(struct hd_op *op, struct hd_run_list *list, uint32_t source,
                            uint32_t start, uint32_t length);
static inline void hd_run_list_reset(struct hd_run_list *list)
{
    list->n_runs = 0;
    list->n_rows = 0;
}

#endif
