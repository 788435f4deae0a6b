/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "codec/json.h"
#include "engine/scan/scan_internal.h"

/*
 * A split as JSON: all that reading one file slice needs but the file itself.
 *
 *     {"version":1, "table":"file:/t", "properties":{...}, "schema":AVRO-TEXT,
 * "internal_schema":TEXT, "query":"snapshot", "begin":TIME, "end":TIME, "range":TEXT,
 * "filter":TEXT, "columns":TEXT, "limit":N, "batch_rows":N, "statistics":BOOL,
 * "slice":{"partition":P, "file_id":ID, "instant":TIME, "base":PATH, "base_bytes":N, "n_logs":N,
 * "schema":TEXT, "logs":[PATH, ...]}}
 *
 * With log files also what their blocks are held against, and options:
 *
 *     "blocks":{"start":TIME, "as_of":TIME, "instants":[{"time":TIME, "committed":BOOL,
 * "schema":TEXT}, ...]}, "options":{...}
 *
 * What is null or missing is not there. A reader refuses versions it does not know.
 */
#define SPLIT_VERSION 1

static const char *const QUERY_NAMES[] = {
    [HD_QUERY_SNAPSHOT] = "snapshot",
    [HD_QUERY_READ_OPTIMIZED] = "read_optimized",
    [HD_QUERY_INCREMENTAL] = "incremental",
};

/* ---- writing ------------------------------------------------------------------------------ */

static hudi_status put_properties(struct hd_op *op, struct hd_json_writer *json,
                                  const struct hd_properties *properties)
{
    HD_TRY(hd_json_key(op, json, "properties"));
    HD_TRY(hd_json_begin_object(op, json));
    for (size_t i = 0; i < properties->n_entries; i++)
        HD_TRY(
            hd_json_put_text(op, json, properties->entries[i].key, properties->entries[i].value));
    return hd_json_end_object(op, json);
}

static hudi_status put_slice(struct hd_op *op, struct hd_json_writer *json,
                             const struct hd_slice_source *slice)
{
    HD_TRY(hd_json_key(op, json, "slice"));
    HD_TRY(hd_json_begin_object(op, json));
    HD_TRY(hd_json_put_text(op, json, "partition", slice->partition_path));
    HD_TRY(hd_json_put_text(op, json, "file_id", slice->file_id));
    HD_TRY(hd_json_put_text(op, json, "instant", slice->instant));
    HD_TRY(hd_json_put_text(op, json, "base", slice->base_path));
    HD_TRY(hd_json_put_int64(op, json, "base_bytes", (int64_t)slice->base_bytes));
    HD_TRY(hd_json_put_int64(op, json, "n_logs", (int64_t)slice->n_logs));
    HD_TRY(hd_json_put_text(op, json, "schema", slice->file_schema));
    if (slice->n_logs > 0) {
        HD_TRY(hd_json_key(op, json, "logs"));
        HD_TRY(hd_json_begin_array(op, json));
        for (size_t i = 0; i < slice->n_logs; i++)
            HD_TRY(hd_json_text(op, json, slice->log_paths[i]));
        HD_TRY(hd_json_end_array(op, json));
    }
    return hd_json_end_object(op, json);
}

/* Few instants are all there. Of many those from the slice's on: no block is older than its slice.
 */
#define FEW_INSTANTS 200

static hudi_status put_instants(struct hd_op *op, struct hd_json_writer *json,
                                const struct hd_log_instants *instants, const char *from)
{
    HD_TRY(hd_json_key(op, json, "instants"));
    HD_TRY(hd_json_begin_array(op, json));
    for (size_t i = 0; i < instants->n_instants; i++) {
        const struct hd_log_instant *instant = &instants->instants[i];

        if (instants->n_instants > FEW_INSTANTS && strcmp(instant->time, from) < 0)
            continue;
        HD_TRY(hd_json_begin_object(op, json));
        HD_TRY(hd_json_put_text(op, json, "time", instant->time));
        HD_TRY(hd_json_put_bool(op, json, "committed", instant->is_committed));
        HD_TRY(hd_json_put_text(op, json, "schema", instant->schema));
        HD_TRY(hd_json_end_object(op, json));
    }
    return hd_json_end_array(op, json);
}

