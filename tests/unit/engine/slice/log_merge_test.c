/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/engine/slice/merge_testing.h"

/* Slices with log files as rows. What wins between two records is in log_merge_cells_test.c. */

#define KEYED "_hoodie_record_key string\nv string\nts bigint\n"
#define LATEST MERGE_PAYLOADS "OverwriteWithLatestAvroPayload"
#define DEFAULT MERGE_PAYLOADS "DefaultHoodieRecordPayload"
#define PARTIAL MERGE_PAYLOADS "PartialUpdateAvroPayload"

static const char BASE[] = "a|a0|5\nb|b0|5\nc|c0|5\nd|d0|5\ne|e0|5\n"; /* row groups of two */

static void rows_keep_their_places_and_new_ones_come_last(void **state)
{
    struct merged m;
    struct hd_slice_merge_stats stats;
    struct hd_str got = {0};

    merge_open(*state, &m, 6, LATEST, KEYED, BASE);
    merge_avro(&m, 0, "002", KEYED, "y|y1|6\nd|d1|6\nx|x1|6\n");
    merge_deletes(&m, 0, "002", "b\nz\n");
    merge_avro(&m, 1, "003", KEYED, "a|a2|7\nx|x2|7\nw|w2|7\n");
    test_must(m.op, merge_read(&m, &got, &stats));
    assert_string_equal(hd_str_text(&got),
                        "a|a2|7\nc|c0|5\nd|d1|6\ne|e0|5\ny|y1|6\nx|x2|7\nw|w2|7\n");
    assert_int_equal(stats.n_log_files, 2);
    assert_int_equal(stats.n_blocks, 3);
    assert_int_equal(stats.n_records, 8);
    assert_int_equal(stats.n_entries, 7);
    assert_int_equal(stats.n_updated, 2);
    assert_int_equal(stats.n_deleted, 1);
    assert_int_equal(stats.n_added, 3);
    assert_int_equal(stats.n_spilled, 0);
    hd_str_clear(&got);
    merge_close(&m);
}

static void a_slice_of_log_files_alone_is_read(void **state)
{
    struct merged m;

    merge_open(*state, &m, 6, LATEST, KEYED, NULL);
    merge_avro(&m, 0, "001", KEYED, "b|b1|1\na|a1|1\nc|c1|1\n");
    merge_deletes(&m, 1, "002", "a\n");
    merge_expect(&m, "b|b1|1\nc|c1|1\n");
    merge_close(&m);
}

static void blocks_that_do_not_count_change_nothing(void **state)
{
    struct merged m;

    merge_open(*state, &m, 6, LATEST, KEYED, BASE);
    merge_avro(&m, 0, "006", KEYED, "a|pending|9\nq|pending|9\n");
    merge_deletes(&m, 0, "007", "b\n"); /* no such instant */
    merge_avro(&m, 0, "002", KEYED, "c|back|9\n");
    merge_rollback(&m, 1, "004", "002");
    merge_expect(&m, BASE);
    merge_avro(&m, 2, "003", KEYED, "c|c3|9\n");
    m.instants.as_of = "003";
    merge_avro(&m, 2, "004", KEYED, "c|c4|9\n");
    merge_expect(&m, "a|a0|5\nb|b0|5\nc|c3|9\nd|d0|5\ne|e0|5\n");
    merge_close(&m);
}

static void log_compaction_does_not_bring_back_what_was_overwritten_since(void **state)
{
    struct merged m;

    merge_open(*state, &m, 6, LATEST, KEYED, BASE);
    merge_avro(&m, 0, "002", KEYED, "a|a2|6\n");
    merge_avro(&m, 0, "003", KEYED, "a|a3|6\nb|b3|6\n");
    merge_avro(&m, 0, "004", KEYED, "a|a4|6\n");
    merge_avro_with(&m, 1, "005", KEYED, "a|a3|6\nb|b3|6\n",
                    (struct merge_block){.compacted = "002,003"});
    merge_expect(&m, "a|a4|6\nb|b3|6\nc|c0|5\nd|d0|5\ne|e0|5\n");
    merge_close(&m);
}

/* ---- columns ------------------------------------------------------------------------------- */

