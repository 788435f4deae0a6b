/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/slice/skipped_rows.h"

#include "store/base_file.h"

static hudi_status list_skipped(struct hd_op *op, const int32_t *read, int32_t n_read,
                                struct hd_skipped_rows *skipped)
{
    const int32_t n_all = hd_base_reader_n_row_groups(skipped->base);

    if (n_read == n_all)
        return HUDI_OK;
    HD_TRY(hd_alloc_array(op, (size_t)(n_all - n_read), sizeof *skipped->row_groups,
                          &skipped->row_groups));
    for (int32_t i = 0, next = 0; i < n_all; i++) {
        if (next < n_read && read[next] == i)
            next++;
        else
            skipped->row_groups[skipped->n_row_groups++] = i;
    }
    return HUDI_OK;
}

hudi_status hd_skipped_rows_init(struct hd_op *op, const struct hd_slice_query *query,
                                 const struct hd_slice_source *slice, hd_base_reader *base,
                                 const hd_log_merge *merge, const int32_t *read, int32_t n_read,
                                 struct hd_skipped_rows *out)
{
    struct hd_slice_query keys = *query;

    *out = (struct hd_skipped_rows){.base = base};
    HD_TRY(list_skipped(op, read, n_read, out));
    if (out->n_row_groups == 0)
        return HUDI_OK;
    keys.columns = NULL;
    keys.n_columns = 0;
    keys.predicate = NULL;
    HD_TRY(hd_merge_columns_init(op, &keys, slice, hd_base_reader_schema(base), &out->columns));
    return hd_log_merge_is_by_row(merge)
               ? hd_merge_columns_leave_out_key(op, slice, hd_base_reader_schema(base),
                                                &out->columns)
               : HUDI_OK;
}

void hd_skipped_rows_clear(struct hd_op *op, struct hd_skipped_rows *skipped)
{
    hd_base_batches_close(skipped->batches);
    hd_merge_columns_clear(op, &skipped->columns);
    hd_free(op, skipped->row_groups);
    hd_free(op, skipped->wanted);
    *skipped = (struct hd_skipped_rows){0};
}

void hd_skipped_rows_restart(struct hd_skipped_rows *skipped)
{
    hd_base_batches_close(skipped->batches);
    skipped->batches = NULL;
    hd_free(NULL, skipped->wanted);
    skipped->wanted = NULL;
    skipped->at_end = false;
}

/* Open those in which entries may have keys; HUDI_END when there are none. */
static hudi_status open_batches(struct hd_op *op, struct hd_skipped_rows *skipped,
                                const hd_log_merge *merge)
{
    hudi_status status = HUDI_OK;
    struct hd_base_read_options options = {.batch_rows = skipped->columns.query.batch_rows};
    bool *untouched = NULL;
    int32_t *wanted = NULL;

    if (skipped->n_row_groups == 0) /* a slice of log files alone has no base file either */
        return HUDI_END;
    const size_t n_all = (size_t)hd_base_reader_n_row_groups(skipped->base);
    HD_TRY_OUT(hd_alloc_array(op, n_all, sizeof *untouched, &untouched));
    HD_TRY_OUT(hd_alloc_array(op, n_all, sizeof *wanted, &wanted));
    for (int32_t i = 0; i < skipped->n_row_groups; i++)
        untouched[skipped->row_groups[i]] = true;
    HD_TRY_OUT(hd_log_merge_untouched(op, merge, skipped->base, untouched));
    for (int32_t i = 0; i < skipped->n_row_groups; i++)
        if (!untouched[skipped->row_groups[i]])
            wanted[options.n_row_groups++] = skipped->row_groups[i];
    if (options.n_row_groups == 0) {
        status = HUDI_END;
        goto out;
    }
    options.row_groups = wanted;
    hd_row_cursor_start(skipped->base, wanted, options.n_row_groups, &skipped->cursor);
    skipped->wanted = wanted;
    wanted = NULL;
    options.columns =
        hd_projection_file_columns(skipped->columns.base.file.projection, &options.n_columns);
    status = hd_base_reader_read(op, skipped->base, &options, &skipped->batches);
out:
    hd_free(op, untouched);
    hd_free(op, wanted);
    return status;
}

hudi_status hd_skipped_rows_next(struct hd_op *op, struct hd_skipped_rows *skipped,
                                 hd_log_merge *merge, struct ArrowArray *out)
{
    hudi_status status = skipped->at_end ? HUDI_END : HUDI_OK;

    *out = (struct ArrowArray){0};
    if (status == HUDI_OK && skipped->batches == NULL)
        status = open_batches(op, skipped, merge);
    while (status == HUDI_OK && out->length == 0) {
        struct ArrowArray stored = {0}, batch = {0};
        uint64_t first_row = 0;

        hd_array_clear(out);
        HD_TRY(hd_op_check_cancel(op));
        status = hd_base_batches_next(op, skipped->batches, &stored);
        if (hd_log_merge_is_by_row(merge))
            status = hd_row_cursor_follow(op, &skipped->cursor, status, &stored, &first_row);
        if (status == HUDI_OK)
            status =
                hd_projection_apply(op, skipped->columns.base.file.projection, &stored, &batch);
        if (status == HUDI_OK)
            status = hd_log_merge_replace(op, merge, &skipped->columns, &batch, first_row, out);
        hd_array_clear(&batch);
    }
    skipped->at_end = status == HUDI_END;
    return status;
}
