/* SPDX-License-Identifier: Apache-2.0 */
/* docs/format/log-format.md 7, cell by cell: one key, a row of the base file or none, and what
 * comes in the log files. */
#include "unit/engine/slice/merge_testing.h"

#define COLUMNS "_hoodie_record_key string\nv string\nts bigint\n"
#define LATEST MERGE_PAYLOADS "OverwriteWithLatestAvroPayload"
#define DEFAULT MERGE_PAYLOADS "DefaultHoodieRecordPayload"
#define EVENT_TIME_PAYLOAD MERGE_PAYLOADS "EventTimeAvroPayload"

struct cell {
    const char *base; /* ordering value of the stored row, NULL: none */
    const char
        *events;     /* "r5": a row, "d": a delete without ordering value, "d@long:3": with one */
    const char *row; /* what is read: "e1|5" is the row of the first event. "": nothing */
};

/* Each event is a block of its own; its row has the value "e" and its number. */
static void add_events(struct merged *m, const char *events)
{
    static const char *const INSTANTS[] = {"002", "003", "004", "005"};
    int n = 0;

    while (*events != '\0') {
        const size_t size = strcspn(events, " ");
        char line[64];

        if (events[0] == 'r') {
            (void)snprintf(line, sizeof line, "k|e%d|%.*s\n", n + 1, (int)size - 1, events + 1);
            merge_avro(m, 0, INSTANTS[n], COLUMNS, line);
        } else {
            (void)snprintf(line, sizeof line, "k%.*s\n", (int)size - 1, events + 1);
            merge_deletes(m, 0, INSTANTS[n], line);
        }
        events += size;
        events += strspn(events, " ");
        n++;
    }
}

static void check_cell(struct hd_op *op, int version, const char *rule, bool as_of_1x,
                       const struct cell *cell)
{
    struct merged m;
    struct hd_str got = {0};
    char base[32], expected[32];

    (void)snprintf(base, sizeof base, "k|e0|%s\n", cell->base == NULL ? "" : cell->base);
    merge_open(op, &m, version, rule, COLUMNS, cell->base == NULL ? NULL : base);
    if (as_of_1x)
        merge_option(&m, "libhudi.merge.rules", "1.x");
    add_events(&m, cell->events);
    test_must(op, merge_read(&m, &got, NULL));
    (void)snprintf(expected, sizeof expected, "k|%s\n", cell->row);
    if (strcmp(hd_str_text(&got), cell->row[0] == '\0' ? "" : expected) != 0)
        fail_msg("version %d%s, %s: base %s, then %s: \"%s\", not \"%s\"", version,
                 as_of_1x ? " by 1.x" : "", rule, cell->base == NULL ? "-" : cell->base,
                 cell->events, hd_str_text(&got), cell->row);
    hd_str_clear(&got);
    merge_close(&m);
}

#define CHECK(op, version, rule, as_of_1x, ...)                                                    \
    do {                                                                                           \
        const struct cell cells_[] = {__VA_ARGS__};                                                \
        for (size_t i_ = 0; i_ < HD_ARRAY_LENGTH(cells_); i_++)                                    \
            check_cell(op, version, rule, as_of_1x, &cells_[i_]);                                  \
    } while (0)

/* Versions 4 and 5 as 0.11 to 0.13, 6 as 0.15: log records among each other by ordering value,
 * against the base file the log wins. */
static void overwrite_with_latest_below_8(void **state)
{
    for (int version = 4; version <= 6; version++)
        CHECK(*state, version, LATEST, false, {"5", "r3", "e1|3"}, {NULL, "r3", "e1|3"},
              {NULL, "r5 r3", "e1|5"}, {NULL, "r5 r7", "e2|7"}, {NULL, "r5 r5", "e2|5"},
              {"9", "r5 r3", "e1|5"},
              /* deletes after a record */
              {NULL, "r5 d@long:3", "e1|5"}, {NULL, "r5 d@long:5", ""}, {NULL, "r5 d@long:7", ""},
              {NULL, "r5 d", ""}, {NULL, "r5 d@long:0", "e1|5"},
              /* another class is not compared */
              {NULL, "r5 d@int:3", ""}, {NULL, "r5 d@string:3", ""}, {NULL, "r5 d@double:3", ""},
              {NULL, "r5 d@null", ""},
              /* a record after a delete */
              {NULL, "d@long:7 r3", "e2|3"}, {NULL, "d r3", "e2|3"}, {NULL, "d@long:7 r9", "e2|9"},
              /* deletes of the stored row */
              {"9", "d@long:3", ""}, {"9", "d", ""}, {"9", "d@long:9", ""}, {"9", "d@int:1", ""},
              {"9", "d@long:3 r4", "e2|4"});
}