static void columns_that_merging_needs_need_not_be_asked_for(void **state)
{
    struct merged m;

    merge_open(*state, &m, 6, DEFAULT, KEYED, BASE);
    merge_avro(&m, 0, "002", KEYED, "a|late|4\nb|b1|6\nx|x1|6\n");
    m.columns[0] = 1;
    m.query.n_columns = 1;
    merge_expect(&m, "a0\nb1\nc0\nd0\ne0\nx1\n");
    m.query.n_columns = 2;
    m.columns[1] = 1;
    merge_expect(&m, "a0|a0\nb1|b1\nc0|c0\nd0|d0\ne0|e0\nx1|x1\n");
    merge_close(&m);
}

static void blocks_of_other_schemas_become_the_tables_columns(void **state)
{
    struct merged m;

    merge_open(*state, &m, 6, LATEST,
               "_hoodie_record_key string\nn bigint\nf double\ns string\nts bigint\n", NULL);
    merge_avro(&m, 0, "001", "_hoodie_record_key string\nn int\nf float\nts int\nold string\n",
               "a|1|0.5|1|x\n");
    merge_avro(&m, 0, "002", "s string\nts bigint\n_hoodie_record_key string\nn bigint\n",
               "new|2|b|7\n");
    merge_parquet(&m, 1, "003", "_hoodie_record_key string\nn int\ns string\nts bigint\n",
                  "c|3|parquet|3\n");
    merge_expect(&m, "a|1|0.5|~|1\nb|7|~|new|2\nc|3|~|parquet|3\n");
    merge_close(&m);
}

/* By the exact number up to 1.0, by the decimal text from 1.1 on and where the record has a number
 * that became a string as well, whether that is asked for or not. */
static void floats_become_doubles_as_in_the_release(void **state)
{
#define WAS "_hoodie_record_key string\nts bigint\nf float\ns "
    static const struct {
        int version;
        const char *rule, *was, *rows;
        bool by_text;
    } CELLS[] = {
        {6, DEFAULT, WAS "string\n", "a|1|0.1|7\n", false},
        {6, DEFAULT, WAS "int\n", "a|1|0.1|7\n", true},
        {8, "EVENT_TIME_ORDERING", WAS "string\n", "a|1|0.1|7\n", false},
        {8, "EVENT_TIME_ORDERING", WAS "bigint\n", "a|1|0.1|7\n", true},
        {9, "EVENT_TIME_ORDERING", WAS "string\n", "a|1|0.1|7\n", true},
        {9, "EVENT_TIME_ORDERING", WAS "string\n", "a|1|16777216|7\n", true},
    };

    for (size_t i = 0; i < HD_ARRAY_LENGTH(CELLS); i++) {
        const bool whole = strstr(CELLS[i].rows, "16777216") != NULL;
        struct merged m;

        merge_open(*state, &m, CELLS[i].version, CELLS[i].rule,
                   "_hoodie_record_key string\nts bigint\nf double\ns string\n", NULL);
        merge_avro(&m, 0, "001", CELLS[i].was, CELLS[i].rows);
        const char *const f = whole              ? "1.6777216E7"
                              : CELLS[i].by_text ? "0.1"
                                                 : "0.10000000149011612";
        char expected[64];

        snprintf(expected, sizeof expected, "a|1|%s|7\n", f);
        merge_expect(&m, expected);
        m.query.n_columns = 3;
        snprintf(expected, sizeof expected, "a|1|%s\n", f);
        merge_expect(&m, expected);
        merge_close(&m);
    }
#undef WAS
}

static void parquet_blocks_merge_as_others_do(void **state)
{
    struct merged m;

    merge_open(*state, &m, 6, DEFAULT, KEYED, BASE);
    merge_parquet(&m, 0, "002", KEYED, "a|a1|6\nb|late|4\nx|x1|6\n");
    merge_deletes(&m, 0, "002", "c\n");
    merge_avro(&m, 0, "003", KEYED, "x|x2|7\n");
    merge_expect(&m, "a|a1|6\nb|b0|5\nd|d0|5\ne|e0|5\nx|x2|7\n");
    merge_close(&m);
}

