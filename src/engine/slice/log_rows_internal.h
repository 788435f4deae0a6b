/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ENGINE_LOG_ROWS_INTERNAL_H
#define HD_ENGINE_LOG_ROWS_INTERNAL_H

#include "engine/slice/log_rows.h"
#include "format/log/log_deletes.h"

/* Between log_rows.c and log_delete_rows.c. */

/** The deletes [first, first + n) of a block as entries: in these only the ordering fields and the
 * mark are set. `*keys` gets their keys. @return HUDI_CORRUPT for a delete without key */
hudi_status hd_delete_entries(struct hd_op *op, const struct hd_merge_columns *columns,
                              const struct hd_log_deletes *deletes, size_t first, size_t n,
                              struct ArrowArray *keys, struct ArrowArray *entries);

/** A column of `n_rows` times the same. */
hudi_status hd_constant_flags(struct hd_op *op, bool value, int64_t n_rows, struct ArrowArray *out);

#endif
