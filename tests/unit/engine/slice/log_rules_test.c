/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "engine/slice/log_rules.h"
#include "support/table.h"

/* Blocks as texts: "d:003" data, "x:003" delete, "r:005>003" rollback of 003 by 005, "c" corrupt,
 * "d:007=003,004" made of 003 and 004 by log compaction. The timeline starts at 002; 003 to 009 are
 * committed but 006, which is pending, and 005, which is gone; 001 is archived, 000 pending. */

#define N_BLOCKS_MAX 16

static const struct hd_log_instant INSTANTS[] = {
    {"000", false, NULL}, {"002", true, NULL}, {"003", true, NULL}, {"004", true, NULL},
    {"006", false, NULL}, {"007", true, NULL}, {"008", true, NULL}, {"009", true, NULL},
};

static struct hd_log_entry entry_of(const char *text)
{
    struct hd_log_entry entry = {.type = text[0] == 'd'   ? HD_LOG_AVRO_DATA
                                         : text[0] == 'p' ? HD_LOG_PARQUET_DATA
                                         : text[0] == 'h' ? HD_LOG_HFILE_DATA
                                         : text[0] == 'x' ? HD_LOG_DELETE
                                         : text[0] == 'r' ? HD_LOG_COMMAND
                                         : text[0] == 'v' ? HD_LOG_CDC_DATA
                                                          : HD_LOG_CORRUPT};

    if (text[0] == 'c')
        return entry;
    entry.instant = hd_slice_of(text + 2, 3);
    if (text[5] == '>')
        entry.target = hd_slice_text(text + 6);
    if (text[5] == '=')
        entry.compacted = hd_slice_text(text + 6);
    return entry;
}

struct expected {
    int version;
    bool as_of_1x;
    const char *as_of;
    const char *before;
};

static void choose(struct hd_op *op, struct expected how, const char *const *blocks,
                   const char *numbers)
{
    const struct hd_table_version *version;
    struct hd_log_rules rules;
    struct hd_log_entry entries[N_BLOCKS_MAX];
    const struct hd_log_instants instants = {INSTANTS, HD_ARRAY_LENGTH(INSTANTS), "002", how.as_of,
                                             how.before};
    uint32_t *chosen;
    size_t n = 0, n_chosen;
    char text[64] = "";

    test_must(op, hd_table_version_of(op, how.version, &version));
    test_must(op, hd_log_rules_of(op, version, how.as_of_1x, &rules));
    for (; blocks[n] != NULL; n++)
        entries[n] = entry_of(blocks[n]);
    test_must(op, hd_log_choose(op, &rules, &instants, entries, n, &chosen, &n_chosen));
    for (size_t i = 0; i < n_chosen; i++) {
        char one[12];

        (void)snprintf(one, sizeof one, "%s%u", i == 0 ? "" : " ", chosen[i]);
        (void)strcat(text, one);
    }
    assert_string_equal(text, numbers);
    hd_free(op, chosen);
}

#define BLOCKS(...) ((const char *const[]){__VA_ARGS__, NULL})
#define AS_OF_VERSION(n) ((struct expected){.version = (n)})

static const int VERSIONS_BELOW_8[] = {2, 3, 4, 5, 6, 7};

static void every_version_from_2_to_9_has_its_rules(void **state)
{
    static const struct {
        int version;
        bool as_of_1x, by_block_instant, delete_beats_base;
        int merging;
    } CELLS[] = {
        {2, false, true, true, 2},   {3, false, true, true, 3},   {4, false, true, true, 4},
        {5, false, true, true, 5},   {6, false, true, true, 6},   {7, false, true, true, 7},
        {8, false, false, false, 8}, {9, false, false, false, 9}, {6, true, true, false, 8},
        {3, true, true, false, 8},   {8, true, false, false, 8},  {9, true, false, false, 9},
    };
    struct hd_op op;

    (void)state;
    hd_op_init(&op);
    for (size_t i = 0; i < HD_ARRAY_LENGTH(CELLS); i++) {
        const struct hd_table_version *version;
        struct hd_log_rules rules;

        test_must(&op, hd_table_version_of(&op, CELLS[i].version, &version));
        test_must(&op, hd_log_rules_of(&op, version, CELLS[i].as_of_1x, &rules));
        assert_int_equal(rules.by_block_instant, CELLS[i].by_block_instant);
        assert_int_equal(rules.delete_beats_base, CELLS[i].delete_beats_base);
        assert_int_equal(rules.floats_by_text, CELLS[i].version == 9);
        assert_int_equal(rules.merging->number, CELLS[i].merging);
        assert_non_null(rules.releases);
    }
    hd_op_clear(&op);
}

