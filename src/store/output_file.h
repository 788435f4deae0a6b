/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_STORE_OUTPUT_FILE_H
#define HD_STORE_OUTPUT_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/op.h"
#include "base/str.h"

/** A file being written, front to back, by one thread. */
typedef struct hd_output_file hd_output_file;

hudi_status hd_output_file_write(struct hd_op *op, hd_output_file *file, const void *bytes,
                                 uint64_t n);
uint64_t hd_output_file_position(const hd_output_file *file);
const char *hd_output_file_path(const hd_output_file *file);

/** Flush, sync to disk when `sync`, close; the handle is gone in any case. A failure here is a
 * failure of the write. */
hudi_status hd_output_file_close(struct hd_op *op, hd_output_file *file, bool sync);

/** Close and delete what was written. Takes NULL. */
void hd_output_file_abort(hd_output_file *file);

/** Behind the bytes of `into`, which must outlive the file; aborting cuts them back. */
hudi_status hd_output_file_of_str(struct hd_op *op, struct hd_str *into, hd_output_file **out);

/** The process's standard output; closing it leaves the descriptor open. */
hudi_status hd_output_file_standard(struct hd_op *op, hd_output_file **out);

#endif
