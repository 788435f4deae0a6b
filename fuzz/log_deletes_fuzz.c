/* SPDX-License-Identifier: Apache-2.0 */
/* The content of a delete block: Kryo or Avro. What can be read can be written in each version that
 * has its types, and is then read as the same. */
#include <stdlib.h>

#include "format/log/log_deletes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void write_and_read(struct hd_op *op, const struct hd_log_deletes *deletes, uint32_t version)
{
    struct hd_str out = {0};
    struct hd_log_deletes again;

    if (hd_log_deletes_encode(op, version, deletes, &out) == HUDI_OK) {
        if (hd_log_deletes_decode(op, hd_str_slice(&out), 0, &again) != HUDI_OK ||
            again.n != deletes->n)
            abort();
        for (size_t i = 0; i < again.n; i++)
            if (!hd_slice_equal(again.record_keys[i], deletes->record_keys[i]) ||
                !hd_slice_equal(again.partition_paths[i], deletes->partition_paths[i]))
                abort();
        hd_log_deletes_clear(op, &again);
    }
    hd_op_clear_error(op);
    hd_str_clear(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hd_op op;
    struct hd_log_deletes deletes;

    hd_op_init(&op);
    if (hd_log_deletes_decode(&op, hd_slice_of(data, size), 0, &deletes) == HUDI_OK) {
        if (hd_log_deletes_bytes(&deletes) > 16384 + 200 * (uint64_t)size)
            abort();
        for (uint32_t version = 1; version <= 3; version++)
            write_and_read(&op, &deletes, version);
        hd_log_deletes_clear(&op, &deletes);
    }
    hd_op_clear(&op);
    return 0;
}
