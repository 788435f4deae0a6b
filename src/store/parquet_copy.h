/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_STORE_PARQUET_COPY_H
#define HD_STORE_PARQUET_COPY_H

#include "store/output_file.h"
#include "store/parquet_footer.h"

/**
 * A Parquet file put together from row groups of other files, whose column chunks are copied as
 * bytes, and from sections, which are files that a writer made in place but for magic and footer:
 *
 *     "PAR1" | section or copied row group, in any order | footer
 *     copied row group   column chunks | column indexes | offset indexes | bloom filters
 *
 * Invariants
 *  1. Bytes of chunks, column indexes and bloom filters are those of the source; offset indexes
 *     differ in the offsets of pages alone.
 *  2. An index or filter that is not where the source's footer says is left out: readers do without
 *     one.
 *  3. A copy takes no more bytes than the source file has (hd_parquet_can_copy()).
 */
struct hd_parquet_assembly {
    hd_output_file *file;     /* the caller's */
    struct hd_str row_groups; /* encoded, one after the other */
    size_t n_row_groups;
    int64_t n_rows;
    uint8_t *piece;        /* what a copy moves at once */
    struct hd_arena arena; /* scratch of one row group */
};

/** Whether row groups of a file may stand in one with the schema of `ours`: leaves agree in name,
 * type, annotation and repetition, chunks lie in the file, statistics mean the same, and the writer
 * is none whose mistakes readers correct by its name. A false sets no error.
 * @return HUDI_CORRUPT when the footer contradicts itself */
hudi_status hd_parquet_can_copy(struct hd_op *op, const struct hd_parquet_footer *ours,
                                const struct hd_parquet_footer *theirs, bool *out);

/** A column chunk to take from elsewhere. */
struct hd_parquet_replacement {
    size_t chunk;
    struct hd_slice file; /* a Parquet file of one column and one row group */
};

/** Append a row group of a file that can be copied. @return HUDI_CORRUPT, HUDI_IO,
 * HUDI_NO_MEMORY; the assembly cannot be used after a failure */
hudi_status hd_parquet_assembly_copy(struct hd_op *op, struct hd_parquet_assembly *assembly,
                                     hd_input_file *file, const struct hd_parquet_footer *source,
                                     size_t row_group,
                                     const struct hd_parquet_replacement *replaced,
                                     size_t n_replaced);

/** End a section: its column chunks are in the file, what the writer put behind them (page indexes
 * and footer) is in `tail`; offsets are those of this file. */
hudi_status hd_parquet_assembly_section(struct hd_op *op, struct hd_parquet_assembly *assembly,
                                        struct hd_slice tail);

/** Write the footer: schema, key-values and all else of a file that the same writer made of no
 * rows, with the row groups gathered here. */
hudi_status hd_parquet_assembly_finish(struct hd_op *op, struct hd_parquet_assembly *assembly,
                                       struct hd_slice empty_file);

void hd_parquet_assembly_clear(struct hd_op *op, struct hd_parquet_assembly *assembly);

#endif