static void event_time_payloads_below_8(void **state)
{
    static const char *const RULES[] = {DEFAULT, EVENT_TIME_PAYLOAD};

    for (size_t i = 0; i < HD_ARRAY_LENGTH(RULES); i++)
        CHECK(*state, 6, RULES[i], false, {"5", "r3", "e0|5"}, {"5", "r5", "e1|5"},
              {"5", "r7", "e1|7"}, {NULL, "r5 r3", "e1|5"}, {NULL, "r5 r5", "e2|5"},
              {"4", "r5 r3", "e1|5"}, {"9", "r5 r3", "e0|9"}, {NULL, "r5 d@long:3", "e1|5"},
              {NULL, "r5 d@long:5", ""}, {NULL, "r5 d", ""}, {NULL, "r5 d@int:3", ""},
              {NULL, "d@long:7 r3", "e2|3"},
              /* an empty payload deletes whatever is stored */
              {"9", "d@long:3", ""}, {"9", "d@long:9", ""}, {"9", "d", ""},
              {"9", "d@long:3 d@long:4", ""});
}

/* Tables of 0.10: delete blocks have no ordering values (those of version 1 are in
 * tests/golden/flink010-mor-deletes). */
static void deletes_by_arrival_in_tables_of_0_10(void **state)
{
    for (int version = 2; version <= 3; version++) {
        CHECK(*state, version, LATEST, false, {NULL, "r5 d", ""}, {"9", "d", ""},
              {NULL, "d r3", "e2|3"}, {NULL, "r5 r3", "e1|5"}, {"5", "r3", "e1|3"});
        CHECK(*state, version, DEFAULT, false, {NULL, "r5 d", ""}, {"9", "d", ""},
              {NULL, "d r3", "e2|3"}, {NULL, "r5 r3", "e1|5"}, {"5", "r3", "e0|5"});
    }
}

static const struct cell COMMIT_TIME[] = {
    {"5", "r3", "e1|3"},          {NULL, "r5 r3", "e2|3"}, {NULL, "r5 r5", "e2|5"},
    {NULL, "r5 d@long:3", ""},    {NULL, "r5 d", ""},      {NULL, "d@long:7 r3", "e2|3"},
    {"9", "d@long:3", ""},        {"9", "d", ""},          {"9", "r5 r3", "e2|3"},
    {"9", "d@long:3 r1", "e2|1"},
};

static const struct cell EVENT_TIME[] = {
    {"5", "r3", "e0|5"},
    {"5", "r5", "e1|5"},
    {"5", "r7", "e1|7"},
    {NULL, "r5 r3", "e1|5"},
    {NULL, "r5 r5", "e2|5"},
    {NULL, "r5 d@long:3", "e1|5"},
    {NULL, "r5 d@long:5", ""},
    {NULL, "r5 d@long:7", ""},
    {NULL, "r5 d", ""},
    {NULL, "r5 d@int:3", ""},
    /* the delete stays, unless it has no ordering value */
    {NULL, "d@long:7 r3", ""},
    {NULL, "d@long:7 r7", "e2|7"},
    {NULL, "d r3", "e2|3"},
    /* the stored row stays */
    {"9", "d@long:3", "e0|9"},
    {"9", "d@long:9", ""},
    {"9", "d", ""},
    {"9", "d@int:3", ""},
};

static void commit_time_from_8_on(void **state)
{
    for (int version = 8; version <= 9; version++) {
        for (size_t i = 0; i < HD_ARRAY_LENGTH(COMMIT_TIME); i++)
            check_cell(*state, version, "COMMIT_TIME_ORDERING", false, &COMMIT_TIME[i]);
    }
}

static void event_time_from_8_on(void **state)
{
    for (int version = 8; version <= 9; version++) {
        for (size_t i = 0; i < HD_ARRAY_LENGTH(EVENT_TIME); i++)
            check_cell(*state, version, "EVENT_TIME_ORDERING", false, &EVENT_TIME[i]);
    }
}

