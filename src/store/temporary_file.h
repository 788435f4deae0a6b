/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_STORE_TEMPORARY_FILE_H
#define HD_STORE_TEMPORARY_FILE_H

#include "base/op.h"

/** A file of this process on the local disk, open for reading and writing, which has no name (any
 * more): whenever the process ends, it is gone. `folder` NULL: that of TMPDIR, else /tmp.
 * @param out  descriptor, to be closed; -1 on failure
 * @return HUDI_IO with the folder as path */
hudi_status hd_temporary_file(struct hd_op *op, const char *folder, int *out);

#endif
