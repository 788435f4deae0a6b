/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/write/merge_rows.h"

static void reset(struct hd_merge_runs *runs)
{
    hd_run_list_reset(&runs->kept);
    hd_run_list_reset(&runs->commit);
    hd_run_list_reset(&runs->seqno);
    hd_run_list_reset(&runs->records);
    runs->n_changed = runs->n_updated = runs->n_deleted = 0;
    runs->has_column_merges = false;
}

/* Old rows [from, to) as they are. */
static hudi_status copy_rows(struct hd_op *op, struct hd_merge_runs *runs, uint32_t from,
                             uint32_t to)
{
    if (from == to)
        return HUDI_OK;
    HD_TRY(hd_run_list_add(op, &runs->kept, 0, from, to - from));
    HD_TRY(hd_run_list_add(op, &runs->commit, 0, from, to - from));
    HD_TRY(hd_run_list_add(op, &runs->seqno, 0, from, to - from));
    return hd_run_list_add(op, &runs->records, 0, from, to - from);
}

/* A row with new meta columns; `source` 0 keeps the stored values, 1 takes those of hit `hit`. */
static hudi_status change_row(struct hd_op *op, struct hd_merge_runs *runs, uint32_t row,
                              uint32_t source, uint32_t hit)
{
    HD_TRY(hd_run_list_add(op, &runs->kept, 0, row, 1));
    HD_TRY(hd_run_list_add(op, &runs->commit, 1, 0, 1));
    HD_TRY(hd_run_list_add(op, &runs->seqno, 1, (uint32_t)runs->n_changed, 1));
    HD_TRY(hd_run_list_add(op, &runs->records, source, source == 0 ? row : hit, 1));
    runs->n_changed++;
    return HUDI_OK;
}

static hudi_status apply_choice(struct hd_op *op, struct hd_merge_runs *runs,
                                enum hd_merge_choice choice, uint32_t row, uint32_t hit)
{
    switch (choice) {
    case HD_MERGE_KEEP_STORED:
        return copy_rows(op, runs, row, row + 1);
    case HD_MERGE_DELETE:
        runs->n_deleted++;
        return HUDI_OK;
    case HD_MERGE_REWRITE_STORED:
        runs->n_updated++;
        return change_row(op, runs, row, 0, hit);
    case HD_MERGE_COLUMNS:
        runs->has_column_merges = true;
        runs->n_updated++;
        return change_row(op, runs, row, 1, hit);
    case HD_MERGE_TAKE_INCOMING:
        runs->n_updated++;
        return change_row(op, runs, row, 1, hit);
    }
    return hd_fail(op, HUDI_INTERNAL, "merge choice %d", (int)choice);
}

hudi_status hd_merge_runs_make(struct hd_op *op, const struct hd_merge_request *request,
                               const struct hd_view *stored, const struct hd_view *incoming,
                               const struct hd_index_hit *hits, const uint32_t *rows, size_t n_hits,
                               uint32_t n_rows, struct hd_merge_runs *out)
{
    uint32_t next = 0;

    reset(out);
    HD_TRY(hd_grow(op, &out->choices, &out->choice_capacity, n_hits, sizeof *out->choices));
    for (size_t i = 0; i < n_hits; i++) {
        const struct hd_merge_side old = {.columns = stored, .row = rows[i]};
        const struct hd_merge_side new = {
            .columns = incoming,
            .row = (int64_t)i,
            .is_delete = request->deletes,
            .by_arrival = request->deletes,
        };

        out->choices[i] =
            hits[i].drop ? HD_MERGE_DELETE : hd_merger_combine(request->merger, &old, &new);
        HD_TRY(copy_rows(op, out, next, rows[i]));
        HD_TRY(apply_choice(op, out, out->choices[i], rows[i], (uint32_t)i));
        next = rows[i] + 1;
    }
    return copy_rows(op, out, next, n_rows);
}

hudi_status hd_merge_runs_column(struct hd_op *op, const struct hd_merge_request *request,
                                 const struct hd_merge_runs *runs, int32_t column,
                                 const struct hd_view *stored, const struct hd_view *incoming,
                                 const uint32_t *rows, size_t n_hits, uint32_t n_rows,
                                 struct hd_run_list *out)
{
    uint32_t next = 0;

    hd_run_list_reset(out);
    for (size_t i = 0; i < n_hits; i++) {
        const struct hd_merge_side old = {.columns = stored, .row = rows[i]};
        const struct hd_merge_side new = {
            .columns = incoming,
            .row = (int64_t)i,
            .is_delete = request->deletes,
            .by_arrival = request->deletes,
        };
        bool from_incoming = runs->choices[i] == HD_MERGE_TAKE_INCOMING;

        if (next < rows[i])
            HD_TRY(hd_run_list_add(op, out, 0, next, rows[i] - next));
        next = rows[i] + 1;
        if (runs->choices[i] == HD_MERGE_DELETE)
            continue;
        if (runs->choices[i] == HD_MERGE_COLUMNS)
            from_incoming = hd_merger_column_from_incoming(request->merger, column, &old, &new);
        HD_TRY(hd_run_list_add(op, out, from_incoming ? 1 : 0,
                               from_incoming ? (uint32_t)i : rows[i], 1));
    }
    return next < n_rows ? hd_run_list_add(op, out, 0, next, n_rows - next) : HUDI_OK;
}

void hd_merge_runs_clear(struct hd_op *op, struct hd_merge_runs *runs)
{
    hd_free(op, runs->kept.runs);
    hd_free(op, runs->commit.runs);
    hd_free(op, runs->seqno.runs);
    hd_free(op, runs->records.runs);
    hd_free(op, runs->choices);
    *runs = (struct hd_merge_runs){0};
}
