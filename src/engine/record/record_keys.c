/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "arrow/array.h"
#include "arrow/java_text.h"
#include "engine/record/key_generator_internal.h"

/* Record keys of a batch, column-wise: one buffer grows, nothing is allocated for a row. */

#define NULL_TEXT "__null__"
#define EMPTY_TEXT "__empty__"

/* A STRING array being written. */
struct key_text {
    int32_t *offsets;
    char *data;
    uint64_t size;
    uint64_t capacity;
};

static hudi_status text_init(struct hd_op *op, struct key_text *text, int64_t n_rows,
                             uint64_t capacity)
{
    *text = (struct key_text){.capacity = capacity};
    HD_TRY(hd_buffer_new_raw(op, ((uint64_t)n_rows + 1) * sizeof(int32_t), &text->offsets));
    text->offsets[0] = 0;
    return hd_buffer_new_raw(op, capacity, &text->data);
}

static void text_clear(struct key_text *text)
{
    hd_buffer_free(text->offsets);
    hd_buffer_free(text->data);
    *text = (struct key_text){0};
}

static hudi_status text_grow(struct hd_op *op, struct key_text *text, uint64_t n)
{
    const uint64_t wanted = text->size + n;

    if (wanted > INT32_MAX)
        return hd_fail(op, HUDI_INVALID, "record keys of one batch pass 2 GiB");
    const uint64_t capacity = wanted + wanted / 2 + 64;

    HD_TRY(hd_buffer_grow(op, &text->data, text->size, capacity));
    text->capacity = capacity;
    return HUDI_OK;
}

static inline hudi_status text_reserve(struct hd_op *op, struct key_text *text, uint64_t n)
{
    return text->capacity - text->size >= n ? HUDI_OK : text_grow(op, text, n);
}

/* Short texts, most of them: two copies that may overlap are cheaper than a call. */
static inline void text_put(struct key_text *text, const void *bytes, size_t n)
{
    char *to = text->data + text->size;
    const char *from = bytes;

    if (n > 16) {
        memcpy(to, from, n);
    } else if (n >= 8) {
        uint64_t first, last;

        memcpy(&first, from, 8);
        memcpy(&last, from + n - 8, 8);
        memcpy(to, &first, 8);
        memcpy(to + n - 8, &last, 8);
    } else {
        for (size_t i = 0; i < n; i++)
            to[i] = from[i];
    }
    text->size += n;
}

static void text_end_row(struct key_text *text, int64_t row)
{
    text->offsets[row + 1] = (int32_t)text->size;
}

static hudi_status text_finish(struct hd_op *op, struct key_text *text, int64_t n_rows,
                               struct ArrowArray *out)
{
    void *offsets = text->offsets;
    void *data = text->data;

    *text = (struct key_text){0};
    return hd_array_string(op, n_rows, 0, NULL, offsets, data, out);
}

/* ---- one field ---------------------------------------------------------------------------- */

struct borrowed {
    const void *buffers[3];
};

static void release_borrowed(struct ArrowArray *array)
{
    hd_free(NULL, array->private_data);
    array->release = NULL;
}

/* The column itself as an array: its buffers stay the batch's. */
static hudi_status borrow_strings(struct hd_op *op, const struct hd_view *view, int64_t n_rows,
                                  struct ArrowArray *out)
{
    struct borrowed *borrowed = NULL;

    HD_TRY(hd_alloc(op, sizeof(*borrowed), &borrowed));
    borrowed->buffers[1] = view->values;
    borrowed->buffers[2] = view->data;
    *out = (struct ArrowArray){.length = n_rows,
                               .offset = view->offset,
                               .n_buffers = 3,
                               .buffers = borrowed->buffers,
                               .release = release_borrowed,
                               .private_data = borrowed};
    return HUDI_OK;
}

static bool has_no_nulls(const struct hd_view *view, int64_t n_rows)
{
    if (view->validity == NULL || view->null_count == 0)
        return true;
    for (int64_t i = 0; i < n_rows; i++) {
        if (hd_view_is_null(view, i))
            return false;
    }
    return true;
}

