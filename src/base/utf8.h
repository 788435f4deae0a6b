/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_BASE_UTF8_H
#define HD_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

/**
 * The code point at the start of `text` (not empty) and its bytes; 0 when it is no valid UTF-8
 * (cut short, overlong, a surrogate, beyond U+10FFFF).
 */
size_t hd_utf8_take(struct hd_slice text, uint32_t *code_point);

bool hd_utf8_valid(struct hd_slice text);

#endif