static void keys_that_are_not_stored_are_made_of_their_fields(void **state)
{
    static const char COLUMNS[] = "id bigint\nv string\nts bigint\n";
    static const char *const FIELD[] = {"id"}, *const TWO[] = {"id", "v"};
    struct merged m;

    merge_open(*state, &m, 6, LATEST, COLUMNS, "1|one|5\n2|two|5\n3|three|5\n");
    m.config.populate_meta_fields = false;
    m.config.record_key_fields = (const char **)FIELD;
    m.config.n_record_key_fields = 1;
    merge_avro(&m, 0, "002", COLUMNS, "2|two!|6\n4|four|6\n");
    merge_deletes(&m, 0, "002", "3\n");
    merge_expect(&m, "1|one|5\n2|two!|6\n4|four|6\n");
    m.columns[0] = 1;
    m.query.n_columns = 1;
    merge_expect(&m, "one\ntwo!\nfour\n");
    m.config.record_key_fields = (const char **)TWO;
    m.config.n_record_key_fields = 2;
    m.config.key_generator = HD_KEYGEN_COMPLEX;
    merge_deletes(&m, 0, "003", "id:1,v:one\n");
    merge_expect(&m, "two\nthree\ntwo!\nfour\n");
    merge_close(&m);
}

static void a_key_that_comes_twice_in_the_base_file_changes_twice(void **state)
{
    struct merged m;

    merge_open(*state, &m, 6, LATEST, KEYED, "a|one|5\nb|b0|5\na|two|5\nb|b0|5\n");
    merge_avro(&m, 0, "002", KEYED, "a|new|6\n");
    merge_deletes(&m, 0, "002", "b\n");
    merge_expect(&m, "a|new|6\na|new|6\n");
    merge_close(&m);
}

/* ---- deletes that are rows ----------------------------------------------------------------- */

static void rows_marked_as_deleted_delete(void **state)
{
    static const char COLUMNS[] =
        "_hoodie_record_key string\nv string\nts bigint\n_hoodie_is_deleted boolean\n";
    struct merged m;

    merge_open(*state, &m, 6, DEFAULT, COLUMNS,
               "a|a0|5|false\nb|b0|5|false\nc|c0|5|~\nd|d0|5|false\n");
    merge_avro(&m, 0, "002", COLUMNS,
               "a|a1|6|true\nb|late|4|true\nx|x1|6|true\nc|c1|6|false\nd|d1|6|~\n");
    m.query.n_columns = 2;
    merge_expect(&m, "b|b0\nc|c1\nd|d1\n");
    m.config.payload_class = LATEST;
    merge_expect(&m, "c|c1\nd|d1\n");
    merge_close(&m);
}

static void a_marker_of_ones_own_deletes(void **state)
{
    static const char COLUMNS[] = "_hoodie_record_key string\nop string\nts bigint\n";
    struct merged m;

    merge_open(*state, &m, 6, DEFAULT, COLUMNS, "a|i|5\nb|i|5\n");
    merge_avro(&m, 0, "002", COLUMNS, "a|gone|6\nb|Gone|6\nc|gone|6\n");
    merge_expect(&m, "a|gone|6\nb|Gone|6\nc|gone|6\n");
    merge_option(&m, "hoodie.payload.delete.field", "op");
    merge_option(&m, "hoodie.payload.delete.marker", "gone");
    merge_expect(&m, "b|Gone|6\n");
    m.columns[0] = 2; /* the marker's column is read all the same */
    m.query.n_columns = 1;
    merge_expect(&m, "6\n");
    merge_close(&m);
}

static void operations_of_a_change_log_delete(void **state)
{
    static const char LOGGED[] =
        "_hoodie_record_key string\nv string\nts bigint\n_hoodie_operation string\n";
    struct merged m;

    merge_open(*state, &m, 3, LATEST, KEYED, BASE);
    merge_avro(&m, 0, "002", LOGGED,
               "a|a1|6|-U\nb|b1|6|D\nc|c1|6|U\nx|x1|6|I\ny|y1|6|D\nz|z1|6|~\n");
    merge_avro(&m, 0, "003", LOGGED, "a|a2|7|U\nx|x2|7|D\n");
    merge_expect(&m, "a|a2|7\nc|c1|6\nd|d0|5\ne|e0|5\nz|z1|6\n");
    merge_close(&m);
}

