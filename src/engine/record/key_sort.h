/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ENGINE_KEY_SORT_H
#define HD_ENGINE_KEY_SORT_H

#include "base/op.h"
#include "base/str.h"

/** What has keys: `key_of` gives that of a number, as bytes that stay where they are. */
struct hd_keyed {
    const void *self;
    struct hd_slice (*key_of)(const void *self, int64_t number);
};

/**
 * Sort numbers (ascending) by their keys, as Java sorts strings; equal keys by number. Sets
 * `*same_order` when that is the order of bytes too: then keys are sorted by the eight bytes behind
 * what all of them begin with, as integers, and those that agree there by the next eight.
 */
hudi_status hd_sort_by_key(struct hd_op *op, const struct hd_keyed *keyed, int64_t *numbers,
                           int64_t n, bool *same_order);

#endif
