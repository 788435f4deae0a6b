/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_SERVICE_REPAIR_H
#define HD_SERVICE_REPAIR_H

#include "service/verify.h"

/**
 * Put right what hd_verify() finds and what can be put right without losing a row, under the write
 * lock. `out` holds one finding for each thing done, or to be done in a dry run (in which nothing
 * is changed):
 *
 *   rolled-back       writes and rollbacks that hang, unless a heartbeat says that one is at work
 *   dropped-plan      plans of services that cannot be read and that nobody has acted on
 *   made-metafile     partition metafiles that are missing
 *   deleted-markers   of instants that are not at work
 *   deleted-heartbeat likewise
 *
 * Never deletes a file of a completed write. @return as hd_verify(), HUDI_CONFLICT
 */
hudi_status hd_repair(struct hd_op *op, hd_pool *pool, const char *uri,
                      const struct hd_options *options, bool dry_run, struct hd_verification *out);

#endif
