/* SPDX-License-Identifier: Apache-2.0 */
/* Merging by record positions: what is read is what keys give, and positions that are not those of
 * the base file's rows are not gone by. */
#include "unit/engine/slice/merge_testing.h"

#define KEYED "_hoodie_record_key string\nv string\nts bigint\n"
#define PART "_hoodie_record_key string\nts bigint\n"
#define BASE "k0|b0|5\nk1|b1|5\nk2|b2|5\nk3|b3|5\nk4|b4|5\nk5|b5|5\nk6|b6|5\n" /* 2 a row group */
#define EVENT_TIME "EVENT_TIME_ORDERING"
#define COMMIT_TIME "COMMIT_TIME_ORDERING"

#define AT(text) ((struct merge_block){.positions = (text), .base = "001"})

/* A table whose key is not read. */
static void open_rows(struct hd_op *op, struct merged *m, const char *rule, const char *rows)
{
    merge_open(op, m, 9, rule, KEYED, rows);
    m->query.use_positions = true;
    m->columns[0] = 1;
    m->columns[1] = 2;
    m->query.n_columns = 2;
}

static void expect(struct merged *m, bool by_row, const char *rows)
{
    struct hd_slice_merge_stats stats;
    struct hd_str got = {0};

    test_must(m->op, merge_read(m, &got, &stats));
    assert_string_equal(hd_str_text(&got), rows);
    assert_int_equal(stats.is_by_row, by_row);
    hd_str_clear(&got);
}

/* By row if they are not gone by key, and the same by key. */
static void expect_both(struct merged *m, const char *rows)
{
    expect(m, true, rows);
    m->query.use_positions = false;
    expect(m, false, rows);
    m->query.use_positions = true;
}

/* ---- positions that hold --------------------------------------------------------------------- */

static void rows_find_their_records_by_number(void **state)
{
    struct merged m;

    open_rows(*state, &m, EVENT_TIME, BASE);
    merge_avro_with(&m, 0, "002", KEYED, "k1|n1|6\nk4|n4|4\nk6|n6|5\n", AT("1 4 6"));
    merge_deletes_with(&m, 0, "002", "k2\nk3@long:4\n", AT("2 3"));
    merge_parquet_with(&m, 1, "003", KEYED, "k0|n0|7\nk1|m1|9\n", AT("0 1"));
    expect_both(&m, "n0|7\nm1|9\nb3|5\nb4|5\nb5|5\nn6|5\n");
    merge_close(&m);

    open_rows(*state, &m, COMMIT_TIME, BASE);
    merge_avro_with(&m, 0, "002", KEYED, "k1|n1|6\nk4|n4|4\n", AT("1 4"));
    merge_deletes_with(&m, 0, "003", "k2\nk4\n", AT("2 4"));
    expect_both(&m, "b0|5\nn1|6\nb3|5\nb5|5\nb6|5\n");
    merge_close(&m);
}

static void partial_updates_too(void **state)
{
    struct merge_block partial = AT("1 5");
    struct merged m;

    partial.partial = "true";
    open_rows(*state, &m, EVENT_TIME, BASE);
    merge_avro_with(&m, 0, "002", PART, "k1|8\nk5|3\n", partial);
    merge_avro_with(&m, 0, "003", KEYED, "k5|n5|6\n", AT("5"));
    expect_both(&m, "b0|5\nb1|8\nb2|5\nb3|5\nb4|5\nn5|6\nb6|5\n");
    merge_close(&m);
}

