/* SPDX-License-Identifier: Apache-2.0 */
#include "arrow_testing.h"

/* A struct of every kind of column; see SOURCES. */
struct every_kind {
    struct ArrowSchema i32, i64, fixed, decimal, flag, text, word, number, item, list, key, value;
    struct ArrowSchema entries, map, nothing, x, y, pair, pairs, root;
    struct ArrowSchema *of_list[1], *of_entries[2], *of_map[1], *of_pair[2], *of_pairs[1];
    struct ArrowSchema *columns[11];
};

static void init_every_kind(struct every_kind *k)
{
    *k = (struct every_kind){
        .i32 = FIELD("i", "i32"),
        .i64 = FIELD("tsu:UTC", "i64"),
        .fixed = FIELD("w:3", "fixed"),
        .decimal = FIELD("d:38,2", "decimal"),
        .flag = FIELD("b", "flag"),
        .text = FIELD("u", "text"),
        .number = FIELD("g", "number"),
        .nothing = FIELD("n", "nothing"),
        .item = FIELD("u", "item"),
        .list = FIELD("+l", "list"),
        .key = FIELD("u", "key"),
        .value = FIELD("i", "value"),
        .entries = FIELD("+s", "entries"),
        .map = FIELD("+m", "map"),
        .x = FIELD("i", "x"),
        .y = FIELD("b", "y"),
        .pair = FIELD("+s", "pair"),
        .pairs = FIELD("+l", "pairs"),
        .root = FIELD("+s", ""),
    };
    k->of_list[0] = &k->item;
    k->of_entries[0] = &k->key;
    k->of_entries[1] = &k->value;
    k->of_map[0] = &k->entries;
    k->of_pair[0] = &k->x;
    k->of_pair[1] = &k->y;
    k->of_pairs[0] = &k->pair;
    k->list.n_children = k->map.n_children = k->pairs.n_children = 1;
    k->entries.n_children = k->pair.n_children = 2;
    k->list.children = k->of_list;
    k->entries.children = k->of_entries;
    k->map.children = k->of_map;
    k->pair.children = k->of_pair;
    k->pairs.children = k->of_pairs;
    struct ArrowSchema *columns[] = {&k->i32,  &k->i64, &k->fixed, &k->decimal, &k->flag,  &k->text,
                                     &k->list, &k->map, &k->pairs, &k->nothing, &k->number};
    memcpy(k->columns, columns, sizeof columns);
    k->root.n_children = 11;
    k->root.children = k->columns;
}

static const char *const SOURCES[] = {
    "[(1, 10, \"abc\", -5, true, \"one\", [\"a\", null], [(\"k\", 1)], [(1, true)], null, 0.5), "
    "(null, 20, \"def\", 7, null, \"\", [], null, [], null, -1), "
    "(3, null, null, 99999999999999999999999999999999999999, false, \"three and some more text\", "
    "null, [], [(null, false), null], null, null), "
    "null, "
    "(5, 50, \"jkl\", null, true, null, [\"bb\"], [(\"x\", null), (\"y\", 3)], null, null, 5)]",
    "[(-1, -10, \"ABC\", 0, false, \"EINS\", [\"AA\", \"B\", \"\"], [], [(7, null)], null, 1.5), "
    "(-2, -20, \"DEF\", 1, true, \"ZWEI\", [], [(\"m\", 2)], [], null, 2.5), "
    "(-3, -30, \"GHI\", 2, true, \"DREI\", [\"C\"], [], [], null, 3.5)]",
    "[]",
};

/* Pieces of `text`, an array of rows, each "..." as printed. */
static size_t split(char *text, const char **rows)
{
    size_t n = 0;
    int depth = 0;

    for (char *at = text + 1, *start = at; *at != '\0'; at++) {
        depth += *at == '(' || *at == '[';
        if ((*at == ']' || *at == ',') && depth == 0) {
            if (at > start)
                rows[n++] = start;
            if (*at == ',')
                start = at + 2;
            *at = '\0';
        } else {
            depth -= *at == ')' || *at == ']';
        }
    }
    return n;
}

enum { N_SOURCES = 3, MAX_RUNS = 60 };

