/* SPDX-License-Identifier: Apache-2.0 */

#include "base/arena.h"

#include <stdalign.h>
#include <stdio.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__)
#define ARENA_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ARENA_ASAN 1
#endif
#endif
#ifdef ARENA_ASAN
#include <sanitizer/asan_interface.h>
#define GAP_BYTES 16 /* poisoned, behind each allocation */
#else
#define ASAN_POISON_MEMORY_REGION(at, n_bytes) ((void)(at), (void)(n_bytes))
#define ASAN_UNPOISON_MEMORY_REGION(at, n_bytes) ((void)(at), (void)(n_bytes))
#define GAP_BYTES 0
#endif

/*
 * Chunks double in size, so that n bytes take about log(n) of them. What would waste much of the
 * current chunk gets one of its own behind it.
 *
 * Invariants
 *  1. The bytes that are free in the first chunk (`next`, `left_bytes`) are zero.
 *  2. All other chunks are full: nothing is taken from them any more.
 * Under AddressSanitizer everything that is not handed out is poisoned.
 */

#define ALIGN_BYTES alignof(max_align_t)
#define FIRST_CHUNK_BYTES 2048
#define LAST_CHUNK_BYTES (1 << 20)

struct hd_arena_chunk {
    alignas(max_align_t) struct hd_arena_chunk *next; /* the one made before */
    size_t n_bytes;                                   /* of `bytes` */
    alignas(max_align_t) uint8_t bytes[];
};

/* A zeroed chunk; not yet in the list. */
static hudi_status new_chunk(struct hd_op *op, struct hd_arena *arena, size_t n_bytes,
                             struct hd_arena_chunk **out)
{
    size_t total_bytes;

    *out = NULL;
    if (__builtin_add_overflow(n_bytes, sizeof **out, &total_bytes))
        return hd_fail(op, HUDI_NO_MEMORY, "no memory for %zu bytes", n_bytes);
    HD_TRY(hd_alloc(op, total_bytes, out));
    (*out)->n_bytes = n_bytes;
    arena->total_bytes += n_bytes;
    ASAN_POISON_MEMORY_REGION((*out)->bytes, n_bytes);
    return HUDI_OK;
}

static size_t next_chunk_bytes(const struct hd_arena *arena)
{
    if (arena->chunks == NULL)
        return FIRST_CHUNK_BYTES;
    const size_t n_bytes = arena->chunks->n_bytes * 2;
    return n_bytes < LAST_CHUNK_BYTES ? n_bytes : LAST_CHUNK_BYTES;
}

/* Room for `n_bytes` that the current chunk does not have. */
static hudi_status take_from_new(struct hd_op *op, struct hd_arena *arena, size_t n_bytes,
                                 void **out)
{
    const size_t usual_bytes = next_chunk_bytes(arena);
    struct hd_arena_chunk *chunk;

    if (n_bytes > usual_bytes / 4 && arena->chunks != NULL) {
        HD_TRY(new_chunk(op, arena, n_bytes, &chunk));
        chunk->next = arena->chunks->next;
        arena->chunks->next = chunk;
        *out = chunk->bytes;
        return HUDI_OK;
    }
    HD_TRY(new_chunk(op, arena, n_bytes > usual_bytes ? n_bytes : usual_bytes, &chunk));
    chunk->next = arena->chunks;
    arena->chunks = chunk;
    arena->next = chunk->bytes + n_bytes;
    arena->left_bytes = chunk->n_bytes - n_bytes;
    *out = chunk->bytes;
    return HUDI_OK;
}

