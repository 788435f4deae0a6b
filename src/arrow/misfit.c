/* SPDX-License-Identifier: Apache-2.0 */
#include "arrow/misfit.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define REASON_BYTES 600

hudi_status hd_misfits_add(struct hd_op *op, struct hd_misfits *misfits, int64_t row,
                           const char *format, ...)
{
    char reason[REASON_BYTES], *kept;
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    HD_TRY(hd_grow(op, &misfits->list, &misfits->capacity, misfits->n + 1, sizeof *misfits->list));
    HD_TRY(hd_arena_strdup(op, &misfits->arena, reason, &kept));
    misfits->list[misfits->n++] = (struct hd_misfit){row, kept};
    return HUDI_OK;
}

/* Merge sort by row, equal rows in the order they have: qsort() would not keep it. */
static void sort_rows(struct hd_misfit *list, struct hd_misfit *spare, size_t n)
{
    const size_t half = n / 2;

    if (n < 2)
        return;
    sort_rows(list, spare, half);
    sort_rows(list + half, spare + half, n - half);
    memcpy(spare, list, n * sizeof *list);
    for (size_t i = 0, a = 0, b = half; i < n; i++)
        list[i] = b == n || (a < half && spare[a].row <= spare[b].row) ? spare[a++] : spare[b++];
}

hudi_status hd_misfits_sort(struct hd_op *op, struct hd_misfits *misfits)
{
    struct hd_misfit *spare;
    size_t n = 0;

    if (misfits->n < 2)
        return HUDI_OK;
    HD_TRY(hd_alloc_array(op, misfits->n, sizeof *spare, &spare));
    sort_rows(misfits->list, spare, misfits->n);
    hd_free(op, spare);
    for (size_t i = 0; i < misfits->n; i++)
        if (n == 0 || misfits->list[n - 1].row != misfits->list[i].row)
            misfits->list[n++] = misfits->list[i];
    misfits->n = n;
    return HUDI_OK;
}

void hd_misfits_reset(struct hd_misfits *misfits)
{
    misfits->n = 0;
    hd_arena_reset(&misfits->arena);
}

void hd_misfits_clear(struct hd_op *op, struct hd_misfits *misfits)
{
    hd_free(op, misfits->list);
    hd_arena_clear(&misfits->arena);
    *misfits = (struct hd_misfits){0};
}
