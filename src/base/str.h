/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_BASE_STR_H
#define HD_BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/op.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Bytes that belong to somebody else. `data` may be NULL when `size` is 0. Not NUL-terminated. */
struct hd_slice {
    const uint8_t *data;
    size_t size;
};

static inline struct hd_slice hd_slice_of(const void *data, size_t size)
{
    const struct hd_slice slice = {(const uint8_t *)data, size};

    return slice;
}

static inline struct hd_slice hd_slice_text(const char *text)
{
    return hd_slice_of(text, strlen(text));
}

static inline bool hd_slice_equal(struct hd_slice a, struct hd_slice b)
{
    return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

/** By bytes, a prefix before what it begins. */
int hd_slice_compare(struct hd_slice a, struct hd_slice b);

bool hd_slice_starts_with(struct hd_slice s, const char *prefix);
bool hd_slice_ends_with(struct hd_slice s, const char *suffix);

/** Text or bytes that grow. All zero is empty and ready; release with hd_str_clear(). `data` has a
 * NUL behind its last byte once anything was appended. */
struct hd_str {
    char *data;
    size_t size;
    size_t capacity;
};

hudi_status hd_str_append(struct hd_op *op, struct hd_str *str, const void *bytes, size_t n);
hudi_status hd_str_append_text(struct hd_op *op, struct hd_str *str, const char *text);
hudi_status hd_str_append_char(struct hd_op *op, struct hd_str *str, char c);
hudi_status hd_str_printf(struct hd_op *op, struct hd_str *str, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/** Room for `n` more bytes (plus NUL), so that what follows cannot fail. */
hudi_status hd_str_reserve(struct hd_op *op, struct hd_str *str, size_t n);

/** The text, "" when empty; belongs to `str`. */
static inline const char *hd_str_text(const struct hd_str *str)
{
    return str->data == NULL ? "" : str->data;
}

static inline struct hd_slice hd_str_slice(const struct hd_str *str)
{
    return hd_slice_of(str->data, str->size);
}

/** Give the buffer to the caller (free with hd_free()), leaving `str` empty. Never NULL on
 * success. */
hudi_status hd_str_take(struct hd_op *op, struct hd_str *str, char **out);

void hd_str_clear(struct hd_str *str);

#ifdef __cplusplus
}
#endif

#endif
