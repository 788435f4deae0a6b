/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_STORE_ORC_FOOTER_H
#define HD_STORE_ORC_FOOTER_H

#include "base/op.h"
#include "store/input_file.h"

/**
 * Look at the end of an ORC file before the ORC library does, which trusts it with the size of its
 * buffers, the depth of its recursion and, through Arrow, with the process:
 *
 *     ... stripes | metadata | footer | postscript | u8 bytes of the postscript
 *
 * Metadata and footer are Protocol Buffers in compressed chunks (u24le bytes * 2 + 1 when stored,
 * then the bytes), the postscript is not compressed.
 *
 * @return HUDI_CORRUPT when lengths or stripes leave the file, types refer to each other in
 * circles, nest more than 64 deep or have impossible precisions; HUDI_NOT_IMPLEMENTED for a format
 * version other than 0.11 and 0.12 and for LZO; HUDI_IO, HUDI_NO_MEMORY
 *
 * Source: orc_proto.proto (Apache ORC 1.9).
 */
hudi_status hd_orc_footer_check(struct hd_op *op, hd_input_file *file);

#endif
