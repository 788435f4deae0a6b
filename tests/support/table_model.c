/* SPDX-License-Identifier: Apache-2.0 */
#include "support/table_model.h"

#include <stdlib.h>
#include <string.h>

/* ---- rows --------------------------------------------------------------------------------- */

void model_rows_add(struct model_rows *rows, const struct model_row *row)
{
    if (rows->n == rows->capacity) {
        rows->capacity = rows->capacity * 2 + 16;
        rows->rows = realloc(rows->rows, rows->capacity * sizeof *rows->rows);
        if (rows->rows == NULL)
            abort();
    }
    rows->rows[rows->n++] = *row;
}

void model_rows_copy(const struct model_rows *from, struct model_rows *to)
{
    *to = (struct model_rows){0};
    for (size_t i = 0; i < from->n; i++)
        model_rows_add(to, &from->rows[i]);
}

void model_rows_clear(struct model_rows *rows)
{
    free(rows->rows);
    *rows = (struct model_rows){0};
}

static void remove_row(struct model_rows *rows, size_t at)
{
    memmove(&rows->rows[at], &rows->rows[at + 1], (rows->n - at - 1) * sizeof *rows->rows);
    rows->n--;
}

static bool same_cell(const struct model_row *a, const struct model_row *b,
                      enum model_column column)
{
    if (a->null[column] || b->null[column])
        return a->null[column] && b->null[column];
    return a->value[column] == b->value[column];
}

bool model_same_key(const struct model_rules *rules, const struct model_row *a,
                    const struct model_row *b)
{
    return same_cell(a, b, MODEL_ID) && (!rules->complex_key || same_cell(a, b, MODEL_SUB));
}

static bool in_default_partition(const struct model_row *row)
{
    return row->null[MODEL_P] || row->value[MODEL_P] == MODEL_EMPTY_TEXT;
}

bool model_same_partition(const struct model_rules *rules, const struct model_row *a,
                          const struct model_row *b)
{
    if (!rules->partitioned)
        return true;
    if (in_default_partition(a) || in_default_partition(b))
        return in_default_partition(a) && in_default_partition(b);
    return a->value[MODEL_P] == b->value[MODEL_P];
}

bool model_lacks_key(const struct model_rules *rules, const struct model_row *row)
{
    const bool no_id = row->null[MODEL_ID] || row->value[MODEL_ID] == MODEL_EMPTY_TEXT;

    return no_id && (!rules->complex_key || row->null[MODEL_SUB]);
}

/* Where an index would find the key of `row`. */
static bool is_looked_up(const struct model_rules *rules, const struct model_row *stored,
                         const struct model_row *row)
{
    return model_same_key(rules, stored, row) &&
           (rules->global || model_same_partition(rules, stored, row));
}

bool model_has_duplicates(const struct model_rules *rules, const struct model_rows *state)
{
    for (size_t i = 0; i < state->n; i++)
        for (size_t j = i + 1; j < state->n; j++)
            if (is_looked_up(rules, &state->rows[i], &state->rows[j]))
                return true;
    return false;
}

/* ---- merging ------------------------------------------------------------------------------ */

static bool is_delete(const struct model_rules *rules, const struct model_row *row)
{
    return rules->deletes_by_column && !row->null[MODEL_DELETED] && row->value[MODEL_DELETED] != 0;
}

/* Does the ordering value of the row that was there beat that of the one that came? A null ranks
 * lowest, equal ones go to the one that came. */
static bool first_wins(const struct model_rules *rules, const struct model_row *first,
                       const struct model_row *second)
{
    if (!rules->ordered || first->null[MODEL_TS])
        return false;
    return second->null[MODEL_TS] || first->value[MODEL_TS] > second->value[MODEL_TS];
}

/* `base` with the cells that it has not from `other`. */
static struct model_row filled(const struct model_row *base, const struct model_row *other)
{
    struct model_row row = *base;

    for (int i = 0; i < MODEL_N_COLUMNS; i++) {
        if (row.null[i]) {
            row.null[i] = other->null[i];
            row.value[i] = other->value[i];
        }
    }
    return row;
}

static struct model_row precombine(const struct model_rules *rules, const struct model_row *earlier,
                                   const struct model_row *later)
{
    const bool live = !is_delete(rules, earlier) && !is_delete(rules, later);
    const bool earlier_wins = first_wins(rules, earlier, later);

    switch (rules->payload) {
    case MODEL_PARTIAL_UPDATE:
        if (!rules->newer_version && is_delete(rules, earlier_wins ? earlier : later))
            return *later;
        if (live || !rules->newer_version)
            return earlier_wins ? filled(earlier, later) : filled(later, earlier);
        break;
    case MODEL_NON_DEFAULTS:
        if (live && rules->newer_version)
            return filled(later, earlier);
        if (rules->newer_version)
            return *later;
        break;
    case MODEL_LATEST:
        if (rules->newer_version)
            return *later;
        break;
    case MODEL_EVENT_TIME:
        break;
    }
    return earlier_wins ? *earlier : *later;
}

