/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ENGINE_KEY_RANGE_H
#define HD_ENGINE_KEY_RANGE_H

#include <stdbool.h>

#include "arrow/view.h"
#include "base/op.h"
#include "base/str.h"

/**
 * Smallest and largest record key of a base file, as its footer says it (hoodie_min_record_key,
 * hoodie_max_record_key). Hudi's Avro writers and its index order keys as Java strings, by UTF-16
 * units; its Spark row writers by UTF-8 bytes. The two differ only where one key has a character
 * beyond U+FFFF in the place of another's U+E000 to U+FFFF. Ranges are written in Java's order, and
 * a key counts as outside only when both orders say so.
 */
#define HD_MIN_RECORD_KEY "hoodie_min_record_key"
#define HD_MAX_RECORD_KEY "hoodie_max_record_key"

struct hd_key_range {
    struct hd_str min;
    struct hd_str max;
    bool any; /* false: no keys yet */
};

/** Java's String.compareTo() of two UTF-8 texts. */
int hd_key_compare(struct hd_slice a, struct hd_slice b);

/** Widen to hold the keys of rows [0, length) of a STRING view without nulls. */
hudi_status hd_key_range_add(struct hd_op *op, struct hd_key_range *range,
                             const struct hd_view *keys);
hudi_status hd_key_range_add_key(struct hd_op *op, struct hd_key_range *range, struct hd_slice key);
void hd_key_range_clear(struct hd_key_range *range);

/** False only when a file whose footer says [min, max] cannot hold `key`, whichever order its
 * writer went by. */
bool hd_key_in_range(struct hd_slice min, struct hd_slice max, struct hd_slice key);

#endif
