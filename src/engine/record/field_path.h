/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ENGINE_FIELD_PATH_H
#define HD_ENGINE_FIELD_PATH_H

#include <stdbool.h>
#include <stdint.h>

#include "arrow/view.h"
#include "base/op.h"
#include "hudi/arrow_c.h"

/* Private to engine/record. */

#define HD_FIELD_PATH_MAX 16

/** A column, or a field of nested records ("a.b.c"), by position. */
struct hd_field_path {
    int32_t steps[HD_FIELD_PATH_MAX]; /* child number at each level, the column first */
    int32_t n_steps;
    struct hd_type type; /* of the field itself */
};

/** Find `name` below the struct `schema`. @return HUDI_NOT_FOUND (no error) when there is no such
 * field; HUDI_NOT_IMPLEMENTED when it is nested deeper than HD_FIELD_PATH_MAX. */
hudi_status hd_field_path_find(struct hd_op *op, const struct ArrowSchema *schema, const char *name,
                               struct hd_field_path *out);

/** The view of the field in views of the schema's columns; a null record on the way is not looked
 * at. */
const struct hd_view *hd_field_path_view(const struct hd_field_path *path,
                                         const struct hd_view *columns);

/** Is the field, or a record around it, null in this row? */
bool hd_field_path_is_null(const struct hd_field_path *path, const struct hd_view *columns,
                           int64_t row);

#endif