/* ---- rows of both -------------------------------------------------------------------------- */

#define WIDE                                                                                       \
    "_hoodie_commit_time string\n_hoodie_record_key string\na string\nb string\nts bigint\n"

static void partial_updates_of_the_payload_fill_nulls(void **state)
{
    struct merged m;

    /* Meta columns are the incoming record's, also of one that is late. */
    merge_open(*state, &m, 6, PARTIAL, WIDE, "001|k|a0|~|5\n001|l|a0|b0|5\n001|n|a0|b0|5\n");
    merge_avro(&m, 0, "002", WIDE, "002|k|~|b1|4\n002|l|a1|~|6\n002|n|late|late|4\n002|x|a1|~|1\n");
    merge_avro(&m, 0, "003", WIDE, "003|x|~|b2|2\n");
    merge_expect(&m, "002|k|a0|b1|5\n002|l|a1|b0|6\n002|n|a0|b0|5\n003|x|a1|b2|2\n");
    merge_deletes(&m, 0, "004", "k@long:1\nl@long:6\nx\n");
    merge_expect(&m, "002|k|a0|b1|5\n002|n|a0|b0|5\n");
    merge_close(&m);

    /* From version 8 on those of the row that wins; a late delete does not delete. */
    merge_open(*state, &m, 9, "EVENT_TIME_ORDERING", WIDE, "001|k|a0|~|5\n001|l|a0|b0|5\n");
    test_must(*state, hd_properties_set(*state, &m.config.properties,
                                        "hoodie.table.partial.update.mode", "IGNORE_DEFAULTS"));
    merge_avro(&m, 0, "002", WIDE, "002|k|~|b1|4\n002|l|a1|~|6\n");
    merge_expect(&m, "001|k|a0|b1|5\n002|l|a1|b0|6\n");
    merge_deletes(&m, 0, "003", "l@long:1\n");
    merge_expect(&m, "001|k|a0|b1|5\n002|l|a1|b0|6\n");
    merge_close(&m);
}

#define PART_A "_hoodie_commit_time string\n_hoodie_record_key string\na string\nts bigint\n"
#define PART_B "_hoodie_commit_time string\n_hoodie_record_key string\nb string\nts bigint\n"

static void blocks_of_changed_columns_leave_the_others(void **state)
{
    static const struct merge_block changed = {.partial = "true"};
    struct merged m;

    merge_open(*state, &m, 8, "EVENT_TIME_ORDERING", WIDE,
               "001|k|a0|b0|5\n001|l|a0|b0|5\n001|n|a0|b0|5\n001|o|a0|b0|5\n");
    merge_avro_with(&m, 0, "002", PART_A, "002|k|a1|6\n002|l|~|6\n002|n|late|4\n", changed);
    merge_expect(&m, "002|k|a1|b0|6\n002|l|~|b0|6\n001|n|a0|b0|5\n001|o|a0|b0|5\n");
    /* Other columns of the same key come together; one that is late fills what was not set. */
    merge_avro_with(&m, 0, "003", PART_B, "003|k|b2|7\n003|l|b2|5\n", changed);
    merge_expect(&m, "003|k|a1|b2|7\n002|l|~|b2|6\n001|n|a0|b0|5\n001|o|a0|b0|5\n");
    /* A whole row over changed columns, and changed columns over a whole row. */
    merge_avro(&m, 1, "004", WIDE, "004|k|a3|~|8\n004|x|a3|b3|8\n");
    merge_avro_with(&m, 1, "005", PART_B, "005|x|b4|9\n", changed);
    merge_deletes(&m, 1, "005", "o\n");
    merge_expect(&m, "004|k|a3|~|8\n002|l|~|b2|6\n001|n|a0|b0|5\n005|x|a3|b4|9\n");
    m.columns[0] = 3; /* b */
    m.query.n_columns = 1;
    merge_expect(&m, "~\nb2\nb0\nb4\n");
    merge_close(&m);
}

/* ---- filters ------------------------------------------------------------------------------- */

