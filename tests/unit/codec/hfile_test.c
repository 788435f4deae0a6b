/* SPDX-License-Identifier: Apache-2.0 */
/* clang-format off */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */

/* HFiles made here from the page of the format; real ones: format/log/hfile_golden_test.c. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codec/compress.h"
#include "codec/hash.h"
#include "codec/hfile.h"
#include "support/fault.h"

#define HEADER_BYTES 33
#define TRAILER_BYTES 4096
#define CHUNK 100 /* bytes per checksum */

/* ---- a writer ------------------------------------------------------------------------------ */

struct shape {
    int codec; /* as in the trailer */
    int checksum_type;
    bool varint_index; /* as 1.1 writes it: protobuf varints */
    bool full_index;   /* as HBase writes it: family, timestamp and type in the index */
    bool two_levels;
    size_t n_cells;
    size_t cells_per_block;
    size_t key_bytes;
};

struct made {
    struct hd_str bytes;
    size_t block_offsets[64], block_sizes[64];
    size_t n_blocks;
};

static void must(struct hd_op *op, hudi_status status)
{
    if (status != HUDI_OK)
        fail_msg("%s", op->error != NULL ? hudi_error_message(op->error) : "no error");
}

static void put(struct hd_op *op, struct hd_str *out, const void *bytes, size_t n)
{
    must(op, hd_str_append(op, out, bytes, n));
}

static void put_be(struct hd_op *op, struct hd_str *out, uint64_t value, int n_bytes)
{
    for (int i = n_bytes - 1; i >= 0; i--)
        must(op, hd_str_append_char(op, out, (char)(value >> 8 * i)));
}

static void put_varint(struct hd_op *op, struct hd_str *out, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        must(op, hd_str_append_char(op, out, (char)(value | 0x80)));
    must(op, hd_str_append_char(op, out, (char)value));
}

static void put_vint(struct hd_op *op, struct hd_str *out, uint64_t value)
{
    if (value <= 127)
        return put_be(op, out, value, 1);
    const int n_bytes = value < 256 ? 1 : 2;
    put_be(op, out, (uint64_t)(-112 - n_bytes), 1);
    put_be(op, out, value, n_bytes);
}

static void put_field(struct hd_op *op, struct hd_str *out, int number, uint64_t value)
{
    put_varint(op, out, (uint64_t)number << 3);
    put_varint(op, out, value);
}

static void put_bytes_field(struct hd_op *op, struct hd_str *out, int number, const void *bytes,
                            size_t n)
{
    put_varint(op, out, (uint64_t)number << 3 | 2);
    put_varint(op, out, n);
    put(op, out, bytes, n);
}

/* Returns its size on disk. */
static size_t put_block(struct hd_op *op, const struct shape *shape, const char *magic,
                        const struct hd_str *payload, struct hd_str *out)
{
    const size_t start = out->size;
    struct hd_str data = {0};

    if (shape->codec == 1)
        must(op,
             hd_compress(op, HD_CODEC_GZIP, HD_CODEC_LEVEL_DEFAULT, hd_str_slice(payload), &data));
    else
        put(op, &data, payload->data, payload->size);
    const size_t n_data = HEADER_BYTES + data.size, n_sums = (n_data + CHUNK - 1) / CHUNK;
    put(op, out, magic, 8);
    put_be(op, out, data.size + 4 * n_sums, 4);
    put_be(op, out, payload->size, 4);
    put_be(op, out, UINT64_MAX, 8);
    put_be(op, out, (uint64_t)shape->checksum_type, 1);
    put_be(op, out, CHUNK, 4);
    put_be(op, out, n_data, 4);
    put(op, out, data.data, data.size);
    for (size_t i = 0; i < n_sums; i++) {
        const size_t n = i + 1 < n_sums ? CHUNK : n_data - i * CHUNK;
        const char *const at = out->data + start + i * CHUNK;

        put_be(op, out,
               shape->checksum_type == 1   ? hd_crc32(0, at, n)
               : shape->checksum_type == 2 ? hd_crc32c(0, at, n)
                                           : 0,
               4);
    }
    hd_str_clear(&data);
    return out->size - start;
}

