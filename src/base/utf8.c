/* SPDX-License-Identifier: Apache-2.0 */
#include "base/utf8.h"

size_t hd_utf8_take(struct hd_slice text, uint32_t *code_point)
{
    static const uint32_t LEAST[5] = {0, 0, 0x80, 0x800, 0x10000};
    uint8_t first = text.data[0];
    size_t n = first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    uint32_t v = n <= 1 ? first : first & (0x7fu >> n);

    if (n == 0 || n > text.size || first > 0xf4)
        return 0;
    for (size_t i = 1; i < n; i++) {
        if ((text.data[i] & 0xc0) != 0x80)
            return 0;
        v = v << 6 | (text.data[i] & 0x3f);
    }
    if (v < LEAST[n] || v > 0x10ffff || (v >= 0xd800 && v < 0xe000))
        return 0;
    *code_point = v;
    return n;
}

/* Bytes that follow a first byte, and the range of the second; 0 bytes: no first byte. */
static int utf8_sequence(uint8_t first, uint8_t *low, uint8_t *high)
{
    *low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
    *high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
    if (first >= 0xc2 && first <= 0xdf)
        return 1;
    if (first >= 0xe0 && first <= 0xef)
        return 2;
    return first >= 0xf0 && first <= 0xf4 ? 3 : 0;
}

bool hd_utf8_valid(struct hd_slice text)
{
    const uint64_t HIGH_BITS = UINT64_C(0x8080808080808080);
    size_t i = 0;

    while (i < text.size) {
        uint64_t word;
        if (i + sizeof word <= text.size) {
            memcpy(&word, text.data + i, sizeof word);
            if ((word & HIGH_BITS) == 0) {
                i += sizeof word;
                continue;
            }
        }
        const uint8_t first = text.data[i++];
        if (first < 0x80)
            continue;
        uint8_t low, high;
        int left = utf8_sequence(first, &low, &high);
        if (left == 0)
            return false;
        for (; left > 0; left--, i++) {
            if (i == text.size || text.data[i] < low || text.data[i] > high)
                return false;
            low = 0x80;
            high = 0xbf;
        }
    }
    return true;
}
