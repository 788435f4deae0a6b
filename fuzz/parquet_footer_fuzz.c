/* SPDX-License-Identifier: Apache-2.0 */
/* A Parquet file, of which footer and page indexes are read: taken apart, put together again, and
 * its row groups copied where the file seems sound. */
#include <stdlib.h>

#include "store/file_system.h"
#include "store/memory.h"
#include "store/parquet_copy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What was parsed and printed parses and prints the same again. */
static void print_again(struct hd_op *op, struct hd_parquet_footer *footer)
{
    struct hd_str once = {0}, tail = {0}, twice = {0};
    struct hd_parquet_footer again;
    struct hd_str row_groups = {0};

    for (size_t i = 0; i < footer->n_row_groups; i++)
        if (hd_parquet_row_group_format(op, &footer->row_groups[i], &row_groups) != HUDI_OK)
            abort();
    if (hd_parquet_footer_tail(op, footer, hd_str_slice(&row_groups), footer->n_row_groups, 7,
                               &tail) != HUDI_OK ||
        hd_parquet_footer_format(op, footer, &once) != HUDI_OK ||
        hd_parquet_footer_of_tail(op, hd_str_slice(&tail), 4, &again) != HUDI_OK ||
        hd_parquet_footer_format(op, &again, &twice) != HUDI_OK ||
        !hd_slice_equal(hd_str_slice(&once), hd_str_slice(&twice)))
        abort();
    hd_parquet_footer_clear(&again);
    hd_str_clear(&once);
    hd_str_clear(&twice);
    hd_str_clear(&tail);
    hd_str_clear(&row_groups);
}

/* A copy is no larger than the file by more than its footer. */
static void copy_all(struct hd_op *op, hd_input_file *file, const struct hd_parquet_footer *footer)
{
    struct hd_parquet_assembly assembly = {0};
    hd_file_system *fs;
    bool can;

    if (hd_parquet_can_copy(op, footer, footer, &can) != HUDI_OK || !can)
        return;
    if (hd_memory_file_system_open(op, "fuzz", &fs) != HUDI_OK ||
        hd_fs_open_output(op, fs, "/f", false, &assembly.file) != HUDI_OK)
        abort();
    for (size_t i = 0; i < footer->n_row_groups; i++)
        if (hd_parquet_assembly_copy(op, &assembly, file, footer, i, NULL, 0) != HUDI_OK)
            break;
    /* Offset indexes are written anew, with larger offsets and in the usual form. */
    if (hd_output_file_position(assembly.file) > 4 * hd_input_file_size(file) + 64)
        abort();
    hd_output_file_abort(assembly.file);
    hd_parquet_assembly_clear(op, &assembly);
    hd_fs_free(fs);
    hd_memory_drop("fuzz");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hd_op op;
    hd_input_file *file = NULL;
    struct hd_parquet_footer footer;
    size_t chunk;

    hd_op_init(&op);
    if (hd_input_file_of_bytes(&op, data, size, &file) == HUDI_OK &&
        hd_parquet_footer_read(&op, file, &footer) == HUDI_OK) {
        if (hd_parquet_flat_column(&op, &footer, 2, &chunk) != HUDI_OK)
            hd_op_clear_error(&op);
        copy_all(&op, file, &footer);
        hd_op_clear_error(&op);
        print_again(&op, &footer);
        hd_parquet_footer_clear(&footer);
    }
    hd_input_file_close(file);
    hd_op_clear(&op);
    return 0;
}