struct sources {
    struct ArrowArray arrays[N_SOURCES];
    const struct ArrowArray *pointers[N_SOURCES];
    char *texts[N_SOURCES];
    const char *rows[N_SOURCES][8];
    size_t n_rows[N_SOURCES];
};

static void open_sources(struct hd_op *op, const struct ArrowSchema *root, bool shifted,
                         struct sources *s)
{
    for (size_t i = 0; i < N_SOURCES; i++) {
        s->arrays[i] = test_array(op, root, SOURCES[i]);
        if (shifted)
            s->arrays[i] = test_shifted(op, root, &s->arrays[i]);
        s->pointers[i] = &s->arrays[i];
        ASSERT_ARRAY(root, &s->arrays[i], SOURCES[i]);
        OK(hd_strdup(op, SOURCES[i], &s->texts[i]));
        s->n_rows[i] = split(s->texts[i], s->rows[i]);
        assert_int_equal(s->n_rows[i], s->arrays[i].length);
    }
}

static void close_sources(struct hd_op *op, struct sources *s)
{
    for (size_t i = 0; i < N_SOURCES; i++) {
        hd_array_clear(&s->arrays[i]);
        hd_free(op, s->texts[i]);
    }
}

static void gather_random_runs(struct hd_op *op, const struct ArrowSchema *root, struct sources *s)
{
    struct hd_run runs[MAX_RUNS];
    const size_t n_runs = (size_t)(hd_random_u64(op) % MAX_RUNS);
    struct hd_str expected = {0};
    struct ArrowArray out;

    OK(hd_str_append_char(op, &expected, '['));
    for (size_t i = 0; i < n_runs; i++) {
        const uint32_t source = (uint32_t)(hd_random_u64(op) % 4);
        struct hd_run run = {source, 0, (uint32_t)(hd_random_u64(op) % 4)};

        if (source == 3) {
            run.source = HD_RUN_NULLS;
        } else {
            run.start = (uint32_t)(hd_random_u64(op) % (s->n_rows[source] + 1));
            if (run.start + run.length > s->n_rows[source])
                run.length = (uint32_t)s->n_rows[source] - run.start;
        }
        for (uint32_t k = 0; k < run.length; k++)
            OK(hd_str_printf(op, &expected, "%s%s", expected.size == 1 ? "" : ", ",
                             source == 3 ? "null" : s->rows[source][run.start + k]));
        runs[i] = run;
    }
    OK(hd_str_append_char(op, &expected, ']'));
    OK(hd_gather(op, root, s->pointers, N_SOURCES, runs, n_runs, &out));
    ASSERT_ARRAY(root, &out, hd_str_text(&expected));
    hd_array_clear(&out);
    hd_str_clear(&expected);
}

static void gathers_any_runs_of_any_types(void **state)
{
    struct hd_op *op = *state;
    struct every_kind kinds;
    struct sources sources;

    init_every_kind(&kinds);
    for (int shifted = 0; shifted < 2; shifted++) {
        open_sources(op, &kinds.root, shifted, &sources);
        for (int i = 0; i < 500; i++)
            gather_random_runs(op, &kinds.root, &sources);
        close_sources(op, &sources);
    }
}

