/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ENGINE_LOG_CELLS_H
#define HD_ENGINE_LOG_CELLS_H

#include "arrow/avro_decoder.h"
#include "engine/slice/merge_columns.h"
#include "format/log/log_reader.h"

/*
 * Private to engine/slice: the records of a block of type HFILE_DATA. A cell's key is the record
 * key, its value the Avro binary of the record, in which the field "key", if there is one, is
 * emptied. Source: HoodieHFileDataBlock (Hudi 0.15.0)
 */
typedef struct hd_log_cells hd_log_cells;

/** @param file  of the block, must stay open */
hudi_status hd_log_cells_open(struct hd_op *op, hd_input_file *file,
                              const struct hd_log_block *block, hd_log_cells **out);
/** Takes NULL. */
void hd_log_cells_close(struct hd_op *op, hd_log_cells *cells);

/** The next cell's value; its key is kept. @return HUDI_END */
hudi_status hd_log_cells_next(struct hd_op *op, hd_log_cells *cells, struct hd_slice *value);

/** The keys of the cells since the last call, as a STRING array. */
hudi_status hd_log_cells_keys(struct hd_op *op, hd_log_cells *cells, struct ArrowArray *out);

/** Fill them into the columns of `batch` (columns of `nullable`) that hold keys. */
hudi_status hd_log_cells_fill(struct hd_op *op, const struct hd_merge_columns *columns,
                              const struct ArrowArray *keys, struct ArrowArray *batch);

#endif