/* The i-th key: even numbers, so that there are keys in between. */
static void make_key(const struct shape *shape, size_t i, char *out)
{
    memset(out, 'k', shape->key_bytes);
    (void)snprintf(out + shape->key_bytes - 8, 9, "%08zu", 2 * i);
}

static void put_key(struct hd_op *op, struct hd_str *out, const char *key, size_t n, bool suffix)
{
    put_be(op, out, n, 2);
    put(op, out, key, n);
    if (suffix)
        put(op, out, "\0\x7f\xff\xff\xff\xff\xff\xff\xff\4", 10);
}

static void put_cell(struct hd_op *op, const struct shape *shape, size_t i, struct hd_str *out)
{
    char key[300], value[32];

    make_key(shape, i, key);
    const int n = snprintf(value, sizeof value, "value %zu", i);
    put_be(op, out, shape->key_bytes + 12, 4);
    put_be(op, out, (uint64_t)n, 4);
    put_key(op, out, key, shape->key_bytes, true);
    put(op, out, value, (size_t)n);
    put_be(op, out, 0, 1); /* mvcc */
}

static void put_root_entry(struct hd_op *op, const struct shape *shape, uint64_t offset,
                           uint64_t size, size_t cell, struct hd_str *out)
{
    struct hd_str bytes = {0};
    char key[300];

    make_key(shape, cell, key);
    put_key(op, &bytes, key, shape->key_bytes, shape->full_index);
    put_be(op, out, offset, 8);
    put_be(op, out, size, 4);
    if (shape->varint_index)
        put_varint(op, out, bytes.size);
    else
        put_vint(op, out, bytes.size);
    put(op, out, bytes.data, bytes.size);
    hd_str_clear(&bytes);
}

/* A leaf index of blocks [from, to). */
static void put_leaf(struct hd_op *op, const struct shape *shape, const struct made *made,
                     size_t from, size_t to, struct hd_str *out)
{
    struct hd_str entries = {0};
    char key[300];

    put_be(op, out, to - from, 4);
    put_be(op, out, 0, 4);
    for (size_t i = from; i < to; i++) {
        make_key(shape, i * shape->cells_per_block, key);
        put_be(op, &entries, made->block_offsets[i], 8);
        put_be(op, &entries, made->block_sizes[i], 4);
        put_key(op, &entries, key, shape->key_bytes, true);
        put_be(op, out, entries.size, 4);
    }
    put(op, out, entries.data, entries.size);
    hd_str_clear(&entries);
}

/* Returns the number of root entries. */
static size_t put_root(struct hd_op *op, const struct shape *shape, struct made *made,
                       struct hd_str *root)
{
    const size_t per_leaf = 3;
    size_t n = 0;

    for (size_t i = 0; i < made->n_blocks; i += shape->two_levels ? per_leaf : 1, n++) {
        uint64_t offset = made->block_offsets[i], size = made->block_sizes[i];

        if (shape->two_levels) {
            const size_t to = i + per_leaf < made->n_blocks ? i + per_leaf : made->n_blocks;
            struct hd_str leaf = {0};

            put_leaf(op, shape, made, i, to, &leaf);
            offset = made->bytes.size;
            size = put_block(op, shape, "IDXLEAF2", &leaf, &made->bytes);
            hd_str_clear(&leaf);
        }
        put_root_entry(op, shape, offset, size, i * shape->cells_per_block, root);
    }
    return n;
}

