/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_FORMAT_LOG_ROWS_INTERNAL_H
#define HD_FORMAT_LOG_ROWS_INTERNAL_H

#include "codec/avro_schema.h"
#include "format/log/log_reader.h"
#include "hudi/arrow_c.h"
#include "store/base_file.h"

/* Between the files of log_rows.h. */

/** `record` without the fields that no column can hold, told in the log; what is copied of it is in
 * the arena, the rest is shared. */
hudi_status log_rows_columns(struct hd_op *op, struct hd_arena *arena,
                             struct hd_avro_schema *record, struct hd_avro_schema **out);

/** A Parquet block as a base file over a copy of its content. */
hudi_status log_rows_open_parquet(struct hd_op *op, hd_log_reader *reader,
                                  struct hd_log_block *block, hd_base_reader **out);

/** All rows of a delete block, and their schema. */
hudi_status log_rows_of_deletes(struct hd_op *op, hd_log_reader *reader, struct hd_log_block *block,
                                struct ArrowSchema *schema, struct ArrowArray *out);

#endif
