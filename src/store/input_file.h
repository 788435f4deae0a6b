/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_STORE_INPUT_FILE_H
#define HD_STORE_INPUT_FILE_H

#include <stdint.h>

#include "base/op.h"

/** An open file of fixed size. Reads may come from several threads at once. */
typedef struct hd_input_file hd_input_file;

uint64_t hd_input_file_size(const hd_input_file *file);
const char *hd_input_file_path(const hd_input_file *file);

/** Exactly `n` bytes at `offset`; HUDI_CORRUPT when the file ends before, HUDI_IO. */
hudi_status hd_input_file_read_at(struct hd_op *op, hd_input_file *file, uint64_t offset,
                                  void *into, uint64_t n);

/** Takes NULL. */
void hd_input_file_close(hd_input_file *file);

/** What is left of standard input, to its end, as a file: a redirected one as it is, anything else
 * is copied to a temporary file (temporary_file.h) in `folder`, which may be NULL. */
hudi_status hd_input_file_standard(struct hd_op *op, const char *folder, hd_input_file **out);
/** At most `n` bytes of it as they come; `*got` 0 is the end. */
hudi_status hd_standard_input_read(struct hd_op *op, void *into, size_t n, size_t *got);

/** A file over bytes in memory (copied), for tests and fuzzers. */
hudi_status hd_input_file_of_bytes(struct hd_op *op, const void *bytes, size_t n,
                                   hd_input_file **out);

/** `n` bytes of `file` from `offset` on, as a file with the same path. `file` is borrowed: it must
 * outlive the window. @return HUDI_CORRUPT when the file has not that many */
hudi_status hd_input_file_window(struct hd_op *op, hd_input_file *file, uint64_t offset, uint64_t n,
                                 hd_input_file **out);

#endif
