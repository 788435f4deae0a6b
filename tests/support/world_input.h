/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_SUPPORT_WORLD_INPUT_H
#define TEST_SUPPORT_WORLD_INPUT_H

#include "support/arrow_rows.h"
#include "support/write_world.h"

/*
 * What is written to the table of a world: random rows, in inputs that have some of its columns.
 */

/* Which columns an input has. */
struct world_layout {
    int columns[MODEL_N_COLUMNS];
    size_t n;
    bool wide_n;
};

/** Random cells, some of them null, and the key's own partition most of the time. */
struct model_row world_random_row(struct world *world, int64_t key);

/** Those that the operation needs and most others, in any order; now and then a new one, or
 * MODEL_N as long. */
void world_choose_layout(struct world *world, const char *operation, struct world_layout *out);

/** Cells of columns that the input has not become null. */
void world_cut_to_layout(const struct world_layout *layout, struct model_rows *rows);

/** Rows `first` to `first + n - 1` as a stream, to be released by whoever reads it. */
void world_open_input(const struct world *world, const struct world_layout *layout,
                      const struct model_rows *rows, size_t first, size_t n,
                      const struct test_stream_plan *plan, struct ArrowArrayStream *out);

#endif
