/* SPDX-License-Identifier: Apache-2.0 */

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/internal.h"
#include "base/op.h"

/*
 * The only file that calls the libc's allocator for the library's data. Every function that
 * allocates is one point at which a test can inject a failure. Pointers reach the caller's variable
 * by memcpy: `out` points to a pointer of some other type.
 */

#define GROW_MIN_BYTES 64 /* of a first allocation by hd_grow() */

static void set_pointer(void *out, void *pointer)
{
    memcpy(out, &pointer, sizeof pointer);
}

static void *get_pointer(const void *from)
{
    void *pointer;

    memcpy(&pointer, from, sizeof pointer);
    return pointer;
}

static bool is_denied(struct hd_op *op)
{
    return op->faults != NULL && !op->faults->files_only && hd_fault_hit(op);
}

static hudi_status fail_alloc(struct hd_op *op, size_t n, size_t element_bytes)
{
    if (element_bytes == 1)
        return hd_fail(op, HUDI_NO_MEMORY, "no memory for %zu bytes", n);
    return hd_fail(op, HUDI_NO_MEMORY, "no memory for %zu elements of %zu bytes", n, element_bytes);
}

/* False when `n` elements cannot be one object. */
static bool total_bytes(size_t n, size_t element_bytes, size_t *out)
{
    return !__builtin_mul_overflow(n, element_bytes, out) && *out <= PTRDIFF_MAX;
}

static hudi_status alloc_array(struct hd_op *op, size_t n, size_t element_bytes, bool zeroed,
                               void *out)
{
    void *pointer = NULL;
    size_t n_bytes;

    if (total_bytes(n, element_bytes, &n_bytes) && !is_denied(op)) {
        if (n_bytes == 0)
            n_bytes = 1;
        pointer = zeroed ? calloc(1, n_bytes) : malloc(n_bytes);
    }
    set_pointer(out, pointer);
    return pointer == NULL ? fail_alloc(op, n, element_bytes) : HUDI_OK;
}

hudi_status hd_alloc(struct hd_op *op, size_t n_bytes, void *out)
{
    return alloc_array(op, n_bytes, 1, true, out);
}

hudi_status hd_alloc_array(struct hd_op *op, size_t n, size_t element_bytes, void *out)
{
    return alloc_array(op, n, element_bytes, true, out);
}

hudi_status hd_alloc_raw(struct hd_op *op, size_t n, size_t element_bytes, void *out)
{
    return alloc_array(op, n, element_bytes, false, out);
}

hudi_status hd_grow(struct hd_op *op, void *pointer, size_t *capacity, size_t wanted,
                    size_t element_bytes)
{
    size_t n_bytes;

    assert(element_bytes > 0);
    if (wanted <= *capacity)
        return HUDI_OK;
    size_t n = GROW_MIN_BYTES / element_bytes;
    if (n < *capacity + *capacity / 2)
        n = *capacity + *capacity / 2;
    if (n < wanted)
        n = wanted;
    if (!total_bytes(n, element_bytes, &n_bytes) || is_denied(op))
        return fail_alloc(op, n, element_bytes);
    void *const grown = realloc(get_pointer(pointer), n_bytes);
    if (grown == NULL)
        return fail_alloc(op, n, element_bytes);
    set_pointer(pointer, grown);
    *capacity = n;
    return HUDI_OK;
}

hudi_status hd_strndup(struct hd_op *op, const void *bytes, size_t n, char **out)
{
    *out = NULL;
    if (n == SIZE_MAX)
        return fail_alloc(op, n, 1);
    HD_TRY(hd_alloc_raw(op, n + 1, 1, out));
    if (n > 0)
        memcpy(*out, bytes, n);
    (*out)[n] = '\0';
    return HUDI_OK;
}

hudi_status hd_strdup(struct hd_op *op, const char *text, char **out)
{
    *out = NULL;
    return text == NULL ? HUDI_OK : hd_strndup(op, text, strlen(text), out);
}

hudi_status hd_asprintf(struct hd_op *op, char **out, const char *format, ...)
{
    va_list arguments;

    *out = NULL;
    va_start(arguments, format);
    const int n = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (n < 0)
        return hd_fail(op, HUDI_INTERNAL, "the format \"%s\" cannot be printed", format);
    HD_TRY(hd_alloc_raw(op, (size_t)n + 1, 1, out));
    va_start(arguments, format);
    vsnprintf(*out, (size_t)n + 1, format, arguments);
    va_end(arguments);
    return HUDI_OK;
}

void hd_free(struct hd_op *op, void *pointer)
{
    (void)op;
    free(pointer);
}

static const struct hd_budget UNLIMITED = {.limit_bytes = UINT64_MAX};

/* The const is cast away for the type's sake; the functions below never write to it. */
struct hd_budget *hd_budget_unlimited(void)
{
    return (struct hd_budget *)&UNLIMITED;
}

bool hd_budget_try_reserve(struct hd_op *op, uint64_t n_bytes)
{
    struct hd_budget *const budget = op->budget;

    if (budget == &UNLIMITED)
        return true;
    uint64_t used = atomic_load_explicit(&budget->used_bytes, memory_order_relaxed);
    do {
        if (used > budget->limit_bytes || n_bytes > budget->limit_bytes - used)
            return false;
    } while (!atomic_compare_exchange_weak_explicit(&budget->used_bytes, &used, used + n_bytes,
                                                    memory_order_relaxed, memory_order_relaxed));
    return true;
}

void hd_budget_release(struct hd_op *op, uint64_t n_bytes)
{
    struct hd_budget *const budget = op->budget;

    if (budget == &UNLIMITED)
        return;
    const uint64_t before =
        atomic_fetch_sub_explicit(&budget->used_bytes, n_bytes, memory_order_relaxed);
    assert(before >= n_bytes);
    (void)before;
}