static hudi_status put_merging(struct hd_op *op, struct hd_json_writer *json,
                               const hd_scan_plan *plan, const struct hd_slice_source *slice)
{
    const struct hd_properties *options = &plan->merge_options.set;

    if (slice->n_logs == 0)
        return HUDI_OK;
    HD_TRY(hd_json_key(op, json, "blocks"));
    HD_TRY(hd_json_begin_object(op, json));
    HD_TRY(hd_json_put_text(op, json, "start", plan->log_instants.start));
    HD_TRY(hd_json_put_text(op, json, "as_of", plan->log_instants.as_of));
    HD_TRY(put_instants(op, json, &plan->log_instants, slice->instant));
    HD_TRY(hd_json_end_object(op, json));
    HD_TRY(hd_json_key(op, json, "options"));
    HD_TRY(hd_json_begin_object(op, json));
    for (size_t i = 0; i < options->n_entries; i++)
        HD_TRY(hd_json_put_text(op, json, options->entries[i].key, options->entries[i].value));
    return hd_json_end_object(op, json);
}

hudi_status hd_scan_split_encode(struct hd_op *op, const hd_scan_plan *plan, size_t i,
                                 struct hd_str *out)
{
    struct hd_json_writer json;

    hd_json_writer_init(&json, out, HD_JSON_COMPACT);
    HD_TRY(hd_json_begin_object(op, &json));
    HD_TRY(hd_json_put_int64(op, &json, "version", SPLIT_VERSION));
    HD_TRY(hd_json_put_text(op, &json, "table", plan->uri));
    HD_TRY(put_properties(op, &json, &plan->query.config->properties));
    HD_TRY(hd_json_put_text(op, &json, "schema", plan->avro));
    HD_TRY(hd_json_put_text(op, &json, "internal_schema", plan->internal_schema));
    HD_TRY(hd_json_put_text(op, &json, "query", QUERY_NAMES[plan->type]));
    HD_TRY(hd_json_put_text(op, &json, "begin", plan->begin));
    HD_TRY(hd_json_put_text(op, &json, "end", plan->end));
    HD_TRY(hd_json_put_text(op, &json, "range", plan->range));
    HD_TRY(hd_json_put_text(op, &json, "filter", plan->filter));
    HD_TRY(hd_json_put_text(op, &json, "columns", plan->columns));
    HD_TRY(hd_json_put_int64(op, &json, "limit", plan->limit));
    HD_TRY(hd_json_put_int64(op, &json, "batch_rows", plan->query.batch_rows));
    HD_TRY(hd_json_put_bool(op, &json, "statistics", plan->query.use_statistics));
    HD_TRY(put_slice(op, &json, &plan->splits[i]));
    HD_TRY(put_merging(op, &json, plan, &plan->splits[i]));
    return hd_json_end_object(op, &json);
}

/* ---- reading ------------------------------------------------------------------------------ */

/* A text that may be missing; NULL then. */
static hudi_status find_text(struct hd_op *op, struct hd_arena *arena, const hd_json *object,
                             const char *key, const char **out)
{
    struct hd_slice text;
    char *copy = NULL;

    HD_TRY(hd_json_find_string(op, object, key, &text));
    if (text.data != NULL && memchr(text.data, '\0', text.size) != NULL)
        return hd_fail(op, HUDI_CORRUPT, "split: \"%s\" holds a NUL", key);
    if (text.data != NULL)
        HD_TRY(hd_arena_strndup(op, arena, text.data, text.size, &copy));
    *out = copy;
    return HUDI_OK;
}

static hudi_status get_text(struct hd_op *op, struct hd_arena *arena, const hd_json *object,
                            const char *key, const char **out)
{
    HD_TRY(find_text(op, arena, object, key, out));
    return *out != NULL ? HUDI_OK : hd_fail(op, HUDI_CORRUPT, "split: \"%s\" is missing", key);
}

static hudi_status read_properties(struct hd_op *op, const hd_json *split, hd_scan_plan *plan)
{
    const hd_json *object, *value;
    struct hd_json_iter iter = {0};
    struct hd_properties properties = {0};
    struct hd_slice key;
    hudi_status status = HUDI_OK;

    HD_TRY(hd_json_get_object(op, split, "properties", &object));
    while (status == HUDI_OK && hd_json_next(object, &iter, &key, &value)) {
        struct hd_slice text;

        status = hd_json_as_string(op, value, "property", &text);
        if (status == HUDI_OK)
            status =
                hd_properties_set(op, &properties, (const char *)key.data, (const char *)text.data);
    }
    if (status != HUDI_OK) {
        hd_properties_clear(&properties);
        return status;
    }
    return hd_table_config_of(op, &properties, &plan->own_config);
}