/* A row group that statistics leave out counts, whether a record is in it or not. */
static void row_groups_that_are_left_out_count(void **state)
{
    static const char ROWS[] = "k0|b0|1\nk1|b1|1\nk2|b2|9\nk3|b3|9\nk4|b4|1\nk5|b5|1\nk6|b6|9\n";
    struct merged m;

    open_rows(*state, &m, EVENT_TIME, ROWS);
    merge_avro_with(&m, 0, "002", KEYED, "k3|n3|10\nk5|n5|9\nk6|n6|2\n", AT("3 5 6"));
    merge_filter(&m, "ts > 5");
    expect_both(&m, "b2|9\nn3|10\nb6|9\nn5|9\n");
    merge_filter(&m, "ts < 5");
    expect_both(&m, "b0|1\nb1|1\nb4|1\n");
    merge_close(&m);

    open_rows(*state, &m, COMMIT_TIME, ROWS);
    merge_avro_with(&m, 0, "002", KEYED, "k3|n3|3\nk5|n5|9\nk6|n6|2\n", AT("3 5 6"));
    merge_filter(&m, "ts > 5");
    expect_both(&m, "b2|9\nn5|9\n");
    merge_filter(&m, "ts < 5");
    expect_both(&m, "b0|1\nb1|1\nb4|1\nn3|3\nn6|2\n");
    merge_close(&m);
}

static void a_damaged_block_costs_its_positions_alone(void **state)
{
    struct merged m;

    open_rows(*state, &m, EVENT_TIME, BASE);
    merge_avro_with(&m, 0, "002", KEYED, "k1|n1|6\n", AT("1"));
    merge_avro_with(&m, 0, "003", KEYED, "k1|lost|9\nk4|the-end|9\n", AT("1 4"));
    merge_avro_with(&m, 0, "004", KEYED, "k6|n6|6\n", AT("6"));
    char *const end = memmem(m.logs[0].data, m.logs[0].size, "the-end", 7);
    assert_non_null(end);
    end[-1] = 0x7f; /* the text's length */
    expect_both(&m, "b0|5\nn1|6\nb2|5\nb3|5\nb4|5\nb5|5\nn6|6\n");
    merge_close(&m);
}

/* ---- at random ------------------------------------------------------------------------------- */

#define MAX_ROWS 200

static uint32_t next_random(uint64_t *seed)
{
    *seed = *seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (uint32_t)(*seed >> 33);
}

/* Some of the rows as a block of records or deletes with their positions. */
static void add_random_block(struct hd_op *op, struct merged *m, const char *instant,
                             uint32_t n_rows, uint64_t *seed)
{
    const uint32_t kind = next_random(seed) % 4, one_of = 1 + next_random(seed) % 9;
    struct hd_str rows = {0}, positions = {0};
    struct merge_block more = {.base = "001"};

    for (uint32_t i = 0; i < n_rows; i++) {
        const uint32_t ts = next_random(seed) % 10;

        if (next_random(seed) % one_of != 0)
            continue;
        test_must(op, hd_str_printf(op, &positions, positions.size == 0 ? "%u" : " %u", i));
        if (kind == 0)
            test_must(op, hd_str_printf(op, &rows, "k%03u@long:%u\n", i, ts));
        else if (kind == 1)
            test_must(op, hd_str_printf(op, &rows, "k%03u|%u\n", i, ts));
        else
            test_must(op, hd_str_printf(op, &rows, "k%03u|%s-%u|%u\n", i, instant, i, ts));
    }
    more.positions = hd_str_text(&positions);
    more.partial = kind == 1 ? "true" : NULL;
    if (rows.size == 0)
        merge_deletes_with(m, 0, instant, "k000\n", AT("0"));
    else if (kind == 0)
        merge_deletes_with(m, 0, instant, hd_str_text(&rows), more);
    else if (kind == 2)
        merge_parquet_with(m, 0, instant, KEYED, hd_str_text(&rows), more);
    else
        merge_avro_with(m, 0, instant, kind == 1 ? PART : KEYED, hd_str_text(&rows), more);
    hd_str_clear(&rows);
    hd_str_clear(&positions);
}