enum outcome { KEPT, REMOVED, WRITTEN };

/* What becomes of a stored row: WRITTEN: `*out`, as a change of this write. */
static enum outcome combine(const struct model_rules *rules, const struct model_row *stored,
                            const struct model_row *incoming, struct model_row *out)
{
    const bool stored_wins = first_wins(rules, stored, incoming);

    *out = *incoming;
    switch (rules->payload) {
    case MODEL_LATEST:
        return is_delete(rules, incoming) ? REMOVED : WRITTEN;
    case MODEL_NON_DEFAULTS:
        if (is_delete(rules, incoming))
            return REMOVED;
        *out = filled(incoming, stored);
        return WRITTEN;
    case MODEL_EVENT_TIME:
        if (stored_wins) {
            *out = *stored;
            return rules->late_renews ? WRITTEN : KEPT;
        }
        return is_delete(rules, incoming) ? REMOVED : WRITTEN;
    case MODEL_PARTIAL_UPDATE:
        if (is_delete(rules, incoming)) {
            *out = *stored;
            return stored_wins && rules->newer_version ? KEPT : REMOVED;
        }
        *out = stored_wins ? filled(stored, incoming) : filled(incoming, stored);
        if (stored_wins && rules->newer_version && memcmp(out, stored, sizeof *out) == 0)
            return KEPT;
        return WRITTEN;
    }
    return KEPT;
}

/* ---- operations --------------------------------------------------------------------------- */

void model_combine_input(const struct model_rules *rules, struct model_rows *rows)
{
    struct model_rows out = {0};

    for (size_t i = 0; i < rows->n; i++) {
        size_t at = 0;

        while (at < out.n && !is_looked_up(rules, &out.rows[at], &rows->rows[i]))
            at++;
        if (at == out.n)
            model_rows_add(&out, &rows->rows[i]);
        else
            out.rows[at] = precombine(rules, &out.rows[at], &rows->rows[i]);
    }
    model_rows_clear(rows);
    *rows = out;
}

static void upsert_row(const struct model_rules *rules, struct model_rows *state,
                       const struct model_row *row, int commit)
{
    bool found = false;

    for (size_t i = 0; i < state->n; i++) {
        struct model_row result;

        if (!is_looked_up(rules, &state->rows[i], row))
            continue;
        found = true;
        switch (combine(rules, &state->rows[i], row, &result)) {
        case KEPT:
            break;
        case REMOVED:
            remove_row(state, i--);
            break;
        case WRITTEN:
            state->rows[i] = result;
            state->rows[i].changed = commit;
            break;
        }
    }
    if (found || is_delete(rules, row))
        return;
    model_rows_add(state, row);
    state->rows[state->n - 1].changed = commit;
}

void model_upsert(const struct model_rules *rules, struct model_rows *state,
                  const struct model_rows *rows, int commit)
{
    struct model_rows combined;

    model_rows_copy(rows, &combined);
    model_combine_input(rules, &combined);
    for (size_t i = 0; i < combined.n; i++)
        upsert_row(rules, state, &combined.rows[i], commit);
    model_rows_clear(&combined);
}

void model_delete(const struct model_rules *rules, struct model_rows *state,
                  const struct model_rows *rows)
{
    for (size_t r = 0; r < rows->n; r++)
        for (size_t i = 0; i < state->n; i++)
            if (is_looked_up(rules, &state->rows[i], &rows->rows[r]))
                remove_row(state, i--);
}

void model_insert(const struct model_rules *rules, struct model_rows *state,
                  const struct model_rows *rows, int commit)
{
    for (size_t i = 0; i < rows->n; i++) {
        if (is_delete(rules, &rows->rows[i]))
            continue;
        model_rows_add(state, &rows->rows[i]);
        state->rows[state->n - 1].changed = commit;
    }
}

void model_overwrite(const struct model_rules *rules, struct model_rows *state,
                     const struct model_rows *rows, bool whole_table, int commit)
{
    if (whole_table)
        state->n = 0;
    for (size_t r = 0; r < rows->n; r++)
        if (!is_delete(rules, &rows->rows[r]))
            model_delete_partition(rules, state, &rows->rows[r]);
    model_insert(rules, state, rows, commit);
}

void model_delete_partition(const struct model_rules *rules, struct model_rows *state,
                            const struct model_row *like)
{
    for (size_t i = 0; i < state->n; i++)
        if (model_same_partition(rules, &state->rows[i], like))
            remove_row(state, i--);
}
