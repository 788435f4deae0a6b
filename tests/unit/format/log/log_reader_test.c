/* SPDX-License-Identifier: Apache-2.0 */
/* clang-format off */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */

#include <stdlib.h>
#include <string.h>

#include "log_testing.h"
#include "support/fault.h"

/* ---- whole files --------------------------------------------------------------------------- */

#define N_BLOCKS 5

/* A file of blocks of several types and sizes; where each starts, and the end. */
struct written {
    struct hd_str bytes;
    size_t starts[N_BLOCKS + 1];
};

static void write_blocks(struct hd_op *op, struct written *w)
{
    static const size_t SIZES[N_BLOCKS] = {8, 200, 0, 100000, 37};
    static const enum hd_log_block_type TYPES[N_BLOCKS] = {
        HD_LOG_AVRO_DATA, HD_LOG_DELETE, HD_LOG_COMMAND, HD_LOG_PARQUET_DATA, HD_LOG_HFILE_DATA};
    char *filler = malloc(100000);

    memset(filler, 'x', 100000);
    *w = (struct written){0};
    for (size_t i = 0; i < N_BLOCKS; i++) {
        const struct hd_slice content = hd_slice_of(filler, SIZES[i]);
        const struct hd_log_header_entry header[] = {
            {HD_LOG_INSTANT_TIME, hd_slice_text("20250126040936578")},
            {HD_LOG_SCHEMA, hd_slice_text("\"string\"")},
        };

        w->starts[i] = w->bytes.size;
        test_must(op, hd_log_block_encode(op, TYPES[i], header, i % 3, &content, 1, &w->bytes));
    }
    w->starts[N_BLOCKS] = w->bytes.size;
    free(filler);
}

struct seen {
    size_t n_whole, n_corrupt, n_refused;
    bool found[N_BLOCKS]; /* whole ones by their place in the file as it was written */
    uint64_t corrupt_from, corrupt_to;
};

static void note(const struct written *w, const struct hd_log_block *block, struct seen *seen)
{
    if (block->type == HD_LOG_CORRUPT) {
        seen->n_corrupt++;
        seen->corrupt_from = block->offset;
        seen->corrupt_to = block->offset + block->size;
        assert_non_null(block->damage);
        assert_int_equal(block->header.size, 0);
        assert_int_equal(block->content_bytes, 0);
        return;
    }
    seen->n_whole++;
    for (size_t i = 0; i < N_BLOCKS; i++)
        if (block->offset == w->starts[i])
            seen->found[i] = block->size == w->starts[i + 1] - w->starts[i];
}

/* Walk forwards, then backwards: the same blocks, which cover the file. */
static struct seen walk(struct hd_op *op, const struct written *w, const char *bytes, size_t n)
{
    enum { MOST = 64 };
    hd_log_reader *reader = reader_of(op, bytes, n);
    uint64_t starts[MOST], at = 0;
    size_t n_starts = 0;
    struct seen seen = {0};
    struct hd_log_block block;
    hudi_status status;

    while ((status = hd_log_reader_next(op, reader, &block)) != HUDI_END) {
        assert_true(n_starts < MOST);
        starts[n_starts++] = at;
        if (status == HUDI_NOT_IMPLEMENTED) {
            hd_op_clear_error(op);
            seen.n_refused++;
        } else {
            test_must(op, status);
            assert_int_equal(block.offset, at);
            note(w, &block, &seen);
            hd_log_block_clear(op, &block);
        }
        at = hd_log_reader_offset(reader);
    }
    assert_null(op->error);
    assert_true(n - at < 6);
    hd_log_reader_seek(reader, UINT64_MAX);
    while ((status = hd_log_reader_previous(op, reader, &block)) != HUDI_END) {
        assert_true(n_starts > 0);
        assert_int_equal(hd_log_reader_offset(reader), starts[--n_starts]);
        hd_op_clear_error(op);
        hd_log_block_clear(op, &block);
    }
    assert_int_equal(n_starts, 0);
    hd_log_reader_close(op, reader);
    return seen;
}

static void blocks_come_in_order_and_backwards(void **state)
{
    struct written w;

    write_blocks(*state, &w);
    const struct seen seen = walk(*state, &w, w.bytes.data, w.bytes.size);
    assert_int_equal(seen.n_whole, N_BLOCKS);
    assert_int_equal(seen.n_corrupt, 0);
    hd_str_clear(&w.bytes);
}

