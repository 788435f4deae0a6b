/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "arrow/java_text.h"
#include "engine/record/key_generator_internal.h"
#include "format/layout/partition.h"

/*
 * Partition paths of a batch. A row whose partition values equal the row before's takes its number;
 * else a small cache, by the hash of the raw values, of rows of this batch; else the path is built
 * and looked up in the partition set.
 */

/* Bytes that stand for a value that is not null; equal values of one column, equal bytes. */
static struct hd_slice raw_value(const struct hd_view *view, int64_t row, uint8_t *scratch)
{
    switch (view->type.id) {
    case HD_TYPE_STRING:
    case HD_TYPE_DICTIONARY:
    case HD_TYPE_DECIMAL:
        return hd_view_bytes(view, row);
    case HD_TYPE_BOOL:
        *scratch = hd_view_bool(view, row);
        return hd_slice_of(scratch, 1);
    case HD_TYPE_INT32:
    case HD_TYPE_DATE:
    case HD_TYPE_FLOAT:
        return hd_slice_of((const uint8_t *)view->values + (view->offset + row) * 4, 4);
    case HD_TYPE_TIME:
        if (view->type.unit <= HD_UNIT_MILLI)
            return hd_slice_of((const uint8_t *)view->values + (view->offset + row) * 4, 4);
        break;
    default:
        break;
    }
    return hd_slice_of((const uint8_t *)view->values + (view->offset + row) * 8, 8);
}

static bool rows_equal(const struct hd_key_generator *generator, const struct hd_view *columns,
                       int64_t a, int64_t b)
{
    uint8_t scratch_a, scratch_b;

    for (size_t i = 0; i < generator->n_partitions; i++) {
        const struct hd_field_path *path = &generator->partitions[i].path;
        const struct hd_view *view = hd_field_path_view(path, columns);
        const bool null_a = hd_field_path_is_null(path, columns, a);
        const bool null_b = hd_field_path_is_null(path, columns, b);

        if (null_a != null_b)
            return false;
        if (!null_a &&
            !hd_slice_equal(raw_value(view, a, &scratch_a), raw_value(view, b, &scratch_b)))
            return false;
    }
    return true;
}

static uint64_t hash_row(const struct hd_key_generator *generator, const struct hd_view *columns,
                         int64_t row)
{
    uint64_t hash = 0;
    uint8_t scratch;

    for (size_t i = 0; i < generator->n_partitions; i++) {
        const struct hd_field_path *path = &generator->partitions[i].path;
        uint64_t value = 0x9e3779b97f4a7c15ULL;

        if (!hd_field_path_is_null(path, columns, row)) {
            const struct hd_slice raw = raw_value(hd_field_path_view(path, columns), row, &scratch);

            value = hd_hash_bytes(raw.data, raw.size);
        }
        hash = (hash ^ value) * 0xff51afd7ed558ccdULL;
        hash ^= hash >> 32;
    }
    return hash;
}

/* ---- one path ----------------------------------------------------------------------------- */

/* Why the text cannot be a folder below the table, or NULL. Hive style puts "name=" in front. A
 * value with slashes makes nested folders; that is read back only where the whole path is one
 * field's, or not at all when the path is all there is of the value. */
static const char *refuse_text(const struct hd_key_generator *generator, struct hd_slice text)
{
    const char *data = (const char *)text.data;
    bool at_start = true;
    bool slash = false;

    if (memchr(data, '\0', text.size) != NULL)
        return "holds a NUL";
    for (size_t i = 0; i < text.size; i++) {
        if (data[i] == '/') {
            if (at_start)
                return "begins or ends with '/' or holds \"//\"";
            slash = true;
            at_start = true;
            continue;
        }
        if (data[i] == '.' && at_start && (i > 0 || !generator->hive_style))
            return "begins with '.' and would be a hidden folder";
        if (data[i] == ':' && !slash)
            return "holds ':', which is no part of a path for Hadoop's readers; "
                   "hoodie.datasource.write.partitionpath.urlencode would admit it";
        at_start = false;
    }
    if (at_start)
        return "begins or ends with '/' or holds \"//\"";
    if (slash && (generator->n_partitions > 1 || generator->drop_partition_columns))
        return "holds '/'; hoodie.datasource.write.partitionpath.urlencode would admit it";
    return NULL;
}

static hudi_status refuse(struct hd_op *op, struct hd_arena *arena,
                          const struct hd_key_field *field, struct hd_slice text, const char *why,
                          const char **reason)
{
    const int shown = text.size > 100 ? 100 : (int)text.size;
    char *made = NULL;

    HD_TRY(hd_arena_printf(op, arena, &made, "partition field \"%s\" value \"%.*s\" %s",
                           field->name, shown, (const char *)text.data, why));
    *reason = made;
    return HUDI_OK;
}

/* The text of one field, before encoding, in *text (in place, in `scratch` or generator->value). */
static hudi_status field_text(struct hd_op *op, struct hd_key_generator *generator,
                              const struct hd_key_field *field, const struct hd_view *columns,
                              int64_t row, char *scratch, struct hd_slice *text)
{
    const struct hd_view *view = hd_field_path_view(&field->path, columns);
    const bool is_null = hd_field_path_is_null(&field->path, columns, row);

    *text = (struct hd_slice){0};
    if (field->timestamp != NULL) {
        generator->value.size = 0;
        HD_TRY(hd_timestamp_key_text(op, field->timestamp, view, row, is_null, &generator->value));
        *text = hd_str_slice(&generator->value);
    } else if (!is_null) {
        *text = hd_java_text(view, row, generator->timestamps_as_text, scratch);
    }
    return HUDI_OK;
}