static void filters_see_merged_rows_alone(void **state)
{
    static const struct {
        int version;
        const char *rule;
        const char *of_b0, *of_new, *below_six;
    } CASES[] = {
        /* b's update wins; under event time d's is late and does not show, nor hides d0 */
        {6, LATEST, "", "b|new|6\nd|new|4\nx|new|6\n", "a|a0|5\nc|c0|5\nd|new|4\ne|e0|5\n"},
        {6, DEFAULT, "", "b|new|6\nx|new|6\n", "a|a0|5\nc|c0|5\nd|d0|5\ne|e0|5\n"},
        {9, "COMMIT_TIME_ORDERING", "", "b|new|6\nd|new|4\nx|new|6\n",
         "a|a0|5\nc|c0|5\nd|new|4\ne|e0|5\n"},
        {9, "EVENT_TIME_ORDERING", "", "b|new|6\nx|new|6\n", "a|a0|5\nc|c0|5\nd|d0|5\ne|e0|5\n"},
    };

    for (size_t i = 0; i < HD_ARRAY_LENGTH(CASES); i++) {
        struct merged m;

        merge_open(*state, &m, CASES[i].version, CASES[i].rule, KEYED, BASE);
        merge_avro(&m, 0, "002", KEYED, "b|new|6\nd|new|4\nx|new|6\n");
        for (int skipping = 0; skipping < 2; skipping++) {
            m.query.use_statistics = skipping == 1;
            merge_filter(&m, "v = 'b0'");
            merge_expect(&m, CASES[i].of_b0);
            merge_filter(&m, "v = 'new'"); /* no row group has it */
            merge_expect(&m, CASES[i].of_new);
            merge_filter(&m, "ts < 6 AND v <> 'zzz'");
            merge_expect(&m, CASES[i].below_six);
        }
        merge_close(&m);
    }
}

static void row_groups_are_skipped_where_one_of_row_and_log_record_stays(void **state)
{
    static const struct {
        const char *rule, *rows;
        int32_t n_read;
    } CASES[] = {
        {LATEST, "e|e0|5\na|zz|6\nd|zz|4\nx|zz|4\n", 1},
        {DEFAULT, "e|e0|5\na|zz|6\nx|zz|4\n", 1}, /* d's is late: a row that is not read wins */
        {PARTIAL, "a|zz|6\nd|d0|5\ne|e0|5\nx|zz|4\n", 3}, /* a row of both: it must be read */
    };

    for (size_t i = 0; i < HD_ARRAY_LENGTH(CASES); i++) {
        struct merged m;
        int32_t n_all, n_read;
        hd_slice_reader *reader;

        merge_open(*state, &m, 6, CASES[i].rule, KEYED, BASE);
        merge_avro(&m, 0, "002", KEYED, "a|zz|6\nd|zz|4\nx|zz|4\n");
        merge_deletes(&m, 0, "002", "b\n");
        merge_filter(&m, i == 2 ? "v >= 'd0'" : "v >= 'e0'");
        merge_expect(&m, CASES[i].rows);
        test_must(m.op, hd_slice_reader_open(m.op, &m.query, &m.source, &reader));
        hd_slice_reader_row_groups(reader, &n_all, &n_read);
        assert_int_equal(n_all, 3);
        assert_int_equal(n_read, CASES[i].n_read);
        hd_slice_reader_close(reader);
        merge_close(&m);
    }
}

/* ---- damage -------------------------------------------------------------------------------- */

struct lines {
    int n;
    char last[512];
};

static void take_line(void *self, enum hd_log_level level, const char *message)
{
    struct lines *lines = self;

    if (level != HD_LOG_WARN)
        return;
    lines->n++;
    (void)snprintf(lines->last, sizeof lines->last, "%s", message);
}

static void damaged_blocks_are_passed_over_with_a_warning(void **state)
{
    struct hd_op *op = *state;
    struct lines lines = {0};
    struct merged m;

    merge_open(op, &m, 6, LATEST, KEYED, BASE);
    merge_avro(&m, 0, "002", KEYED, "a|a1|6\n");
    merge_junk(&m, 0, "#HUDI#half a block, and then");
    merge_avro(&m, 0, "003", KEYED, "b|b1|6\n");
    op->log = (struct hd_log_sink){take_line, &lines};
    merge_expect(&m, "a|a1|6\nb|b1|6\nc|c0|5\nd|d0|5\ne|e0|5\n");
    op->log = (struct hd_log_sink){0};
    assert_int_equal(lines.n, 1);
    assert_non_null(strstr(lines.last, "corrupt"));
    merge_close(&m);
}

