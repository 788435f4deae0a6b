/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes of a split: one that is taken can be written again, and what is written is the same
 * plan. A split names its table: those of a network's store are left out. */
#include <stdlib.h>
#include <string.h>

#include "engine/scan/scan.h"

static const char *const NETWORKS[] = {"s3", "gs:", "gcs:", "abfs", "hdfs", "viewfs"};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hd_op op;
    struct hd_str first = {0}, second = {0};
    hd_scan_plan *plan = NULL, *again = NULL;

    for (size_t i = 0; i < sizeof NETWORKS / sizeof *NETWORKS; i++)
        if (memmem(data, size, NETWORKS[i], strlen(NETWORKS[i])) != NULL)
            return 0;
    hd_op_init(&op);
    if (hd_scan_split_decode(&op, hd_slice_of(data, size), &plan) == HUDI_OK) {
        if (hd_scan_plan_n_splits(plan) != 1 ||
            hd_scan_split_encode(&op, plan, 0, &first) != HUDI_OK ||
            hd_scan_split_decode(&op, hd_str_slice(&first), &again) != HUDI_OK ||
            hd_scan_split_encode(&op, again, 0, &second) != HUDI_OK ||
            !hd_slice_equal(hd_str_slice(&first), hd_str_slice(&second)))
            abort();
    }
    hd_scan_plan_free(plan);
    hd_scan_plan_free(again);
    hd_str_clear(&first);
    hd_str_clear(&second);
    hd_op_clear(&op);
    return 0;
}
