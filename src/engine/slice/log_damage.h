/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ENGINE_LOG_DAMAGE_H
#define HD_ENGINE_LOG_DAMAGE_H

#include "engine/slice/slice_reader.h"

/*
 * Private to engine/slice: blocks whose frame is whole and whose header or content cannot be
 * understood. Damage costs the block that it is in, all of it and no other:
 *
 *  1. A read passes it over with a warning, as it does a block whose frame is broken.
 *  2. What replaces the log files (hd_slice_query.replaces_logs) fails: the frame was written to
 *     its end, so the rows were perhaps committed, and would be lost for good.
 *  3. With hd_slice_query.recover that goes on too, and so does every read over what only looks
 *     like damage: types, versions and columns that are not known or do not fit.
 */

/**
 * The block at byte `offset` of `path` gave the error `status`. @return HUDI_OK: it is passed over,
 * which the op's log says, and the op's error is cleared; else the status to fail with
 */
hudi_status hd_log_damage(struct hd_op *op, const struct hd_slice_query *query, const char *path,
                          uint64_t offset, hudi_status status);

#endif
