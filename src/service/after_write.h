/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_SERVICE_AFTER_WRITE_H
#define HD_SERVICE_AFTER_WRITE_H

#include "base/pool.h"
#include "format/table/config_keys.h"

/**
 * The services that follow a write of this process, in this order: clean (hoodie.clean.automatic,
 * every hoodie.clean.max.commits writes), archive (hoodie.archive.automatic), compact
 * (hoodie.compact.inline, hoodie.compact.schedule.inline), cluster (hoodie.clustering.inline,
 * hoodie.clustering.schedule.inline). Never an error: the
 * write is done, so a failure is logged; while another writer holds the lock, they are left to that
 * one.
 */
void hd_services_after_write(struct hd_op *op, hd_pool *pool, const char *uri,
                             const struct hd_options *options);

#endif
