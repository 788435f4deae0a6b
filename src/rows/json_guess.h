/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ROWS_JSON_GUESS_H
#define HD_ROWS_JSON_GUESS_H

#include "base/op.h"
#include "codec/json.h"
#include "hudi/arrow_c.h"

/**
 * Column types from JSON objects: true and false BOOL, whole numbers INT64, other numbers DOUBLE,
 * strings STRING, arrays LIST, objects STRUCT; null alone is STRING. Values of one column that do
 * not go together make it STRING only where all are strings; a number beside a string is an error
 * when the rows are parsed. Everything is nullable.
 */
struct hd_json_guess;

hudi_status hd_json_guess_new(struct hd_op *op, struct hd_json_guess **out);
hudi_status hd_json_guess_add(struct hd_op *op, struct hd_json_guess *guess, const hd_json *object);
hudi_status hd_json_guess_schema(struct hd_op *op, const struct hd_json_guess *guess,
                                 struct ArrowSchema *out);
void hd_json_guess_free(struct hd_op *op, struct hd_json_guess *guess);

#endif
