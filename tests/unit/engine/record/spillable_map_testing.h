/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_SPILLABLE_MAP_TESTING_H
#define TEST_SPILLABLE_MAP_TESTING_H

#include "base/arena.h"
#include "engine/record/spillable_map.h"
#include "unit/arrow/arrow_testing.h"

/*
 * Records for tests of the spillable map. What a record holds follows from its key's number and two
 * versions, one for each half of its columns, so that an oracle is a table of numbers:
 *
 *     key string | a long | b string, sometimes null | c list<string> | d double
 *
 * `a` and `b` follow from the first version, `c` and `d` from the second.
 */
#define TEST_COLUMNS 5

static struct ArrowSchema test_item = FIELD("u", "item");
static struct ArrowSchema *test_items[] = {&test_item};
static struct ArrowSchema test_fields[TEST_COLUMNS] = {
    FIELD("u", "key"), FIELD("l", "a"), FIELD("u", "b"), PARENT("+l", "c", test_items),
    FIELD("g", "d")};
static struct ArrowSchema *test_columns[] = {&test_fields[0], &test_fields[1], &test_fields[2],
                                             &test_fields[3], &test_fields[4]};
static struct ArrowSchema test_schema = {
    .format = "+s", .name = "", .n_children = TEST_COLUMNS, .children = test_columns};

struct test_record {
    uint32_t key;
    uint32_t space;
    uint32_t first; /* versions */
    uint32_t second;
};

static inline int test_key_text(uint32_t key, char out[64])
{
    /* Lengths differ, and key 0 is empty. */
    return key == 0 ? snprintf(out, 64, "%s", "")
                    : snprintf(out, 64, "key-%u%.*s", key, (int)(key % 29),
                               "aaaaaaaaaaaaaaaaaaaaaaaaaaaaa");
}

static inline void test_append_text(struct hd_op *op, hd_builder *b, const char *text, size_t n)
{
    OK(hd_builder_append_bytes(op, b, hd_slice_of(text, n)));
}

static inline void test_append_record(struct hd_op *op, hd_builder *b, const struct test_record *r)
{
    char text[256];
    const uint32_t mixed = r->key * 2654435761u + r->first;
    hd_builder *const list = hd_builder_child(b, 3);

    test_append_text(op, hd_builder_child(b, 0), text, (size_t)test_key_text(r->key, text));
    OK(hd_builder_append_integer(op, hd_builder_child(b, 1), r->first));
    if (mixed % 7 == 0) {
        OK(hd_builder_append_null(op, hd_builder_child(b, 2)));
    } else {
        memset(text, 'b', sizeof text);
        snprintf(text, 32, "%u/%u", r->key, r->first);
        test_append_text(op, hd_builder_child(b, 2), text, mixed % 200);
    }
    for (uint32_t i = 0; i < r->second % 4; i++) {
        if (i == 2)
            OK(hd_builder_append_null(op, hd_builder_child(list, 0)));
        else
            test_append_text(op, hd_builder_child(list, 0), "abcdefghij", (r->key + i) % 11);
    }
    if (r->second % 9 == 8)
        OK(hd_builder_append_null(op, list));
    else
        OK(hd_builder_append_valid(op, list));
    OK(hd_builder_append_double(op, hd_builder_child(b, 4), r->second / 4.0));
    OK(hd_builder_append_valid(op, b));
}

static inline struct ArrowArray test_records(struct hd_op *op, const struct test_record *records,
                                             size_t n)
{
    hd_builder *b;
    struct ArrowArray out;

    OK(hd_builder_new(op, &test_schema, &b));
    for (size_t i = 0; i < n; i++)
        test_append_record(op, b, &records[i]);
    OK(hd_builder_finish(op, b, &out));
    hd_builder_free(b);
    return out;
}

/* A batch and its views, ready to be put. */
struct test_batch {
    struct hd_shared_array *shared;
    struct hd_arena arena;
    struct hd_view root;
    uint32_t *spaces;
};

static inline struct test_batch test_batch(struct hd_op *op, const struct test_record *records,
                                           size_t n)
{
    struct test_batch out = {0};
    struct ArrowArray array = test_records(op, records, n);

    if (n % 3 == 1) /* offsets everywhere */
        array = test_shifted(op, &test_schema, &array);
    OK(hd_shared_array_new(op, &array, &out.shared));
    OK(hd_view_open(op, &out.arena, &test_schema, hd_shared_array_get(out.shared), &out.root));
    OK(hd_arena_array(op, &out.arena, n, sizeof *out.spaces, &out.spaces));
    for (size_t i = 0; i < n; i++)
        out.spaces[i] = records[i].space;
    return out;
}

static inline void test_batch_clear(struct test_batch *batch)
{
    hd_shared_array_free(batch->shared);
    hd_arena_clear(&batch->arena);
}

/* The array holds exactly these records. */
static inline void test_assert_records(struct hd_op *op, const struct ArrowArray *array,
                                       const struct test_record *records, size_t n)
{
    struct hd_arena arena = {0};
    struct ArrowArray wanted = test_records(op, records, n);
    struct hd_view got, want;

    assert_int_equal(array->length, n);
    OK(hd_view_open(op, &arena, &test_schema, array, &got));
    OK(hd_view_validate(op, &got));
    OK(hd_view_open(op, &arena, &test_schema, &wanted, &want));
    for (size_t i = 0; i < n; i++) {
        for (int c = 0; c < TEST_COLUMNS; c++) {
            if (hd_view_compare(&got.children[c], (int64_t)i, &want.children[c], (int64_t)i) != 0)
                fail_msg("row %zu, column %d: not key %u in versions %u and %u", i, c,
                         records[i].key, records[i].first, records[i].second);
        }
    }
    hd_array_clear(&wanted);
    hd_arena_clear(&arena);
}

#endif
