/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ENGINE_MERGE_DEFAULTS_H
#define HD_ENGINE_MERGE_DEFAULTS_H

#include <stdbool.h>

#include "arrow/view.h"
#include "base/arena.h"
#include "base/op.h"
#include "base/str.h"
#include "hudi/arrow_c.h"

/* Private to engine/record: the default values that the table's Avro schema gives its columns. */

enum hd_default_kind {
    HD_DEFAULT_NULL,    /* no default, null, or one that is no plain value: only null equals it */
    HD_DEFAULT_INTEGER, /* BOOL too */
    HD_DEFAULT_DOUBLE,
    HD_DEFAULT_TEXT,
};

struct hd_merge_default {
    enum hd_default_kind kind;
    int64_t integer;
    double number;
    struct hd_slice text;
};

struct hd_merge_defaults {
    struct hd_merge_default *columns; /* one for each column of the schema, in the arena */
};

/** @param avro_json  the table's schema, NULL: no defaults */
hudi_status hd_merge_defaults_parse(struct hd_op *op, const char *avro_json,
                                    const struct ArrowSchema *schema, struct hd_arena *arena,
                                    struct hd_merge_defaults *out);

/** Is the value the column's default? */
bool hd_merge_default_equals(const struct hd_merge_defaults *defaults, int32_t column,
                             const struct hd_view *view, int64_t row);

#endif
