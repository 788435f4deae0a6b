/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ARROW_TEXT_CHECK_H
#define HD_ARROW_TEXT_CHECK_H

#include "arrow/misfit.h"
#include "hudi/arrow_c.h"

/** Texts that are no UTF-8, in columns of canonical type STRING and inside of nested ones: their
 * rows go to `misfits`. Arrow's rule that strings are UTF-8 is nothing that files keep.
 * @param array  struct of `schema`'s columns; `arena` holds views of it */
hudi_status hd_check_texts(struct hd_op *op, struct hd_arena *arena,
                           const struct ArrowSchema *schema, const struct ArrowArray *array,
                           struct hd_misfits *misfits);

#endif
