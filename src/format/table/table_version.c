/* SPDX-License-Identifier: Apache-2.0 */
#include "format/table/table_version.h"

#define PAYLOADS "org.apache.hudi.common.model."

#define LAYOUT_1                                                                                   \
    .timeline_layout = 1, .log_is_of_slice = true, .timeline_folder = ".hoodie",                   \
    .archive_folder = ".hoodie/archived",                                                          \
    .default_payload_class = PAYLOADS "OverwriteWithLatestAvroPayload"
#define LAYOUT_2                                                                                   \
    .timeline_layout = 2, .timeline_folder = ".hoodie/timeline",                                   \
    .archive_folder = ".hoodie/timeline/history"
#define CLEAN_0_11 .clean_deletes_partitions = true
#define CLEAN_0_12 CLEAN_0_11, .clean_has_last_completed = true, .savepoint_has_logs = true
#define CLEAN_0_15 CLEAN_0_12, .clean_has_extra = true, .archive_has_transition_time = true
#define HIVE_DEFAULT "__HIVE_DEFAULT_PARTITION__"

static const struct hd_table_version versions[] = {
    {.number = 2,
     LAYOUT_1,
     .default_partition = "default",
     .late_renews_stored = true,
     .log_content_version = 1,
     .append_marker_of_slice = true,
     .compaction_in_aux = true,
     .clean_inflight_has_plan = true,
     .writes_supported = true,
     .first_release = "0.9"},
    {.number = 3,
     LAYOUT_1,
     .default_partition = "default",
     .late_renews_stored = true,
     .log_content_version = 1,
     .append_marker_of_slice = true,
     .compaction_in_aux = true,
     .clean_inflight_has_plan = true,
     .writes_supported = true,
     .first_release = "0.10"},
    {.number = 4,
     LAYOUT_1,
     .default_partition = "default",
     .has_checksum = true,
     .log_content_version = 2,
     .append_marker_of_slice = true,
     .compaction_in_aux = true,
     .compaction_named = true,
     CLEAN_0_11,
     .clean_inflight_has_plan = true,
     .writes_supported = true,
     .first_release = "0.11"},
    {.number = 5,
     LAYOUT_1,
     .default_partition = HIVE_DEFAULT,
     .has_checksum = true,
     .log_content_version = 2,
     .append_marker_of_slice = true,
     .compaction_in_aux = true,
     .compaction_named = true,
     CLEAN_0_12,
     .clean_inflight_has_plan = true,
     .writes_supported = true,
     .first_release = "0.12"},
    {.number = 6,
     LAYOUT_1,
     .default_partition = HIVE_DEFAULT,
     .has_checksum = true,
     .file_name_rewritten = true,
     .log_content_version = 3,
     .compaction_has_strategy = true,
     .compaction_named = true,
     CLEAN_0_15,
     .clean_inflight_has_plan = true,
     .writes_supported = true,
     .first_release = "0.14"},
    /* 7 was never released: a table that says so is read as 6 and not written. */
    {.number = 7,
     LAYOUT_1,
     .default_partition = HIVE_DEFAULT,
     .has_checksum = true,
     .file_name_rewritten = true,
     .log_content_version = 3,
     .compaction_has_strategy = true,
     .compaction_named = true,
     CLEAN_0_15,
     .clean_inflight_has_plan = true,
     .first_release = "0.16"},
    {.number = 8,
     LAYOUT_2,
     .default_partition = HIVE_DEFAULT,
     .has_checksum = true,
     .key_generator_as_type = true,
     .file_name_rewritten = true,
     .log_content_version = 3,
     .compaction_has_strategy = true,
     .compaction_named = true,
     CLEAN_0_15,
     .clean_inflight_has_plan = true,
     .writes_supported = true,
     .first_release = "1.0"},
    {.number = 9,
     LAYOUT_2,
     .default_partition = HIVE_DEFAULT,
     .has_checksum = true,
     .key_generator_as_type = true,
     .file_name_rewritten = true,
     .log_content_version = 3,
     .compaction_has_strategy = true,
     .compaction_named = true,
     CLEAN_0_15,
     .writes_supported = true,
     .first_release = "1.1"},
};

hudi_status hd_table_version_of(struct hd_op *op, int number, const struct hd_table_version **out)
{
    const int first = versions[0].number;
    const int last = versions[HD_ARRAY_LENGTH(versions) - 1].number;

    *out = NULL;
    if (number < first || number > last)
        return hd_fail(op, HUDI_NOT_IMPLEMENTED, "table version %d is not one of %d to %d", number,
                       first, last);
    *out = &versions[number - first];
    return HUDI_OK;
}
