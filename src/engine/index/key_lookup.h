/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ENGINE_KEY_LOOKUP_H
#define HD_ENGINE_KEY_LOOKUP_H

#include "engine/index/index.h"

/** The incoming keys of one space, sorted as Java sorts strings. */
struct hd_key_group {
    uint32_t space;
    int64_t *entries;
    int64_t n;
    bool same_order; /* sorted by bytes as well: no key has a character from U+E000 up */
};

/** Keys of `group` in one base file; fills hits->hits and n_hits (nothing when there are none). */
hudi_status hd_key_lookup(struct hd_op *op, const struct hd_index_request *request,
                          const struct hd_key_group *group, const struct hd_file_slice *slice,
                          struct hd_file_hits *hits);

#endif
