/* SPDX-License-Identifier: Apache-2.0 */
/* A TZif file; offsets of times all over the range, and local times back to instants. */
#include <stdlib.h>

#include "engine/record/time_zone.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hd_op op;
    struct hd_arena arena = {0};
    const struct hd_time_zone *zone;

    hd_op_init(&op);
    if (hd_time_zone_parse(&op, "X", hd_slice_of(data, size), &arena, &zone) == HUDI_OK) {
        for (int64_t t = -4000000000; t < 8000000000; t += 99999999) {
            int64_t utc_s;

            if (hd_time_zone_to_utc(zone, t, &utc_s) &&
                utc_s + hd_time_zone_offset(zone, utc_s) != t)
                abort(); /* an instant that is found shows that local time */
        }
        hd_time_zone_offset(zone, INT64_MAX / 1000);
        hd_time_zone_offset(zone, INT64_MIN / 1000);
    }
    hd_arena_clear(&arena);
    hd_op_clear(&op);
    return 0;
}