/* `align` is a power of two, at most ALIGN_BYTES. */
static hudi_status take(struct hd_op *op, struct hd_arena *arena, size_t n_bytes, size_t align,
                        void **out)
{
    size_t wanted;

    *out = NULL;
    if (__builtin_add_overflow(n_bytes, n_bytes == 0 ? 1 + GAP_BYTES : GAP_BYTES, &wanted))
        return hd_fail(op, HUDI_NO_MEMORY, "no memory for %zu bytes", n_bytes);
    if (GAP_BYTES > 0)
        align = ALIGN_BYTES;
    const size_t pad = (size_t) - (uintptr_t)arena->next & (align - 1);
    if (pad > arena->left_bytes || wanted > arena->left_bytes - pad) {
        HD_TRY(take_from_new(op, arena, wanted, out));
    } else {
        *out = arena->next + pad;
        arena->next += pad + wanted;
        arena->left_bytes -= pad + wanted;
    }
    ASAN_UNPOISON_MEMORY_REGION(*out, n_bytes);
    return HUDI_OK;
}

hudi_status hd_arena_alloc(struct hd_op *op, struct hd_arena *arena, size_t n_bytes, void *out)
{
    void *pointer;
    const hudi_status status = take(op, arena, n_bytes, ALIGN_BYTES, &pointer);

    memcpy(out, &pointer, sizeof pointer);
    return status;
}

hudi_status hd_arena_array(struct hd_op *op, struct hd_arena *arena, size_t n, size_t element_bytes,
                           void *out)
{
    const void *const nothing = NULL;
    size_t n_bytes;

    memcpy(out, &nothing, sizeof nothing);
    if (__builtin_mul_overflow(n, element_bytes, &n_bytes))
        return hd_fail(op, HUDI_NO_MEMORY, "no memory for %zu elements of %zu bytes", n,
                       element_bytes);
    return hd_arena_alloc(op, arena, n_bytes, out);
}

hudi_status hd_arena_strndup(struct hd_op *op, struct hd_arena *arena, const void *bytes, size_t n,
                             char **out)
{
    void *copy;

    *out = NULL;
    if (n == SIZE_MAX)
        return hd_fail(op, HUDI_NO_MEMORY, "no memory for %zu bytes", n);
    HD_TRY(take(op, arena, n + 1, 1, &copy));
    if (n > 0)
        memcpy(copy, bytes, n);
    *out = copy; /* the NUL is there: the bytes were zero */
    return HUDI_OK;
}

hudi_status hd_arena_strdup(struct hd_op *op, struct hd_arena *arena, const char *text, char **out)
{
    *out = NULL;
    return text == NULL ? HUDI_OK : hd_arena_strndup(op, arena, text, strlen(text), out);
}

hudi_status hd_arena_printf(struct hd_op *op, struct hd_arena *arena, char **out,
                            const char *format, ...)
{
    void *text;
    va_list arguments;

    *out = NULL;
    va_start(arguments, format);
    const int n = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (n < 0)
        return hd_fail(op, HUDI_INTERNAL, "the format \"%s\" cannot be printed", format);
    HD_TRY(take(op, arena, (size_t)n + 1, 1, &text));
    va_start(arguments, format);
    vsnprintf(text, (size_t)n + 1, format, arguments);
    va_end(arguments);
    *out = text;
    return HUDI_OK;
}

static void free_chunks(struct hd_arena_chunk *chunk)
{
    while (chunk != NULL) {
        struct hd_arena_chunk *const next = chunk->next;

        ASAN_UNPOISON_MEMORY_REGION(chunk->bytes, chunk->n_bytes);
        hd_free(NULL, chunk);
        chunk = next;
    }
}

void hd_arena_reset(struct hd_arena *arena)
{
    struct hd_arena_chunk *const kept = arena->chunks;

    if (kept == NULL)
        return;
    free_chunks(kept->next);
    kept->next = NULL;
    ASAN_UNPOISON_MEMORY_REGION(kept->bytes, kept->n_bytes);
    memset(kept->bytes, 0, kept->n_bytes - arena->left_bytes);
    ASAN_POISON_MEMORY_REGION(kept->bytes, kept->n_bytes);
    arena->next = kept->bytes;
    arena->left_bytes = kept->n_bytes;
    arena->total_bytes = kept->n_bytes;
}

void hd_arena_clear(struct hd_arena *arena)
{
    free_chunks(arena->chunks);
    *arena = (struct hd_arena){0};
}