/* A whole frame around a content that ends in the middle of its last record. */
static void a_block_that_turns_out_to_be_damaged_gives_none_of_its_rows(void **state)
{
    struct hd_op *op = *state;
    struct hd_slice_merge_stats stats;
    struct lines lines = {0};
    struct hd_str rows = {0}, got = {0};
    struct merged m;

    merge_open(op, &m, 6, LATEST, KEYED, BASE);
    for (int i = 0; i < 500; i++)
        test_must(op, hd_str_printf(op, &rows, "key-%03d|new|6\n", i));
    merge_avro(&m, 0, "002", KEYED, "a|a1|6\n");
    merge_avro(&m, 0, "002", KEYED, hd_str_text(&rows));
    char *const key = memmem(m.logs[0].data, m.logs[0].size, "key-499", 7);
    assert_non_null(key);
    key[-1] = (char)0xfe; /* its length */
    merge_avro(&m, 0, "003", KEYED, "b|b1|6\n");
    m.query.merge_bytes = 16 << 10; /* so that it comes in several batches */
    op->log = (struct hd_log_sink){take_line, &lines};
    test_must(op, merge_read(&m, &got, &stats));
    op->log = (struct hd_log_sink){0};
    assert_string_equal(hd_str_text(&got), "a|a1|6\nb|b1|6\nc|c0|5\nd|d0|5\ne|e0|5\n");
    assert_int_equal(stats.n_records, 2);
    assert_int_equal(stats.n_corrupt_blocks, 1);
    assert_int_equal(lines.n, 1);
    assert_non_null(strstr(lines.last, ".f_001.log.1"));
    assert_non_null(strstr(lines.last, "passed over"));
    m.query.replaces_logs = true;
    merge_expect_error(&m, HUDI_CORRUPT, "libhudi.read.recover");
    m.query.recover = true;
    merge_expect(&m, "a|a1|6\nb|b1|6\nc|c0|5\nd|d0|5\ne|e0|5\n");
    hd_str_clear(&got);
    hd_str_clear(&rows);
    merge_close(&m);
}

static void what_cannot_be_read_is_an_error_that_names_the_file(void **state)
{
    static const char *const GONE[] = {"p/.f_001.log.9_0-0-0"};
    struct hd_op *op = *state;
    struct merged m;

    merge_open(op, &m, 6, LATEST, KEYED, BASE);
    merge_avro(&m, 0, "002", "_hoodie_record_key string\nv string\nts string\n", "a|a1|x\n");
    merge_expect_error(&m, HUDI_SCHEMA, "ts");
    m.config.payload_class = "com.example.Own";
    merge_expect_error(&m, HUDI_NOT_IMPLEMENTED, "com.example.Own");
    merge_close(&m);

    merge_open(op, &m, 6, LATEST, KEYED, BASE);
    merge_avro(&m, 0, "002", "v string\nts bigint\n", "a1|6\n");
    merge_expect(&m, BASE);
    m.query.replaces_logs = true;
    merge_expect_error(&m, HUDI_CORRUPT, "no key");
    assert_null(op->error);
    m.source.log_paths = GONE;
    m.source.n_logs = 1;
    hd_slice_reader *reader;
    assert_int_equal(hd_slice_reader_open(op, &m.query, &m.source, &reader), HUDI_NOT_FOUND);
    assert_non_null(strstr(hudi_error_path(op->error), ".f_001.log.9"));
    hd_op_clear_error(op);
    merge_close(&m);
}

/* ---- memory -------------------------------------------------------------------------------- */

#define N_MANY 100000

