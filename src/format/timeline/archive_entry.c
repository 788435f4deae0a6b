/* SPDX-License-Identifier: Apache-2.0 */
#include "format/timeline/archive_entry.h"

#include <string.h>

#include "codec/avro_value.h"
#include "format/log/log_block.h"
#include "format/timeline/record_schemas.h"

#define ROLLING_STAT "ROLLING_STAT"

/* One block being made. */
struct encoder {
    const struct hd_timeline *timeline;
    const struct hd_avro_schema *schema; /* of an entry */
    struct hd_str records;               /* each with its length before it */
    uint32_t n_records;
    struct hd_arena arena; /* of one entry */
};

static struct hd_avro_value text(const char *value)
{
    return hd_avro_string_value(hd_slice_text(value));
}

/* ---- what a state file holds ---------------------------------------------------------------- */

/* Commits have one more piece of extra metadata in the archive, and no version. */
static hudi_status finish_commit(struct hd_op *op, struct encoder *e, struct hd_avro_value *commit)
{
    const struct hd_avro_value *const extra = hd_avro_value_field(commit, "extraMetadata");
    const struct hd_avro_value *const stats = hd_avro_value_field(commit, "partitionToWriteStats");
    const size_t n = hd_avro_value_is_null(extra) ? 0 : extra->n_items;
    struct hd_avro_value map, empty;

    HD_TRY(hd_avro_map_new(op, &e->arena, n + 1, &map));
    for (size_t i = 0; i < n; i++) {
        map.keys[i] = extra->keys[i];
        map.items[i] = extra->items[i];
    }
    map.keys[n] = hd_slice_text(ROLLING_STAT);
    map.items[n] = text("");
    HD_TRY(hd_avro_set(op, commit, "extraMetadata", map));
    HD_TRY(hd_avro_map_new(op, &e->arena, 0, &empty));
    if (hd_avro_value_is_null(stats))
        HD_TRY(hd_avro_set(op, commit, "partitionToWriteStats", empty));
    if (hd_avro_value_is_null(hd_avro_value_field(commit, "operationType")))
        HD_TRY(hd_avro_set(op, commit, "operationType", text("UNKNOWN")));
    return hd_avro_set(op, commit, "version", hd_avro_null_value());
}

/* Commit metadata of JSON: its members have the names of the record's fields. An empty file is
 * metadata without anything. */
static hudi_status set_commit(struct hd_op *op, struct encoder *e, struct hd_slice bytes,
                              const char *field, struct hd_avro_value *entry)
{
    const struct hd_avro_schema *const schema = hd_avro_schema_of_field(e->schema, field);
    struct hd_avro_value commit;

    HD_TRY(hd_avro_value_of_json(op, &e->arena, schema,
                                 bytes.size == 0 ? hd_slice_text("{}") : bytes, &commit));
    HD_TRY(finish_commit(op, e, &commit));
    return hd_avro_set(op, entry, field, commit);
}

/* A container file's record; an empty file leaves the field null. */
static hudi_status set_avro(struct hd_op *op, struct encoder *e, struct hd_slice bytes,
                            const char *field, struct hd_avro_value *entry)
{
    struct hd_avro_value record;

    if (bytes.size == 0)
        return HUDI_OK;
    HD_TRY(hd_avro_read_single(op, &e->arena, bytes, &record));
    return hd_avro_set(op, entry, field, record);
}

static hudi_status set_replace(struct hd_op *op, struct encoder *e, enum hd_instant_state state,
                               struct hd_slice bytes, struct hd_avro_value *entry)
{
    if (state == HD_REQUESTED)
        return set_avro(op, e, bytes, "hoodieRequestedReplaceMetadata", entry);
    if (state == HD_COMPLETED)
        return set_commit(op, e, bytes, "hoodieReplaceCommitMetadata", entry);
    return bytes.size == 0 ? HUDI_OK
                           : set_commit(op, e, bytes, "HoodieInflightReplaceMetadata", entry);
}

/* What `action` keeps in a file of that state. */
static hudi_status set_content(struct hd_op *op, struct encoder *e, enum hd_action action,
                               enum hd_instant_state state, struct hd_slice bytes,
                               struct hd_avro_value *entry)
{
    switch (action) {
    case HD_ACTION_COMMIT:
    case HD_ACTION_DELTACOMMIT:
        return set_commit(op, e, bytes, "hoodieCommitMetadata", entry);
    case HD_ACTION_REPLACECOMMIT:
        return set_replace(op, e, state, bytes, entry);
    case HD_ACTION_COMPACTION:
    case HD_ACTION_LOGCOMPACTION:
        return set_avro(op, e, bytes, "hoodieCompactionPlan", entry);
    case HD_ACTION_CLEAN:
        return set_avro(op, e, bytes,
                        state == HD_COMPLETED ? "hoodieCleanMetadata" : "hoodieCleanerPlan", entry);
    case HD_ACTION_ROLLBACK:
        return state == HD_COMPLETED ? set_avro(op, e, bytes, "hoodieRollbackMetadata", entry)
                                     : HUDI_OK;
    case HD_ACTION_SAVEPOINT:
        return state == HD_COMPLETED ? set_avro(op, e, bytes, "hoodieSavePointMetadata", entry)
                                     : HUDI_OK;
    default:
        return HUDI_OK;
    }
}

/* ---- entries -------------------------------------------------------------------------------- */

static hudi_status put_entry(struct hd_op *op, struct encoder *e, const struct hd_avro_value *entry)
{
    const size_t start = e->records.size;
    uint8_t length[4] = {0};

    HD_TRY(hd_str_append(op, &e->records, length, sizeof length));
    HD_TRY(hd_avro_write_value(op, e->schema, entry, &e->records));
    const size_t n = e->records.size - start - sizeof length;
    if (n > INT32_MAX)
        return hd_fail(op, HUDI_INVALID, "an entry of %zu bytes is too large to be archived", n);
    for (size_t i = 0; i < sizeof length; i++)
        e->records.data[start + i] = (char)(n >> (8 * (3 - i)));
    e->n_records++;
    return HUDI_OK;
}

