/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HUDI_STATUS_H
#define HUDI_STATUS_H

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define HUDI_EXPORT __attribute__((visibility("default")))
#else
#define HUDI_EXPORT
#endif

/**
 * How a call ended. The numbers never change meaning; new ones are added at the end.
 *
 * HUDI_END and HUDI_NOT_FOUND are expected outcomes: the calls that return them say so, and they
 * make no hudi_error.
 */
typedef enum hudi_status {
    HUDI_OK = 0,
    HUDI_END = 1,             /* no more rows, blocks, entries */
    HUDI_NOT_FOUND = 2,       /* no such file, table, instant, key */
    HUDI_INVALID = 3,         /* an argument, option or row that cannot be used as given */
    HUDI_CORRUPT = 4,         /* file content that contradicts itself or its format */
    HUDI_IO = 5,              /* the operating system or the store refused */
    HUDI_NO_MEMORY = 6,       /* allocation failed or the memory budget is used up */
    HUDI_NOT_IMPLEMENTED = 7, /* understood, and refused: this library does not do it (yet) */
    HUDI_EXISTS = 8,          /* an exclusive create found the name taken */
    HUDI_CONFLICT = 9,        /* another writer holds the table or changed the same file group */
    HUDI_SCHEMA = 10,         /* types or columns that do not fit each other */
    HUDI_CANCELLED = 11,      /* hudi_cancel_request() was called */
    HUDI_ROWS_FAILED = 12,    /* single records could not be written and the write was undone */
    HUDI_INTERNAL = 13,       /* a fault of this library; please report it */
    HUDI_SERVICE_FAILED = 14, /* the write is committed, a table service behind it failed */
} hudi_status;

/** A short lower-case name ("corrupt"), static; "unknown" for a number out of range. */
HUDI_EXPORT const char *hudi_status_name(hudi_status status);

#ifdef __cplusplus
}
#endif
#endif