static void many_records_spill_and_read_the_same(void **state)
{
    struct hd_op *op = *state;
    struct hd_slice_merge_stats stats;
    struct hd_str rows = {0}, deletes = {0}, small = {0}, large = {0};
    struct merged m;

    merge_open(op, &m, 6, DEFAULT, KEYED, BASE);
    for (int i = 0; i < N_MANY; i++)
        test_must(op, hd_str_printf(op, &rows, "key-%06d|value %d of many|%d\n", i, i, i % 10));
    merge_avro(&m, 0, "002", KEYED, hd_str_text(&rows));
    hd_str_clear(&rows);
    for (int i = 0; i < N_MANY; i += 3)
        test_must(op, hd_str_printf(op, &rows, "key-%06d|value %d again|%d\n", i, i, i % 7));
    merge_avro(&m, 1, "003", KEYED, hd_str_text(&rows));
    for (int i = 0; i < N_MANY; i += 11)
        test_must(op, hd_str_printf(op, &deletes, "key-%06d\n", i));
    merge_deletes(&m, 1, "003", hd_str_text(&deletes));
    test_must(op, merge_read(&m, &large, &stats));
    assert_int_equal(stats.n_spilled, 0);
    assert_int_equal(stats.n_entries, N_MANY);
    m.query.merge_bytes = 2 << 20;
    test_must(op, merge_read(&m, &small, &stats));
    assert_true(stats.n_spilled > N_MANY / 2);
    assert_int_equal(large.size, small.size);
    assert_memory_equal(large.data, small.data, small.size);
    assert_int_equal(merge_count_lines(hd_str_text(&small)), 5 + N_MANY - (N_MANY + 10) / 11);
    hd_str_clear(&rows);
    hd_str_clear(&deletes);
    hd_str_clear(&small);
    hd_str_clear(&large);
    merge_close(&m);
}