static void contents_are_loaded_when_asked_for(void **state)
{
    struct hd_op *op = *state;
    struct written w;
    struct hd_log_block block;

    write_blocks(op, &w);
    hd_log_reader *reader = reader_of(op, w.bytes.data, w.bytes.size);
    for (size_t i = 0; i < N_BLOCKS; i++) {
        test_must(op, hd_log_reader_next(op, reader, &block));
        assert_null(block.content.data);
        assert_null(block.body);
        const uint64_t after = hd_log_reader_offset(reader);
        test_must(op, hd_log_reader_content(op, reader, &block));
        test_must(op, hd_log_reader_content(op, reader, &block));
        assert_int_equal(block.content.size, block.content_bytes);
        for (size_t j = 0; j < block.content.size; j++)
            assert_int_equal(block.content.data[j], 'x');
        assert_int_equal(hd_log_reader_offset(reader), after);
        assert_int_equal(op->budget->used_bytes, block.content_bytes);
        hd_log_block_clear(op, &block);
        assert_int_equal(op->budget->used_bytes, 0);
    }
    hd_log_reader_close(op, reader);
    hd_str_clear(&w.bytes);
}

static void a_full_budget_does_not_stop_a_content(void **state)
{
    struct hd_op *op = *state;
    struct written w;
    struct hd_log_block block;

    write_blocks(op, &w);
    test_budget_limit(op, 10);
    hd_log_reader *reader = reader_of(op, w.bytes.data, w.bytes.size);
    hd_log_reader_seek(reader, w.starts[3]);
    test_must(op, hd_log_reader_next(op, reader, &block));
    test_must(op, hd_log_reader_content(op, reader, &block));
    assert_int_equal(block.content.size, 100000);
    hd_log_block_clear(op, &block);
    hd_log_reader_close(op, reader);
    test_budget_limit(op, UINT64_MAX);
    hd_str_clear(&w.bytes);
}

/* ---- damage -------------------------------------------------------------------------------- */

/* A writer that dies leaves a prefix: with a whole magic it is corrupt, shorter it is the end. */
static void a_cut_costs_the_block_it_is_in(void **state)
{
    struct written w;

    write_blocks(*state, &w);
    for (size_t n = 0; n < w.bytes.size; n += n < w.starts[3] + 300 ? 1 : n % 997 + 1) {
        const struct seen seen = walk(*state, &w, w.bytes.data, n);
        size_t n_before = 0;

        while (w.starts[n_before + 1] <= n)
            n_before++;
        assert_int_equal(seen.n_whole, n_before);
        assert_int_equal(seen.n_corrupt, n - w.starts[n_before] >= 6);
        if (seen.n_corrupt == 1) {
            assert_int_equal(seen.corrupt_from, w.starts[n_before]);
            assert_int_equal(seen.corrupt_to, n);
        }
    }
    hd_str_clear(&w.bytes);
}

/* Whatever is flipped, the other blocks are there: one, or the next magic, is lost at most. */
static void a_flip_costs_one_block_at_most(void **state)
{
    struct written w;
    char *bytes;
    unsigned x = 12345;

    write_blocks(*state, &w);
    bytes = malloc(w.bytes.size);
    memcpy(bytes, w.bytes.data, w.bytes.size);
    for (size_t at = 0; at < w.bytes.size; at += at < w.starts[3] + 300 ? 1 : x % 3000) {
        x = x * 1103515245 + 12345;
        const char flip = (char)(x >> 16 & 0xff ? x >> 16 : 1);
        size_t hit = 0;

        bytes[at] ^= flip;
        const struct seen seen = walk(*state, &w, bytes, w.bytes.size);
        while (w.starts[hit + 1] <= at)
            hit++;
        for (size_t i = 0; i < N_BLOCKS; i++)
            if (i != hit && !seen.found[i])
                fail_msg("flip of byte %zu in block %zu loses block %zu", at, hit, i);
        assert_int_equal(seen.n_whole + seen.n_corrupt + seen.n_refused, N_BLOCKS);
        bytes[at] ^= flip;
    }
    free(bytes);
    hd_str_clear(&w.bytes);
}

