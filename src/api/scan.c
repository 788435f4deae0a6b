/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/scan/scan.h"
#include "api/api.h"

struct hudi_scan_plan {
    hd_scan_plan *plan;
    struct hd_str *splits; /* encoded when first asked for */
};

/* The table's options with the query's over them. */
static hudi_status plan_query(struct hd_op *op, const hudi_table *table, const hudi_options *query,
                              hd_scan_plan **out)
{
    struct hd_options all = {0};
    hudi_status status = hd_options_merge(op, &all, &table->options);

    if (status == HUDI_OK && query != NULL)
        status = hd_options_merge(op, &all, &query->options);
    if (status == HUDI_OK)
        status = hd_scan_plan_new(op, table->context->pool, &table->snapshot, &all, out);
    hd_options_clear(&all);
    return status;
}

hudi_status hudi_scan_open(const hudi_table *table, const hudi_options *query, hudi_cancel *cancel,
                           struct ArrowArrayStream *out, hudi_error **err)
{
    HD_TRY(HD_CHECK_GIVEN(err, HD_ARG(table), HD_OUT(out)));
    struct hd_op op;
    hd_scan_plan *plan;

    *out = (struct ArrowArrayStream){0};
    hd_call_begin(&op, table->context, cancel);
    hudi_status status = plan_query(&op, table, query, &plan);
    if (status == HUDI_OK)
        status = hd_scan_stream(&op, table->context->pool, plan, out);
    return hd_call_end(&op, status, err);
}

hudi_status hudi_scan_plan_new(const hudi_table *table, const hudi_options *query,
                               hudi_scan_plan **out, hudi_error **err)
{
    HD_TRY(HD_CHECK_GIVEN(err, HD_ARG(table), HD_OUT(out)));
    hudi_status status = HUDI_OK;
    struct hd_op op;
    hudi_scan_plan *plan = NULL;

    *out = NULL;
    hd_call_begin(&op, table->context, NULL);
    HD_TRY_OUT(hd_alloc(&op, sizeof *plan, &plan));
    HD_TRY_OUT(plan_query(&op, table, query, &plan->plan));
    if (!hd_scan_plan_has_splits(plan->plan))
        HD_TRY_OUT(hd_fail(&op, HUDI_NOT_IMPLEMENTED,
                           "a query of changes is one stream, it has no splits"));
    HD_TRY_OUT(hd_alloc_array(&op, hd_scan_plan_n_splits(plan->plan), sizeof *plan->splits,
                              &plan->splits));
    for (size_t i = 0; i < hd_scan_plan_n_splits(plan->plan); i++)
        HD_TRY_OUT(hd_scan_split_encode(&op, plan->plan, i, &plan->splits[i]));
    *out = plan;
    plan = NULL;
out:
    hudi_scan_plan_free(plan);
    return hd_call_end(&op, status, err);
}

size_t hudi_scan_plan_n_splits(const hudi_scan_plan *plan)
{
    return hd_scan_plan_n_splits(plan->plan);
}

const void *hudi_scan_plan_split(const hudi_scan_plan *plan, size_t i, size_t *n_bytes)
{
    *n_bytes = plan->splits[i].size;
    return plan->splits[i].data;
}

void hudi_scan_plan_free(hudi_scan_plan *plan)
{
    if (plan == NULL)
        return;
    for (size_t i = 0; plan->splits != NULL && i < hd_scan_plan_n_splits(plan->plan); i++)
        hd_str_clear(&plan->splits[i]);
    hd_free(NULL, plan->splits);
    hd_scan_plan_free(plan->plan);
    hd_free(NULL, plan);
}

hudi_status hudi_split_open(hudi_context *context, const void *split, size_t n_bytes,
                            hudi_cancel *cancel, struct ArrowArrayStream *out, hudi_error **err)
{
    HD_TRY(HD_CHECK_GIVEN(err, HD_ARG(context), HD_ARG(split), HD_OUT(out)));
    struct hd_op op;
    hd_scan_plan *plan;

    *out = (struct ArrowArrayStream){0};
    hd_call_begin(&op, context, cancel);
    hudi_status status = hd_scan_split_decode(&op, hd_slice_of(split, n_bytes), &plan);
    if (status == HUDI_OK)
        status = hd_scan_stream(&op, context->pool, plan, out);
    return hd_call_end(&op, status, err);
}