/* Long runs take other paths: memcpy, whole words of bits. */
static void gathers_long_runs(void **state)
{
    enum { N = 100000 };
    struct hd_op *op = *state;
    struct ArrowSchema a = FIELD("i", "a"), b = FIELD("b", "b"), c = FIELD("u", "c");
    struct ArrowSchema *columns[] = {&a, &b, &c};
    const struct ArrowSchema root = PARENT("+s", "", columns);
    hd_builder *builder;
    struct ArrowArray array, out;
    struct hd_arena arena = {0};
    struct hd_view view;

    OK(hd_builder_new(op, &root, &builder));
    for (int i = 0; i < N; i++) {
        char text[16];
        const int n = snprintf(text, sizeof text, "v%d", i);

        OK(i % 7 == 0 ? hd_builder_append_null(op, hd_builder_child(builder, 0))
                      : hd_builder_append_integer(op, hd_builder_child(builder, 0), i));
        OK(hd_builder_append_integer(op, hd_builder_child(builder, 1), i % 3 == 0));
        OK(hd_builder_append_bytes(op, hd_builder_child(builder, 2), hd_slice_of(text, (size_t)n)));
        OK(hd_builder_append_valid(op, builder));
    }
    OK(hd_builder_finish(op, builder, &array));
    hd_builder_free(builder);

    const struct ArrowArray *sources[] = {&array};
    const struct hd_run runs[] = {{0, 3, 70001}, {0, 0, 1}, {0, 17, N - 17}};
    OK(hd_gather(op, &root, sources, 1, runs, 3, &out));
    OK(hd_view_open(op, &arena, &root, &out, &view));
    int64_t row = 0;
    for (size_t r = 0; r < 3; r++) {
        for (uint32_t i = runs[r].start; i < runs[r].start + runs[r].length; i++, row++) {
            char text[16];
            const int n = snprintf(text, sizeof text, "v%u", i);

            assert_int_equal(hd_view_is_null(&view.children[0], row), i % 7 == 0);
            if (i % 7 != 0)
                assert_int_equal(hd_view_i32(&view.children[0], row), i);
            assert_int_equal(hd_view_bool(&view.children[1], row), i % 3 == 0);
            assert_true(hd_slice_equal(hd_view_bytes(&view.children[2], row),
                                       hd_slice_of(text, (size_t)n)));
        }
    }
    assert_int_equal(row, out.length);
    assert_null(out.children[1]->buffers[0]);
    hd_arena_clear(&arena);
    hd_array_clear(&out);
    hd_array_clear(&array);
}

static void leaves_validity_out_when_the_rows_have_no_nulls(void **state)
{
    struct hd_op *op = *state;
    const struct ArrowSchema field = FIELD("i", "a");
    struct ArrowArray array = test_array(op, &field, "[1, null, 3]"), out;
    const struct ArrowArray *sources[] = {&array};
    const struct hd_run runs[] = {{0, 2, 1}, {0, 0, 1}};

    OK(hd_gather(op, &field, sources, 1, runs, 2, &out));
    ASSERT_ARRAY(&field, &out, "[3, 1]");
    assert_null(out.buffers[0]);
    hd_array_clear(&out);
    hd_array_clear(&array);
}

/* Whoever writes takes a null in a field without nulls for a fault, also behind a null struct. */
static void fields_that_take_no_null_have_none_behind_a_null_struct(void **state)
{
    struct hd_op *op = *state;
    struct ArrowSchema deep = {.format = "u", .name = "deep"}, *of_inner[] = {&deep};
    struct ArrowSchema inner = {
        .format = "+s", .name = "inner", .n_children = 1, .children = of_inner};
    struct ArrowSchema number = {.format = "i", .name = "number"};
    struct ArrowSchema *children[] = {&number, &inner};
    const struct ArrowSchema field = PARENT("+s", "a", children);
    struct ArrowArray source = test_array(op, &field, "[(1, (\"x\")), (2, (\"y\")), null]"), out;
    const struct ArrowArray *sources[] = {&source};
    const struct hd_run runs[] = {{0, 1, 2}, {HD_RUN_NULLS, 0, 60}, {0, 0, 1}};

    OK(hd_gather(op, &field, sources, 1, runs, 3, &out));
    assert_int_equal(out.null_count, 61);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(out.children[i]->null_count, 0);
        assert_null(out.children[i]->buffers[0]);
    }
    assert_int_equal(out.children[1]->children[0]->null_count, 0);
    hd_array_clear(&out);

    /* a null that the struct does not cover stays, so that it is found */
    source.children[0]->null_count = 1;
    void *validity;
    OK(hd_buffer_new(op, 1, &validity));
    memset(validity, 6, 1);
    hd_array_set_buffer(source.children[0], 0, validity);
    OK(hd_gather(op, &field, sources, 1, (const struct hd_run[]){{0, 0, 3}}, 1, &out));
    ASSERT_ARRAY(&field, &out, "[(null, (\"x\")), (2, (\"y\")), null]");
    assert_int_equal(out.children[0]->null_count, 1);
    hd_array_clear(&out);
    hd_array_clear(&source);

    OK(hd_array_nulls(op, &field, 3, &out));
    ASSERT_ARRAY(&field, &out, "[null, null, null]");
    ASSERT_ARRAY(&number, out.children[0], "[0, 0, 0]");
    ASSERT_ARRAY(&inner, out.children[1], "[(\"\"), (\"\"), (\"\")]");
    hd_array_clear(&out);
}

