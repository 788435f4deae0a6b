/* SPDX-License-Identifier: Apache-2.0 */
#include "service/savepoint.h"

#include "api/api.h"

hudi_status hudi_savepoint(hudi_table *table, const char *instant_time, const char *user,
                           const char *comments, hudi_error **err)
{
    HD_TRY(HD_CHECK_GIVEN(err, HD_ARG(table), HD_ARG(instant_time)));
    struct hd_op op;

    hd_call_begin(&op, table->context, NULL);
    return hd_call_end(&op,
                       hd_savepoint(&op, table->context->pool, table->snapshot.uri, &table->options,
                                    instant_time, user == NULL ? "" : user,
                                    comments == NULL ? "" : comments),
                       err);
}

hudi_status hudi_savepoint_delete(hudi_table *table, const char *instant_time, hudi_error **err)
{
    HD_TRY(HD_CHECK_GIVEN(err, HD_ARG(table), HD_ARG(instant_time)));
    struct hd_op op;

    hd_call_begin(&op, table->context, NULL);
    return hd_call_end(
        &op, hd_savepoint_delete(&op, table->snapshot.uri, &table->options, instant_time), err);
}

hudi_status hudi_restore(hudi_table *table, const char *instant_time, hudi_cancel *cancel,
                         size_t *n_undone, hudi_error **err)
{
    HD_TRY(HD_CHECK_GIVEN(err, HD_ARG(table), HD_ARG(instant_time), HD_OUT_IF_GIVEN(n_undone)));
    struct hd_op op;

    hd_call_begin(&op, table->context, cancel);
    return hd_call_end(&op,
                       hd_restore(&op, table->context->pool, table->snapshot.uri, &table->options,
                                  instant_time, n_undone),
                       err);
}
