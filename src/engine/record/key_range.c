/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/record/key_range.h"

/* The place of a UTF-8 byte in UTF-16 order. Lead bytes 0xF0 and up begin what UTF-16 spells with
 * surrogates (0xD800..): above 0xED, below 0xEE and 0xEF. */
static int utf16_rank(uint8_t byte)
{
    return byte >= 0xf0 ? byte : byte >= 0xee ? byte + 0x100 : byte;
}

int hd_key_compare(struct hd_slice a, struct hd_slice b)
{
    const size_t n = a.size < b.size ? a.size : b.size;

    if (n > 0 && memcmp(a.data, b.data, n) != 0) {
        size_t i = 0;
        while (a.data[i] == b.data[i])
            i++;
        return utf16_rank(a.data[i]) < utf16_rank(b.data[i]) ? -1 : 1;
    }
    return a.size < b.size ? -1 : a.size > b.size;
}

static hudi_status set_bound(struct hd_op *op, struct hd_str *bound, struct hd_slice key)
{
    bound->size = 0;
    return hd_str_append(op, bound, key.data, key.size);
}

hudi_status hd_key_range_add_key(struct hd_op *op, struct hd_key_range *range, struct hd_slice key)
{
    if (!range->any || hd_key_compare(key, hd_str_slice(&range->min)) < 0)
        HD_TRY(set_bound(op, &range->min, key));
    if (!range->any || hd_key_compare(key, hd_str_slice(&range->max)) > 0)
        HD_TRY(set_bound(op, &range->max, key));
    range->any = true;
    return HUDI_OK;
}

hudi_status hd_key_range_add(struct hd_op *op, struct hd_key_range *range,
                             const struct hd_view *keys)
{
    if (keys->length == 0)
        return HUDI_OK;
    struct hd_slice min = hd_view_bytes(keys, 0), max = min;
    for (int64_t row = 1; row < keys->length; row++) {
        const struct hd_slice key = hd_view_bytes(keys, row);
        if (hd_key_compare(key, max) > 0)
            max = key;
        else if (hd_key_compare(key, min) < 0)
            min = key;
    }
    HD_TRY(hd_key_range_add_key(op, range, min));
    return hd_key_range_add_key(op, range, max);
}

void hd_key_range_clear(struct hd_key_range *range)
{
    hd_str_clear(&range->min);
    hd_str_clear(&range->max);
    range->any = false;
}

bool hd_key_in_range(struct hd_slice min, struct hd_slice max, struct hd_slice key)
{
    const bool by_utf16 = hd_key_compare(min, key) <= 0 && hd_key_compare(key, max) <= 0;
    const bool by_bytes = hd_slice_compare(min, key) <= 0 && hd_slice_compare(key, max) <= 0;

    return by_utf16 || by_bytes;
}