static void put_info(struct hd_op *op, const struct shape *shape, struct hd_str *out)
{
    static const struct {
        const char *key, *value;
        size_t n;
    } INFO[] = {{"KEY_VALUE_VERSION", "\0\0\0\1", 4}, {"schema", "\"int\"", 5}};
    struct hd_str message = {0}, payload = {0};

    for (size_t i = 0; i < HD_ARRAY_LENGTH(INFO); i++) {
        struct hd_str pair = {0};

        put_bytes_field(op, &pair, 1, INFO[i].key, strlen(INFO[i].key));
        put_bytes_field(op, &pair, 2, INFO[i].value, INFO[i].n);
        put_bytes_field(op, &message, 1, pair.data, pair.size);
        hd_str_clear(&pair);
    }
    put(op, &payload, "PBUF", 4);
    put_varint(op, &payload, message.size);
    put(op, &payload, message.data, message.size);
    (void)put_block(op, shape, "FILEINF2", &payload, out);
    hd_str_clear(&message);
    hd_str_clear(&payload);
}

static void make(struct hd_op *op, const struct shape *shape, struct made *made)
{
    struct hd_str payload = {0}, root = {0}, message = {0};

    *made = (struct made){0};
    for (size_t i = 0; i < shape->n_cells; i++) {
        put_cell(op, shape, i, &payload);
        if ((i + 1) % shape->cells_per_block != 0 && i + 1 < shape->n_cells)
            continue;
        made->block_offsets[made->n_blocks] = made->bytes.size;
        made->block_sizes[made->n_blocks++] =
            put_block(op, shape, "DATABLK*", &payload, &made->bytes);
        payload.size = 0;
    }
    const size_t meta_offset = made->bytes.size;
    put(op, &payload, "filter", 6);
    const size_t meta_size = put_block(op, shape, "METABLKc", &payload, &made->bytes);
    const size_t n_root = put_root(op, shape, made, &root);
    const size_t load_offset = made->bytes.size;
    (void)put_block(op, shape, "IDXROOT2", &root, &made->bytes);
    payload.size = 0;
    put_be(op, &payload, meta_offset, 8);
    put_be(op, &payload, meta_size, 4);
    put_vint(op, &payload, 11);
    put(op, &payload, "bloomFilter", 11);
    (void)put_block(op, shape, "IDXROOT2", &payload, &made->bytes);
    const size_t info_offset = made->bytes.size;
    put_info(op, shape, &made->bytes);
    put_field(op, &message, 1, info_offset);
    put_field(op, &message, 2, load_offset);
    put_field(op, &message, 5, n_root);
    put_field(op, &message, 6, 1);
    put_field(op, &message, 7, shape->n_cells);
    put_field(op, &message, 8, shape->two_levels ? 2 : 1);
    put_field(op, &message, 12, (uint64_t)shape->codec);
    const size_t trailer = made->bytes.size;
    put(op, &made->bytes, "TRABLK\"$", 8);
    put_varint(op, &made->bytes, message.size);
    put(op, &made->bytes, message.data, message.size);
    while (made->bytes.size < trailer + TRAILER_BYTES - 4)
        put_be(op, &made->bytes, 0, 1);
    put_be(op, &made->bytes, 0x03000003, 4);
    hd_str_clear(&payload);
    hd_str_clear(&root);
    hd_str_clear(&message);
}

/* ---- reading ------------------------------------------------------------------------------- */

/* A source that counts what is read of the data blocks. */
struct counted {
    const struct made *made;
    size_t n_reads;
};

static hudi_status read_at(struct hd_op *op, void *self, uint64_t offset, void *into, uint64_t n)
{
    struct counted *const counted = self;

    must(op, hd_op_fault_point(op, "read"));
    for (size_t i = 0; i < counted->made->n_blocks; i++)
        counted->n_reads += counted->made->block_offsets[i] == offset - 7;
    memcpy(into, counted->made->bytes.data + (offset - 7), (size_t)n);
    return HUDI_OK;
}

static struct hd_hfile_source source_of(struct counted *counted)
{
    return (struct hd_hfile_source){
        .read_at = read_at, .self = counted, .base = 7, .size = counted->made->bytes.size};
}

static void expect_cell(const struct shape *shape, size_t i, struct hd_slice key,
                        struct hd_slice value)
{
    char wanted[300], wanted_value[32];