static hudi_status reason_of_field(struct hd_op *op, struct hd_arena *arena, const char *field,
                                   const char *what, char **reason)
{
    if (*reason != NULL)
        return HUDI_OK;
    return hd_arena_printf(op, arena, reason, "record key field \"%s\" is %s", field, what);
}

static hudi_status share_strings(struct hd_op *op, const struct hd_key_field *field,
                                 const struct hd_view *view, int64_t n_rows, struct hd_arena *arena,
                                 struct hd_key_failures *failures, struct ArrowArray *out)
{
    const int32_t *offsets = (const int32_t *)view->values + view->offset;
    char *reason = NULL;

    for (int64_t i = 0; i < n_rows; i++) {
        if (offsets[i + 1] != offsets[i])
            continue;
        HD_TRY(reason_of_field(op, arena, field->name, "empty", &reason));
        HD_TRY(hd_key_failures_add(op, failures, i, reason));
    }
    return borrow_strings(op, view, n_rows, out);
}

static hudi_status copy_texts(struct hd_op *op, const struct hd_key_generator *generator,
                              const struct hd_view *columns, int64_t n_rows, struct hd_arena *arena,
                              struct hd_key_failures *failures, struct key_text *text)
{
    const struct hd_key_field *field = &generator->keys[0];
    const struct hd_view *view = hd_field_path_view(&field->path, columns);
    char *null_reason = NULL;
    char *empty_reason = NULL;
    char scratch[HD_JAVA_TEXT_BYTES];

    for (int64_t i = 0; i < n_rows; i++) {
        struct hd_slice value = hd_slice_of("", 0);

        if (hd_field_path_is_null(&field->path, columns, i)) {
            HD_TRY(reason_of_field(op, arena, field->name, "null", &null_reason));
            HD_TRY(hd_key_failures_add(op, failures, i, null_reason));
        } else {
            value = hd_java_text(view, i, generator->timestamps_as_text, scratch);
            if (value.size == 0) {
                HD_TRY(reason_of_field(op, arena, field->name, "empty", &empty_reason));
                HD_TRY(hd_key_failures_add(op, failures, i, empty_reason));
            }
        }
        HD_TRY(text_reserve(op, text, value.size));
        text_put(text, value.data, value.size);
        text_end_row(text, i);
    }
    return HUDI_OK;
}

/* ---- several fields ----------------------------------------------------------------------- */

/* Append "name:value"; `*has_value` is set unless the value is null or empty. */
static hudi_status put_part(struct hd_op *op, const struct hd_key_generator *generator,
                            const struct hd_key_field *field, const struct hd_view *columns,
                            int64_t row, struct key_text *text, bool *has_value)
{
    struct hd_slice value = hd_slice_text(NULL_TEXT);
    char scratch[HD_JAVA_TEXT_BYTES];

    if (!hd_field_path_is_null(&field->path, columns, row)) {
        value = hd_java_text(hd_field_path_view(&field->path, columns), row,
                             generator->timestamps_as_text, scratch);
        if (value.size > 0)
            *has_value = true;
        else
            value = hd_slice_text(EMPTY_TEXT);
    }
    HD_TRY(text_reserve(op, text, field->prefix_size + value.size + 1));
    text_put(text, field->prefix, field->prefix_size);
    text_put(text, value.data, value.size);
    return HUDI_OK;
}

static hudi_status reason_of_fields(struct hd_op *op, const struct hd_key_generator *generator,
                                    struct hd_arena *arena, char **reason)
{
    struct hd_str names = {0};
    hudi_status status = HUDI_OK;

    if (*reason != NULL)
        return HUDI_OK;
    for (size_t i = 0; i < generator->n_keys; i++)
        HD_TRY_OUT(
            hd_str_printf(op, &names, "%s\"%s\"", i == 0 ? "" : ", ", generator->keys[i].name));
    status = hd_arena_printf(op, arena, reason, "record key fields %s are all null or empty",
                             hd_str_text(&names));
out:
    hd_str_clear(&names);
    return status;
}

