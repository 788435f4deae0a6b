/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_BASE_OP_H
#define HD_BASE_OP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
#include <atomic>
#define HD_ATOMIC(type) std::atomic<type> /* the same layout */
#else
#include <stdatomic.h>
#define HD_ATOMIC(type) _Atomic(type)
#endif

#include "hudi/error.h"
#include "hudi/status.h"

typedef HD_ATOMIC(bool) hd_atomic_bool;

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The context of one operation: every function that can fail takes a `struct hd_op *` first and
 * returns a hudi_status. It is small on purpose and knows nothing of tables. One thread uses an op
 * at a time; a pool task gets its own (hd_op_init_child) and the first error is joined back
 * (hd_op_join).
 *
 * Invariants
 *  1. Whoever sees a fault calls hd_fail() once; callers pass the status up and may add a path with
 *     hd_fail_path(), never a second story: the first error of an op stays.
 *  2. HUDI_END and HUDI_NOT_FOUND as documented outcomes of a call set no error.
 *  3. Whoever handles a failure instead of passing it up calls hd_op_clear_error().
 */

enum hd_log_level { HD_LOG_DEBUG, HD_LOG_INFO, HD_LOG_WARN };

/** A pool of bytes that buffers which grow with the data count against; shared between threads. */
struct hd_budget {
    HD_ATOMIC(uint64_t) used_bytes;
    uint64_t limit_bytes; /* UINT64_MAX: no limit */
};

/** Tests only: fails the n-th allocation or file operation (see tests/support/fault.h). */
struct hd_faults {
    HD_ATOMIC(int64_t) left; /* operations until the fault; below 0: not armed */
    hd_atomic_bool fired;
    bool sticky;          /* once fired, everything after fails too: a crash */
    bool no_error_memory; /* hd_fail() finds no memory for its error either */
    bool files_only;      /* allocations neither count nor fail */
    bool kills;           /* the process is killed at the fault */
    bool doubles_rows;    /* of rows that are rewritten one comes twice, and another not */
};

/** Where "now" comes from; replaced in tests. */
struct hd_clock {
    uint64_t (*now_ms)(void *self); /* wall clock, milliseconds since the epoch, UTC */
    void (*sleep_ms)(void *self, uint64_t ms);
    void *self;
};

struct hd_log_sink {
    void (*line)(void *self, enum hd_log_level level, const char *message);
    void *self;
};

struct hd_progress;

struct hd_progress_sink {
    void (*report)(void *self, const struct hd_progress *progress); /* from any thread */
    void *self;
};

struct hd_op {
    hudi_error *error;               /* the first failure; NULL while all is well */
    struct hd_budget *budget;        /* never NULL after hd_op_init */
    const hd_atomic_bool *cancelled; /* NULL: cannot be cancelled */
    struct hd_clock clock;
    struct hd_log_sink log;                /* line == NULL: log lines are dropped */
    struct hd_progress_sink progress_sink; /* report == NULL: nobody is told */
    struct hd_progress *progress;          /* of the work at hand (base/progress.h), or NULL */
    struct hd_faults *faults;              /* NULL outside tests */
    uint64_t random_state[2]; /* for ids and tokens; seeded by hd_op_init from the system */
};

/** System clock, seeded random, no budget limit, no log. Release with hd_op_clear(). */
void hd_op_init(struct hd_op *op);

/** An op for a pool task: shares budget, cancel flag, clock, log, progress and faults; has its own
 * error and its own random sequence, drawn from the parent's (so a fixed parent seed fixes the
 * child's). */
void hd_op_init_child(struct hd_op *op, struct hd_op *parent);

/** Move a finished child's error into the parent if that has none, and clear the child. */
void hd_op_join(struct hd_op *parent, struct hd_op *child);

void hd_op_clear(struct hd_op *op);
void hd_op_clear_error(struct hd_op *op);

/** Give up the op's error to the caller (NULL when there is none). */
hudi_error *hd_op_take_error(struct hd_op *op);

/**
 * Record a failure where it is seen, in one line without full stop, and return its status.
 * Usage: `return hd_fail(op, HUDI_CORRUPT, "log block at byte %" PRIu64 " is cut short", at);`
 * The first error of an op stays; later ones are dropped. Works (with a shortened message) when
 * memory is used up. `status` is not HUDI_OK. A macro, so that the compiler sees the status and
 * knows what is set after HD_TRY.
 */
#define hd_fail(op, status, ...)                                                                   \
    __extension__({                                                                                \
        const hudi_status hd_fail_status_ = (status);                                              \
        hd_fail_record((op), hd_fail_status_, __VA_ARGS__);                                        \
        hd_fail_status_;                                                                           \
    })
void hd_fail_record(struct hd_op *op, hudi_status status, const char *format, ...)
    __attribute__((cold, format(printf, 3, 4)));

/** As hd_fail(), for a failed system call: appends the text of `errno_value` and picks the status
 * (HUDI_IO, or HUDI_NO_MEMORY for ENOMEM; EAGAIN, EINTR, EBUSY are marked retriable). */
