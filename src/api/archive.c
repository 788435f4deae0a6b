/* SPDX-License-Identifier: Apache-2.0 */
#include "api/api.h"
#include "service/archival.h"

struct hudi_archiving {
    struct hd_archive_report report;
};

hudi_status hudi_archive(hudi_table *table, int dry_run, hudi_cancel *cancel, hudi_archiving **out,
                         hudi_error **err)
{
    HD_TRY(HD_CHECK_GIVEN(err, HD_ARG(table), HD_OUT_IF_GIVEN(out)));
    hudi_status status = HUDI_OK;
    struct hd_op op;
    hudi_archiving *archiving = NULL;

    if (out != NULL)
        *out = NULL;
    hd_call_begin(&op, table->context, cancel);
    HD_TRY_OUT(hd_alloc(&op, sizeof *archiving, &archiving));
    HD_TRY_OUT(hd_archive(&op, table->context->pool, table->snapshot.uri, &table->options,
                          dry_run != 0, &archiving->report));
    if (out != NULL) {
        *out = archiving;
        archiving = NULL;
    }
out:
    hudi_archiving_free(archiving);
    return hd_call_end(&op, status, err);
}

size_t hudi_archiving_instants(const hudi_archiving *archiving)
{
    return archiving->report.n_instants;
}

size_t hudi_archiving_writes(const hudi_archiving *archiving)
{
    return archiving->report.n_writes;
}

const char *hudi_archiving_first(const hudi_archiving *archiving)
{
    return archiving->report.first;
}

const char *hudi_archiving_last(const hudi_archiving *archiving)
{
    return archiving->report.last;
}

void hudi_archiving_free(hudi_archiving *archiving)
{
    hd_free(NULL, archiving);
}