static hudi_status join_texts(struct hd_op *op, const struct hd_key_generator *generator,
                              const struct hd_view *columns, int64_t n_rows, struct hd_arena *arena,
                              struct hd_key_failures *failures, struct key_text *text)
{
    char *reason = NULL;

    for (int64_t i = 0; i < n_rows; i++) {
        const uint64_t start = text->size;
        bool has_value = false;

        for (size_t k = 0; k < generator->n_keys; k++) {
            if (k > 0)
                text_put(text, ",", 1); /* the part before has left room */
            HD_TRY(put_part(op, generator, &generator->keys[k], columns, i, text, &has_value));
        }
        if (!has_value) {
            text->size = start;
            HD_TRY(reason_of_fields(op, generator, arena, &reason));
            HD_TRY(hd_key_failures_add(op, failures, i, reason));
        }
        text_end_row(text, i);
    }
    return HUDI_OK;
}

/* ---- no field ----------------------------------------------------------------------------- */

static hudi_status make_up_texts(struct hd_op *op, struct hd_key_generator *generator,
                                 int64_t n_rows, struct key_text *text)
{
    char prefix[96];
    char number[HD_JAVA_TEXT_BYTES];

    if (generator->instant_time == NULL)
        return hd_fail(op, HUDI_INVALID,
                       "the table has no record key fields: keys need the instant and the task");
    const int n = snprintf(prefix, sizeof(prefix), "%s_%" PRIu32 "_", generator->instant_time,
                           generator->task);

    if (n < 0 || (size_t)n >= sizeof(prefix))
        return hd_fail(op, HUDI_INVALID, "instant \"%s\" is too long", generator->instant_time);
    for (int64_t i = 0; i < n_rows; i++) {
        const size_t n_number = hd_java_long_format(generator->next_row++, number);

        HD_TRY(text_reserve(op, text, (size_t)n + n_number));
        text_put(text, prefix, (size_t)n);
        text_put(text, number, n_number);
        text_end_row(text, i);
    }
    return HUDI_OK;
}

/* ---- all ---------------------------------------------------------------------------------- */

hudi_status hd_record_keys_make(struct hd_op *op, struct hd_key_generator *generator,
                                const struct hd_view *columns, int64_t n_rows,
                                struct hd_arena *arena, struct hd_key_failures *failures,
                                struct ArrowArray *out)
{
    struct key_text text = {0};
    hudi_status status;

    if (n_rows >= INT32_MAX)
        return hd_fail(op, HUDI_INVALID, "a batch of %" PRId64 " rows is too large", n_rows);
    if (generator->n_keys == 1 && !generator->named) {
        const struct hd_key_field *field = &generator->keys[0];
        const struct hd_view *view = hd_field_path_view(&field->path, columns);

        if (field->path.n_steps == 1 && view->type.id == HD_TYPE_STRING && n_rows > 0 &&
            has_no_nulls(view, n_rows))
            return share_strings(op, field, view, n_rows, arena, failures, out);
    }
    HD_TRY_OUT(text_init(op, &text, n_rows, (uint64_t)n_rows * generator->key_bytes + 64));
    if (generator->n_keys == 0)
        HD_TRY_OUT(make_up_texts(op, generator, n_rows, &text));
    else if (generator->named)
        HD_TRY_OUT(join_texts(op, generator, columns, n_rows, arena, failures, &text));
    else
        HD_TRY_OUT(copy_texts(op, generator, columns, n_rows, arena, failures, &text));
    if (n_rows > 0) /* what the next batch's keys are likely to take */
        generator->key_bytes = (uint32_t)(text.size / (uint64_t)n_rows + 2);
    status = text_finish(op, &text, n_rows, out);
out:
    text_clear(&text);
    return status;
}
