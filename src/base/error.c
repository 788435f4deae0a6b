/* SPDX-License-Identifier: Apache-2.0 */

/* strerror_r() as POSIX has it, returning a number, is the one that every C library offers. */
#undef _GNU_SOURCE
#define _POSIX_C_SOURCE 200809L

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/internal.h"
#include "base/op.h"

/*
 * An error is made with the libc's malloc, not hd_alloc(): that one reports its failure here. When
 * there is no memory for it, a read-only object of the same status takes its place.
 */

#define MESSAGE_BYTES 1024 /* longer messages are cut and end in "..." */
#define N_STATUSES (HUDI_SERVICE_FAILED + 1)

static const char *const STATUS_NAMES[N_STATUSES] = {
    [HUDI_OK] = "ok",
    [HUDI_END] = "end",
    [HUDI_NOT_FOUND] = "not found",
    [HUDI_INVALID] = "invalid",
    [HUDI_CORRUPT] = "corrupt",
    [HUDI_IO] = "io",
    [HUDI_NO_MEMORY] = "no memory",
    [HUDI_NOT_IMPLEMENTED] = "not implemented",
    [HUDI_EXISTS] = "exists",
    [HUDI_CONFLICT] = "conflict",
    [HUDI_SCHEMA] = "schema",
    [HUDI_CANCELLED] = "cancelled",
    [HUDI_ROWS_FAILED] = "rows failed",
    [HUDI_INTERNAL] = "internal",
    [HUDI_SERVICE_FAILED] = "service failed",
};

#define STATIC_ERROR(code, text)                                                                   \
    [code] = {                                                                                     \
        .status = (code), .is_static = true, .message = text "; no memory is left to say more"}

static const hudi_error STATIC_ERRORS[N_STATUSES] = {
    STATIC_ERROR(HUDI_OK, "no error"),
    STATIC_ERROR(HUDI_END, "the end was reached"),
    STATIC_ERROR(HUDI_NOT_FOUND, "not found"),
    STATIC_ERROR(HUDI_INVALID, "an argument cannot be used"),
    STATIC_ERROR(HUDI_CORRUPT, "a file is corrupt"),
    STATIC_ERROR(HUDI_IO, "an input or output operation was refused"),
    [HUDI_NO_MEMORY] = {.status = HUDI_NO_MEMORY,
                        .is_static = true,
                        .message = "memory is used up"},
    STATIC_ERROR(HUDI_NOT_IMPLEMENTED, "not implemented"),
    STATIC_ERROR(HUDI_EXISTS, "the name is taken"),
    STATIC_ERROR(HUDI_CONFLICT, "another writer was faster"),
    STATIC_ERROR(HUDI_SCHEMA, "types or columns do not fit"),
    STATIC_ERROR(HUDI_CANCELLED, "the operation was cancelled"),
    STATIC_ERROR(HUDI_ROWS_FAILED, "records could not be written"),
    STATIC_ERROR(HUDI_INTERNAL, "a fault of this library"),
    STATIC_ERROR(HUDI_SERVICE_FAILED, "the write is committed, a table service after it failed"),
};

static bool is_known(hudi_status status)
{
    return (unsigned)status < N_STATUSES;
}

const char *hudi_status_name(hudi_status status)
{
    return is_known(status) ? STATUS_NAMES[status] : "unknown";
}

hudi_status hudi_error_status(const hudi_error *error)
{
    return error == NULL ? HUDI_OK : error->status;
}

const char *hudi_error_message(const hudi_error *error)
{
    return error == NULL ? "no error" : error->message;
}

const char *hudi_error_path(const hudi_error *error)
{
    return error == NULL ? NULL : error->path;
}

bool hudi_error_retriable(const hudi_error *error)
{
    return error != NULL && error->retriable;
}

void hudi_error_free(hudi_error *error)
{
    if (error == NULL || error->is_static)
        return;
    free(error->path);
    free(error);
}

