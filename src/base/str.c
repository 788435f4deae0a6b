/* SPDX-License-Identifier: Apache-2.0 */

#include "base/str.h"

#include <stdio.h>

int hd_slice_compare(struct hd_slice a, struct hd_slice b)
{
    const size_t n = a.size < b.size ? a.size : b.size;
    const int order = n == 0 ? 0 : memcmp(a.data, b.data, n);

    if (order != 0)
        return order < 0 ? -1 : 1;
    return (a.size > b.size) - (a.size < b.size);
}

bool hd_slice_starts_with(struct hd_slice s, const char *prefix)
{
    const size_t n = strlen(prefix);

    return n <= s.size && (n == 0 || memcmp(s.data, prefix, n) == 0);
}

bool hd_slice_ends_with(struct hd_slice s, const char *suffix)
{
    const size_t n = strlen(suffix);

    return n <= s.size && (n == 0 || memcmp(s.data + (s.size - n), suffix, n) == 0);
}

hudi_status hd_str_reserve(struct hd_op *op, struct hd_str *str, size_t n)
{
    size_t wanted;

    if (__builtin_add_overflow(str->size, n, &wanted) || wanted == SIZE_MAX)
        return hd_fail(op, HUDI_NO_MEMORY, "no memory for %zu bytes of text", n);
    HD_TRY(hd_grow(op, &str->data, &str->capacity, wanted + 1, 1));
    str->data[str->size] = '\0';
    return HUDI_OK;
}

hudi_status hd_str_append(struct hd_op *op, struct hd_str *str, const void *bytes, size_t n)
{
    HD_TRY(hd_str_reserve(op, str, n));
    if (n > 0)
        memcpy(str->data + str->size, bytes, n);
    str->size += n;
    str->data[str->size] = '\0';
    return HUDI_OK;
}

hudi_status hd_str_append_text(struct hd_op *op, struct hd_str *str, const char *text)
{
    return hd_str_append(op, str, text, strlen(text));
}

hudi_status hd_str_append_char(struct hd_op *op, struct hd_str *str, char c)
{
    return hd_str_append(op, str, &c, 1);
}

hudi_status hd_str_printf(struct hd_op *op, struct hd_str *str, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    const int n = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (n < 0)
        return hd_fail(op, HUDI_INTERNAL, "the format \"%s\" cannot be printed", format);
    HD_TRY(hd_str_reserve(op, str, (size_t)n));
    va_start(arguments, format);
    vsnprintf(str->data + str->size, (size_t)n + 1, format, arguments);
    va_end(arguments);
    str->size += (size_t)n;
    return HUDI_OK;
}

hudi_status hd_str_take(struct hd_op *op, struct hd_str *str, char **out)
{
    *out = NULL;
    HD_TRY(hd_str_reserve(op, str, 0));
    *out = str->data;
    *str = (struct hd_str){0};
    return HUDI_OK;
}

void hd_str_clear(struct hd_str *str)
{
    hd_free(NULL, str->data);
    *str = (struct hd_str){0};
}