static void below_8_a_block_counts_by_its_own_instant(void **state)
{
    struct hd_op op;

    (void)state;
    hd_op_init(&op);
    for (size_t i = 0; i < HD_ARRAY_LENGTH(VERSIONS_BELOW_8); i++) {
        const struct expected how = AS_OF_VERSION(VERSIONS_BELOW_8[i]);

        choose(&op, how, BLOCKS("d:003", "x:004"), "0 1");
        choose(&op, how, BLOCKS("d:006"), "");           /* pending */
        choose(&op, how, BLOCKS("x:005"), "");           /* rolled back */
        choose(&op, how, BLOCKS("d:001"), "0");          /* archived */
        choose(&op, how, BLOCKS("d:000", "d:003"), "1"); /* pending, before the timeline */
        choose(&op, how, BLOCKS("d:010"), "");           /* not there yet */
        choose(&op, how, BLOCKS("p:003", "h:004", "d:007"), "0 1 2");
        choose(&op, how, BLOCKS("v:003", "c", "d:004"), "2");
    }
    hd_op_clear(&op);
}

static void from_8_on_the_name_of_the_file_has_told(void **state)
{
    struct hd_op op;

    (void)state;
    hd_op_init(&op);
    for (int version = 8; version <= 9; version++) {
        choose(&op, (struct expected){.version = version}, BLOCKS("d:005", "x:006", "d:010"),
               "0 1 2");
        choose(&op, (struct expected){.version = version, .as_of = "006"},
               BLOCKS("d:005", "x:006", "d:007"), "0 1");
    }
    hd_op_clear(&op);
}

static void blocks_after_the_time_asked_about_do_not_count(void **state)
{
    struct hd_op op;

    (void)state;
    hd_op_init(&op);
    for (size_t i = 0; i < HD_ARRAY_LENGTH(VERSIONS_BELOW_8); i++)
        choose(&op, (struct expected){.version = VERSIONS_BELOW_8[i], .as_of = "004"},
               BLOCKS("d:003", "d:004", "d:007", "x:003"), "0 1 3");
    choose(&op, (struct expected){.version = 6, .before = "004"},
           BLOCKS("d:003", "d:004", "d:007", "x:003"), "0 3");
    hd_op_clear(&op);
}

/* 0.10 and 0.15 end there: tests/golden/flink010-mor-rollback. */
static void a_later_rollback_block_hides_no_committed_block_behind_it(void **state)
{
    struct hd_op op;

    (void)state;
    hd_op_init(&op);
    for (size_t i = 0; i < HD_ARRAY_LENGTH(VERSIONS_BELOW_8); i++)
        choose(&op, AS_OF_VERSION(VERSIONS_BELOW_8[i]),
               BLOCKS("d:003", "d:006", "r:010>006", "d:009", "x:009"), "0 3 4");
    hd_op_clear(&op);
}

static void a_rollback_block_takes_out_what_stands_before_it(void **state)
{
    struct hd_op op;

    (void)state;
    hd_op_init(&op);
    for (int version = 2; version <= 9; version++) {
        const struct expected how = AS_OF_VERSION(version);

        choose(&op, how, BLOCKS("d:003", "d:004", "r:007>004", "d:008"), "0 3");
        choose(&op, how, BLOCKS("d:003", "x:003", "r:007>003"), "");
        choose(&op, how, BLOCKS("r:007>004", "d:004"), "1"); /* what comes after it stays */
        choose(&op, how, BLOCKS("d:004", "r:007>004", "d:004"), "2");
        choose(&op, how, BLOCKS("d:004", "r:007>004", "r:007>004", "d:008"), "3");
        choose(&op, how, BLOCKS("d:003", "r:007>004"), "0"); /* of an instant without blocks */
        choose(&op, how, BLOCKS("d:004", "c", "r:007>004"), "");
    }
    hd_op_clear(&op);
}

