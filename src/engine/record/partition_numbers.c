/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "arrow/java_text.h"
#include "engine/record/key_generator_internal.h"
#include "format/layout/partition.h"

/*
 * Partition paths of a batch. A row whose partition values equal the row before's takes its number;
 * else a small table, by the hash of the raw values, of rows of this batch; else the path is built
 * and looked up in the partition set.
 */

/* A partition field's values in this batch. */
struct column {
    const struct hd_view *view;
    const struct hd_field_path *path; /* NULL: no value is null */
    const uint8_t *values;            /* of row 0, for a fixed width */
    int width;                        /* 4, 8, 16; 0: text; -1: bits */
};

struct batch {
    struct hd_key_generator *generator;
    const struct hd_view *columns; /* of the schema */
    struct column *fields;         /* of the partition fields */
    size_t n_fields;
    struct hd_arena *arena; /* reasons */
    struct hd_partition_set *partitions;
};

static int width_of(const struct hd_type *type)
{
    switch (type->id) {
    case HD_TYPE_STRING:
    case HD_TYPE_DICTIONARY:
        return 0;
    case HD_TYPE_BOOL:
        return -1;
    case HD_TYPE_DECIMAL:
        return 16;
    case HD_TYPE_INT32:
    case HD_TYPE_DATE:
    case HD_TYPE_FLOAT:
        return 4;
    case HD_TYPE_TIME:
        return type->unit <= HD_UNIT_MILLI ? 4 : 8;
    default:
        return 8;
    }
}

static void open_column(const struct hd_field_path *path, const struct hd_view *columns,
                        struct column *out)
{
    const struct hd_view *view = hd_field_path_view(path, columns);

    out->view = view;
    out->path =
        path->n_steps == 1 && (view->validity == NULL || view->null_count == 0) ? NULL : path;
    out->width = width_of(&view->type);
    if (out->width > 0)
        out->values = (const uint8_t *)view->values + (size_t)view->offset * (size_t)out->width;
}

static inline bool is_null(const struct batch *batch, const struct column *column, int64_t row)
{
    return column->path != NULL && hd_field_path_is_null(column->path, batch->columns, row);
}

static inline uint64_t load_value(const struct column *column, int64_t row)
{
    uint64_t wide;
    uint32_t narrow;

    if (column->width == 8) {
        memcpy(&wide, column->values + row * 8, 8);
        return wide;
    }
    memcpy(&narrow, column->values + row * 4, 4);
    return narrow;
}

static inline bool values_equal(const struct column *column, int64_t a, int64_t b)
{
    switch (column->width) {
    case 4:
    case 8:
        return load_value(column, a) == load_value(column, b);
    case 16:
        return memcmp(column->values + a * 16, column->values + b * 16, 16) == 0;
    case -1:
        return hd_view_bool(column->view, a) == hd_view_bool(column->view, b);
    default:
        return hd_slice_equal(hd_view_bytes(column->view, a), hd_view_bytes(column->view, b));
    }
}

static bool rows_equal(const struct batch *batch, int64_t a, int64_t b)
{
    for (size_t i = 0; i < batch->n_fields; i++) {
        const struct column *column = &batch->fields[i];
        const bool null = is_null(batch, column, a);

        if (null != is_null(batch, column, b))
            return false;
        if (!null && !values_equal(column, a, b))
            return false;
    }
    return true;
}

static inline uint64_t hash_value(const struct column *column, int64_t row)
{
    struct hd_slice bytes;

    switch (column->width) {
    case 4:
    case 8:
        return load_value(column, row) * 0x9e3779b97f4a7c15ULL;
    case 16:
        return hd_hash_bytes(column->values + row * 16, 16);
    case -1:
        return hd_view_bool(column->view, row);
    default:
        bytes = hd_view_bytes(column->view, row);
        return hd_hash_bytes(bytes.data, bytes.size);
    }
}

