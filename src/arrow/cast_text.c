/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "arrow/cast_internal.h"
#include "arrow/java_text.h"
#include "arrow/text.h"
#include "base/utf8.h"

#define FIRST_TEXT_BYTES 4096

hudi_status hd_cast_check_text(const struct hd_cast_leaf *leaf)
{
    const struct hd_view *view = leaf->from;

    for (int64_t i = 0; i < view->length; i++) {
        if (!hd_view_is_null(view, i) && !hd_utf8_valid(hd_view_bytes(view, i)))
            HD_TRY(hd_cast_misfit(leaf, i));
    }
    return HUDI_OK;
}

hudi_status hd_cast_to_text(const struct hd_cast_leaf *leaf, struct ArrowArray *out)
{
    const struct hd_view *from = leaf->from;
    char scratch[HD_JAVA_TEXT_BYTES];
    int32_t *offsets;
    uint8_t *data = NULL;
    uint64_t used = 0;

    HD_TRY(hd_cast_begin(leaf, 3, out));
    HD_TRY(hd_cast_values(leaf, ((uint64_t)from->length + 1) * sizeof *offsets, out, &offsets));
    HD_TRY(hd_buffer_new(leaf->op, FIRST_TEXT_BYTES, &data));
    hd_array_set_buffer(out, 2, data);
    offsets[0] = 0;
    for (int64_t i = 0; i < from->length; i++) {
        if (!hd_view_is_null(from, i)) {
            const struct hd_slice text = hd_java_text(from, i, false, scratch);
            if (used + text.size > INT32_MAX)
                return hd_cast_fail(leaf->op, leaf->path, HUDI_INVALID,
                                    "%lld rows hold more than 2 GiB", (long long)from->length);
            if (used + text.size > hd_buffer_capacity(data)) {
                const hudi_status status = hd_buffer_grow(leaf->op, &data, used, used / 2 * 3);
                hd_array_set_buffer(out, 2, data);
                HD_TRY(status);
            }
            memcpy(data + used, text.data, text.size);
            used += text.size;
        }
        offsets[i + 1] = (int32_t)used;
    }
    return HUDI_OK;
}

hudi_status hd_cast_bytes_to_fixed(const struct hd_cast_leaf *leaf, struct ArrowArray *out)
{
    const struct hd_view *from = leaf->from;
    const size_t width = (size_t)leaf->to.byte_width;
    uint8_t *to;

    HD_TRY(hd_cast_begin(leaf, 2, out));
    HD_TRY(hd_cast_values(leaf, (uint64_t)from->length * width, out, &to));
    for (int64_t i = 0; i < from->length; i++, to += width) {
        const struct hd_slice bytes = hd_view_bytes(from, i);
        const bool null = hd_view_is_null(from, i);
        if (!null && bytes.size != width)
            HD_TRY(hd_cast_misfit(leaf, i));
        if (null || bytes.size != width)
            memset(to, 0, width);
        else if (width > 0)
            memcpy(to, bytes.data, width);
    }
    return HUDI_OK;
}

hudi_status hd_cast_fixed_to_bytes(const struct hd_cast_leaf *leaf, struct ArrowArray *out)
{
    const struct hd_view *from = leaf->from;
    const int64_t width = from->type.byte_width;
    int32_t *offsets;
    uint8_t *data;

    if (from->length > 0 && width > INT32_MAX / from->length)
        return hd_cast_fail(leaf->op, leaf->path, HUDI_INVALID, "%lld rows hold more than 2 GiB",
                            (long long)from->length);
    HD_TRY(hd_cast_begin(leaf, 3, out));
    HD_TRY(hd_cast_values(leaf, ((uint64_t)from->length + 1) * sizeof *offsets, out, &offsets));
    HD_TRY(hd_buffer_new_raw(leaf->op, (uint64_t)(from->length * width), &data));
    hd_array_set_buffer(out, 2, data);
    for (int64_t i = 0; i <= from->length; i++)
        offsets[i] = (int32_t)(i * width);
    if (from->length > 0 && width > 0)
        memcpy(data, hd_view_bytes(from, 0).data, (size_t)(from->length * width));
    return HUDI_OK;
}
