/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/write/spool_merge.h"

struct source {
    struct hd_row_spool_reader reader;
    struct hd_slice record; /* at hand */
    uint32_t number;        /* decides between equal records */
};

/* `heap` holds the sources that have a record, the least first: heap[i] is not above heap[2i + 1]
 * and heap[2i + 2]. */
struct hd_spool_merge {
    const hd_row_spool *spool;
    hd_spool_compare *compare;
    struct source *sources;
    uint32_t n_sources;
    struct source **heap;
    uint32_t n_heap;
};

static bool is_before(const hd_spool_merge *merge, const struct source *a, const struct source *b)
{
    const int order = merge->compare(a->record, b->record);

    return order != 0 ? order < 0 : a->number < b->number;
}

static void sink_down(hd_spool_merge *merge, uint32_t i)
{
    struct source *const sinking = merge->heap[i];

    for (;;) {
        uint32_t child = 2 * i + 1;

        if (child >= merge->n_heap)
            break;
        if (child + 1 < merge->n_heap &&
            is_before(merge, merge->heap[child + 1], merge->heap[child]))
            child++;
        if (!is_before(merge, merge->heap[child], sinking))
            break;
        merge->heap[i] = merge->heap[child];
        i = child;
    }
    merge->heap[i] = sinking;
}

hudi_status hd_spool_merge_open(struct hd_op *op, const hd_row_spool *spool, uint32_t first,
                                uint32_t step, uint32_t n, hd_spool_compare *compare,
                                hd_spool_merge **out)
{
    hudi_status status = HUDI_OK;
    hd_spool_merge *merge;

    *out = NULL;
    HD_TRY(hd_alloc(op, sizeof *merge, &merge));
    merge->spool = spool;
    merge->compare = compare;
    HD_TRY_OUT(hd_alloc_array(op, n, sizeof *merge->sources, &merge->sources));
    merge->n_sources = n;
    HD_TRY_OUT(hd_alloc_array(op, n, sizeof *merge->heap, &merge->heap));
    for (uint32_t i = 0; i < n; i++) {
        struct source *source = &merge->sources[i];

        source->number = i;
        hd_row_spool_reader_start(&source->reader, first + i * step);
        status = hd_row_spool_reader_next(op, spool, &source->reader, &source->record);
        if (status == HUDI_OK)
            merge->heap[merge->n_heap++] = source;
        else if (status != HUDI_END)
            goto out;
    }
    for (uint32_t i = merge->n_heap / 2; i > 0; i--)
        sink_down(merge, i - 1);
    *out = merge;
    return HUDI_OK;
out:
    hd_spool_merge_free(op, merge);
    return status;
}

void hd_spool_merge_free(struct hd_op *op, hd_spool_merge *merge)
{
    if (merge == NULL)
        return;
    for (uint32_t i = 0; i < merge->n_sources; i++)
        hd_row_spool_reader_clear(&merge->sources[i].reader);
    hd_free(op, merge->sources);
    hd_free(op, merge->heap);
    hd_free(op, merge);
}

bool hd_spool_merge_peek(const hd_spool_merge *merge, struct hd_slice *out)
{
    if (merge->n_heap == 0)
        return false;
    *out = merge->heap[0]->record;
    return true;
}

hudi_status hd_spool_merge_pass(struct hd_op *op, hd_spool_merge *merge)
{
    struct source *source = merge->heap[0];
    const hudi_status status =
        hd_row_spool_reader_next(op, merge->spool, &source->reader, &source->record);

    if (status == HUDI_END)
        merge->heap[0] = merge->heap[--merge->n_heap];
    else
        HD_TRY(status);
    if (merge->n_heap > 0)
        sink_down(merge, 0);
    return HUDI_OK;
}