static int compare_lines(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The lines of a text, sorted; the text is cut up. */
static size_t sort_lines(struct hd_op *op, struct hd_str *text, const char ***out)
{
    const uint32_t n = merge_count_lines(hd_str_text(text));
    char *at = text->data;

    test_must(op, hd_alloc_array(op, n, sizeof **out, out));
    for (uint32_t i = 0; i < n; i++) {
        (*out)[i] = at;
        at += test_span(at, "\n");
        *at++ = '\0';
    }
    qsort(*out, n, sizeof **out, compare_lines);
    return n;
}

/* Read with all keys at once and in parts: the same rows, and no block more often than
 * `most_reads` says, however many parts there are and tries that did not fit. */
static void read_in_parts(struct hd_op *op, struct merged *m, int64_t n_reads, int64_t most_reads)
{
    struct hd_slice_merge_stats stats, all_stats;
    struct hd_str small = {0}, large = {0};
    const char **expected, **got;

    test_must(op, merge_read(m, &large, &all_stats));
    assert_int_equal(all_stats.n_reads, n_reads);
    m->query.merge_bytes = 1 << 18;
    test_budget_limit(op, 1 << 19);
    test_must(op, merge_read(m, &small, &stats));
    test_budget_limit(op, UINT64_MAX);
    m->query.merge_bytes = 0;
    assert_in_range(stats.n_reads, n_reads + 1, most_reads);
    assert_int_equal(stats.n_entries, all_stats.n_entries);
    assert_int_equal(stats.n_records, all_stats.n_records);
    assert_int_equal(stats.n_updated, all_stats.n_updated);
    assert_int_equal(stats.n_deleted, all_stats.n_deleted);
    assert_int_equal(stats.n_added, all_stats.n_added);
    assert_int_equal(stats.n_corrupt_blocks, all_stats.n_corrupt_blocks);
    assert_int_equal(small.size, large.size);
    assert_memory_not_equal(small.data, large.data, small.size); /* it was in parts */
    assert_null(strstr(hd_str_text(&large), "lost"));
    const size_t n = sort_lines(op, &large, &expected);
    assert_int_equal(sort_lines(op, &small, &got), n);
    for (size_t i = 0; i < n; i++)
        assert_string_equal(got[i], expected[i]);
    hd_free(op, got);
    hd_free(op, expected);
    hd_str_clear(&small);
    hd_str_clear(&large);
}

/* More keys than the budget has room for: parts of them, one after the other. */
static void keys_that_do_not_fit_are_merged_in_parts(void **state)
{
    struct hd_op *op = *state;
    struct hd_str rows = {0}, base = {0};
    struct merged m;

    for (int i = 0; i < 2000; i++)
        test_must(op, hd_str_printf(op, &base, "key-%06d|base %d|5\n", i * 100, i));
    merge_open(op, &m, 6, DEFAULT, KEYED, hd_str_text(&base));
    for (int i = 0; i < N_MANY; i++)
        test_must(op, hd_str_printf(op, &rows, "key-%06d|value %d|%d\n", i, i, i / 100 % 10));
    merge_avro(&m, 0, "002", KEYED, hd_str_text(&rows));
    merge_deletes(&m, 0, "002", "key-000200\nkey-000201\nkey-000300@long:1\n");
    read_in_parts(op, &m, 2, 4);

    /* A block whose damage is behind rows that were taken. */
    rows.size = 0;
    for (int i = 0; i < N_MANY; i++)
        test_must(op, hd_str_printf(op, &rows, "key-%06d|lost %d|9\n", i, i));
    test_must(op, hd_str_append_text(op, &rows, "the-end|lost|9\n"));
    merge_avro(&m, 0, "002", KEYED, hd_str_text(&rows));
    char *const end = memmem(m.logs[0].data, m.logs[0].size, "the-end", 7);
    assert_non_null(end);
    end[-1] = 0x7f; /* the text's length */
    read_in_parts(op, &m, 3 + 2, 3 + 3 + 2);
    hd_str_clear(&rows);
    hd_str_clear(&base);
    merge_close(&m);
}

static void every_fault_is_passed_up_and_leaks_nothing(void **state)
{
    struct hd_op *op = *state;
    struct merged m;

    merge_open(op, &m, 9, "EVENT_TIME_ORDERING", WIDE, "001|k|a0|b0|5\n001|l|a0|b0|5\n");
    merge_avro(&m, 0, "002", WIDE, "002|k|a1|b1|4\n002|x|a1|b1|6\n");
    merge_avro_with(&m, 0, "003", PART_A, "003|x|a2|7\n003|l|a2|7\n",
                    (struct merge_block){.partial = "true"});
    merge_deletes(&m, 1, "004", "k@long:9\nq@int:1\n");
    merge_parquet(&m, 1, "005", WIDE, "005|z|a3|b3|1\n");
    merge_filter(&m, "ts > 1");
    merge_check_faults(&m);
    merge_expect(&m, "003|l|a2|b0|7\n003|x|a2|b1|7\n");
    merge_close(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_keep_their_places_and_new_ones_come_last),
        cmocka_unit_test(a_slice_of_log_files_alone_is_read),
        cmocka_unit_test(blocks_that_do_not_count_change_nothing),
        cmocka_unit_test(log_compaction_does_not_bring_back_what_was_overwritten_since),
        cmocka_unit_test(columns_that_merging_needs_need_not_be_asked_for),
        cmocka_unit_test(blocks_of_other_schemas_become_the_tables_columns),
        cmocka_unit_test(floats_become_doubles_as_in_the_release),
        cmocka_unit_test(parquet_blocks_merge_as_others_do),
        cmocka_unit_test(keys_that_are_not_stored_are_made_of_their_fields),
        cmocka_unit_test(a_key_that_comes_twice_in_the_base_file_changes_twice),
        cmocka_unit_test(rows_marked_as_deleted_delete),
        cmocka_unit_test(a_marker_of_ones_own_deletes),
        cmocka_unit_test(operations_of_a_change_log_delete),
        cmocka_unit_test(partial_updates_of_the_payload_fill_nulls),
        cmocka_unit_test(blocks_of_changed_columns_leave_the_others),
        cmocka_unit_test(filters_see_merged_rows_alone),
        cmocka_unit_test(row_groups_are_skipped_where_one_of_row_and_log_record_stays),
        cmocka_unit_test(damaged_blocks_are_passed_over_with_a_warning),
        cmocka_unit_test(a_block_that_turns_out_to_be_damaged_gives_none_of_its_rows),
        cmocka_unit_test(what_cannot_be_read_is_an_error_that_names_the_file),
        cmocka_unit_test(many_records_spill_and_read_the_same),
        cmocka_unit_test(keys_that_do_not_fit_are_merged_in_parts),
        cmocka_unit_test(every_fault_is_passed_up_and_leaks_nothing),
    };

    return cmocka_run_group_tests(tests, test_op_setup, test_op_teardown);
}
