/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/slice/log_damage.h"

#include <inttypes.h>
#include <stdio.h>

#define REASON_BYTES 512

static bool is_damage(const struct hd_slice_query *query, hudi_status status)
{
    if (status == HUDI_NOT_IMPLEMENTED || status == HUDI_SCHEMA || status == HUDI_INVALID)
        return query->recover;
    return status == HUDI_CORRUPT;
}

hudi_status hd_log_damage(struct hd_op *op, const struct hd_slice_query *query, const char *path,
                          uint64_t offset, hudi_status status)
{
    char reason[REASON_BYTES];

    if (!is_damage(query, status))
        return hd_fail_path(op, status, path);
    snprintf(reason, sizeof reason, "%s", hudi_error_message(op->error));
    hd_op_clear_error(op);
    if (query->replaces_logs && !query->recover)
        return hd_fail_path(op,
                            hd_fail(op, status,
                                    "the log block at byte %" PRIu64
                                    " cannot be understood, and its rows would be lost: %s "
                                    "(libhudi.read.recover=true goes on without them)",
                                    offset, reason),
                            path);
    hd_log(op, HD_LOG_WARN, "%s: the log block at byte %" PRIu64 " is passed over, damaged: %s",
           path, offset, reason);
    return HUDI_OK;
}
