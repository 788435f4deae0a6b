/* SPDX-License-Identifier: Apache-2.0 */

#include "store/hfile_source.h"

static hudi_status read_at(struct hd_op *op, void *self, uint64_t offset, void *into, uint64_t n)
{
    return hd_input_file_read_at(op, self, offset, into, n);
}

struct hd_hfile_source hd_hfile_source_of_file(hd_input_file *file, uint64_t base, uint64_t size)
{
    return (struct hd_hfile_source){.read_at = read_at, .self = file, .base = base, .size = size};
}