static void puts_dictionaries_one_behind_the_other(void **state)
{
    struct hd_op *op = *state;
    struct ArrowSchema field;
    struct ArrowArray arrays[2], out;
    const struct ArrowArray *sources[] = {&arrays[0], &arrays[1]};
    const struct hd_run runs[] = {{1, 0, 2}, {0, 1, 1}, {HD_RUN_NULLS, 0, 1}, {1, 1, 1}};

    OK(hd_schema_init_dictionary(op, &field, "d", true));
    OK(hd_array_constant_dictionary(op, hd_slice_text("ab"), 3, &arrays[0]));
    OK(hd_array_constant_dictionary(op, hd_slice_text("c"), 2, &arrays[1]));
    OK(hd_gather(op, &field, sources, 2, runs, 4, &out));
    ASSERT_ARRAY(&field, &out, "[\"c\", \"c\", \"ab\", null, \"c\"]");
    hd_array_clear(&out);
    hd_array_clear(&arrays[0]);
    hd_array_clear(&arrays[1]);
    hd_schema_clear(&field);
}

static void refuses_more_bytes_than_one_array_holds(void **state)
{
    struct hd_op *op = *state;
    const struct ArrowSchema field = FIELD("u", "text");
    struct ArrowArray array, out;
    const struct ArrowArray *sources[] = {&array};
    struct hd_run runs[3000];

    OK(hd_array_constant_string(op, hd_slice_of("0123456789", 10), 100000, &array));
    for (size_t i = 0; i < 3000; i++)
        runs[i] = (struct hd_run){0, 0, 100000};
    assert_int_equal(hd_gather(op, &field, sources, 1, runs, 3000, &out), HUDI_INVALID);
    assert_string_equal(
        hudi_error_message(op->error),
        "300000000 rows of field \"text\" hold 3000000000 bytes, more than one array can");
    assert_null(out.release);
    hd_array_clear(&array);
}

static void run_lists_join_neighbours(void **state)
{
    struct hd_op *op = *state;
    struct hd_run_list list = {0};

    OK(hd_run_list_add(op, &list, 0, 5, 2));
    OK(hd_run_list_add(op, &list, 0, 7, 1));
    OK(hd_run_list_add(op, &list, 0, 9, 1));
    OK(hd_run_list_add(op, &list, 1, 10, 0));
    OK(hd_run_list_add(op, &list, 1, 10, 1));
    OK(hd_run_list_add(op, &list, HD_RUN_NULLS, 0, 1));
    OK(hd_run_list_add(op, &list, HD_RUN_NULLS, 0, 4));
    assert_int_equal(list.n_runs, 4);
    assert_int_equal(list.n_rows, 10);
    assert_int_equal(list.runs[0].length, 3);
    assert_int_equal(list.runs[3].length, 5);
    hd_run_list_reset(&list);
    assert_int_equal(list.n_runs, 0);
    hd_free(op, list.runs);
}

static void survives_every_fault(void **state)
{
    struct hd_op *op = *state;
    struct every_kind kinds;
    struct sources sources;
    const struct hd_run runs[] = {{0, 1, 3}, {1, 0, 2}, {HD_RUN_NULLS, 0, 1}, {0, 0, 5}};
    hudi_status status = HUDI_INTERNAL;

    init_every_kind(&kinds);
    open_sources(op, &kinds.root, true, &sources);
    for (int nth = 1; status != HUDI_OK; nth++) {
        struct ArrowArray out;

        test_fault_arm(op, nth);
        status = hd_gather(op, &kinds.root, sources.pointers, N_SOURCES, runs, 4, &out);
        assert_int_equal(status == HUDI_OK, !test_fault_fired(op));
        assert_int_equal(status == HUDI_OK, out.release != NULL);
        hd_array_clear(&out);
    }
    close_sources(op, &sources);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(gathers_any_runs_of_any_types),
        TEST(gathers_long_runs),
        TEST(leaves_validity_out_when_the_rows_have_no_nulls),
        TEST(fields_that_take_no_null_have_none_behind_a_null_struct),
        TEST(puts_dictionaries_one_behind_the_other),
        TEST(refuses_more_bytes_than_one_array_holds),
        TEST(run_lists_join_neighbours),
        TEST(survives_every_fault),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
