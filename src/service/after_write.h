/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_SERVICE_AFTER_WRITE_H
#define HD_SERVICE_AFTER_WRITE_H

#include "base/pool.h"
#include "format/table/config_keys.h"

/**
 * The services that follow a write of this process, in this order: clean (hoodie.clean.automatic,
 * every hoodie.clean.max.commits writes), archive (hoodie.archive.automatic), compact
 * (hoodie.compact.inline, hoodie.compact.schedule.inline), cluster (hoodie.clustering.inline,
 * hoodie.clustering.schedule.inline). None with hoodie.table.services.enabled=false. While another
 * writer holds the lock, they are left to that one.
 *
 * The write is done. A clean or an archiving that fails is logged, and with
 * hoodie.fail.writes.on.inline.table.service.exception=false any other service too; without, the
 * first one that fails ends them.
 * @return HUDI_SERVICE_FAILED: which one, and why. Never retriable, so that nobody writes again.
 * Source: BaseHoodieWriteClient.commitStats, runTableServicesInline (Hudi 0.15.0)
 */
hudi_status hd_services_after_write(struct hd_op *op, hd_pool *pool, const char *uri,
                                    const struct hd_options *options);

#endif
