/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ENGINE_TIMESTAMP_KEY_H
#define HD_ENGINE_TIMESTAMP_KEY_H

#include "arrow/view.h"
#include "base/arena.h"
#include "base/op.h"
#include "base/str.h"
#include "format/table/table_config.h"

/* Private to engine/record: partition values of the timestamp-based key generator. */

struct hd_timestamp_key;

/**
 * Read the options hoodie.keygen.timebased.* for a partition field of type `type`. Everything lives
 * in the arena.
 * @return HUDI_INVALID for options that are missing, contradict each other or the type;
 *         HUDI_NOT_IMPLEMENTED for letters of a date pattern that are not known
 * Source: TimestampBasedAvroKeyGenerator, HoodieDateTimeParser (Hudi 0.15.0)
 */
hudi_status hd_timestamp_key_new(struct hd_op *op, const struct hd_table_config *config,
                                 const struct hd_options *options, const char *field,
                                 const struct hd_type *type, bool timestamps_as_text,
                                 struct hd_arena *arena, struct hd_timestamp_key **out);

/** Append the text of a value; `is_null` is that of 1 in the configured unit.
 * @return HUDI_NOT_FOUND (no error) when the value is a text that no input pattern matches, or
 * names a local time that does not exist */
hudi_status hd_timestamp_key_text(struct hd_op *op, const struct hd_timestamp_key *key,
                                  const struct hd_view *view, int64_t row, bool is_null,
                                  struct hd_str *out);

#endif