    make_key(shape, i, wanted);
    (void)snprintf(wanted_value, sizeof wanted_value, "value %zu", i);
    assert_true(hd_slice_equal(key, hd_slice_of(wanted, shape->key_bytes)));
    assert_true(hd_slice_equal(value, hd_slice_text(wanted_value)));
}

static void expect_walk(struct hd_op *op, const struct shape *shape, hd_hfile_cursor *cursor,
                        size_t from)
{
    struct hd_slice key, value;

    for (size_t i = from; i < shape->n_cells; i++) {
        must(op, hd_hfile_next(op, cursor, &key, &value));
        expect_cell(shape, i, key, value);
    }
    assert_int_equal(hd_hfile_next(op, cursor, &key, &value), HUDI_END);
    assert_int_equal(hd_hfile_next(op, cursor, &key, &value), HUDI_END);
}

/* Each key, and the one after it that is not there. */
static void expect_lookups(struct hd_op *op, const struct shape *shape, hd_hfile_cursor *cursor)
{
    char key[300];
    struct hd_slice found_key, value;

    for (size_t n = 0; n < 2 * shape->n_cells; n++) {
        const size_t i = n < shape->n_cells ? n : 2 * shape->n_cells - 1 - n; /* up, then down */

        make_key(shape, i, key);
        must(op, hd_hfile_find(op, cursor, hd_slice_of(key, shape->key_bytes), &value));
        expect_cell(shape, i, hd_slice_of(key, shape->key_bytes), value);
        key[shape->key_bytes - 1]++;
        assert_int_equal(hd_hfile_find(op, cursor, hd_slice_of(key, shape->key_bytes), &value),
                         HUDI_NOT_FOUND);
        must(op, hd_hfile_seek(op, cursor, hd_slice_of(key, shape->key_bytes)));
        if (i + 1 == shape->n_cells) {
            assert_int_equal(hd_hfile_next(op, cursor, &found_key, &value), HUDI_END);
        } else {
            must(op, hd_hfile_next(op, cursor, &found_key, &value));
            expect_cell(shape, i + 1, found_key, value);
        }
    }
    must(op, hd_hfile_seek(op, cursor, hd_slice_text("k")));
    expect_walk(op, shape, cursor, 0);
    must(op, hd_hfile_seek(op, cursor, hd_slice_text("l")));
    assert_int_equal(hd_hfile_next(op, cursor, &found_key, &value), HUDI_END);
    must(op, hd_hfile_seek(op, cursor, hd_slice_of(NULL, 0)));
    expect_walk(op, shape, cursor, 0);
}

static void expect_hfile(struct hd_op *op, const struct shape *shape)
{
    struct made made;
    hd_hfile *hfile;
    hd_hfile_cursor *cursor;
    struct hd_slice value;
    struct hd_str meta = {0};

    make(op, shape, &made);
    struct counted counted = {.made = &made};
    const struct hd_hfile_source sources[] = {{.bytes = hd_str_slice(&made.bytes)},
                                              source_of(&counted)};
    for (size_t i = 0; i < HD_ARRAY_LENGTH(sources); i++) {
        must(op, hd_hfile_open(op, &sources[i], &hfile));
        assert_int_equal(hd_hfile_n_cells(hfile), shape->n_cells);
        must(op, hd_hfile_info(op, hfile, "schema", &value));
        assert_true(hd_slice_equal(value, hd_slice_text("\"int\"")));
        assert_int_equal(hd_hfile_info(op, hfile, "other", &value), HUDI_NOT_FOUND);
        must(op, hd_hfile_meta_block(op, hfile, "bloomFilter", &meta));
        assert_string_equal(hd_str_text(&meta), "filter");
        meta.size = 0;
        assert_int_equal(hd_hfile_meta_block(op, hfile, "other", &meta), HUDI_NOT_FOUND);
        must(op, hd_hfile_cursor_open(op, hfile, &cursor));
        expect_walk(op, shape, cursor, 0);
        expect_lookups(op, shape, cursor);
        hd_hfile_cursor_close(op, cursor);
        hd_hfile_close(op, hfile);
    }
    hd_str_clear(&meta);
    hd_str_clear(&made.bytes);
}