/* 0.10 to 0.12 leave it there, and show it once its time is before the timeline. */
static void a_rollback_block_reaches_below_blocks_of_other_instants(void **state)
{
    struct hd_op op;

    (void)state;
    hd_op_init(&op);
    for (int version = 2; version <= 9; version++)
        choose(&op, AS_OF_VERSION(version), BLOCKS("d:001", "d:003", "d:004", "r:007>001"), "1 2");
    hd_op_clear(&op);
}

static void compacted_blocks_take_the_place_of_their_newest_input(void **state)
{
    struct hd_op op;

    (void)state;
    hd_op_init(&op);
    for (int version = 5; version <= 9; version++) {
        const struct expected how = AS_OF_VERSION(version);

        choose(&op, how, BLOCKS("d:002", "d:003", "d:007=002,003"), "2");
        /* 004 came between and stays the newest. */
        choose(&op, how, BLOCKS("d:002", "d:003", "d:004", "d:007=002,003"), "3 2");
        choose(&op, how,
               BLOCKS("d:002", "x:002", "d:003", "d:004", "d:007=002,003", "x:007", "d:008"),
               "4 5 3 6");
        /* An input in the middle stays out, wherever it is. */
        choose(&op, how, BLOCKS("d:002", "d:003", "d:004", "d:007=002,004"), "1 3");
    }
    hd_op_clear(&op);
}

static void what_was_compacted_twice_is_where_its_newest_rows_are(void **state)
{
    struct hd_op op;

    (void)state;
    hd_op_init(&op);
    choose(&op, AS_OF_VERSION(6),
           BLOCKS("d:002", "d:003", "d:004=002,003", "d:007", "d:008=004,007"), "4");
    choose(&op, AS_OF_VERSION(6),
           BLOCKS("d:001", "d:002", "d:003", "d:004", "d:007=001,002", "d:008=007,003"), "5 3");
    hd_op_clear(&op);
}

static void log_compaction_that_does_not_count_replaces_nothing(void **state)
{
    struct hd_op op;

    (void)state;
    hd_op_init(&op);
    choose(&op, AS_OF_VERSION(6), BLOCKS("d:002", "d:003", "d:006=002,003"), "0 1"); /* pending */
    choose(&op, (struct expected){.version = 6, .as_of = "004"},
           BLOCKS("d:002", "d:003", "d:007=002,003"), "0 1");
    choose(&op, AS_OF_VERSION(6), BLOCKS("d:002", "d:003", "d:007=002,003", "r:009>007"), "0 1");
    hd_op_clear(&op);
}

static void compacted_blocks_without_inputs_stay_where_they_are(void **state)
{
    struct hd_op op;

    (void)state;
    hd_op_init(&op);
    choose(&op, AS_OF_VERSION(6), BLOCKS("d:003", "d:007=002", "d:008"), "0 1 2");
    choose(&op, AS_OF_VERSION(6), BLOCKS("d:003", "d:007=007,008", "d:008=007"), "0 2");
    choose(&op, AS_OF_VERSION(6), BLOCKS("d:003", "d:007=,,"), "0 1");
    hd_op_clear(&op);
}

static void no_blocks_are_no_blocks(void **state)
{
    struct hd_op op;

    (void)state;
    hd_op_init(&op);
    choose(&op, AS_OF_VERSION(6), (const char *const[]){NULL}, "");
    choose(&op, AS_OF_VERSION(6), BLOCKS("c", "r:003>004"), "");
    hd_op_clear(&op);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_version_from_2_to_9_has_its_rules),
        cmocka_unit_test(below_8_a_block_counts_by_its_own_instant),
        cmocka_unit_test(from_8_on_the_name_of_the_file_has_told),
        cmocka_unit_test(blocks_after_the_time_asked_about_do_not_count),
        cmocka_unit_test(a_later_rollback_block_hides_no_committed_block_behind_it),
        cmocka_unit_test(a_rollback_block_takes_out_what_stands_before_it),
        cmocka_unit_test(a_rollback_block_reaches_below_blocks_of_other_instants),
        cmocka_unit_test(compacted_blocks_take_the_place_of_their_newest_input),
        cmocka_unit_test(what_was_compacted_twice_is_where_its_newest_rows_are),
        cmocka_unit_test(log_compaction_that_does_not_count_replaces_nothing),
        cmocka_unit_test(compacted_blocks_without_inputs_stay_where_they_are),
        cmocka_unit_test(no_blocks_are_no_blocks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