/* The const is cast away for the caller's type only: `is_static` guards every write. */
hudi_error *hd_error_static(hudi_status status)
{
    return (hudi_error *)&STATIC_ERRORS[is_known(status) ? status : HUDI_INTERNAL];
}

static void *error_malloc(const struct hd_op *op, size_t n_bytes)
{
    if (op->faults != NULL && op->faults->no_error_memory)
        return NULL;
    return malloc(n_bytes);
}

/* vsnprintf has cut the text: end it at a whole UTF-8 character and say so. */
static void mark_cut(char message[MESSAGE_BYTES])
{
    size_t end = MESSAGE_BYTES - sizeof "...";

    while (end > 0 && ((unsigned char)message[end] & 0xC0) == 0x80)
        end--;
    memcpy(message + end, "...", sizeof "...");
}

/* Names that come out of files may hold anything; a message is one line. */
static void make_one_line(char *message)
{
    for (char *c = message; *c != '\0'; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7F)
            *c = '?';
}

/* Message and error end up in one block. */
static hudi_error *error_new(const struct hd_op *op, hudi_status status, const char *message)
{
    const size_t message_bytes = strlen(message) + 1;
    hudi_error *const error = error_malloc(op, sizeof *error + message_bytes);

    if (error == NULL)
        return hd_error_static(status);
    char *const copy = memcpy(error + 1, message, message_bytes);
    *error = (hudi_error){.status = status, .message = copy};
    return error;
}

/* `suffix` (may be NULL) comes behind the formatted text. */
static void record(struct hd_op *op, hudi_status status, const char *suffix, bool retriable,
                   const char *format, va_list arguments)
{
    char message[MESSAGE_BYTES];

    assert(status != HUDI_OK && is_known(status));
    if (op->error != NULL)
        return;
    int n = vsnprintf(message, sizeof message, format, arguments);
    if (n < 0) {
        n = snprintf(message, sizeof message, "%s", hudi_status_name(status));
    }
    if (suffix != NULL && n < MESSAGE_BYTES)
        n += snprintf(message + n, sizeof message - (size_t)n, ": %s", suffix);
    if (n >= MESSAGE_BYTES)
        mark_cut(message);
    make_one_line(message);
    op->error = error_new(op, status, message);
    if (!op->error->is_static)
        op->error->retriable = retriable;
}

void hd_fail_record(struct hd_op *op, hudi_status status, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    record(op, status, NULL, false, format, arguments);
    va_end(arguments);
}

/* "No such file or directory" reads in the middle of a line; "RPC ..." stays as it is. */
static void errno_text(int errno_value, char *text, size_t n_bytes)
{
    if (strerror_r(errno_value, text, n_bytes) != 0)
        snprintf(text, n_bytes, "error number %d", errno_value);
    if (text[0] >= 'A' && text[0] <= 'Z' && text[1] >= 'a' && text[1] <= 'z')
        text[0] = (char)(text[0] - 'A' + 'a');
}

hudi_status hd_fail_record_errno(struct hd_op *op, int errno_value, const char *format, ...)
{
    const hudi_status status = errno_value == ENOMEM ? HUDI_NO_MEMORY : HUDI_IO;
    const bool retriable = errno_value == EAGAIN || errno_value == EINTR || errno_value == EBUSY;
    char text[256];
    va_list arguments;

    errno_text(errno_value, text, sizeof text);
    va_start(arguments, format);
    record(op, status, text, retriable, format, arguments);
    va_end(arguments);
    return status;
}

/* Without memory for it the path is left out: the error stays as it is. */
void hd_error_set_path(struct hd_op *op, const char *path)
{
    hudi_error *const error = op->error;

    if (error == NULL || error->is_static || error->path != NULL || path == NULL)
        return;
    const size_t n_bytes = strlen(path) + 1;
    char *const copy = error_malloc(op, n_bytes);
    if (copy != NULL)
        error->path = memcpy(copy, path, n_bytes);
}

void hd_error_set_retriable(struct hd_op *op)
{
    if (op->error != NULL && !op->error->is_static)
        op->error->retriable = true;
}