static hudi_status add_field(struct hd_op *op, struct hd_key_generator *generator,
                             const struct hd_key_field *field, const struct hd_view *columns,
                             int64_t row, struct hd_arena *arena, const char **reason)
{
    struct hd_str *path = &generator->path;
    char scratch[HD_JAVA_TEXT_BYTES];
    struct hd_slice text;
    const hudi_status status = field_text(op, generator, field, columns, row, scratch, &text);

    if (status == HUDI_NOT_FOUND)
        return refuse(op, arena, field,
                      hd_java_text(hd_field_path_view(&field->path, columns), row, false, scratch),
                      "is no time of the input format", reason);
    HD_TRY(status);
    if (generator->hive_style) {
        HD_TRY(hd_str_append_text(op, path, field->name));
        HD_TRY(hd_str_append_char(op, path, '='));
    }
    if (text.size == 0)
        return hd_str_append_text(op, path, generator->default_partition);
    if (!generator->url_encode) {
        const char *why = field->timestamp != NULL ? NULL : refuse_text(generator, text);

        if (why != NULL)
            return refuse(op, arena, field, text, why, reason);
        return hd_str_append(op, path, text.data, text.size);
    }
    if (text.data[0] == '.' && !generator->hive_style)
        return refuse(op, arena, field, text, "begins with '.' and would be a hidden folder",
                      reason);
    return hd_partition_value_encode(op, text, path);
}

/* Build the path of a row and find or add its number. */
static hudi_status number_of_row(struct hd_op *op, struct hd_key_generator *generator,
                                 const struct hd_view *columns, int64_t row, struct hd_arena *arena,
                                 struct hd_partition_set *partitions,
                                 struct hd_partition_cache_slot *out)
{
    struct hd_map *paths = &partitions->paths;
    struct hd_map_entry *entry = NULL;

    generator->path.size = 0;
    out->number = HD_NO_PARTITION;
    out->reason = NULL;
    for (size_t i = 0; i < generator->n_partitions; i++) {
        if (i > 0)
            HD_TRY(hd_str_append_char(op, &generator->path, '/'));
        HD_TRY(
            add_field(op, generator, &generator->partitions[i], columns, row, arena, &out->reason));
        if (out->reason != NULL)
            return HUDI_OK;
    }
    if (paths->n_entries >= HD_NO_PARTITION)
        return hd_fail(op, HUDI_INVALID, "more than %u partitions in one write", HD_NO_PARTITION);
    HD_TRY(hd_map_put(op, paths, hd_str_slice(&generator->path), paths->n_entries, &entry, NULL));
    out->number = (uint32_t)entry->value;
    return HUDI_OK;
}

/* ---- a batch ------------------------------------------------------------------------------ */

static hudi_status slot_of_row(struct hd_op *op, struct hd_key_generator *generator,
                               const struct hd_view *columns, int64_t row, struct hd_arena *arena,
                               struct hd_partition_set *partitions,
                               const struct hd_partition_cache_slot **out)
{
    const uint64_t hash = hash_row(generator, columns, row);
    struct hd_partition_cache_slot *slot = &generator->cache[hash & (HD_PARTITION_CACHE_SLOTS - 1)];

    *out = slot;
    if (slot->row >= 0 && slot->hash == hash && rows_equal(generator, columns, slot->row, row))
        return HUDI_OK;
    slot->row = -1;
    HD_TRY(number_of_row(op, generator, columns, row, arena, partitions, slot));
    slot->hash = hash;
    slot->row = row;
    return HUDI_OK;
}

hudi_status hd_partition_numbers_make(struct hd_op *op, struct hd_key_generator *generator,
                                      const struct hd_view *columns, int64_t n_rows,
                                      struct hd_arena *arena, struct hd_partition_set *partitions,
                                      struct hd_key_failures *failures, uint32_t *numbers)
{
    const struct hd_partition_cache_slot *slot = NULL;
    struct hd_partition_cache_slot none = {0};

    if (n_rows == 0)
        return HUDI_OK;
    if (generator->n_partitions == 0) {
        HD_TRY(number_of_row(op, generator, columns, 0, arena, partitions, &none));
        for (int64_t i = 0; i < n_rows; i++)
            numbers[i] = none.number;
        return HUDI_OK;
    }
    for (size_t i = 0; i < HD_PARTITION_CACHE_SLOTS; i++)
        generator->cache[i].row = -1;
    for (int64_t i = 0; i < n_rows; i++) {
        if (slot == NULL || !rows_equal(generator, columns, i - 1, i))
            HD_TRY(slot_of_row(op, generator, columns, i, arena, partitions, &slot));
        numbers[i] = slot->number;
        if (slot->number == HD_NO_PARTITION)
            HD_TRY(hd_key_failures_add(op, failures, i, slot->reason));
    }
    return HUDI_OK;
}
