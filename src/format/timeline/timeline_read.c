/* SPDX-License-Identifier: Apache-2.0 */

#include <inttypes.h>
#include <string.h>

#include "format/table/table_schema.h"
#include "format/timeline/timeline.h"

/* Largest state file that is read. */
#define STATE_FILE_MAX_BYTES (UINT64_C(2) << 30)

/* Writers before 0.12 wrote a completed file in place: a reader may see the newest one half done.
 */
#define NEWEST_TRIES 5
#define NEWEST_WAIT_MS 50

hudi_status hd_timeline_path(struct hd_op *op, const struct hd_timeline *timeline,
                             const struct hd_instant *instant, enum hd_instant_state state,
                             char **out)
{
    hudi_status status = HUDI_OK;
    char *name = NULL, *folder = NULL;

    *out = NULL;
    HD_TRY_OUT(
        hd_instant_name_format(op, timeline->version, instant->time,
                               state == HD_COMPLETED ? instant->action : instant->pending_action,
                               state, instant->completion_time, &name));
    HD_TRY_OUT(hd_path_join(op, timeline->table_path, timeline->version->timeline_folder, &folder));
    HD_TRY_OUT(hd_path_join(op, folder, name, out));
out:
    hd_free(op, folder);
    hd_free(op, name);
    return status;
}

hudi_status hd_timeline_fail_path(struct hd_op *op, hudi_status status,
                                  const struct hd_timeline *timeline,
                                  const struct hd_instant *instant, enum hd_instant_state state)
{
    char *path = NULL;

    if (hd_timeline_path(op, timeline, instant, state, &path) == HUDI_OK)
        hd_error_set_path(op, path);
    hd_free(op, path);
    return status;
}

hudi_status hd_timeline_read(struct hd_op *op, const struct hd_timeline *timeline,
                             const struct hd_instant *instant, enum hd_instant_state state,
                             uint8_t **out, size_t *n)
{
    char *path;

    *out = NULL;
    *n = 0;
    HD_TRY(hd_timeline_path(op, timeline, instant, state, &path));
    hudi_status status = hd_fs_read_file(op, timeline->fs, path, STATE_FILE_MAX_BYTES, out, n);
    if (status == HUDI_NOT_FOUND)
        status = hd_fail(op, HUDI_NOT_FOUND, "the %s file of instant %s is gone",
                         hd_instant_state_name(state), instant->time);
    if (status != HUDI_OK)
        hd_error_set_path(op, path);
    hd_free(op, path);
    return status;
}

static hudi_status read_commit_once(struct hd_op *op, const struct hd_timeline *timeline,
                                    const struct hd_instant *instant,
                                    struct hd_commit_metadata *out)
{
    uint8_t *bytes;
    size_t n;

    HD_TRY(hd_timeline_read(op, timeline, instant, HD_COMPLETED, &bytes, &n));
    hudi_status status = n == 0 ? hd_fail(op, HUDI_CORRUPT, "completed %s %s is empty (0 bytes)",
                                          hd_action_name(instant->action), instant->time)
                                : hd_commit_metadata_parse(op, hd_slice_of(bytes, n), out);
    hd_free(op, bytes);
    return status;
}

static bool is_newest(const struct hd_timeline *timeline, const struct hd_instant *instant)
{
    return instant == hd_timeline_last_completed_write(timeline);
}

hudi_status hd_timeline_read_commit(struct hd_op *op, const struct hd_timeline *timeline,
                                    const struct hd_instant *instant,
                                    struct hd_commit_metadata *out)
{
    hudi_status status = HUDI_OK;

    *out = (struct hd_commit_metadata){0};
    for (int attempt = 1;; attempt++) {
        HD_TRY(hd_op_check_cancel(op));
        status = read_commit_once(op, timeline, instant, out);
        if (status != HUDI_CORRUPT || attempt == NEWEST_TRIES || !is_newest(timeline, instant))
            break;
        hd_op_clear_error(op);
        hd_sleep_ms(op, NEWEST_WAIT_MS);
    }
    return status == HUDI_OK ? HUDI_OK
                             : hd_timeline_fail_path(op, status, timeline, instant, HD_COMPLETED);
}

hudi_status hd_timeline_check_writes(struct hd_op *op, const struct hd_timeline *timeline)
{
    for (size_t i = 0; i < timeline->n_instants; i++) {
        const struct hd_instant *instant = &timeline->instants[i];
        struct hd_commit_metadata metadata;

        if (!hd_instant_is_completed_write(instant) || instant->size_bytes > 0)
            continue;
        HD_TRY(hd_timeline_read_commit(op, timeline, instant, &metadata));
        hd_commit_metadata_clear(&metadata); /* it has been written since */
    }
    return HUDI_OK;
}

/* Table services rewrite rows and carry the schema they found: it may be older than the table's. */
static bool changes_schema(const struct hd_commit_metadata *metadata)
{
    static const char *const SERVICES[] = {"CLUSTER", "COMPACT", "LOG_COMPACT", "INDEX"};

    for (size_t i = 0; metadata->operation_type != NULL && i < HD_ARRAY_LENGTH(SERVICES); i++) {
        if (strcmp(metadata->operation_type, SERVICES[i]) == 0)
            return false;
    }
    return true;
}

static hudi_status strip_schema(struct hd_op *op, const char *avro_json, char **out)
{
    struct hd_str text = {0};
    hudi_status status = hd_table_schema_strip_meta(op, avro_json, &text);

    if (status == HUDI_OK)
        status = hd_str_take(op, &text, out);
    hd_str_clear(&text);
    return status;
}

/* Schemas of one commit; `*avro_json` stays NULL when it has none that counts. */
static hudi_status schema_of_commit(struct hd_op *op, const struct hd_timeline *timeline,
                                    const struct hd_instant *instant, char **avro_json,
                                    char **latest_schema)
{
    hudi_status status = HUDI_OK;
    struct hd_commit_metadata metadata;

    HD_TRY(hd_timeline_read_commit(op, timeline, instant, &metadata));
    const char *const schema = hd_commit_metadata_extra(&metadata, "schema");
    const char *const latest = hd_commit_metadata_extra(&metadata, "latest_schema");
    if (schema == NULL || schema[0] == '\0' || !changes_schema(&metadata))
        goto out;
    HD_TRY_OUT(strip_schema(op, schema, avro_json));
    if (latest_schema != NULL && latest != NULL && latest[0] != '\0')
        HD_TRY_OUT(hd_strdup(op, latest, latest_schema));
out:
    hd_commit_metadata_clear(&metadata);
    if (status != HUDI_OK) {
        hd_free(op, *avro_json);
        *avro_json = NULL;
    }
    return status;
}

hudi_status hd_timeline_table_schema(struct hd_op *op, const struct hd_timeline *timeline,
                                     const struct hd_table_config *config, const char *as_of,
                                     char **avro_json, char **latest_schema)
{
    *avro_json = NULL;
    if (latest_schema != NULL)
        *latest_schema = NULL;
    for (size_t i = timeline->n_instants; i > 0; i--) {
        const struct hd_instant *const instant = &timeline->instants[i - 1];

        if (!hd_instant_is_completed_write(instant) ||
            (as_of != NULL && strcmp(instant->time, as_of) > 0))
            continue;
        HD_TRY(schema_of_commit(op, timeline, instant, avro_json, latest_schema));
        if (*avro_json != NULL)
            return HUDI_OK;
    }
    if (config->create_schema == NULL || config->create_schema[0] == '\0')
        return HUDI_NOT_FOUND;
    return strip_schema(op, config->create_schema, avro_json);
}
