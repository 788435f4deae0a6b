/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/base64.h"

#include "base/checked_int.h"

static const char ALPHABET[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

hudi_status hd_base64_encode(struct hd_op *op, struct hd_slice bytes, struct hd_str *out)
{
    uint64_t n_chars;
    const uint8_t *in = bytes.data;
    size_t left = bytes.size;

    HD_TRY(hd_mul_size(op, (uint64_t)left / 3 + (left % 3 != 0), 4, &n_chars));
    HD_TRY(hd_str_reserve(op, out, n_chars));
    char *to = out->data + out->size;
    for (; left >= 3; left -= 3, in += 3, to += 4) {
        uint32_t v = (uint32_t)in[0] << 16 | (uint32_t)in[1] << 8 | in[2];
        to[0] = ALPHABET[v >> 18];
        to[1] = ALPHABET[v >> 12 & 63];
        to[2] = ALPHABET[v >> 6 & 63];
        to[3] = ALPHABET[v & 63];
    }
    if (left > 0) {
        uint32_t v = (uint32_t)in[0] << 16 | (left == 2 ? (uint32_t)in[1] << 8 : 0);
        to[0] = ALPHABET[v >> 18];
        to[1] = ALPHABET[v >> 12 & 63];
        to[2] = left == 2 ? ALPHABET[v >> 6 & 63] : '=';
        to[3] = '=';
        to += 4;
    }
    *to = '\0';
    out->size += n_chars;
    return HUDI_OK;
}

/* The six bits of each character, 64 for the others. */
static void fill_values(uint8_t values[256])
{
    memset(values, 64, 256);
    for (uint8_t i = 0; i < 64; i++)
        values[(uint8_t)ALPHABET[i]] = i;
}

/* The last four characters, which may end in padding; n_bytes of them are left in `v`. */
static bool decode_tail(const uint8_t values[256], const uint8_t *in, size_t n_bytes, uint8_t *to)
{
    uint32_t v = 0;
    uint8_t bad = 0;

    for (size_t i = 0; i <= n_bytes; i++) {
        bad |= values[in[i]] & 64;
        v |= (uint32_t)(values[in[i]] & 63) << (18 - 6 * i);
    }
    for (size_t i = 0; i < n_bytes; i++)
        to[i] = (uint8_t)(v >> (16 - 8 * i));
    return bad == 0 && (v & (0xffffffu >> (8 * n_bytes))) == 0;
}

hudi_status hd_base64_decode(struct hd_op *op, struct hd_slice text, struct hd_str *out)
{
    uint8_t values[256];

    if (text.size % 4 != 0)
        return hd_fail(op, HUDI_CORRUPT, "base64 text of %zu characters, not a multiple of 4",
                       text.size);
    HD_TRY(hd_str_reserve(op, out, text.size / 4 * 3));
    if (text.size == 0)
        return HUDI_OK;
    fill_values(values);

    const uint8_t *in = text.data;
    const uint8_t *tail = text.data + text.size - 4;
    uint8_t *start = (uint8_t *)out->data + out->size;
    uint8_t *to = start;
    uint8_t bad = 0;
    for (; in < tail; in += 4, to += 3) {
        uint8_t a = values[in[0]], b = values[in[1]], c = values[in[2]], d = values[in[3]];
        bad |= (a | b | c | d) & 64;
        uint32_t v = (uint32_t)(a & 63) << 18 | (uint32_t)(b & 63) << 12 | (uint32_t)(c & 63) << 6 |
                     (d & 63);
        to[0] = (uint8_t)(v >> 16);
        to[1] = (uint8_t)(v >> 8);
        to[2] = (uint8_t)v;
    }
    size_t n_tail = tail[3] != '=' ? 3 : tail[2] != '=' ? 2 : 1;
    if (bad != 0 || !decode_tail(values, tail, n_tail, to)) {
        *start = '\0';
        return hd_fail(op, HUDI_CORRUPT, "base64 text of %zu characters has one that is not base64",
                       text.size);
    }
    to += n_tail;
    *to = '\0';
    out->size += (size_t)(to - start);
    return HUDI_OK;
}