static void an_option_reads_version_6_as_1_x_does(void **state)
{
    for (size_t i = 0; i < HD_ARRAY_LENGTH(COMMIT_TIME); i++)
        check_cell(*state, 6, LATEST, true, &COMMIT_TIME[i]);
    for (size_t i = 0; i < HD_ARRAY_LENGTH(EVENT_TIME); i++)
        check_cell(*state, 6, DEFAULT, true, &EVENT_TIME[i]);
}

/* Each type of ordering field with a delete of its class, lower and higher, and one of another. */
static void deletes_compare_by_the_class_of_the_ordering_field(void **state)
{
    static const struct {
        const char *type, *value, *lower, *higher, *other;
    } CASES[] = {
        {"int", "5", "int:4", "int:5", "long:4"},
        {"bigint", "5", "long:4", "long:6", "int:4"},
        {"float", "1.5", "float:1.25", "float:1.5", "double:1"},
        {"double", "1.5", "double:1.25", "double:2", "float:1"},
        {"string", "b", "string:a", "string:b", "int:1"},
        {"boolean", "true", "bool:false", "bool:true", "int:1"},
        {"date", "1970-01-11", "date:9", "date:10", "int:9"},
        {"decimal(10,2)", "5.00", "decimal:4", "decimal:5", "long:4"},
        {"timestamp", "1970-01-01T00:00:00.000005Z", "long:4", "long:5", "int:4"},
        {"timestamp", "1970-01-01T00:00:00.000005Z", "micros:4", "micros:5", "int:4"},
        {"timestamp_millis", "1970-01-01T00:00:00.005Z", "micros:4999", "micros:5000", "int:4"},
        {"timestamp_millis", "1970-01-01T00:00:00.005Z", "long:4", "long:5", "double:4"},
    };

    for (size_t i = 0; i < HD_ARRAY_LENGTH(CASES); i++) {
        const char *const deletes[] = {CASES[i].lower, CASES[i].higher, CASES[i].other};

        for (size_t j = 0; j < HD_ARRAY_LENGTH(deletes); j++) {
            struct merged m;
            struct hd_str got = {0};
            char columns[96], row[96], delete[64];

            (void)snprintf(columns, sizeof columns, "_hoodie_record_key string\nts %s\n",
                           CASES[i].type);
            (void)snprintf(row, sizeof row, "k|%s\n", CASES[i].value);
            (void)snprintf(delete, sizeof delete, "k@%s\n", deletes[j]);
            merge_open(*state, &m, 9, "EVENT_TIME_ORDERING", columns, NULL);
            merge_avro(&m, 0, "002", columns, row);
            merge_deletes(&m, 0, "003", delete);
            m.query.n_columns = 1;
            test_must(*state, merge_read(&m, &got, NULL));
            if (strcmp(hd_str_text(&got), j == 0 ? "k\n" : "") != 0)
                fail_msg("%s %s, then a delete with %s: \"%s\"", CASES[i].type, CASES[i].value,
                         deletes[j], hd_str_text(&got));
            hd_str_clear(&got);
            merge_close(&m);
        }
    }
}

static void without_an_ordering_field_arrival_decides(void **state)
{
    static const char NO_ORDER[] = "_hoodie_record_key string\nv string\n";
    struct merged m;

    merge_open(*state, &m, 6, LATEST, NO_ORDER, "a|1\nb|1\n");
    merge_avro(&m, 0, "002", NO_ORDER, "a|2\nc|2\n");
    merge_deletes(&m, 0, "003", "c@long:5\nb\n");
    merge_avro(&m, 0, "004", NO_ORDER, "a|4\n");
    merge_expect(&m, "a|4\n");
    merge_close(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(overwrite_with_latest_below_8),
        cmocka_unit_test(event_time_payloads_below_8),
        cmocka_unit_test(deletes_by_arrival_in_tables_of_0_10),
        cmocka_unit_test(commit_time_from_8_on),
        cmocka_unit_test(event_time_from_8_on),
        cmocka_unit_test(an_option_reads_version_6_as_1_x_does),
        cmocka_unit_test(deletes_compare_by_the_class_of_the_ordering_field),
        cmocka_unit_test(without_an_ordering_field_arrival_decides),
    };

    return cmocka_run_group_tests(tests, test_op_setup, test_op_teardown);
}
