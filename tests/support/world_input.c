/* SPDX-License-Identifier: Apache-2.0 */
#include "support/world_input.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static int64_t home_partition(int64_t key)
{
    return (key * 7 + 3) % WORLD_PARTITIONS;
}

struct model_row world_random_row(struct world *world, int64_t key)
{
    struct model_row row = {0};

    memset(&row, 0, sizeof row);
    for (int i = 0; i < MODEL_N_COLUMNS; i++)
        row.null[i] = world_chance(15);
    row.value[MODEL_ID] = key;
    row.null[MODEL_ID] = false;
    row.value[MODEL_SUB] = world->rules.complex_key ? world_below(2) : world_below(1000);
    row.value[MODEL_P] = world_chance(85) ? home_partition(key) : world_below(WORLD_PARTITIONS);
    row.null[MODEL_P] = world_chance(3);
    if (row.null[MODEL_P])
        row.value[MODEL_P] = 0;
    row.value[MODEL_TS] = world_below(8);
    row.value[MODEL_A] = world_below(100000);
    row.value[MODEL_N] = world_below(1000) - 500;
    row.value[MODEL_D] = world_below(1000) - 500;
    row.value[MODEL_DELETED] = world_chance(15) && world_deletes(world);
    row.value[MODEL_E0] = world_below(1000);
    row.value[MODEL_E1] = world_below(1000) << 33;
    row.value[MODEL_E2] = world_below(1000);
    if (world->logged) {
        row.value[MODEL_TS] += 10 * world->n_commits;
        row.null[MODEL_TS] = false;
    }
    for (int i = 0; i < MODEL_N_COLUMNS; i++)
        if (row.null[i])
            row.value[i] = 0;
    return row;
}

void world_choose_layout(struct world *world, const char *operation, struct world_layout *out)
{
    const bool is_delete = strcmp(operation, "delete") == 0;
    const bool keys_only = is_delete && world_chance(60);

    *out = (struct world_layout){.wide_n = world->wide_n && world_chance(70)};
    for (int i = 0; i < MODEL_N_COLUMNS; i++) {
        const bool needed = i == MODEL_ID || (i == MODEL_SUB && world->rules.complex_key) ||
                            (i == MODEL_P && world->rules.partitioned) ||
                            (i == MODEL_TS && world->logged && !is_delete);
        const bool there = world->known[i] || (i >= MODEL_E0 && !is_delete && world_chance(4));

        if (!needed && (!there || keys_only || world_chance(8)))
            continue;
        if (i == MODEL_N && !is_delete && world_chance(4))
            out->wide_n = true;
        out->columns[out->n++] = i;
    }
    for (size_t i = out->n; i > 1; i--) {
        const size_t j = (size_t)world_below((int64_t)i);
        const int column = out->columns[i - 1];

        out->columns[i - 1] = out->columns[j];
        out->columns[j] = column;
    }
}

void world_cut_to_layout(const struct world_layout *layout, struct model_rows *rows)
{
    bool there[MODEL_N_COLUMNS] = {false};

    for (size_t i = 0; i < layout->n; i++)
        there[layout->columns[i]] = true;
    for (size_t r = 0; r < rows->n; r++)
        for (int i = 0; i < MODEL_N_COLUMNS; i++)
            if (!there[i]) {
                rows->rows[r].null[i] = true;
                rows->rows[r].value[i] = 0;
            }
}

void world_open_input(const struct world *world, const struct world_layout *layout,
                      const struct model_rows *rows, size_t first, size_t n,
                      const struct test_stream_plan *plan, struct ArrowArrayStream *out)
{
    struct test_column columns[MODEL_N_COLUMNS];
    const char **const cells = calloc(n * layout->n + 1, sizeof *cells);

    assert_non_null(cells);
    for (size_t c = 0; c < layout->n; c++) {
        const int column = layout->columns[c];

        columns[c] =
            (struct test_column){world_columns[column].name, world_columns[column].type, false};
        if (column == MODEL_N && layout->wide_n)
            columns[c].type = 'l';
        for (size_t r = 0; r < n; r++)
            cells[r * layout->n + c] = world_cell_text(world, &rows->rows[first + r], column);
    }
    const struct test_rows input = {columns, layout->n, cells, n};
    test_stream_open(&input, plan, out);
    free(cells);
    world_release_texts();
}