static void hfiles_of_every_shape_are_read(void **state)
{
    static const struct shape SHAPES[] = {
        {.codec = 2, .n_cells = 40, .cells_per_block = 7, .key_bytes = 9},
        {.codec = 1,
         .checksum_type = 2,
         .full_index = true,
         .n_cells = 40,
         .cells_per_block = 7,
         .key_bytes = 10},
        {.codec = 1, .checksum_type = 1, .n_cells = 5, .cells_per_block = 5, .key_bytes = 10},
        {.codec = 2,
         .two_levels = true,
         .full_index = true,
         .n_cells = 40,
         .cells_per_block = 3,
         .key_bytes = 10},
        {.codec = 2, .n_cells = 1, .cells_per_block = 1, .key_bytes = 9},
        {.codec = 2, .n_cells = 0, .cells_per_block = 1, .key_bytes = 9},
    };

    for (size_t i = 0; i < HD_ARRAY_LENGTH(SHAPES); i++)
        expect_hfile(*state, &SHAPES[i]);
}

/* Lengths of 126 and more are written in two ways. */
static void long_keys_are_found_in_indexes_of_both_forms(void **state)
{
    for (size_t key_bytes = 100; key_bytes < 290; key_bytes++) {
        for (int form = 0; form < 3; form++) {
            const struct shape shape = {.codec = 2,
                                        .varint_index = form == 1,
                                        .full_index = form == 2,
                                        .n_cells = 3,
                                        .cells_per_block = 1,
                                        .key_bytes = key_bytes};

            expect_hfile(*state, &shape);
        }
    }
}

static void look_ups_read_only_the_blocks_that_they_need(void **state)
{
    static const struct shape SHAPE = {
        .codec = 2, .n_cells = 40, .cells_per_block = 10, .key_bytes = 10};
    struct hd_op *op = *state;
    struct made made;
    hd_hfile *hfile;
    hd_hfile_cursor *cursor;
    char key[300];
    struct hd_slice value;

    make(op, &SHAPE, &made);
    struct counted counted = {.made = &made};
    const struct hd_hfile_source source = source_of(&counted);
    must(op, hd_hfile_open(op, &source, &hfile));
    must(op, hd_hfile_cursor_open(op, hfile, &cursor));
    assert_int_equal(counted.n_reads, 0);
    for (size_t i = 20; i < 30; i++) {
        make_key(&SHAPE, i, key);
        must(op, hd_hfile_find(op, cursor, hd_slice_of(key, 10), &value));
    }
    assert_int_equal(counted.n_reads, 1);
    make_key(&SHAPE, 39, key);
    must(op, hd_hfile_find(op, cursor, hd_slice_of(key, 10), &value));
    assert_int_equal(counted.n_reads, 2);
    hd_hfile_cursor_close(op, cursor);
    hd_hfile_close(op, hfile);
    hd_str_clear(&made.bytes);
}

/* ---- damage -------------------------------------------------------------------------------- */

/* Open and walk; the number of cells. */
static hudi_status walk(struct hd_op *op, const void *bytes, size_t n, size_t *n_cells)
{
    const struct hd_hfile_source source = {.bytes = hd_slice_of(bytes, n)};
    hd_hfile *hfile = NULL;
    hd_hfile_cursor *cursor = NULL;
    struct hd_slice key, value;

    *n_cells = 0;
    hudi_status status = hd_hfile_open(op, &source, &hfile);
    if (status == HUDI_OK)
        status = hd_hfile_cursor_open(op, hfile, &cursor);
    while (status == HUDI_OK) {
        status = hd_hfile_next(op, cursor, &key, &value);
        *n_cells += status == HUDI_OK;
    }
    hd_hfile_cursor_close(op, cursor);
    hd_hfile_close(op, hfile);
    return status == HUDI_END ? HUDI_OK : status;
}

