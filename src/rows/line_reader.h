/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ROWS_LINE_READER_H
#define HD_ROWS_LINE_READER_H

#include "base/op.h"
#include "base/str.h"
#include "store/input_file.h"

/** Lines of a file or of standard input, one buffer in memory. A line may end in "\r\n" and the
 * last one needs no end. */
typedef struct hd_line_reader hd_line_reader;

/** `file` is taken over; NULL: standard input. */
hudi_status hd_line_reader_open(struct hd_op *op, hd_input_file *file, hd_line_reader **out);
void hd_line_reader_close(struct hd_op *op, hd_line_reader *reader);

/** The next line without its end, valid until the next call; HUDI_END. A line of more than 64 MiB
 * is HUDI_INVALID. */
hudi_status hd_line_reader_next(struct hd_op *op, hd_line_reader *reader, struct hd_slice *out);

/** Number of the line last given, from 1. */
int64_t hd_line_reader_line(const hd_line_reader *reader);

#endif