static void positions_give_what_keys_give(void **state)
{
    static const char *const INSTANTS[] = {"002", "003", "004", "005"};
    static const char *const FILTERS[] = {NULL, "ts > 6", "ts < 3", "v = 'b7'"};
    struct hd_op *op = *state;

    for (uint64_t seed = 1; seed <= 60; seed++) {
        uint64_t random = seed;
        const uint32_t n_rows = 1 + next_random(&random) % MAX_ROWS;
        struct hd_str base = {0};
        struct merged m;

        for (uint32_t i = 0; i < n_rows; i++)
            test_must(op, hd_str_printf(op, &base, "k%03u|b%u|%u\n", i, i,
                                        i / 20 + next_random(&random) % 3));
        open_rows(op, &m, seed % 2 == 0 ? EVENT_TIME : COMMIT_TIME, hd_str_text(&base));
        m.query.batch_rows = 1 + next_random(&random) % 70;
        for (uint32_t i = 0; i <= seed % 4; i++)
            add_random_block(op, &m, INSTANTS[i], n_rows, &random);
        for (size_t i = 0; i < HD_ARRAY_LENGTH(FILTERS); i++) {
            struct hd_str rows = {0};

            merge_filter(&m, FILTERS[i]);
            m.query.use_positions = false;
            test_must(op, merge_read(&m, &rows, NULL));
            m.query.use_positions = true;
            expect(&m, true, hd_str_text(&rows));
            hd_str_clear(&rows);
        }
        hd_str_clear(&base);
        merge_close(&m);
    }
}

/* ---- positions that do not ------------------------------------------------------------------- */

#define UPDATED "b0|5\nn1|6\nb2|5\nb3|5\nn4|6\nb5|5\nb6|5\n"

/* Records of k1 and k4 in one block. */
static void check_block(struct hd_op *op, struct merge_block more, bool by_row)
{
    struct merged m;

    open_rows(op, &m, EVENT_TIME, BASE);
    merge_avro_with(&m, 0, "002", KEYED, "k1|n1|6\nk4|n4|6\n", more);
    expect(&m, by_row, UPDATED);
    merge_close(&m);
}

static void positions_that_cannot_be_right_are_not_gone_by(void **state)
{
    static const struct merge_block WRONG[] = {
        {.positions = NULL, .base = NULL},
        {.positions = NULL, .base = "001"}, /* as Hudi leaves it when two records share one */
        {.positions = "1 4", .base = NULL},
        {.positions = "1 4", .base = "000"},
        {.positions = "1 4", .base = "0010"},
        {.positions = "1", .base = "001"},
        {.positions = "1 4 5", .base = "001"},
        {.positions = "1 7", .base = "001"},
        {.positions = "1 18446744073709551615", .base = "001"},
        {.positions = "1 4294967300", .base = "001"}, /* 4 in its low half */
        {.positions = "1 6", .base = "001"},          /* k4 is not in the last row group */
        {.positions = "4 5", .base = "001"},
        {.positions = "=", .base = "001"},
        {.positions = "=!", .base = "001"},
        {.positions = "=AQAAAAAAAAAAAAAAOjAAAAEAAAAAAAAAEAAAAA==", .base = "001"}, /* cut */
    };

    check_block(*state, AT("1 4"), true);
    for (size_t i = 0; i < HD_ARRAY_LENGTH(WRONG); i++)
        check_block(*state, WRONG[i], false);
}

static void all_blocks_must_have_them(void **state)
{
    struct merged m;

    open_rows(*state, &m, EVENT_TIME, BASE);
    merge_avro_with(&m, 0, "002", KEYED, "k1|n1|6\n", AT("1"));
    merge_deletes_with(&m, 0, "003", "k2\n", AT("2"));
    expect(&m, true, "b0|5\nn1|6\nb3|5\nb4|5\nb5|5\nb6|5\n");
    merge_deletes(&m, 0, "004", "k5\n");
    expect(&m, false, "b0|5\nn1|6\nb3|5\nb4|5\nb6|5\n");
    merge_close(&m);

    /* also those of records that the base file does not have */
    open_rows(*state, &m, EVENT_TIME, BASE);
    merge_avro_with(&m, 0, "002", KEYED, "k1|n1|6\n", AT("1"));
    merge_avro(&m, 1, "003", KEYED, "x|new|6\n");
    expect(&m, false, "b0|5\nn1|6\nb2|5\nb3|5\nb4|5\nb5|5\nb6|5\nnew|6\n");
    merge_close(&m);

    /* but not those that do not count */
    open_rows(*state, &m, EVENT_TIME, BASE);
    merge_avro_with(&m, 0, "002", KEYED, "k1|n1|6\n", AT("1"));
    merge_avro(&m, 0, "003", KEYED, "k2|undone|9\n");
    merge_rollback(&m, 0, "004", "003");
    expect_both(&m, "b0|5\nn1|6\nb2|5\nb3|5\nb4|5\nb5|5\nb6|5\n");
    merge_close(&m);
}

