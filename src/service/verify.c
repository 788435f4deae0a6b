/* SPDX-License-Identifier: Apache-2.0 */
#include "service/verify.h"

#include <string.h>

#include "engine/commit/writable.h"
#include "service/verify_internal.h"

#define PROPERTIES_FILE ".hoodie/hoodie.properties"

/* Of the budget for the hashes of keys, and at most so many (1 GiB). */
#define HASHES_SHARE 4
#define MAX_HASHES ((size_t)1 << 27)

/* What this library does not look into is said, so that silence means health. */
static hudi_status note_limits(struct hd_op *op, struct hd_verify *verify)
{
    const struct hd_table_config *const config = &verify->table.config;

    if (config->type == HD_MERGE_ON_READ && verify->quick)
        HD_TRY(hd_report_note(op, &verify->report, "not-checked", ".",
                              "records of log files are counted and not decoded"));
    if (config->metadata_table)
        HD_TRY(hd_report_note(op, &verify->report, "not-checked", ".hoodie/metadata",
                              "the metadata table is not checked"));
    return HUDI_OK;
}

/* An instant of `later` whose state is not what the check began with. */
static bool is_news(const struct hd_verify *verify, const struct hd_instant *instant)
{
    const struct hd_instant *const before = hd_timeline_find(
        &verify->table.timeline, instant->time, hd_action_completed_as(instant->action));

    return before == NULL || before->state != instant->state;
}

/* A stray file whose instant has come since was just being written, a missing one was perhaps just
 * taken by what has come since. */
static bool is_explained(const struct hd_verify *verify, const struct hd_timeline *later,
                         const struct hd_report_entry *entry)
{
    const bool is_missing = strcmp(entry->finding.kind, "missing-file") == 0;

    for (size_t i = 0; i < later->n_instants; i++) {
        const struct hd_instant *const instant = &later->instants[i];
        const bool removes = instant->action == HD_ACTION_CLEAN ||
                             instant->action == HD_ACTION_ROLLBACK ||
                             instant->action == HD_ACTION_RESTORE;

        if ((is_missing ? removes : strcmp(instant->time, entry->instant) == 0) &&
            is_news(verify, instant))
            return true;
    }
    return false;
}

/* Writers went on since the timeline was listed: look at it again before accusing anybody. */
static hudi_status drop_explained(struct hd_op *op, struct hd_verify *verify)
{
    const struct hd_table_snapshot *const table = &verify->table;
    struct hd_report *const report = &verify->report;
    struct hd_timeline later;
    size_t n_kept = 0;

    HD_TRY(hd_timeline_load(op, table->fs, table->path, &table->config, &later));
    for (size_t i = 0; i < report->n_entries; i++) {
        const struct hd_report_entry entry = report->entries[i];

        if (entry.instant == NULL || !is_explained(verify, &later, &entry))
            report->entries[n_kept++] = entry;
    }
    report->n_entries = n_kept;
    hd_timeline_clear(&later);
    return HUDI_OK;
}

/* How keys are made again where they are not stored; damage in the way is found elsewhere. */
static hudi_status find_key_encoding(struct hd_op *op, struct hd_verify *verify)
{
    if (verify->table.config.populate_meta_fields)
        return HUDI_OK;
    const hudi_status status =
        hd_detect_key_encoding(op, &verify->table, HD_COMPLEX_WITH_FIELD, &verify->key_encoding);
    if (status == HUDI_OK || status == HUDI_CANCELLED || status == HUDI_NO_MEMORY)
        return status;
    if (status == HUDI_CONFLICT)
        HD_TRY(hd_report_finding(op, &verify->report, "mixed-keys", ".", "%s",
                                 hudi_error_message(op->error)));
    hd_op_clear_error(op);
    return HUDI_OK;
}

static hudi_status run(struct hd_op *op, struct hd_verify *verify)
{
    const uint64_t n_hashes = op->budget->limit_bytes / HASHES_SHARE / sizeof(uint64_t);

    verify->max_hashes = n_hashes < MAX_HASHES ? (size_t)n_hashes : MAX_HASHES;
    verify->quick = hd_options_bool(verify->options, NULL, "libhudi.verify.quick");
    HD_TRY(find_key_encoding(op, verify));
    HD_TRY(note_limits(op, verify));
    HD_TRY(hd_verify_timeline(op, verify));
    HD_TRY(hd_verify_leftovers(op, verify));
    HD_TRY(hd_verify_heartbeats(op, verify));
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