static void bytes_in_between_are_one_corrupt_block(void **state)
{
    struct hd_op *op = *state;
    struct written w;
    struct hd_str file = {0};

    write_blocks(op, &w);
    test_must(op, hd_str_append(op, &file, w.bytes.data, w.starts[2]));
    for (int i = 0; i < 20; i++)
        test_must(op, hd_str_append_text(op, &file, "garbage #HUDI "));
    const size_t behind = file.size;
    test_must(op, hd_str_append(op, &file, w.bytes.data + w.starts[2], w.bytes.size - w.starts[2]));
    const struct seen seen = walk(op, &w, file.data, file.size);
    assert_int_equal(seen.n_whole, N_BLOCKS);
    assert_int_equal(seen.n_corrupt, 1);
    assert_int_equal(seen.corrupt_from, w.starts[2]);
    assert_int_equal(seen.corrupt_to, behind);
    hd_str_clear(&file);
    hd_str_clear(&w.bytes);
}

/* Invariant 1. */
static void a_whole_block_counts_whatever_stands_behind_it(void **state)
{
    char bytes[ROLLBACK_BYTES + 20];
    struct written w = {.starts = {0, ROLLBACK_BYTES}};

    memcpy(bytes, ROLLBACK, ROLLBACK_BYTES);
    memset(bytes + ROLLBACK_BYTES, 'x', 20);
    for (size_t n = 0; n <= 20; n++) {
        const struct seen seen = walk(*state, &w, bytes, ROLLBACK_BYTES + n);

        assert_true(seen.found[0]);
        assert_int_equal(seen.n_corrupt, n >= 6);
    }
}

/* Invariant 4. */
static void a_damaged_high_half_of_the_size_is_read_over(void **state)
{
    struct written w = {.starts = {0, ROLLBACK_BYTES}};
    char bytes[ROLLBACK_BYTES];

    for (size_t at = 6; at < 10; at++) {
        memcpy(bytes, ROLLBACK, sizeof bytes);
        bytes[at] ^= 0x80;
        const struct seen seen = walk(*state, &w, bytes, sizeof bytes);
        assert_int_equal(seen.n_whole, 1);
        assert_true(seen.found[0]);
    }
}

static void every_flipped_length_is_noticed(void **state)
{
    static const size_t SIZES[] = {10, 11, 12, 13, 97, 98, 99, 100, 101, 102, 103, 104,
                                   /* counts and lengths inside */
                                   22, 25, 33, 58, 67, 85, 92, 96};

    for (size_t i = 0; i < HD_ARRAY_LENGTH(SIZES); i++) {
        const struct written w = {.starts = {0, ROLLBACK_BYTES}};
        char bytes[ROLLBACK_BYTES];

        memcpy(bytes, ROLLBACK, sizeof bytes);
        bytes[SIZES[i]] ^= 1;
        const struct seen seen = walk(*state, &w, bytes, sizeof bytes);
        if (seen.n_whole != 0 || seen.n_corrupt != 1 || seen.corrupt_to != ROLLBACK_BYTES)
            fail_msg("byte %zu", SIZES[i]);
    }
}

static void other_versions_and_types_are_refused_by_name(void **state)
{
    static const struct {
        size_t at;
        char value;
        hudi_status wanted;
        const char *message;
    } CASES[] = {
        {17, 0, HUDI_NOT_IMPLEMENTED, "log block at byte 0 has log format version 0"},
        {17, 2, HUDI_NOT_IMPLEMENTED, "log block at byte 0 has log format version 2"},
        {21, 7, HUDI_NOT_IMPLEMENTED, "log block at byte 0 is of unknown type 7"},
        {21, 2, HUDI_OK, NULL},
    };
    struct hd_op *op = *state;

    for (size_t i = 0; i < HD_ARRAY_LENGTH(CASES); i++) {
        char bytes[2 * ROLLBACK_BYTES];
        struct hd_log_block block;

        memcpy(bytes, ROLLBACK, ROLLBACK_BYTES);
        memcpy(bytes + ROLLBACK_BYTES, ROLLBACK, ROLLBACK_BYTES);
        bytes[CASES[i].at] = CASES[i].value;
        hd_log_reader *reader = reader_of(op, bytes, sizeof bytes);
        assert_int_equal(hd_log_reader_next(op, reader, &block), CASES[i].wanted);
        if (CASES[i].message != NULL)
            assert_string_equal(hudi_error_message(op->error), CASES[i].message);
        else
            assert_int_equal(block.type, HD_LOG_CORRUPT);
        hd_op_clear_error(op);
        test_must(op, hd_log_reader_next(op, reader, &block)); /* what is behind can be read */
        assert_int_equal(block.offset, ROLLBACK_BYTES);
        hd_log_block_clear(op, &block);
        hd_log_reader_close(op, reader);
    }
}

