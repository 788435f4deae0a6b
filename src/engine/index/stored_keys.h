/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ENGINE_STORED_KEYS_H
#define HD_ENGINE_STORED_KEYS_H

#include "arrow/view.h"
#include "base/op.h"
#include "engine/record/key_generator.h"
#include "format/table/table_config.h"
#include "store/base_file.h"

/**
 * The record keys that a base file holds, batch by batch: its _hoodie_record_key column or, in
 * tables without meta columns, keys rebuilt from the key fields.
 */
struct hd_stored_keys;

/** `reader` stays the caller's and must outlive this; `row_groups` are ascending. */
hudi_status hd_stored_keys_open(struct hd_op *op, const struct hd_table_config *config,
                                const struct hd_options *options, enum hd_complex_encoding encoding,
                                hd_base_reader *reader, const int32_t *row_groups,
                                int32_t n_row_groups, struct hd_stored_keys **out);

/** The next keys as a STRING view (valid until the next call) and the file's row number of its
 * first; HUDI_END. */
hudi_status hd_stored_keys_next(struct hd_op *op, struct hd_stored_keys *keys, struct hd_view *out,
                                int64_t *first_row);

void hd_stored_keys_close(struct hd_op *op, struct hd_stored_keys *keys);

#endif