/* When the state was reached; HUDI_NOT_FOUND (no error) when its file is gone. */
static hudi_status transition_time(struct hd_op *op, struct encoder *e,
                                   const struct hd_instant *instant, enum hd_instant_state state,
                                   char out[HD_INSTANT_TIME_BYTES])
{
    struct hd_file_info info;
    char *path;

    HD_TRY(hd_timeline_path(op, e->timeline, instant, state, &path));
    const hudi_status status = hd_fs_stat(op, e->timeline->fs, path, &info);
    hd_free(op, path);
    HD_TRY(status);
    hd_instant_time_format(info.modified_ms < 0 ? 0 : (uint64_t)info.modified_ms, e->timeline->utc,
                           out);
    return HUDI_OK;
}

/* Running services repeat nothing in their inflight file since 1.1; the plan is what was asked. */
static hudi_status read_content(struct hd_op *op, struct encoder *e,
                                const struct hd_instant *instant, enum hd_instant_state state,
                                uint8_t **out, size_t *n)
{
    const enum hd_action action = instant->pending_action;
    const bool has_plan = action == HD_ACTION_CLEAN || action == HD_ACTION_COMPACTION ||
                          action == HD_ACTION_LOGCOMPACTION;

    HD_TRY(hd_timeline_read(op, e->timeline, instant, state, out, n));
    if (state != HD_INFLIGHT || *n > 0 || !has_plan || !instant->has_requested)
        return HUDI_OK;
    hd_free(op, *out);
    return hd_timeline_read(op, e->timeline, instant, HD_REQUESTED, out, n);
}

static hudi_status make_entry(struct hd_op *op, struct encoder *e, const struct hd_instant *instant,
                              enum hd_instant_state state, const char *reached,
                              struct hd_slice bytes, struct hd_avro_value *entry)
{
    const enum hd_action action = state == HD_COMPLETED ? instant->action : instant->pending_action;

    HD_TRY(hd_avro_record_new(op, &e->arena, e->schema, entry));
    HD_TRY(hd_avro_set(op, entry, "version", hd_avro_null_value()));
    HD_TRY(hd_avro_set(op, entry, "commitTime", text(instant->time)));
    HD_TRY(hd_avro_set(op, entry, "actionType", text(hd_action_name(action))));
    HD_TRY(hd_avro_set(op, entry, "actionState", text(hd_instant_state_name(state))));
    if (e->timeline->version->archive_has_transition_time)
        HD_TRY(hd_avro_set(op, entry, "stateTransitionTime", text(reached)));
    return set_content(op, e, action, state, bytes, entry);
}

static hudi_status add_state(struct hd_op *op, struct encoder *e, const struct hd_instant *instant,
                             enum hd_instant_state state)
{
    char reached[HD_INSTANT_TIME_BYTES];
    struct hd_avro_value entry;
    uint8_t *bytes;
    size_t n;

    hd_arena_reset(&e->arena);
    hudi_status status = transition_time(op, e, instant, state, reached);
    if (status == HUDI_NOT_FOUND)
        return HUDI_OK;
    HD_TRY(status);
    HD_TRY(read_content(op, e, instant, state, &bytes, &n));
    status = make_entry(op, e, instant, state, reached, hd_slice_of(bytes, n), &entry);
    if (status == HUDI_OK)
        status = put_entry(op, e, &entry);
    hd_free(op, bytes);
    return status == HUDI_OK ? HUDI_OK
                             : hd_timeline_fail_path(op, status, e->timeline, instant, state);
}

static void put_u32(uint8_t out[4], uint32_t value)
{
    for (size_t i = 0; i < 4; i++)
        out[i] = (uint8_t)(value >> (8 * (3 - i)));
}

hudi_status hd_archive_block_encode(struct hd_op *op, const struct hd_timeline *timeline,
                                    const struct hd_instant *const *instants, size_t n,
                                    struct hd_str *out)
{
    hudi_status status = HUDI_OK;
    struct encoder e = {.timeline = timeline};
    struct hd_arena arena = {0};
    struct hd_str json = {0}, java = {0};
    struct hd_avro_schema *schema;
    uint8_t head[8];

    HD_TRY_OUT(hd_record_schema(op, "HoodieArchivedMetaEntry", &json));
    HD_TRY_OUT(hd_avro_schema_parse(op, &arena, hd_str_slice(&json), &schema));
    HD_TRY_OUT(hd_avro_schema_format_java(op, schema, &java));
    e.schema = schema;
    for (size_t i = 0; i < n; i++)
        for (int state = HD_REQUESTED; state <= (int)instants[i]->state; state++)
            HD_TRY_OUT(add_state(op, &e, instants[i], (enum hd_instant_state)state));
    put_u32(head, timeline->version->log_content_version);
    put_u32(head + 4, e.n_records);
    const struct hd_log_header_entry header = {HD_LOG_SCHEMA, hd_str_slice(&java)};
    const struct hd_slice content[] = {hd_slice_of(head, sizeof head), hd_str_slice(&e.records)};
    HD_TRY_OUT(hd_log_block_encode(op, HD_LOG_AVRO_DATA, &header, 1, content,
                                   HD_ARRAY_LENGTH(content), out));
out:
    hd_str_clear(&json);
    hd_str_clear(&java);
    hd_str_clear(&e.records);
    hd_arena_clear(&e.arena);
    hd_arena_clear(&arena);
    return status;
}
