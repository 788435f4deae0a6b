/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LOG_TESTING_H
#define LOG_TESTING_H

#include "format/log/log_reader.h"
#include "support/table.h"

/* A rollback block that Hudi wrote into a table of version 6. */
static const char ROLLBACK[] = "#HUDI#"
                               "\0\0\0\0\0\0\0\x5b"
                               "\0\0\0\1"
                               "\0\0\0\0"
                               "\0\0\0\3"
                               "\0\0\0\0\0\0\0\x11"
                               "20250126040936578"
                               "\0\0\0\3\0\0\0\1"
                               "0"
                               "\0\0\0\1\0\0\0\x11"
                               "20250126040826878"
                               "\0\0\0\0\0\0\0\0"
                               "\0\0\0\0"
                               "\0\0\0\0\0\0\0\x61";
#define ROLLBACK_BYTES 105

static inline hd_log_reader *reader_of(struct hd_op *op, const void *bytes, size_t n)
{
    hd_input_file *file;
    hd_log_reader *reader;

    test_must(op, hd_input_file_of_bytes(op, bytes, n, &file));
    test_must(op, hd_log_reader_of_file(op, file, &reader));
    return reader;
}

#endif
