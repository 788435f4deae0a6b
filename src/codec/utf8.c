/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/utf8.h"

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

bool hd_utf8_valid(struct hd_slice text)
{
    for (size_t i = 0; i < text.size;) {
        uint32_t v;
        size_t n = 1;

        if (text.data[i] >= 0x80)
            n = hd_utf8_take(hd_slice_of(text.data + i, text.size - i), &v);
        if (n == 0)
            return false;
        i += n;
    }
    return true;
}
