/* SPDX-License-Identifier: Apache-2.0 */
#include "service/verify.h"

#include "api/api.h"
#include "service/repair.h"

struct hudi_verification {
    struct hd_verification found;
};

hudi_status hudi_verify(const hudi_table *table, hudi_cancel *cancel, hudi_verification **out,
                        hudi_error **err)
{
    HD_TRY(HD_CHECK_GIVEN(err, HD_ARG(table), HD_OUT(out)));
    hudi_status status = HUDI_OK;
    struct hd_op op;
    hudi_verification *verification = NULL;

    *out = NULL;
    hd_call_begin(&op, table->context, cancel);
    HD_TRY_OUT(hd_alloc(&op, sizeof *verification, &verification));
    HD_TRY_OUT(hd_verify(&op, table->context->pool, table->snapshot.uri, &table->options,
                         &verification->found));
    *out = verification;
    verification = NULL;
out:
    hudi_verification_free(verification);
    return hd_call_end(&op, status, err);
}

hudi_status hudi_repair(hudi_table *table, int dry_run, hudi_cancel *cancel,
                        hudi_verification **out, hudi_error **err)
{
    HD_TRY(HD_CHECK_GIVEN(err, HD_ARG(table), HD_OUT_IF_GIVEN(out)));
    hudi_status status = HUDI_OK;
    struct hd_op op;
    hudi_verification *verification = NULL;

    if (out != NULL)
        *out = NULL;
    hd_call_begin(&op, table->context, cancel);
    HD_TRY_OUT(hd_alloc(&op, sizeof *verification, &verification));
    HD_TRY_OUT(hd_repair(&op, table->context->pool, table->snapshot.uri, &table->options,
                         dry_run != 0, &verification->found));
    if (out != NULL) {
        *out = verification;
        verification = NULL;
    }
out:
    hudi_verification_free(verification);
    return hd_call_end(&op, status, err);
}

size_t hudi_verification_n_files(const hudi_verification *verification)
{
    return verification->found.n_files;
}

int64_t hudi_verification_n_rows(const hudi_verification *verification)
{
    return verification->found.n_rows;
}

size_t hudi_verification_n_findings(const hudi_verification *verification)
{
    return verification->found.n_findings;
}

/* A hudi_finding is a struct hd_finding. */
const hudi_finding *hudi_verification_finding(const hudi_verification *verification, size_t i)
{
    const struct hd_verification *const found = &verification->found;

    return i < found->n_findings ? (const hudi_finding *)&found->findings[i] : NULL;
}

const hudi_finding *hudi_verification_note(const hudi_verification *verification, size_t i)
{
    const struct hd_verification *const found = &verification->found;

    return i < found->n_notes ? (const hudi_finding *)&found->notes[i] : NULL;
}

const char *hudi_finding_kind(const hudi_finding *finding)
{
    return ((const struct hd_finding *)finding)->kind;
}

const char *hudi_finding_where(const hudi_finding *finding)
{
    return ((const struct hd_finding *)finding)->where;
}

const char *hudi_finding_message(const hudi_finding *finding)
{
    return ((const struct hd_finding *)finding)->message;
}

void hudi_verification_free(hudi_verification *verification)
{
    if (verification == NULL)
        return;
    hd_verification_clear(&verification->found);
    hd_free(NULL, verification);
}
