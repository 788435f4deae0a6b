/* SPDX-License-Identifier: Apache-2.0 */
/* An HFile: a walk through all cells, and each key looked up again. */
#include <stdlib.h>

#include "codec/hfile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void walk(struct hd_op *op, const hd_hfile *hfile)
{
    hd_hfile_cursor *cursor, *finder;
    struct hd_slice key, value;

    if (hd_hfile_cursor_open(op, hfile, &cursor) != HUDI_OK ||
        hd_hfile_cursor_open(op, hfile, &finder) != HUDI_OK)
        abort();
    for (int i = 0; i < 10000 && hd_hfile_next(op, cursor, &key, &value) == HUDI_OK; i++) {
        if (i % 64 == 0)
            (void)hd_hfile_find(op, finder, key, &value);
        hd_op_clear_error(op);
    }
    hd_op_clear_error(op);
    hd_hfile_cursor_close(op, cursor);
    hd_hfile_cursor_close(op, finder);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct hd_hfile_source source = {.bytes = hd_slice_of(data, size)};
    struct hd_op op;
    hd_hfile *hfile;
    struct hd_str meta = {0};
    struct hd_slice value;

    hd_op_init(&op);
    if (hd_hfile_open(&op, &source, &hfile) == HUDI_OK) {
        (void)hd_hfile_info(&op, hfile, "schema", &value);
        (void)hd_hfile_meta_block(&op, hfile, "bloomFilter", &meta);
        hd_op_clear_error(&op);
        walk(&op, hfile);
        hd_hfile_close(&op, hfile);
    }
    hd_str_clear(&meta);
    hd_op_clear(&op);
    return 0;
}
