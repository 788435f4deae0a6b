/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/scan/scan_internal.h"
#include "format/layout/missing_logs.h"

hudi_status hd_scan_warn_missing_logs(struct hd_op *op, const struct hd_table_config *config,
                                      const struct hd_timeline *timeline, const char *as_of,
                                      const struct hd_file_slice *const *slices, size_t n_slices)
{
    struct hd_arena arena = {0};
    struct hd_str text = {0};
    struct hd_missing_log *logs;
    hudi_status status = HUDI_OK;
    size_t n;

    if (config->type != HD_MERGE_ON_READ || !config->version->log_is_of_slice)
        return HUDI_OK;
    HD_TRY_OUT(hd_missing_logs_find(op, timeline, slices, n_slices, as_of, &arena, &logs, &n));
    for (size_t i = 0; i < n; i++) {
        text.size = 0;
        HD_TRY_OUT(hd_missing_log_describe(op, &logs[i], &text));
        hd_log(op, HD_LOG_WARN, "%s: its rows may be missing", hd_str_text(&text));
    }
out:
    hd_str_clear(&text);
    hd_arena_clear(&arena);
    return status;
}