static void every_cut_and_every_flip_is_noticed(void **state)
{
    static const struct shape SHAPE = {.codec = 1,
                                       .checksum_type = 2,
                                       .two_levels = true,
                                       .full_index = true,
                                       .n_cells = 20,
                                       .cells_per_block = 3,
                                       .key_bytes = 10};
    struct hd_op *op = *state;
    struct made made;
    size_t n_cells;

    make(op, &SHAPE, &made);
    for (size_t n = 0; n < made.bytes.size; n++) {
        assert_int_equal(walk(op, made.bytes.data, n, &n_cells), HUDI_CORRUPT);
        hd_op_clear_error(op);
    }
    const size_t trailer = made.bytes.size - TRAILER_BYTES;
    for (size_t at = 0; at < trailer + 60; at++) {
        made.bytes.data[at] ^= 1;
        const hudi_status status = walk(op, made.bytes.data, made.bytes.size, &n_cells);
        /* All blocks have checksums; the trailer has none. */
        if (status == HUDI_OK && n_cells != SHAPE.n_cells)
            fail_msg("a flip of byte %zu gives %zu cells", at, n_cells);
        hd_op_clear_error(op);
        made.bytes.data[at] ^= 1;
    }
    hd_str_clear(&made.bytes);
}

static void other_codecs_and_versions_are_refused_by_name(void **state)
{
    static const struct shape SNAPPY = {
        .codec = 3, .n_cells = 1, .cells_per_block = 1, .key_bytes = 9};
    static const struct shape PLAIN = {
        .codec = 2, .n_cells = 1, .cells_per_block = 1, .key_bytes = 9};
    struct hd_op *op = *state;
    struct made made;
    size_t n_cells;

    make(op, &SNAPPY, &made);
    assert_int_equal(walk(op, made.bytes.data, made.bytes.size, &n_cells), HUDI_NOT_IMPLEMENTED);
    assert_string_equal(hudi_error_message(op->error),
                        "HFiles compressed with SNAPPY (3) are not supported");
    hd_op_clear_error(op);
    hd_str_clear(&made.bytes);
    make(op, &PLAIN, &made);
    made.bytes.data[made.bytes.size - 1] = 2;
    assert_int_equal(walk(op, made.bytes.data, made.bytes.size, &n_cells), HUDI_NOT_IMPLEMENTED);
    assert_string_equal(hudi_error_message(op->error), "HFiles of version 2 are not supported");
    hd_op_clear_error(op);
    hd_str_clear(&made.bytes);
}

static void survives_every_fault(void **state)
{
    static const struct shape SHAPE = {.codec = 1,
                                       .checksum_type = 2,
                                       .two_levels = true,
                                       .full_index = true,
                                       .n_cells = 20,
                                       .cells_per_block = 3,
                                       .key_bytes = 10};
    struct hd_op *op = *state;
    struct made made;
    hudi_status status = HUDI_INTERNAL;
    size_t n_cells;

    make(op, &SHAPE, &made);
    for (int nth = 1; status != HUDI_OK; nth++) {
        test_fault_arm(op, nth);
        status = walk(op, made.bytes.data, made.bytes.size, &n_cells);
        assert_int_equal(status == HUDI_OK, !test_fault_fired(op));
    }
    test_fault_disarm(op);
    hd_op_clear_error(op);
    hd_str_clear(&made.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hfiles_of_every_shape_are_read),
        cmocka_unit_test(long_keys_are_found_in_indexes_of_both_forms),
        cmocka_unit_test(look_ups_read_only_the_blocks_that_they_need),
        cmocka_unit_test(every_cut_and_every_flip_is_noticed),
        cmocka_unit_test(other_codecs_and_versions_are_refused_by_name),
        cmocka_unit_test(survives_every_fault),
    };

    return cmocka_run_group_tests(tests, test_op_setup, test_op_teardown);
}
