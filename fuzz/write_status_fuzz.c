/* SPDX-License-Identifier: Apache-2.0 */
/* Write statuses: what is decoded is encoded, and what is encoded decodes as the same. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "engine/write/write_status.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool right)
{
    if (!right)
        abort();
}

static void check_again(struct hd_op *op, const struct hd_write_status *status)
{
    struct hd_write_status again, all = {0};
    struct hd_str text = {0}, text_again = {0};

    must(hd_write_status_encode(op, status, &text) == HUDI_OK);
    must(hd_write_status_decode(op, hd_str_slice(&text), &again) == HUDI_OK);
    must(again.n_stats == status->n_stats && again.n_failures == status->n_failures);
    must(hd_write_status_encode(op, &again, &text_again) == HUDI_OK);
    must(hd_slice_equal(hd_str_slice(&text), hd_str_slice(&text_again)));
    must(hd_write_status_absorb(op, &all, &again) == HUDI_OK);
    must(all.n_failed == status->n_failed);
    for (size_t i = 1; i < all.n_failures; i++)
        must(all.failures[i - 1].at <= all.failures[i].at);
    hd_write_status_clear(op, &all);
    hd_write_status_clear(op, &again);
    hd_str_clear(&text);
    hd_str_clear(&text_again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hd_write_status status;
    struct hd_op op;

    hd_op_init(&op);
    if (hd_write_status_decode(&op, hd_slice_of(data, size), &status) == HUDI_OK) {
        check_again(&op, &status);
        hd_write_status_clear(&op, &status);
    }
    hd_op_clear(&op);
    return 0;
}
