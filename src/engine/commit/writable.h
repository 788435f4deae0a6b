/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ENGINE_WRITABLE_H
#define HD_ENGINE_WRITABLE_H

#include "engine/record/key_generator.h"
#include "format/layout/table_snapshot.h"

/** Refuse, before a byte is written, a table that this library could leave in a state that another
 * engine misreads. @return HUDI_NOT_IMPLEMENTED saying what of the table is in the way */
hudi_status hd_check_writable(struct hd_op *op, const struct hd_table_snapshot *table);

/** Refuse, before there is a table, what a write would refuse of one that `options` make.
 * @return as hd_check_writable(), hd_write_config_init() */
hudi_status hd_check_new_table(struct hd_op *op, const struct hd_options *options);

/** Refuse a table on which a restore was begun and not finished: a write in between would stand on
 * rows that are about to go. @return HUDI_CONFLICT */
hudi_status hd_check_no_restore(struct hd_op *op, const struct hd_timeline *timeline);

/** Refuse likewise what only the table's commits and files tell: a commit that is damaged, columns
 * that evolve by DDL, rows with changelog operations, key fields that cannot make keys.
 * @return HUDI_CORRUPT, HUDI_NOT_IMPLEMENTED, HUDI_INVALID */
hudi_status hd_check_columns(struct hd_op *op, const struct hd_table_snapshot *table,
                             const struct hd_options *options);

/**
 * How the table's complex keys of one field are written, found from its newest base files
 * (docs/format/table-layout.md 6.2.1); `without_rows` for tables without rows and other generators.
 * @return HUDI_CONFLICT when both forms are in that file
 */
hudi_status hd_detect_key_encoding(struct hd_op *op, const struct hd_table_snapshot *table,
                                   enum hd_complex_encoding without_rows,
                                   enum hd_complex_encoding *out);

/**
 * Switch the metadata table off, the way Hudi does: its property is removed, then its folder.
 * Killed in between, the folder is left, which no reader looks at. Reloads the table. HUDI_OK when
 * it is off. Source: HoodieTable.maybeDeleteMetadataTable (Hudi 0.15.0)
 */
hudi_status hd_switch_metadata_table_off(struct hd_op *op, struct hd_table_snapshot *table);

#endif