static hudi_status read_query(struct hd_op *op, const hd_json *split, hd_scan_plan *plan)
{
    struct hd_arena *arena = &plan->arena;
    const char *type;
    size_t i = 0;

    HD_TRY(get_text(op, arena, split, "query", &type));
    while (i < HD_ARRAY_LENGTH(QUERY_NAMES) && strcmp(QUERY_NAMES[i], type) != 0)
        i++;
    if (i == HD_ARRAY_LENGTH(QUERY_NAMES))
        return hd_fail(op, HUDI_CORRUPT, "split: unknown query \"%.40s\"", type);
    plan->type = (enum hd_query_type)i;
    HD_TRY(find_text(op, arena, split, "schema", &plan->avro));
    HD_TRY(find_text(op, arena, split, "internal_schema", &plan->internal_schema));
    HD_TRY(find_text(op, arena, split, "begin", &plan->begin));
    HD_TRY(find_text(op, arena, split, "end", &plan->end));
    HD_TRY(find_text(op, arena, split, "range", &plan->range));
    HD_TRY(find_text(op, arena, split, "filter", &plan->filter));
    HD_TRY(find_text(op, arena, split, "columns", &plan->columns));
    HD_TRY(hd_json_find_int64(op, split, "limit", -1, &plan->limit));
    HD_TRY(hd_json_find_int64(op, split, "batch_rows", 0, &plan->query.batch_rows));
    HD_TRY(hd_json_find_bool(op, split, "statistics", true, &plan->query.use_statistics));
    if (plan->query.batch_rows < 0 || plan->query.batch_rows > INT32_MAX || plan->limit < -1 ||
        (plan->type == HD_QUERY_INCREMENTAL && plan->begin == NULL))
        return hd_fail(op, HUDI_CORRUPT, "split: its query contradicts itself");
    return HUDI_OK;
}

/* Stays below the table's folder. */
static bool is_relative(const char *path)
{
    if (path[0] == '/' || strncmp(path, "../", 3) == 0)
        return false;
    return strstr(path, "/../") == NULL;
}

static hudi_status read_logs(struct hd_op *op, const hd_json *object, struct hd_arena *arena,
                             struct hd_slice_source *slice)
{
    const hd_json *logs;
    const char **paths;

    HD_TRY(hd_json_find_array(op, object, "logs", &logs));
    slice->n_logs = hd_json_length(logs);
    HD_TRY(hd_arena_array(op, arena, slice->n_logs, sizeof *paths, &paths));
    for (size_t i = 0; i < slice->n_logs; i++) {
        struct hd_slice text;
        char *copy;

        HD_TRY(hd_json_as_string(op, hd_json_at(logs, i), "a log file", &text));
        HD_TRY(hd_arena_strndup(op, arena, text.data, text.size, &copy));
        if (strlen(copy) != text.size || !is_relative(copy))
            return hd_fail(op, HUDI_CORRUPT, "split: log file %zu is not of the table", i);
        paths[i] = copy;
    }
    slice->log_paths = paths;
    return HUDI_OK;
}

static hudi_status read_instants(struct hd_op *op, const hd_json *list, struct hd_arena *arena,
                                 struct hd_log_instants *out)
{
    struct hd_log_instant *instants;

    out->n_instants = hd_json_length(list);
    HD_TRY(hd_arena_array(op, arena, out->n_instants, sizeof *instants, &instants));
    for (size_t i = 0; i < out->n_instants; i++) {
        const hd_json *instant = hd_json_at(list, i);

        HD_TRY(get_text(op, arena, instant, "time", &instants[i].time));
        HD_TRY(hd_json_get_bool(op, instant, "committed", &instants[i].is_committed));
        HD_TRY(find_text(op, arena, instant, "schema", &instants[i].schema));
        if (i > 0 && strcmp(instants[i - 1].time, instants[i].time) > 0)
            return hd_fail(op, HUDI_CORRUPT, "split: its instants are not in order");
    }
    out->instants = instants;
    return HUDI_OK;
}