static void the_next_magic_is_found_wherever_it_is(void **state)
{
    static const size_t PLACES[] = {1, 5, 65530, 65531, 65535, 65536, 65537, 131000, 200000};
    enum { N = 200006 };
    struct hd_op *op = *state;
    char *bytes = malloc(N);

    for (size_t i = 0; i < HD_ARRAY_LENGTH(PLACES); i++) {
        struct hd_log_block block;

        memset(bytes, '#', N);
        memcpy(bytes + PLACES[i], "#HUDI#", 6);
        hd_log_reader *reader = reader_of(op, bytes, N);
        test_must(op, hd_log_reader_next(op, reader, &block));
        assert_int_equal(block.type, HD_LOG_CORRUPT);
        assert_int_equal(block.size, PLACES[i]);
        test_must(op, hd_log_reader_next(op, reader, &block));
        assert_int_equal(block.offset, PLACES[i]);
        assert_int_equal(block.size, N - PLACES[i]);
        assert_int_equal(hd_log_reader_next(op, reader, &block), HUDI_END);
        hd_log_reader_close(op, reader);
    }
    free(bytes);
}

/* ---- faults -------------------------------------------------------------------------------- */

/* Fail the 1st, 2nd, ... allocation or read until none is left to fail. */
static void survives_every_fault(void **state)
{
    struct hd_op *op = *state;
    hudi_status status = HUDI_INTERNAL;
    struct written w;

    write_blocks(op, &w);
    w.bytes.data[w.starts[1]] = 'x'; /* a corrupt block, so that the way back walks the file */
    for (int nth = 1; status != HUDI_OK; nth++) {
        hd_input_file *file;
        hd_log_reader *reader = NULL;
        struct hd_log_block block = {0};

        test_fault_arm(op, nth);
        status = hd_input_file_of_bytes(op, w.bytes.data, w.bytes.size, &file);
        if (status == HUDI_OK)
            status = hd_log_reader_of_file(op, file, &reader);
        for (int i = 0; i < N_BLOCKS && status == HUDI_OK; i++) {
            hd_log_block_clear(op, &block);
            status = hd_log_reader_next(op, reader, &block);
            if (status == HUDI_OK)
                status = hd_log_reader_content(op, reader, &block);
        }
        for (int i = 0; i < N_BLOCKS && status == HUDI_OK; i++) {
            hd_log_block_clear(op, &block);
            status = hd_log_reader_previous(op, reader, &block);
        }
        assert_int_equal(status == HUDI_OK, !test_fault_fired(op));
        hd_log_block_clear(op, &block);
        hd_log_reader_close(op, reader);
    }
    test_fault_disarm(op);
    hd_op_clear_error(op);
    hd_str_clear(&w.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_come_in_order_and_backwards),
        cmocka_unit_test(contents_are_loaded_when_asked_for),
        cmocka_unit_test(a_full_budget_does_not_stop_a_content),
        cmocka_unit_test(a_cut_costs_the_block_it_is_in),
        cmocka_unit_test(a_flip_costs_one_block_at_most),
        cmocka_unit_test(bytes_in_between_are_one_corrupt_block),
        cmocka_unit_test(a_whole_block_counts_whatever_stands_behind_it),
        cmocka_unit_test(a_damaged_high_half_of_the_size_is_read_over),
        cmocka_unit_test(every_flipped_length_is_noticed),
        cmocka_unit_test(other_versions_and_types_are_refused_by_name),
        cmocka_unit_test(the_next_magic_is_found_wherever_it_is),
        cmocka_unit_test(survives_every_fault),
    };

    return cmocka_run_group_tests(tests, test_op_setup, test_op_teardown);
}
