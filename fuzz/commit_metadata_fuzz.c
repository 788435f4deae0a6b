/* SPDX-License-Identifier: Apache-2.0 */
/* Commit metadata in JSON: what is read is printed, and what is printed reads as the same. */
#include <stdlib.h>

#include "format/timeline/commit_glance.h"
#include "format/timeline/commit_metadata.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_print(struct hd_op *op, const struct hd_commit_metadata *metadata)
{
    struct hd_commit_metadata again;
    struct hd_str text = {0}, text_again = {0};

    if (hd_commit_metadata_format(op, metadata, &text) != HUDI_OK ||
        hd_commit_metadata_parse(op, hd_str_slice(&text), &again) != HUDI_OK)
        abort();
    /* Stats may move to their partition once; from then on all stays in place. */
    if (again.n_stats != metadata->n_stats ||
        hd_commit_metadata_format(op, &again, &text_again) != HUDI_OK ||
        !hd_slice_equal(hd_str_slice(&text), hd_str_slice(&text_again)))
        abort();
    hd_commit_metadata_clear(&again);
    hd_str_clear(&text);
    hd_str_clear(&text_again);
}

/* Whatever is given lies in the text. */
static bool is_inside(void *self, struct hd_slice path, int64_t n_bytes)
{
    const struct hd_slice *const text = self;

    if (n_bytes < 0 || path.data < text->data || path.data + path.size > text->data + text->size)
        abort();
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hd_slice text = hd_slice_of(data, size);
    struct hd_op op;
    struct hd_arena arena = {0};
    struct hd_commit_metadata metadata;
    struct hd_write_stat stat;

    (void)hd_commit_glance(text, is_inside, &text);
    hd_op_init(&op);
    if (hd_commit_metadata_parse(&op, hd_slice_of(data, size), &metadata) == HUDI_OK) {
        check_print(&op, &metadata);
        hd_commit_metadata_clear(&metadata);
    }
    hd_op_clear_error(&op);
    (void)hd_write_stat_parse(&op, &arena, hd_slice_of(data, size), &stat);
    hd_arena_clear(&arena);
    hd_op_clear(&op);
    return 0;
}
