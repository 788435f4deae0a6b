/* SPDX-License-Identifier: Apache-2.0 */
#include "api/api.h"
#include "service/cleaning.h"

struct hudi_cleaning {
    struct hd_clean_report report;
};

hudi_status hudi_clean(hudi_table *table, hudi_clean_step step, hudi_cancel *cancel,
                       hudi_cleaning **out, hudi_error **err)
{
    HD_TRY(HD_CHECK_GIVEN(err, HD_ARG(table), HD_OUT_IF_GIVEN(out)));
    static const enum hd_clean_step STEPS[] = {
        [HUDI_CLEAN_PLAN_AND_RUN] = HD_CLEAN_PLAN_AND_RUN,
        [HUDI_CLEAN_SCHEDULE] = HD_CLEAN_SCHEDULE,
        [HUDI_CLEAN_RUN] = HD_CLEAN_RUN,
        [HUDI_CLEAN_DRY_RUN] = HD_CLEAN_DRY_RUN,
        [HUDI_CLEAN_PENDING] = HD_CLEAN_PENDING,
    };
    hudi_status status = HUDI_OK;
    struct hd_op op;
    hudi_cleaning *cleaning = NULL;

    if (out != NULL)
        *out = NULL;
    hd_call_begin(&op, table->context, cancel);
    if ((unsigned)step >= HD_ARRAY_LENGTH(STEPS))
        HD_TRY_OUT(hd_fail(&op, HUDI_INVALID, "there is no step %d of a clean", (int)step));
    HD_TRY_OUT(hd_alloc(&op, sizeof *cleaning, &cleaning));
    HD_TRY_OUT(hd_clean(&op, table->context->pool, table->snapshot.uri, &table->options,
                        STEPS[step], &cleaning->report));
    if (out != NULL) {
        *out = cleaning;
        cleaning = NULL;
    }
out:
    hudi_cleaning_free(cleaning);
    return hd_call_end(&op, status, err);
}

size_t hudi_cleaning_length(const hudi_cleaning *cleaning)
{
    return cleaning->report.n_cleans;
}

const char *hudi_cleaning_instant(const hudi_cleaning *cleaning, size_t i)
{
    return cleaning->report.cleans[i].time;
}

const char *hudi_cleaning_state(const hudi_cleaning *cleaning, size_t i)
{
    return hd_instant_state_name(cleaning->report.cleans[i].state);
}

const char *hudi_cleaning_policy(const hudi_cleaning *cleaning, size_t i)
{
    return cleaning->report.cleans[i].plan.policy;
}

const char *hudi_cleaning_earliest(const hudi_cleaning *cleaning, size_t i)
{
    return cleaning->report.cleans[i].plan.earliest_time;
}

size_t hudi_cleaning_files(const hudi_cleaning *cleaning, size_t i)
{
    return cleaning->report.cleans[i].n_files;
}

int64_t hudi_cleaning_bytes(const hudi_cleaning *cleaning, size_t i)
{
    return (int64_t)cleaning->report.cleans[i].n_bytes;
}

size_t hudi_cleaning_deleted(const hudi_cleaning *cleaning, size_t i)
{
    return cleaning->report.cleans[i].n_deleted;
}

size_t hudi_cleaning_failed(const hudi_cleaning *cleaning, size_t i)
{
    return cleaning->report.cleans[i].n_failed;
}

size_t hudi_cleaning_deleted_partitions(const hudi_cleaning *cleaning, size_t i)
{
    return cleaning->report.cleans[i].n_partitions_deleted;
}

const char *hudi_cleaning_partition(const hudi_cleaning *cleaning, size_t i, size_t p)
{
    const struct hd_clean_plan *const plan = &cleaning->report.cleans[i].plan;

    return p < plan->n_partitions ? plan->partitions[p].partition_path : NULL;
}

const char *hudi_cleaning_file(const hudi_cleaning *cleaning, size_t i, size_t p, size_t f)
{
    const struct hd_clean_partition *const partition =
        &cleaning->report.cleans[i].plan.partitions[p];

    return f < partition->n_files ? partition->files[f] : NULL;
}

void hudi_cleaning_free(hudi_cleaning *cleaning)
{
    if (cleaning == NULL)
        return;
    hd_clean_report_clear(NULL, &cleaning->report);
    hd_free(NULL, cleaning);
}
