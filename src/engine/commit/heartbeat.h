/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ENGINE_HEARTBEAT_H
#define HD_ENGINE_HEARTBEAT_H

#include "format/layout/table_snapshot.h"

/**
 * A writer that shares its table beats: .hoodie/.heartbeat/INSTANT is made anew every
 * hoodie.client.heartbeat.interval_in_ms, so that others tell a live writer from a dead one.
 * docs/format/timeline.md 9. Source: HoodieHeartbeatClient, HeartbeatUtils (Hudi 0.15.0)
 */
#define HD_HEARTBEAT_FOLDER ".hoodie/.heartbeat"

typedef struct hd_heartbeat hd_heartbeat;

/** Beat once, then go on in a thread of its own until hd_heartbeat_stop(). `table` must outlive it.
 * @return HUDI_IO, HUDI_NO_MEMORY */
hudi_status hd_heartbeat_start(struct hd_op *op, const struct hd_table_snapshot *table,
                               const struct hd_options *options, const char *time,
                               hd_heartbeat **out);

/** Just before completing: HUDI_CONFLICT when the heart has not beaten for so long that others may
 * have taken the writer for dead. Takes NULL (HUDI_OK). */
hudi_status hd_heartbeat_check(struct hd_op *op, const hd_heartbeat *heartbeat);

/** Has it not beaten for so long, ever, that others may have taken over? Takes NULL: no. */
bool hd_heartbeat_is_lost(struct hd_op *op, const hd_heartbeat *heartbeat);

/** Stop and delete the file. Takes NULL. */
void hd_heartbeat_stop(struct hd_op *op, hd_heartbeat *heartbeat);

/** Delete the heartbeat of a writer that is gone; HUDI_OK when there is none. */
hudi_status hd_heartbeat_remove(struct hd_op *op, const struct hd_table_snapshot *table,
                                const char *time);

/** How long, in milliseconds, others wait for a beat. `options` may be NULL: the defaults. */
int64_t hd_heartbeat_patience_ms(const struct hd_options *options);

/** Milliseconds since the writer of a pending instant last beat, 0 for a beat of the future; -1
 * when there is no heartbeat. */
hudi_status hd_heartbeat_age_ms(struct hd_op *op, const struct hd_table_snapshot *table,
                                const char *time, int64_t *out);

/** Whether the writer of a pending instant beats. */
hudi_status hd_heartbeat_is_alive(struct hd_op *op, const struct hd_table_snapshot *table,
                                  const struct hd_options *options, const char *time, bool *out);

#endif