#define hd_fail_errno(op, errno_value, ...)                                                        \
    (hd_fail_record_errno((op), (errno_value), __VA_ARGS__) == HUDI_NO_MEMORY ? HUDI_NO_MEMORY     \
                                                                              : HUDI_IO)
hudi_status hd_fail_record_errno(struct hd_op *op, int errno_value, const char *format, ...)
    __attribute__((cold, format(printf, 3, 4)));

/* What the two below do before they return `status`. */
void hd_error_set_path(struct hd_op *op, const char *path) __attribute__((cold));
void hd_error_set_retriable(struct hd_op *op) __attribute__((cold));

/** Name the file the current error is about unless it has one already; returns `status`. */
static inline hudi_status hd_fail_path(struct hd_op *op, hudi_status status, const char *path)
{
    hd_error_set_path(op, path);
    return status;
}

/** Mark the current error as one that may go away by itself; returns `status`. */
static inline hudi_status hd_fail_retriable(struct hd_op *op, hudi_status status)
{
    hd_error_set_retriable(op);
    return status;
}

/** HUDI_CANCELLED (with an error set) once the operation's cancel flag is up. */
hudi_status hd_op_check_cancel(struct hd_op *op);

/** Tests' fault injection: call it at each point that can fail; HUDI_OK outside tests. */
hudi_status hd_op_fault_point(struct hd_op *op, const char *what);

void hd_log(struct hd_op *op, enum hd_log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static inline uint64_t hd_now_ms(struct hd_op *op)
{
    return op->clock.now_ms(op->clock.self);
}

static inline void hd_sleep_ms(struct hd_op *op, uint64_t ms)
{
    op->clock.sleep_ms(op->clock.self, ms);
}

/** 64 random bits from the op's sequence (xoroshiro128+; not for secrets). */
uint64_t hd_random_u64(struct hd_op *op);

#define HD_UUID_BYTES 37 /* text of a UUID with its NUL */

/** A random (version 4) UUID in lower case. */
void hd_random_uuid(struct hd_op *op, char out[HD_UUID_BYTES]);

/* ---- memory ------------------------------------------------------------------------------- */

/**
 * Allocate `n_bytes`, zeroed. `out` is the address of a pointer of any object type; it is set to
 * NULL on failure. Zero bytes give a pointer that is not NULL. Free with hd_free().
 * @return HUDI_NO_MEMORY
 */
hudi_status hd_alloc(struct hd_op *op, size_t n_bytes, void *out);

/** `n` elements of `element_bytes`, zeroed, the product checked. */
hudi_status hd_alloc_array(struct hd_op *op, size_t n, size_t element_bytes, void *out);

/** As hd_alloc_array(), not zeroed: for buffers that are filled at once. */
hudi_status hd_alloc_raw(struct hd_op *op, size_t n, size_t element_bytes, void *out);

/** Make room for at least `wanted` elements in `*(T **)pointer`, growing by half or more; content
 * is kept, new room is not zeroed; `*capacity` is in elements. On failure nothing has changed. */
hudi_status hd_grow(struct hd_op *op, void *pointer, size_t *capacity, size_t wanted,
                    size_t element_bytes);

/** Copy a string (NULL gives NULL) or `n` bytes with a NUL behind them. */
hudi_status hd_strdup(struct hd_op *op, const char *text, char **out);
hudi_status hd_strndup(struct hd_op *op, const void *bytes, size_t n, char **out);

/** printf into a fresh string. */
hudi_status hd_asprintf(struct hd_op *op, char **out, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/** Takes NULL. `op` may be NULL (release callbacks have none). */
void hd_free(struct hd_op *op, void *pointer);

/** Take `n_bytes` from the op's budget; false (no error set) when that would pass the limit: spill,
 * then try again. hd_budget_release() gives back. */
bool hd_budget_try_reserve(struct hd_op *op, uint64_t n_bytes);
void hd_budget_release(struct hd_op *op, uint64_t n_bytes);

/* ---- control flow ------------------------------------------------------------------------- */

/** Return from this function when `expression` is not HUDI_OK. */
#define HD_TRY(expression)                                                                         \
    do {                                                                                           \
        hudi_status hd_try_status_ = (expression);                                                 \
        if (hd_try_status_ != HUDI_OK)                                                             \
            return hd_try_status_;                                                                 \
    } while (0)

/** Set the local `status` and go to `out:` when `expression` is not HUDI_OK. */
#define HD_TRY_OUT(expression)                                                                     \
    do {                                                                                           \
        status = (expression);                                                                     \
        if (status != HUDI_OK)                                                                     \
            goto out;                                                                              \
    } while (0)

/** While closing: run `expression` always, keep the first failure in the local `status`. */
#define HD_KEEP(expression)                                                                        \
    do {                                                                                           \
        hudi_status hd_keep_status_ = (expression);                                                \
        if (status == HUDI_OK)                                                                     \
            status = hd_keep_status_;                                                              \
    } while (0)

#define HD_ARRAY_LENGTH(array) (sizeof(array) / sizeof((array)[0]))

#ifdef __cplusplus
}
#endif

#endif
