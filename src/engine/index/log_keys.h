/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ENGINE_LOG_KEYS_H
#define HD_ENGINE_LOG_KEYS_H

#include "engine/index/key_lookup.h"
#include "engine/index/merged_rows.h"

/** What all look-ups of one request in log files share. All zero may be closed. */
struct hd_log_keys {
    struct hd_merged_rows rows; /* the columns that keys are made of */
    bool rebuilt;               /* they are key fields, not the meta column */
};

hudi_status hd_log_keys_open(struct hd_op *op, const struct hd_index_request *request,
                             struct hd_log_keys *out);
void hd_log_keys_close(struct hd_op *op, struct hd_log_keys *keys);

/** Hits of the keys of `group` in a slice as its log files leave it, behind those in `hits`;
 * entries that `found` says are left out. Deleted keys are no hits. */
hudi_status hd_log_key_lookup(struct hd_op *op, const struct hd_index_request *request,
                              const struct hd_log_keys *keys, const struct hd_key_group *group,
                              const struct hd_file_slice *slice, const bool *found,
                              struct hd_file_hits *hits);

#endif
