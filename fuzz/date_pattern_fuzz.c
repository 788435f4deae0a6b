/* SPDX-License-Identifier: Apache-2.0 */
/* First line: a date pattern; the rest: a text to read by it. */
#include <string.h>

#include "engine/record/date_pattern.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *end = size == 0 ? NULL : memchr(data, '\n', size);
    const size_t n = end == NULL ? size : (size_t)(end - data);
    const struct hd_slice text =
        end == NULL ? hd_slice_of(NULL, 0) : hd_slice_of(end + 1, size - n - 1);
    struct hd_op op;
    struct hd_arena arena = {0};
    struct hd_str out = {0};
    const struct hd_time_zone *zone;
    const struct hd_date_pattern *pattern;
    struct hd_parsed_time time;

    hd_op_init(&op);
    if (hd_time_zone_fixed(&op, 3600, &arena, &zone) == HUDI_OK &&
        hd_date_pattern_parse(&op, hd_slice_of(data, n), true, &arena, &pattern) == HUDI_OK &&
        hd_date_pattern_read(pattern, text, 2026, &time))
        hd_date_pattern_format(&op, pattern, time.local_ms, zone, &out);
    hd_str_clear(&out);
    hd_arena_clear(&arena);
    hd_op_clear(&op);
    return 0;
}
