/* SPDX-License-Identifier: Apache-2.0 */
#include "service/verify.h"

#include <string.h>

#include "service/verify_internal.h"

#define PROPERTIES_FILE ".hoodie/hoodie.properties"

/* What this library does not look into is said, so that silence means health. */
static hudi_status note_limits(struct hd_op *op, struct hd_verify *verify)
{
    const struct hd_table_config *const config = &verify->table.config;

    if (config->type == HD_MERGE_ON_READ)
        HD_TRY(hd_report_note(op, &verify->report, "not-checked", ".",
                              "what is in log files is not checked, only that they are there"));
    if (config->metadata_table)
        HD_TRY(hd_report_note(op, &verify->report, "not-checked", ".hoodie/metadata",
                              "the metadata table is not checked"));
    return HUDI_OK;
}

/*
 * Writers went on since the timeline was listed: what a file of an instant means, a later timeline
 * may say. A stray file whose instant is there now was just being written; a missing one whose
 * slice is outdated now was just cleaned.
 */
static hudi_status drop_explained(struct hd_op *op, struct hd_verify *verify)
{
    struct hd_report *const report = &verify->report;
    struct hd_timeline later = {0};
    const struct hd_table_snapshot *const table = &verify->table;
    size_t n_kept = 0, n_open = 0;

    for (size_t i = 0; i < report->n_entries; i++)
        n_open += report->entries[i].instant != NULL;
    if (n_open == 0)
        return HUDI_OK;
    HD_TRY(hd_timeline_load(op, table->fs, table->path, &table->config, &later));
    for (size_t i = 0; i < report->n_entries; i++) {
        struct hd_report_entry *const entry = &report->entries[i];
        bool explained = false;

        if (entry->instant != NULL && strcmp(entry->finding.kind, "missing-file") == 0) {
            for (size_t j = 0; j < later.n_instants; j++) {
                const struct hd_instant *const instant = &later.instants[j];
                const enum hd_action action = hd_action_completed_as(instant->action);
                const bool removes = action == HD_ACTION_CLEAN || action == HD_ACTION_ROLLBACK ||
                                     action == HD_ACTION_RESTORE;
                const struct hd_instant *const before =
                    hd_timeline_find(&table->timeline, instant->time, action);
                explained =
                    explained || (removes && (before == NULL || before->state != instant->state));
            }
        } else if (entry->instant != NULL) {
            for (size_t j = 0; j < later.n_instants; j++)
                explained =
                    explained ||
                    (strcmp(later.instants[j].time, entry->instant) == 0 &&
                     hd_instant_is_write(&later.instants[j]) &&
                     hd_timeline_find(&table->timeline, entry->instant,
                                      hd_action_completed_as(later.instants[j].action)) == NULL);
        }
        if (!explained)
            report->entries[n_kept++] = *entry;
    }
    report->n_entries = n_kept;
    hd_timeline_clear(&later);
    return HUDI_OK;
}

static hudi_status run(struct hd_op *op, struct hd_verify *verify)
{
    HD_TRY(note_limits(op, verify));
    HD_TRY(hd_verify_timeline(op, verify));
    HD_TRY(hd_verify_leftovers(op, verify));
    HD_TRY(hd_verify_folders(op, verify));
    HD_TRY(hd_verify_missing(op, verify));
    return drop_explained(op, verify);
}

hudi_status hd_verify(struct hd_op *op, hd_pool *pool, const char *uri,
                      const struct hd_options *options, struct hd_verification *out)
{
    hudi_status status = HUDI_OK;
    struct hd_verify verify = {.pool = pool, .options = options};

    *out = (struct hd_verification){0};
    status = hd_table_snapshot_load(op, uri, &verify.table);
    if (status == HUDI_CORRUPT) /* nothing else can be looked at without it */
        status =
            hd_report_failure(op, &verify.report, status, "damaged-properties", PROPERTIES_FILE);
    else if (status == HUDI_OK)
        status = run(op, &verify);
    HD_TRY_OUT(status);
    out->n_files = verify.n_files;
    out->n_rows = verify.n_rows;
    HD_TRY_OUT(hd_report_publish(op, &verify.report, out));
out:
    if (status != HUDI_OK)
        hd_verification_clear(out);
    hd_report_clear(&verify.report);
    hd_expectations_clear(&verify.expected);
    hd_table_snapshot_clear(op, &verify.table);
    return hd_fail_path(op, status, uri);
}

void hd_verification_clear(struct hd_verification *verification)
{
    hd_arena_clear(&verification->arena);
    *verification = (struct hd_verification){0};
}