static void a_row_and_a_key_have_each_other_alone(void **state)
{
    struct merged m;

    open_rows(*state, &m, COMMIT_TIME, BASE);
    merge_avro_with(&m, 0, "002", KEYED, "k0|n0|6\n", AT("0"));
    merge_avro_with(&m, 0, "003", KEYED, "k0|m0|6\n", AT("0"));
    expect_both(&m, "m0|6\nb1|5\nb2|5\nb3|5\nb4|5\nb5|5\nb6|5\n");
    merge_avro_with(&m, 0, "004", KEYED, "k1|n1|6\n", AT("0"));
    expect(&m, false, "m0|6\nn1|6\nb2|5\nb3|5\nb4|5\nb5|5\nb6|5\n");
    merge_close(&m);

    open_rows(*state, &m, COMMIT_TIME, BASE);
    merge_avro_with(&m, 0, "002", KEYED, "k0|n0|6\n", AT("0"));
    merge_deletes_with(&m, 0, "003", "k0\n", AT("1"));
    expect(&m, false, "b1|5\nb2|5\nb3|5\nb4|5\nb5|5\nb6|5\n");
    merge_close(&m);

    /* A key that the base file has twice. */
    open_rows(*state, &m, COMMIT_TIME, "k|a|1\nk|b|1\nl|c|1\n");
    merge_avro_with(&m, 0, "002", KEYED, "k|n|6\nk|n|6\n", AT("0 1"));
    expect(&m, false, "n|6\nn|6\nc|1\n");
    merge_close(&m);
}

/* ---- when keys are read anyway --------------------------------------------------------------- */

static void a_key_that_is_read_is_gone_by(void **state)
{
    struct merged m;

    open_rows(*state, &m, EVENT_TIME, BASE);
    merge_avro_with(&m, 0, "002", KEYED, "k1|n1|6\n", AT("0")); /* wrong, and cannot be told */
    m.columns[0] = 0;
    expect(&m, false, "k0|5\nk1|6\nk2|5\nk3|5\nk4|5\nk5|5\nk6|5\n");
    m.columns[0] = 1;
    merge_filter(&m, "_hoodie_record_key < 'k2'");
    expect(&m, false, "b0|5\nn1|6\n");
    merge_filter(&m, NULL);
    m.query.replaces_logs = true;
    expect(&m, false, "b0|5\nn1|6\nb2|5\nb3|5\nb4|5\nb5|5\nb6|5\n");
    m.query.replaces_logs = false;
    m.query.digests_keys = true;
    expect(&m, false, "b0|5\nn1|6\nb2|5\nb3|5\nb4|5\nb5|5\nb6|5\n");
    merge_close(&m);
}

/* ---- the record key field -------------------------------------------------------------------- */

#define FIELDED "_hoodie_record_key string\nid string\nv string\nts bigint\n"
#define NUMBERED "_hoodie_record_key string\nid int\nv string\nts bigint\n"

/* A table of one key field, which is read. */
static void open_fielded(struct hd_op *op, struct merged *m, const char *columns, const char *rows)
{
    static const char *FIELDS[] = {"id"};

    merge_open(op, m, 9, COMMIT_TIME, columns, rows);
    m->config.record_key_fields = FIELDS;
    m->config.n_record_key_fields = 1;
    m->query.use_positions = true;
    for (int32_t i = 0; i < 3; i++)
        m->columns[i] = i + 1;
    m->query.n_columns = 3;
}

