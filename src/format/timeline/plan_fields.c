/* SPDX-License-Identifier: Apache-2.0 */

#include "format/timeline/plan_fields.h"

#include <string.h>

#include "codec/avro.h"

#define SAVEPOINTS_KEY "savepointed_timestamps"

const char HD_PLAN_EXTRA_SCHEMA[] =
    ",{\"name\":\"extraMetadata\",\"type\":[\"null\",{\"type\":\"map\",\"values\":\"string\"}],"
    "\"default\":null}";

hudi_status hd_plan_put_text(struct hd_op *op, struct hd_str *out, const char *text)
{
    return hd_avro_write_bytes(op, out, hd_slice_text(text));
}

hudi_status hd_plan_decode(struct hd_op *op, struct hd_slice bytes,
                           hudi_status (*read)(struct hd_op *op, const struct hd_avro_value *record,
                                               void *out),
                           void *out, size_t n_bytes, struct hd_arena *arena)
{
    hudi_status status = HUDI_OK;
    struct hd_arena values = {0};
    struct hd_avro_value record;

    memset(out, 0, n_bytes);
    HD_TRY_OUT(hd_avro_read_single(op, &values, bytes, &record));
    HD_TRY_OUT(read(op, &record, out));
out:
    hd_arena_clear(&values);
    if (status != HUDI_OK) {
        hd_arena_clear(arena);
        memset(out, 0, n_bytes);
    }
    return status;
}

hudi_status hd_plan_key(struct hd_op *op, struct hd_arena *arena, struct hd_slice key,
                        const char *what, const char **out)
{
    char *copy = NULL;

    if (key.size > 0 && memchr(key.data, 0, key.size) != NULL)
        return hd_fail(op, HUDI_CORRUPT, "%s holds a NUL character", what);
    HD_TRY(hd_arena_strndup(op, arena, key.data, key.size, &copy));
    *out = copy;
    return HUDI_OK;
}

hudi_status hd_plan_text(struct hd_op *op, struct hd_arena *arena,
                         const struct hd_avro_value *value, const char *what, const char **out)
{
    struct hd_slice text;

    HD_TRY(hd_avro_as_string(op, value, what, &text));
    return hd_plan_key(op, arena, text, what, out);
}

hudi_status hd_plan_find_text(struct hd_op *op, struct hd_arena *arena,
                              const struct hd_avro_value *record, const char *name,
                              const char **out)
{
    struct hd_slice text;

    *out = NULL;
    HD_TRY(hd_avro_find_string(op, record, name, &text));
    return text.data == NULL ? HUDI_OK : hd_plan_key(op, arena, text, name, out);
}

hudi_status hd_plan_find_texts(struct hd_op *op, struct hd_arena *arena,
                               const struct hd_avro_value *record, const char *name,
                               const char ***out, size_t *n)
{
    const struct hd_avro_value *array;

    *n = 0;
    HD_TRY(hd_avro_find_container(op, record, name, HD_AVRO_ARRAY, &array));
    const size_t n_items = array == NULL ? 0 : array->n_items;
    HD_TRY(hd_arena_array(op, arena, n_items, sizeof **out, out));
    for (; *n < n_items; (*n)++)
        HD_TRY(hd_plan_text(op, arena, &array->items[*n], name, &(*out)[*n]));
    return HUDI_OK;
}

hudi_status hd_plan_find_sizes(struct hd_op *op, struct hd_arena *arena,
                               const struct hd_avro_value *record, const char *name,
                               const char ***paths, int64_t **sizes, size_t *n)
{
    const struct hd_avro_value *map;

    *n = 0;
    HD_TRY(hd_avro_find_container(op, record, name, HD_AVRO_MAP, &map));
    const size_t n_items = map == NULL ? 0 : map->n_items;
    HD_TRY(hd_arena_array(op, arena, n_items, sizeof **paths, paths));
    HD_TRY(hd_arena_array(op, arena, n_items, sizeof **sizes, sizes));
    for (; *n < n_items; (*n)++) {
        HD_TRY(hd_plan_key(op, arena, map->keys[*n], name, &(*paths)[*n]));
        HD_TRY(hd_avro_as_long(op, &map->items[*n], name, &(*sizes)[*n]));
    }
    return HUDI_OK;
}

hudi_status hd_plan_texts_value(struct hd_op *op, struct hd_arena *arena, const char *const *texts,
                                size_t n, struct hd_avro_value *out)
{
    HD_TRY(hd_avro_array_new(op, arena, n, out));
    for (size_t i = 0; i < n; i++)
        out->items[i] = hd_avro_string_value(hd_slice_text(texts[i]));
    return HUDI_OK;
}

hudi_status hd_plan_sizes_value(struct hd_op *op, struct hd_arena *arena, const char *const *paths,
                                const int64_t *sizes, size_t n, struct hd_avro_value *out)
{
    HD_TRY(hd_avro_map_new(op, arena, n, out));
    for (size_t i = 0; i < n; i++) {
        out->keys[i] = hd_slice_text(paths[i]);
        out->items[i] = hd_avro_long_value(sizes[i]);
    }
    return HUDI_OK;
}

hudi_status hd_plan_find_savepoints(struct hd_op *op, struct hd_arena *arena,
                                    const struct hd_avro_value *record, const char **out)
{
    const struct hd_avro_value *map;

    *out = NULL;
    HD_TRY(hd_avro_find_container(op, record, "extraMetadata", HD_AVRO_MAP, &map));
    const struct hd_avro_value *const value =
        map == NULL ? NULL : hd_avro_value_lookup(map, SAVEPOINTS_KEY);
    return hd_avro_value_is_null(value) ? HUDI_OK
                                        : hd_plan_text(op, arena, value, SAVEPOINTS_KEY, out);
}

hudi_status hd_plan_put_savepoints(struct hd_op *op, struct hd_str *out, const char *savepoints)
{
    HD_TRY(hd_avro_write_long(op, out, 1));
    if (savepoints != NULL && savepoints[0] != '\0') {
        HD_TRY(hd_avro_write_long(op, out, 1));
        HD_TRY(hd_avro_write_bytes(op, out, hd_slice_text(SAVEPOINTS_KEY)));
        HD_TRY(hd_avro_write_bytes(op, out, hd_slice_text(savepoints)));
    }
    return hd_avro_write_long(op, out, 0);
}

hudi_status hd_plan_file(struct hd_op *op, struct hd_slice schema_json, struct hd_slice record,
                         struct hd_str *out)
{
    hudi_status status = HUDI_OK;
    struct hd_arena arena = {0};
    struct hd_str java = {0};
    struct hd_avro_schema *schema;

    HD_TRY_OUT(hd_avro_schema_parse(op, &arena, schema_json, &schema));
    HD_TRY_OUT(hd_avro_schema_format_java(op, schema, &java));
    HD_TRY_OUT(hd_avro_container_write(op, hd_str_slice(&java), record, 1, NULL, out));
out:
    hd_str_clear(&java);
    hd_arena_clear(&arena);
    return status;
}

const char *hd_plan_file_name(const char *path)
{
    const char *const slash = path == NULL ? NULL : strrchr(path, '/');

    return slash == NULL ? path : slash + 1;
}
