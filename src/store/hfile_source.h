/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_STORE_HFILE_SOURCE_H
#define HD_STORE_HFILE_SOURCE_H

#include "codec/hfile.h"
#include "store/input_file.h"

/** An HFile in a file: all of it (base 0, the file's size), or the content of a log block. `file`
 * must outlive what is opened over it. */
struct hd_hfile_source hd_hfile_source_of_file(hd_input_file *file, uint64_t base, uint64_t size);

#endif