static uint64_t hash_row(const struct batch *batch, int64_t row)
{
    uint64_t hash = 0;

    for (size_t i = 0; i < batch->n_fields; i++) {
        const struct column *column = &batch->fields[i];
        const uint64_t value =
            is_null(batch, column, row) ? 0x2545f4914f6cdd1dULL : hash_value(column, row);

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
static hudi_status number_of_row(struct hd_op *op, const struct batch *batch, int64_t row,
                                 struct hd_partition_cache_slot *out)
{
    struct hd_key_generator *generator = batch->generator;
    struct hd_map *paths = &batch->partitions->paths;
    struct hd_map_entry *entry = NULL;

    generator->path.size = 0;
    out->number = HD_NO_PARTITION;
    out->reason = NULL;
    for (size_t i = 0; i < generator->n_partitions; i++) {
        if (i > 0)
            HD_TRY(hd_str_append_char(op, &generator->path, '/'));
        HD_TRY(add_field(op, generator, &generator->partitions[i], batch->columns, row,
                         batch->arena, &out->reason));
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

/* The slot that holds this row's values, or the one to put them in: one of a few from where the
 * hash points. */
static struct hd_partition_cache_slot *find_slot(const struct batch *batch, uint64_t hash,
                                                 int64_t row, bool *found)
{
    struct hd_key_generator *generator = batch->generator;
    struct hd_partition_cache_slot *free_slot = NULL;

    for (uint64_t i = 0; i < HD_PARTITION_CACHE_WAYS; i++) {
        struct hd_partition_cache_slot *slot =
            &generator->cache[(hash + i) & (HD_PARTITION_CACHE_SLOTS - 1)];

        if (slot->batch != generator->batch_number) {
            if (free_slot == NULL)
                free_slot = slot;
            continue;
        }
        if (slot->hash == hash && rows_equal(batch, slot->row, row)) {
            *found = true;
            return slot;
        }
    }
    *found = false;
    return free_slot != NULL ? free_slot : &generator->cache[hash & (HD_PARTITION_CACHE_SLOTS - 1)];
}

static hudi_status slot_of_row(struct hd_op *op, const struct batch *batch, int64_t row,
                               const struct hd_partition_cache_slot **out)
{
    const uint64_t hash = hash_row(batch, row);
    bool found;
    struct hd_partition_cache_slot *slot = find_slot(batch, hash, row, &found);

    *out = slot;
    if (found)
        return HUDI_OK;
    slot->batch = 0;
    HD_TRY(number_of_row(op, batch, row, slot));
    slot->hash = hash;
    slot->row = row;
    slot->batch = batch->generator->batch_number;
    return HUDI_OK;
}

hudi_status hd_partition_numbers_make(struct hd_op *op, struct hd_key_generator *generator,
                                      const struct hd_view *columns, int64_t n_rows,
                                      struct hd_arena *arena, struct hd_partition_set *partitions,
                                      struct hd_key_failures *failures, uint32_t *numbers)
{
    struct batch batch = {.generator = generator,
                          .columns = columns,
                          .n_fields = generator->n_partitions,
                          .arena = arena,
                          .partitions = partitions};
    const struct hd_partition_cache_slot *slot = NULL;
    struct hd_partition_cache_slot none = {0};

    if (n_rows == 0)
        return HUDI_OK;
    if (generator->n_partitions == 0) {
        HD_TRY(number_of_row(op, &batch, 0, &none));
        for (int64_t i = 0; i < n_rows; i++)
            numbers[i] = none.number;
        return HUDI_OK;
    }
    HD_TRY(hd_arena_array(op, &generator->views, batch.n_fields, sizeof(*batch.fields),
                          &batch.fields));
    for (size_t i = 0; i < batch.n_fields; i++)
        open_column(&generator->partitions[i].path, columns, &batch.fields[i]);
    generator->batch_number++;
    for (int64_t i = 0; i < n_rows; i++) {
        if (slot == NULL || !rows_equal(&batch, i - 1, i))
            HD_TRY(slot_of_row(op, &batch, i, &slot));
        numbers[i] = slot->number;
        if (slot->number == HD_NO_PARTITION)
            HD_TRY(hd_key_failures_add(op, failures, i, slot->reason));
    }
    return HUDI_OK;
}
