/* SPDX-License-Identifier: Apache-2.0 */
#include "api/api.h"
#include "service/undo.h"

hudi_status hudi_rollback(hudi_table *table, const char *instant_time, hudi_error **err)
{
    HD_TRY(HD_CHECK_GIVEN(err, HD_ARG(table), HD_ARG(instant_time)));
    struct hd_op op;

    hd_call_begin(&op, table->context, NULL);
    return hd_call_end(
        &op, hd_undo(&op, table->context->pool, table->snapshot.uri, &table->options, instant_time),
        err);
}
