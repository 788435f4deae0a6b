/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ENGINE_KEY_ENCODING_H
#define HD_ENGINE_KEY_ENCODING_H

#include "engine/record/key_generator.h"
#include "format/layout/table_snapshot.h"

/**
 * As hd_detect_key_encoding(), from the rows of one partition, merged: for merge-on-read tables,
 * whose newest commits may have made log files alone.
 * @param decided  whether there were any rows
 */
hudi_status hd_detect_key_encoding_in(struct hd_op *op, const struct hd_table_snapshot *table,
                                      const char *partition_path, enum hd_complex_encoding *out,
                                      bool *decided);

#endif
