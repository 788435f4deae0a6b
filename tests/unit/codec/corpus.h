/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_UNIT_CODEC_CORPUS_H
#define TEST_UNIT_CODEC_CORPUS_H

#include <stdio.h>
#include <stdlib.h>

#include "base/str.h"

/** The bytes of a file of fuzz/corpus, in a block of exactly their size; free() them. */
static inline struct hd_slice test_corpus(const char *name)
{
    char path[1024];
    uint8_t *data = NULL;
    long size = 0;

    snprintf(path, sizeof path, "%s/fuzz/corpus/%s", HD_SOURCE_DIR, name);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    size = ftell(file);
    assert_true(size > 0);
    rewind(file);
    data = malloc((size_t)size);
    assert_non_null(data);
    assert_int_equal(fread(data, 1, (size_t)size, file), (size_t)size);
    fclose(file);
    return hd_slice_of(data, (size_t)size);
}

/** The first `n` bytes in a block of exactly that size, so that reading past them is seen. */
static inline struct hd_slice test_cut(struct hd_slice bytes, size_t n)
{
    uint8_t *data = malloc(n > 0 ? n : 1);

    assert_non_null(data);
    memcpy(data, bytes.data, n);
    return hd_slice_of(data, n);
}

static inline void test_slice_free(struct hd_slice bytes)
{
    free((void *)(uintptr_t)bytes.data);
}

#endif
