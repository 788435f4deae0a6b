/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "arrow/array.h"

#define ALIGNMENT 64
#define MAX_BYTES (UINT64_C(1) << 46) /* no machine has more; keeps sums from overflowing */

/* Stands directly before the aligned bytes. */
struct buffer_head {
    void *block; /* as allocated */
    uint64_t capacity;
};

/* `out` is the address of a pointer of some other type. */
static void set_pointer(void *out, void *pointer)
{
    memcpy(out, &pointer, sizeof pointer);
}

static struct buffer_head *head_of(const void *buffer)
{
    return (struct buffer_head *)((uintptr_t)buffer - sizeof(struct buffer_head));
}

static hudi_status buffer_new(struct hd_op *op, uint64_t n_bytes, bool zeroed, void *out)
{
    set_pointer(out, NULL);
    if (n_bytes > MAX_BYTES)
        return hd_fail(op, HUDI_NO_MEMORY, "a column buffer of %llu bytes is asked for",
                       (unsigned long long)n_bytes);
    const uint64_t capacity =
        n_bytes == 0 ? ALIGNMENT : (n_bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    const uint64_t block_bytes = capacity + ALIGNMENT + sizeof(struct buffer_head);
    uint8_t *block;

    if (zeroed)
        HD_TRY(hd_alloc(op, block_bytes, &block));
    else
        HD_TRY(hd_alloc_raw(op, block_bytes, 1, &block));
    const uintptr_t first = (uintptr_t)block + sizeof(struct buffer_head);
    uint8_t *buffer = block + ((first + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT - (uintptr_t)block);
    *head_of(buffer) = (struct buffer_head){block, capacity};
    if (!zeroed)
        memset(buffer + n_bytes, 0, capacity - n_bytes);
    set_pointer(out, buffer);
    return HUDI_OK;
}

hudi_status hd_buffer_new(struct hd_op *op, uint64_t n_bytes, void *out)
{
    return buffer_new(op, n_bytes, true, out);
}

hudi_status hd_buffer_new_raw(struct hd_op *op, uint64_t n_bytes, void *out)
{
    return buffer_new(op, n_bytes, false, out);
}

hudi_status hd_buffer_grow(struct hd_op *op, void *buffer, uint64_t used_bytes, uint64_t n_bytes)
{
    uint8_t *old, *grown;

    memcpy(&old, buffer, sizeof old);
    if (old != NULL && n_bytes <= head_of(old)->capacity)
        return HUDI_OK;
    HD_TRY(buffer_new(op, n_bytes, false, &grown));
    if (old == NULL)
        used_bytes = 0;
    else
        memcpy(grown, old, used_bytes);
    memset(grown + used_bytes, 0, n_bytes - used_bytes);
    hd_buffer_free(old);
    set_pointer(buffer, grown);
    return HUDI_OK;
}

uint64_t hd_buffer_capacity(const void *buffer)
{
    return buffer == NULL ? 0 : head_of(buffer)->capacity;
}

void hd_buffer_free(void *buffer)
{
    if (buffer != NULL)
        hd_free(NULL, head_of(buffer)->block);
}
