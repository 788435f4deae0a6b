/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_BASE_ARENA_H
#define HD_BASE_ARENA_H

#include <stddef.h>
#include <stdint.h>

#include "base/op.h"
#include "base/str.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Memory for things that die together: one plan, one decoded file, one batch's keys. Allocation is
 * a pointer bump; nothing is freed alone. An all-zero arena is empty and ready. One thread at a
 * time.
 */
struct hd_arena_chunk;
struct hd_arena {
    struct hd_arena_chunk *chunks; /* newest first */
    uint8_t *next;
    size_t left_bytes;
    uint64_t total_bytes; /* of all chunks */
};

/** Zeroed, aligned for any type. `out` is the address of a pointer. @return HUDI_NO_MEMORY */
hudi_status hd_arena_alloc(struct hd_op *op, struct hd_arena *arena, size_t n_bytes, void *out);

/** `n` elements, the product checked. */
hudi_status hd_arena_array(struct hd_op *op, struct hd_arena *arena, size_t n, size_t element_bytes,
                           void *out);

/** A copy with a NUL behind it. */
hudi_status hd_arena_strndup(struct hd_op *op, struct hd_arena *arena, const void *bytes, size_t n,
                             char **out);
hudi_status hd_arena_strdup(struct hd_op *op, struct hd_arena *arena, const char *text, char **out);
hudi_status hd_arena_printf(struct hd_op *op, struct hd_arena *arena, char **out,
                            const char *format, ...) __attribute__((format(printf, 4, 5)));

/** Forget everything but keep the newest chunk for reuse. */
void hd_arena_reset(struct hd_arena *arena);

/** Free everything; the arena is empty and may be used again. */
void hd_arena_clear(struct hd_arena *arena);

#ifdef __cplusplus
}
#endif

#endif
