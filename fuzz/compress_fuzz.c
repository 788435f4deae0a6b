/* SPDX-License-Identifier: Apache-2.0 */
/* A codec byte, then a block to decompress, to at most a mebibyte. */
#include <stdlib.h>

#include "codec/compress.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hd_op op;
    struct hd_str out = {0};

    if (size == 0)
        return 0;
    enum hd_codec codec = (enum hd_codec)(data[0] % (HD_CODEC_LZ4 + 1));
    struct hd_slice in = hd_slice_of(data + 1, size - 1);
    hd_op_init(&op);
    if (hd_decompress(&op, codec, in, 1u << 20, &out) == HUDI_OK) {
        uint8_t *exact = malloc(out.size + 1);

        if (exact == NULL)
            abort();
        /* Both ways agree on what is a block, but for lz4, which minds the rules about the end of a
         * block only where the output ends too. */
        hudi_status status = hd_decompress_exact(&op, codec, in, exact, out.size);
        if (status == HUDI_OK ? memcmp(exact, hd_str_text(&out), out.size) != 0
                              : codec != HD_CODEC_LZ4)
            abort();
        free(exact);
    }
    hd_str_clear(&out);
    hd_op_clear(&op);
    return 0;
}