static hudi_status read_merging(struct hd_op *op, const hd_json *split, hd_scan_plan *plan)
{
    const hd_json *blocks, *options, *list, *value;
    struct hd_json_iter iter = {0};
    struct hd_slice key;

    HD_TRY(hd_json_get_object(op, split, "blocks", &blocks));
    HD_TRY(find_text(op, &plan->arena, blocks, "start", &plan->log_instants.start));
    HD_TRY(find_text(op, &plan->arena, blocks, "as_of", &plan->log_instants.as_of));
    HD_TRY(hd_json_get_array(op, blocks, "instants", &list));
    HD_TRY(read_instants(op, list, &plan->arena, &plan->log_instants));
    HD_TRY(hd_json_find_object(op, split, "options", &options));
    while (hd_json_next(options, &iter, &key, &value)) {
        struct hd_slice text;

        HD_TRY(hd_json_as_string(op, value, "option", &text));
        if (!hd_scan_is_merge_option((const char *)key.data))
            return hd_fail(op, HUDI_CORRUPT, "split: unknown option \"%.60s\"",
                           (const char *)key.data);
        HD_TRY(hd_options_set(op, &plan->merge_options, (const char *)key.data,
                              (const char *)text.data));
    }
    return HUDI_OK;
}

static hudi_status read_slice(struct hd_op *op, const hd_json *split, hd_scan_plan *plan)
{
    struct hd_arena *arena = &plan->arena;
    const hd_json *object;
    struct hd_slice_source *slice;
    int64_t n_bytes, n_logs;

    HD_TRY(hd_json_get_object(op, split, "slice", &object));
    HD_TRY(hd_arena_alloc(op, arena, sizeof *slice, &slice));
    HD_TRY(get_text(op, arena, object, "partition", &slice->partition_path));
    HD_TRY(get_text(op, arena, object, "file_id", &slice->file_id));
    HD_TRY(get_text(op, arena, object, "instant", &slice->instant));
    HD_TRY(find_text(op, arena, object, "base", &slice->base_path));
    HD_TRY(hd_json_find_int64(op, object, "base_bytes", 0, &n_bytes));
    HD_TRY(hd_json_find_int64(op, object, "n_logs", 0, &n_logs));
    HD_TRY(find_text(op, arena, object, "schema", &slice->file_schema));
    HD_TRY(read_logs(op, object, arena, slice));
    if (n_bytes < 0 || n_logs != (int64_t)slice->n_logs ||
        (slice->base_path != NULL && !is_relative(slice->base_path)))
        return hd_fail(op, HUDI_CORRUPT, "split: its file slice contradicts itself");
    slice->base_bytes = (uint64_t)n_bytes;
    plan->splits = slice;
    plan->n_splits = 1;
    return slice->n_logs == 0 ? HUDI_OK : read_merging(op, split, plan);
}

static hudi_status read_split(struct hd_op *op, const hd_json *split, hd_scan_plan *plan)
{
    int64_t version;

    HD_TRY(hd_json_get_int64(op, split, "version", &version));
    if (version != SPLIT_VERSION)
        return hd_fail(op, HUDI_NOT_IMPLEMENTED, "a split of version %lld; known is %d",
                       (long long)version, SPLIT_VERSION);
    HD_TRY(get_text(op, &plan->arena, split, "table", &plan->uri));
    HD_TRY(read_properties(op, split, plan));
    HD_TRY(read_query(op, split, plan));
    HD_TRY(read_slice(op, split, plan));
    HD_TRY(hd_fs_open(op, plan->uri, &plan->own_fs, &plan->own_path));
    return hd_scan_resolve(op, plan->own_fs, plan->own_path, &plan->own_config, plan);
}

hudi_status hd_scan_split_decode(struct hd_op *op, struct hd_slice bytes, hd_scan_plan **out)
{
    hudi_status status = HUDI_OK;
    hd_scan_plan *plan = NULL;
    hd_json *split = NULL;

    *out = NULL;
    HD_TRY_OUT(hd_json_parse(op, bytes, &split));
    HD_TRY_OUT(hd_alloc(op, sizeof *plan, &plan));
    HD_TRY_OUT(read_split(op, split, plan));
    *out = plan;
    plan = NULL;
out:
    hd_scan_plan_free(plan);
    hd_json_free(split);
    return status;
}
