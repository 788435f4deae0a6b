/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ENGINE_TIME_ZONE_H
#define HD_ENGINE_TIME_ZONE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/op.h"
#include "base/str.h"

/* Private to engine/record: offsets of time zones, without the C library's global zone. */

struct hd_time_zone;

/**
 * The zone called `id` as java.util.TimeZone knows them: "UTC", "GMT", "GMT+8", "GMT-03:30",
 * "GMT+0800", Java's old short names ("PST"), and names of the system's tz database
 * ("Europe/Berlin"), whose file is read. Lives in the arena.
 * @return HUDI_INVALID for a name that is none of these; HUDI_CORRUPT for a file that is no TZif
 */
hudi_status hd_time_zone_load(struct hd_op *op, const char *id, struct hd_arena *arena,
                              const struct hd_time_zone **out);

/** A zone of one offset. */
hudi_status hd_time_zone_fixed(struct hd_op *op, int32_t offset_s, struct hd_arena *arena,
                               const struct hd_time_zone **out);

/** A zone from the bytes of a TZif file (versions 1 to 4), `name` for messages. @return
 * HUDI_CORRUPT */
hudi_status hd_time_zone_parse(struct hd_op *op, const char *name, struct hd_slice bytes,
                               struct hd_arena *arena, const struct hd_time_zone **out);

/** Seconds east of Greenwich at a time given in seconds since the epoch. */
int32_t hd_time_zone_offset(const struct hd_time_zone *zone, int64_t utc_s);

/** The time of a local clock's reading; the earlier of two where clocks went back. False where they
 * went forward and never showed it. */
bool hd_time_zone_to_utc(const struct hd_time_zone *zone, int64_t local_s, int64_t *utc_s);

/** "UTC", "Europe/Berlin", "+08:00". */
const char *hd_time_zone_id(const struct hd_time_zone *zone);

#endif