static void wrong_positions_in_a_row_group_are_found_by_the_key_field(void **state)
{
    struct merged m;

    open_fielded(*state, &m, FIELDED, "k0|k0|b0|1\nk1|k1|b1|1\nk2|k2|b2|1\nk3|k3|b3|1\n");
    merge_avro_with(&m, 0, "002", FIELDED, "k2|k2|n2|2\n", AT("2"));
    expect_both(&m, "k0|b0|1\nk1|b1|1\nk2|n2|2\nk3|b3|1\n");
    merge_avro_with(&m, 0, "003", FIELDED, "k0|k0|n0|2\n", AT("1"));
    merge_expect_error(&m, HUDI_CORRUPT,
                       "row 1 has another record key than \"k0\", which log files give its "
                       "position");
    m.query.use_positions = false;
    expect(&m, false, "k0|n0|2\nk1|b1|1\nk2|n2|2\nk3|b3|1\n");
    merge_close(&m);

    open_fielded(*state, &m, FIELDED, "k0|k0|b0|1\nk1|k1|b1|1\nk2|k2|b2|1\nk3|k3|b3|1\n");
    merge_deletes_with(&m, 0, "002", "k3\n", AT("2"));
    merge_expect_error(&m, HUDI_CORRUPT, "row 2 has another record key than \"k3\"");
    merge_close(&m);

    open_fielded(*state, &m, NUMBERED, "7|7|b0|1\n71|71|b1|1\n-5|-5|b2|1\n");
    merge_avro_with(&m, 0, "002", NUMBERED, "-5|-5|n2|2\n", AT("2"));
    expect_both(&m, "7|b0|1\n71|b1|1\n-5|n2|2\n");
    merge_avro_with(&m, 0, "003", NUMBERED, "7|7|n0|2\n", AT("1"));
    merge_expect_error(&m, HUDI_CORRUPT, "row 1 has another record key than \"7\"");
    merge_close(&m);
}

/* Complex keys of one field, keys that were made otherwise, and fields that were changed. */
static void a_key_that_is_not_the_text_of_its_field_is_looked_at(void **state)
{
    static const char *const BASES[] = {
        "id:a|a|b0|1\nid:b|b|b1|1\nid:c|c|b2|1\nid:d|d|b3|1\nid:e|e|b4|1\n",
        "id:a|1|b0|1\nid:b|2|b1|1\nid:c|3|b2|1\nid:d|4|b3|1\nid:e|5|b4|1\n",
        "id:a|~|b0|1\nid:b|~|b1|1\nid:c|~|b2|1\nid:d|~|b3|1\nid:e|~|b4|1\n",
    };

    for (size_t i = 0; i < HD_ARRAY_LENGTH(BASES); i++) {
        struct merged m;
        struct hd_str rows = {0};

        open_fielded(*state, &m, FIELDED, BASES[i]);
        merge_avro_with(&m, 0, "002", FIELDED, "id:a|x|n0|2\nid:b|y|n1|2\nid:e|z|n4|2\n",
                        AT("0 1 4"));
        m.query.use_positions = false;
        test_must(*state, merge_read(&m, &rows, NULL));
        m.query.use_positions = true;
        expect(&m, true, hd_str_text(&rows));
        merge_avro_with(&m, 0, "003", FIELDED, "id:c|x|n0|2\n", AT("3"));
        merge_expect_error(&m, HUDI_CORRUPT, "row 3 has another record key than \"id:c\"");
        hd_str_clear(&rows);
        merge_close(&m);
    }
}

/* A base file without record keys, which only the log file has. */
static void without_keys_in_the_base_file_nothing_meets(void **state)
{
    struct merged m;
    char *path;

    open_rows(*state, &m, EVENT_TIME, BASE);
    test_must(*state, hd_path_join(*state, m.folder, m.source.base_path, &path));
    test_base_file(*state, m.fs, path, "v string\nts bigint\n", "b0|5\nb1|5\n", 0);
    hd_free(*state, path);
    merge_avro_with(&m, 0, "002", KEYED, "k1|n1|6\n", AT("1"));
    expect(&m, false, "b0|5\nb1|5\nn1|6\n");
    merge_close(&m);
}

/* ---- memory and faults ----------------------------------------------------------------------- */

static void without_memory_for_positions_keys_serve(void **state)
{
    static const char *const LINES[] = {"b0|5\n", "n1|6\n", "b2|5\n", "b3|5\n",
                                        "n4|6\n", "b5|5\n", "b6|5\n"};
    struct hd_op *op = *state;
    struct hd_slice_merge_stats stats;
    struct hd_str got = {0};
    struct merged m;
    int n_by_row = 0, n_by_key = 0;

    open_rows(op, &m, EVENT_TIME, BASE);
    merge_avro_with(&m, 0, "002", KEYED, "k1|n1|6\nk4|n4|6\n", AT("1 4"));
    m.query.merge_bytes = 1 << 10;
    for (uint64_t limit = 16; n_by_row < 8; limit += 32) {
        got.size = 0;
        test_budget_limit(op, limit);
        const hudi_status status = merge_read(&m, &got, &stats);
        test_budget_limit(op, UINT64_MAX);
        hd_op_clear_error(op);
        if (status != HUDI_OK) {
            assert_true(limit < 1 << 20);
            assert_int_equal(status, HUDI_NO_MEMORY);
            assert_int_equal(n_by_row + n_by_key, 0);
            continue;
        }
        /* with parts of the keys in another order */
        assert_int_equal(got.size, strlen(UPDATED));
        for (size_t i = 0; i < HD_ARRAY_LENGTH(LINES); i++)
            assert_non_null(strstr(hd_str_text(&got), LINES[i]));
        n_by_row += stats.is_by_row;
        n_by_key += !stats.is_by_row;
    }
    assert_true(n_by_key > 0);
    hd_str_clear(&got);
    merge_close(&m);
}

static void every_fault_is_passed_up_and_leaks_nothing(void **state)
{
    struct hd_op *op = *state;
    struct merged m;

    open_fielded(op, &m, FIELDED, "k0|k0|b0|5\nk1|k1|b1|5\nk2|?|b2|5\nk3|?|b3|9\n");
    merge_avro_with(&m, 0, "002", FIELDED, "k1|k1|n1|6\nk2|k2|n2|6\n", AT("1 2"));
    merge_deletes_with(&m, 0, "003", "k0\n", AT("0"));
    merge_filter(&m, "ts < 7");
    merge_check_faults(&m);
    expect_both(&m, "k1|n1|6\nk2|n2|6\n");
    merge_close(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_find_their_records_by_number),
        cmocka_unit_test(partial_updates_too),
        cmocka_unit_test(row_groups_that_are_left_out_count),
        cmocka_unit_test(a_damaged_block_costs_its_positions_alone),
        cmocka_unit_test(positions_give_what_keys_give),
        cmocka_unit_test(positions_that_cannot_be_right_are_not_gone_by),
        cmocka_unit_test(all_blocks_must_have_them),
        cmocka_unit_test(a_row_and_a_key_have_each_other_alone),
        cmocka_unit_test(a_key_that_is_read_is_gone_by),
        cmocka_unit_test(wrong_positions_in_a_row_group_are_found_by_the_key_field),
        cmocka_unit_test(a_key_that_is_not_the_text_of_its_field_is_looked_at),
        cmocka_unit_test(without_keys_in_the_base_file_nothing_meets),
        cmocka_unit_test(without_memory_for_positions_keys_serve),
        cmocka_unit_test(every_fault_is_passed_up_and_leaks_nothing),
    };

    return cmocka_run_group_tests(tests, test_op_setup, test_op_teardown);
}
