/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/record/merge.h"
#include "record_testing.h"

#define PACKAGE "org.apache.hudi.common.model."

/* Columns id, name, qty, city, ts, _hoodie_is_deleted, op. */
enum { ID, NAME, QTY, CITY, TS, IS_DELETED, OP, N_COLUMNS };

struct merging {
    struct test_config c;
    struct test_schema schema;
    struct ArrowSchema fields[N_COLUMNS];
    hd_merger *merger;
    struct hd_arena arena;
    struct ArrowArray arrays[2];
    struct hd_view views[2];
    struct hd_merge_side stored, incoming;
};

static const struct ArrowSchema FIELDS[N_COLUMNS] = {
    FIELD("u", "id"),   FIELD("u", "name"), FIELD("i", "qty"),
    FIELD("u", "city"), FIELD("l", "ts"),   FIELD("b", "_hoodie_is_deleted"),
    FIELD("u", "op")};

static void merging_init(struct merging *m, int version, const char *payload_class)
{
    *m = (struct merging){0};
    test_config_init(&m->c, version);
    memcpy(m->fields, FIELDS, sizeof(FIELDS));
    test_schema_init(&m->schema, m->fields, N_COLUMNS);
    m->c.config.payload_class = payload_class;
    m->c.ordering[0] = "ts";
    m->c.config.n_ordering_fields = 1;
}

static hudi_status make(struct hd_op *op, struct merging *m)
{
    return hd_merger_new(op, &m->c.config, &m->c.options, &m->schema.root, &m->merger);
}

static void clear_sides(struct merging *m)
{
    hd_array_clear(&m->arrays[0]);
    hd_array_clear(&m->arrays[1]);
    hd_arena_reset(&m->arena);
}

static void merging_clear(struct merging *m)
{
    clear_sides(m);
    hd_arena_clear(&m->arena);
    hd_merger_free(m->merger);
    test_config_clear(&m->c);
}

/* Rows "(id, name, qty, city, ts, deleted, op)" on both sides, views over a schema of each. */
static void set_sides(struct hd_op *op, struct merging *m, const char *stored, const char *incoming)
{
    const char *rows[] = {stored, incoming};

    clear_sides(m);
    for (int i = 0; i < 2; i++) {
        char text[300];

        snprintf(text, sizeof(text), "[%s]", rows[i]);
        m->arrays[i] = test_array(op, &m->schema.root, text);
        OK(hd_view_open(op, &m->arena, &m->schema.root, &m->arrays[i], &m->views[i]));
    }
    m->stored = (struct hd_merge_side){.columns = m->views[0].children};
    m->incoming = (struct hd_merge_side){.columns = m->views[1].children};
}

static enum hd_merge_choice combine(struct hd_op *op, struct merging *m, const char *stored,
                                    const char *incoming)
{
    set_sides(op, m, stored, incoming);
    return hd_merger_combine(m->merger, &m->stored, &m->incoming);
}

static bool precombine(struct hd_op *op, struct merging *m, const char *earlier, const char *later)
{
    bool columns = true;

    set_sides(op, m, earlier, later);
    const bool kept = hd_merger_precombine(m->merger, &m->stored, &m->incoming, &columns);

    assert_false(columns);
    return kept;
}

/* Which side each column is from: "i" or "s" in column order. */
static void assert_columns(struct merging *m, const char *expected)
{
    char sides[N_COLUMNS + 1] = {0};

    for (int32_t i = 0; i < N_COLUMNS; i++)
        sides[i] =
            hd_merger_column_from_incoming(m->merger, i, &m->stored, &m->incoming) ? 'i' : 's';
    assert_string_equal(sides, expected);
}

#define ROW(ts) "(\"a\", \"n\", 1, \"c\", " ts ", null, null)"
#define DELETED(ts) "(\"a\", \"n\", 1, \"c\", " ts ", true, null)"

/* ---- overwrite ---------------------------------------------------------------------------- */

static void overwriting_takes_the_later_write_whatever_its_time(void **state)
{
    struct hd_op *op = *state;
    struct merging m;

    merging_init(&m, 6, PACKAGE "OverwriteWithLatestAvroPayload");
    OK(make(op, &m));
    assert_int_equal(hd_merger_rule(m.merger), HD_MERGE_OVERWRITE_WITH_LATEST);
    assert_int_equal(hd_merger_ordering_column(m.merger), TS);
    assert_int_equal(combine(op, &m, ROW("1000"), ROW("500")), HD_MERGE_TAKE_INCOMING);
    assert_int_equal(combine(op, &m, ROW("1000"), ROW("null")), HD_MERGE_TAKE_INCOMING);
    assert_int_equal(combine(op, &m, ROW("1000"), DELETED("1")), HD_MERGE_DELETE);
    merging_clear(&m);
}

static void one_write_with_overwriting_goes_by_time_before_version_8(void **state)
{
    struct hd_op *op = *state;
    struct merging m;

    /* spark-0.15.0-payload-latest-cow: of two rows with ts 3000 and 2500 the first is kept */
    merging_init(&m, 6, PACKAGE "OverwriteWithLatestAvroPayload");
    OK(make(op, &m));
    assert_false(precombine(op, &m, ROW("3000"), ROW("2500")));
    assert_true(precombine(op, &m, ROW("2500"), ROW("3000")));
    assert_true(precombine(op, &m, ROW("2500"), ROW("2500")));
    assert_true(precombine(op, &m, ROW("null"), ROW("1")));
    assert_false(precombine(op, &m, ROW("1"), ROW("null")));
    merging_clear(&m);

    /* spark-1.1.1-payload-latest-mor: the second */
    merging_init(&m, 9, NULL);
    m.c.config.record_merge_mode = "COMMIT_TIME_ORDERING";
    OK(make(op, &m));
    assert_true(precombine(op, &m, ROW("3000"), ROW("2500")));
    merging_clear(&m);
}

static void without_an_ordering_field_arrival_decides(void **state)
{
    struct hd_op *op = *state;
    struct merging m;

    merging_init(&m, 6, PACKAGE "DefaultHoodieRecordPayload");
    m.c.config.n_ordering_fields = 0;
    OK(make(op, &m));
    assert_int_equal(hd_merger_ordering_column(m.merger), -1);
    assert_true(precombine(op, &m, ROW("2"), ROW("1")));
    assert_int_equal(combine(op, &m, ROW("2"), ROW("1")), HD_MERGE_TAKE_INCOMING);
    merging_clear(&m);
}

/* ---- event time --------------------------------------------------------------------------- */

static void event_time_keeps_the_row_with_the_larger_time(void **state)
{
    struct hd_op *op = *state;
    struct merging m;

    /* flink010-cow-precombine-on: id1 stored 9 against 8, id2 a tie, id3 20 against 9 */
    merging_init(&m, 3, PACKAGE "DefaultHoodieRecordPayload");
    OK(make(op, &m));
    assert_int_equal(combine(op, &m, ROW("9"), ROW("8")), HD_MERGE_REWRITE_STORED);
    assert_int_equal(combine(op, &m, ROW("5"), ROW("5")), HD_MERGE_TAKE_INCOMING);
    assert_int_equal(combine(op, &m, ROW("9"), ROW("20")), HD_MERGE_TAKE_INCOMING);
    assert_true(precombine(op, &m, ROW("5"), ROW("9")));
    assert_false(precombine(op, &m, ROW("9"), ROW("7")));
    /* id4: a delete with a smaller time */
    set_sides(op, &m, ROW("5"), ROW("1"));
    m.incoming.is_delete = true;
    assert_int_equal(hd_merger_combine(m.merger, &m.stored, &m.incoming), HD_MERGE_REWRITE_STORED);
    merging_clear(&m);

    /* Hudi 0.11 to 0.15 leave the stored row as it is (tests/interop/cow_rounds_test.py) */
    for (int version = 4; version <= 6; version++) {
        merging_init(&m, version, PACKAGE "DefaultHoodieRecordPayload");
        OK(make(op, &m));
        assert_int_equal(combine(op, &m, ROW("9"), ROW("8")), HD_MERGE_KEEP_STORED);
        assert_int_equal(combine(op, &m, ROW("9"), DELETED("8")), HD_MERGE_KEEP_STORED);
        assert_int_equal(combine(op, &m, ROW("9"), ROW("9")), HD_MERGE_TAKE_INCOMING);
        merging_clear(&m);
    }

    /* Seen with Hudi 0.15.0; its source: EventTimeAvroPayload. Not so in 0.10.1. */
    for (int version = 3; version <= 6; version += 3) {
        merging_init(&m, version, PACKAGE "EventTimeAvroPayload");
        OK(make(op, &m));
        assert_int_equal(combine(op, &m, ROW("9"), DELETED("8")),
                         version == 6 ? HD_MERGE_DELETE : HD_MERGE_REWRITE_STORED);
        assert_false(precombine(op, &m, ROW("9"), DELETED("8")));
        merging_clear(&m);
    }

    merging_init(&m, 9, NULL);
    m.c.config.record_merge_mode = "EVENT_TIME_ORDERING";
    OK(make(op, &m));
    assert_int_equal(hd_merger_rule(m.merger), HD_MERGE_EVENT_TIME);
    assert_int_equal(combine(op, &m, ROW("9"), ROW("8")), HD_MERGE_KEEP_STORED);
    assert_int_equal(combine(op, &m, ROW("9"), DELETED("8")), HD_MERGE_KEEP_STORED);
    assert_int_equal(combine(op, &m, ROW("9"), DELETED("9")), HD_MERGE_DELETE);
    assert_int_equal(combine(op, &m, ROW("9"), ROW("9")), HD_MERGE_TAKE_INCOMING);
    merging_clear(&m);
}

static void a_null_time_ranks_lowest(void **state)
{
    struct hd_op *op = *state;
    struct merging m;

    merging_init(&m, 6, PACKAGE "EventTimeAvroPayload");
    OK(make(op, &m));
    assert_int_equal(combine(op, &m, ROW("null"), ROW("5")), HD_MERGE_TAKE_INCOMING);
    assert_int_equal(combine(op, &m, ROW("5"), ROW("null")), HD_MERGE_KEEP_STORED);
    assert_int_equal(combine(op, &m, ROW("null"), ROW("null")), HD_MERGE_TAKE_INCOMING);
    assert_int_equal(combine(op, &m, ROW("-9223372036854775808"), ROW("null")),
                     HD_MERGE_KEEP_STORED);
    merging_clear(&m);
}

static void times_of_different_integer_types_compare_by_value(void **state)
{
    struct hd_op *op = *state;
    struct ArrowSchema narrow = FIELD("i", "ts");
    struct ArrowArray array;
    struct merging m;

    merging_init(&m, 6, PACKAGE "DefaultHoodieRecordPayload");
    OK(make(op, &m));
    set_sides(op, &m, ROW("5000000000"), ROW("5000000001"));
    array = test_array(op, &narrow, "[7]");
    OK(hd_view_open(op, &m.arena, &narrow, &array, &m.views[0].children[TS]));
    assert_int_equal(hd_merger_combine(m.merger, &m.stored, &m.incoming), HD_MERGE_TAKE_INCOMING);
    const struct hd_merge_side swap = m.stored;
    m.stored = m.incoming;
    m.incoming = swap;
    assert_int_equal(hd_merger_combine(m.merger, &m.stored, &m.incoming), HD_MERGE_KEEP_STORED);
    hd_array_clear(&array);
    merging_clear(&m);
}

static void a_delete_by_arrival_takes_effect_whatever_is_stored(void **state)
{
    struct hd_op *op = *state;
    struct merging m;

    /* spark-1.1.1-payload-default-cow: the delete with ts 1 removes the row with ts 1000 */
    merging_init(&m, 9, NULL);
    m.c.config.record_merge_mode = "EVENT_TIME_ORDERING";
    OK(make(op, &m));
    set_sides(op, &m, ROW("1000"), ROW("1"));
    m.incoming.is_delete = true;
    assert_int_equal(hd_merger_combine(m.merger, &m.stored, &m.incoming), HD_MERGE_KEEP_STORED);
    m.incoming.by_arrival = true;
    assert_int_equal(hd_merger_combine(m.merger, &m.stored, &m.incoming), HD_MERGE_DELETE);
    set_sides(op, &m, ROW("1000"), ROW("null"));
    m.incoming.is_delete = true;
    assert_int_equal(hd_merger_combine(m.merger, &m.stored, &m.incoming), HD_MERGE_DELETE);
    /* and what comes after such a delete replaces it */
    set_sides(op, &m, ROW("1000"), ROW("1"));
    m.stored.is_delete = m.stored.by_arrival = true;
    assert_int_equal(hd_merger_combine(m.merger, &m.stored, &m.incoming), HD_MERGE_TAKE_INCOMING);
    m.stored.by_arrival = false;
    assert_int_equal(hd_merger_combine(m.merger, &m.stored, &m.incoming), HD_MERGE_KEEP_STORED);
    merging_clear(&m);
}

static void within_a_write_what_follows_a_delete_replaces_it_before_version_8(void **state)
{
    struct hd_op *op = *state;
    struct merging m;
    bool columns;

    merging_init(&m, 6, PACKAGE "DefaultHoodieRecordPayload");
    OK(make(op, &m));
    set_sides(op, &m, ROW("9"), ROW("5"));
    m.stored.is_delete = true;
    assert_true(hd_merger_precombine(m.merger, &m.stored, &m.incoming, &columns));
    merging_clear(&m);
    merging_init(&m, 8, NULL);
    m.c.config.record_merge_mode = "EVENT_TIME_ORDERING";
    OK(make(op, &m));
    set_sides(op, &m, ROW("9"), ROW("5"));
    m.stored.is_delete = true;
    assert_false(hd_merger_precombine(m.merger, &m.stored, &m.incoming, &columns));
    merging_clear(&m);
}

static void the_first_value_payload_keeps_the_stored_row_of_a_tie(void **state)
{
    struct hd_op *op = *state;
    struct merging m;

    merging_init(&m, 6, PACKAGE "FirstValueAvroPayload");
    OK(make(op, &m));
    assert_int_equal(combine(op, &m, ROW("5"), ROW("5")), HD_MERGE_KEEP_STORED);
    assert_int_equal(combine(op, &m, ROW("5"), ROW("6")), HD_MERGE_TAKE_INCOMING);
    assert_int_equal(combine(op, &m, ROW("null"), ROW("null")), HD_MERGE_TAKE_INCOMING);
    assert_false(precombine(op, &m, ROW("5"), ROW("5")));
    merging_clear(&m);
}

static void several_ordering_fields_compare_one_after_the_other(void **state)
{
    struct hd_op *op = *state;
    struct merging m;

    merging_init(&m, 9, NULL);
    m.c.config.record_merge_mode = "EVENT_TIME_ORDERING";
    m.c.ordering[1] = "qty";
    m.c.config.n_ordering_fields = 2;
    OK(make(op, &m));
    const char *five_2 = "(\"a\", null, 2, null, 5, null, null)";
    const char *five_1 = "(\"a\", null, 1, null, 5, null, null)";
    const char *four_9 = "(\"a\", null, 9, null, 4, null, null)";

    assert_int_equal(combine(op, &m, five_2, five_1), HD_MERGE_KEEP_STORED);
    assert_int_equal(combine(op, &m, five_1, five_2), HD_MERGE_TAKE_INCOMING);
    assert_int_equal(combine(op, &m, five_1, four_9), HD_MERGE_KEEP_STORED);
    merging_clear(&m);
}

/* ---- columns ------------------------------------------------------------------------------ */

#define NAME_ONLY "(\"a\", \"new\", null, null, 2000, null, null)"
#define LATE "(\"a\", null, 7, \"late\", 500, null, null)"
#define WHOLE "(\"a\", \"old\", 1, \"c\", 1000, null, null)"
#define NO_CITY "(\"a\", \"old\", 1, null, 1000, null, null)"

static void partial_updates_fill_in_what_is_not_null(void **state)
{
    struct hd_op *op = *state;
    struct merging m;

    /* spark-0.15.0-payload-partial-cow: late rows change nothing but the meta columns */
    merging_init(&m, 6, PACKAGE "PartialUpdateAvroPayload");
    OK(make(op, &m));
    assert_int_equal(combine(op, &m, WHOLE, NAME_ONLY), HD_MERGE_COLUMNS);
    assert_columns(&m, "iississ");
    assert_int_equal(combine(op, &m, WHOLE, LATE), HD_MERGE_REWRITE_STORED);
    assert_int_equal(combine(op, &m, NO_CITY, LATE), HD_MERGE_COLUMNS);
    assert_columns(&m, "sssisss");
    assert_int_equal(combine(op, &m, WHOLE, DELETED("500")), HD_MERGE_DELETE);
    merging_clear(&m);

    /* spark-1.1.1-payload-partial-cow: nor those */
    merging_init(&m, 9, NULL);
    m.c.config.record_merge_mode = "EVENT_TIME_ORDERING";
    test_set(op, &m.c.config.properties, "hoodie.table.partial.update.mode=IGNORE_DEFAULTS");
    OK(make(op, &m));
    assert_int_equal(hd_merger_rule(m.merger), HD_MERGE_PARTIAL_UPDATE);
    assert_int_equal(combine(op, &m, WHOLE, NAME_ONLY), HD_MERGE_COLUMNS);
    assert_columns(&m, "iississ");
    assert_int_equal(combine(op, &m, WHOLE, LATE), HD_MERGE_KEEP_STORED);
    assert_int_equal(combine(op, &m, NO_CITY, LATE), HD_MERGE_COLUMNS);
    assert_columns(&m, "sssisss");
    assert_int_equal(combine(op, &m, WHOLE, DELETED("500")), HD_MERGE_KEEP_STORED);
    assert_int_equal(combine(op, &m, WHOLE, DELETED("5000")), HD_MERGE_DELETE);
    merging_clear(&m);
}

static void partial_updates_of_one_write_are_merged_too(void **state)
{
    struct hd_op *op = *state;
    struct merging m;
    bool columns = false;

    merging_init(&m, 6, PACKAGE "PartialUpdateAvroPayload");
    OK(make(op, &m));
    set_sides(op, &m, NAME_ONLY, LATE);
    assert_true(hd_merger_precombine(m.merger, &m.stored, &m.incoming, &columns));
    assert_true(columns);
    assert_columns(&m, "ssiisss");
    set_sides(op, &m, LATE, DELETED("5000"));
    assert_true(hd_merger_precombine(m.merger, &m.stored, &m.incoming, &columns));
    assert_false(columns);
    merging_clear(&m);
}

/* Seen with Hudi 0.15.0: a batch of (31.25, deleted), (31.0), (31.0) leaves the last two. */
static void partial_updates_of_one_write_are_merged_with_deletes_before_version_8(void **state)
{
    struct hd_op *op = *state;
    struct merging m;
    bool columns = true;

    merging_init(&m, 6, PACKAGE "PartialUpdateAvroPayload");
    OK(make(op, &m));
    set_sides(op, &m, DELETED("3000"), LATE);
    assert_true(hd_merger_precombine(m.merger, &m.stored, &m.incoming, &columns));
    assert_false(columns);
    set_sides(op, &m, DELETED("100"), LATE);
    assert_true(hd_merger_precombine(m.merger, &m.stored, &m.incoming, &columns));
    assert_true(columns);
    assert_columns(&m, "isiiiss"); /* which marks the row: what it is made of did */
    set_sides(op, &m, WHOLE, DELETED("100"));
    assert_true(hd_merger_precombine(m.merger, &m.stored, &m.incoming, &columns));
    assert_true(columns);
    assert_columns(&m, "sssssis");
    merging_clear(&m);

    merging_init(&m, 9, NULL);
    m.c.config.record_merge_mode = "EVENT_TIME_ORDERING";
    test_set(op, &m.c.config.properties, "hoodie.table.partial.update.mode=IGNORE_DEFAULTS");
    OK(make(op, &m));
    assert_false(precombine(op, &m, DELETED("3000"), LATE));
    assert_true(precombine(op, &m, DELETED("100"), LATE));
    merging_clear(&m);
}

static void defaults_do_not_overwrite(void **state)
{
    struct hd_op *op = *state;
    struct merging m;
    bool columns;

    merging_init(&m, 6, PACKAGE "OverwriteNonDefaultsWithLatestAvroPayload");
    m.c.config.create_schema =
        "{\"type\":\"record\",\"name\":\"r\",\"fields\":["
        "{\"name\":\"id\",\"type\":\"string\"},"
        "{\"name\":\"name\",\"type\":[\"string\",\"null\"],\"default\":\"none\"},"
        "{\"name\":\"qty\",\"type\":\"int\",\"default\":0},"
        "{\"name\":\"city\",\"type\":[\"null\",\"string\"],\"default\":null},"
        "{\"name\":\"_hoodie_is_deleted\",\"type\":\"boolean\",\"default\":false},"
        "{\"name\":\"gone\",\"type\":\"int\",\"default\":0}]}";
    OK(make(op, &m));
    assert_int_equal(combine(op, &m, WHOLE, "(\"a\", \"none\", 0, null, 1, false, null)"),
                     HD_MERGE_COLUMNS);
    assert_columns(&m, "isssiss");
    /* null is no default of a column that has another */
    assert_int_equal(combine(op, &m, WHOLE, "(\"a\", null, 3, \"x\", null, null, \"o\")"),
                     HD_MERGE_COLUMNS);
    assert_columns(&m, "iiiisii");
    assert_int_equal(combine(op, &m, WHOLE, DELETED("1")), HD_MERGE_DELETE);
    set_sides(op, &m, ROW("9"), ROW("1"));
    assert_false(hd_merger_precombine(m.merger, &m.stored, &m.incoming, &columns));
    assert_false(columns);
    merging_clear(&m);

    merging_init(&m, 9, NULL);
    m.c.config.record_merge_mode = "COMMIT_TIME_ORDERING";
    test_set(op, &m.c.config.properties, "hoodie.table.partial.update.mode=IGNORE_DEFAULTS");
    OK(make(op, &m));
    set_sides(op, &m, ROW("9"), ROW("1"));
    assert_true(hd_merger_precombine(m.merger, &m.stored, &m.incoming, &columns));
    assert_true(columns);
    merging_clear(&m);
}

/* ---- deletes ------------------------------------------------------------------------------ */

static void deletes_are_known_by_flag_or_marker(void **state)
{
    struct hd_op *op = *state;
    struct merging m;

    merging_init(&m, 6, PACKAGE "DefaultHoodieRecordPayload");
    test_set(op, &m.c.options.set, "hoodie.payload.delete.field=op");
    test_set(op, &m.c.options.set, "hoodie.payload.delete.marker=d");
    OK(make(op, &m));
    static const struct {
        const char *row;
        bool deletes;
    } cases[] = {
        {ROW("1"), false},
        {DELETED("1"), false}, /* seen with Hudi 0.15.0: the marker alone counts then */
        {"(\"a\", null, null, null, 1, false, \"d\")", true},
        {"(\"a\", null, null, null, 1, null, \"D\")", false},
        {"(\"a\", null, null, null, 1, null, \"\")", false},
    };

    for (size_t i = 0; i < HD_ARRAY_LENGTH(cases); i++) {
        set_sides(op, &m, ROW("1"), cases[i].row);
        assert_int_equal(hd_merger_is_delete(m.merger, &m.incoming), cases[i].deletes);
        assert_int_equal(hd_merger_combine(m.merger, &m.stored, &m.incoming),
                         cases[i].deletes ? HD_MERGE_DELETE : HD_MERGE_TAKE_INCOMING);
    }
    merging_clear(&m);

    merging_init(&m, 6, PACKAGE "AWSDmsAvroPayload");
    m.fields[OP].name = "Op";
    OK(make(op, &m));
    set_sides(op, &m, ROW("1"), "(\"a\", null, null, null, 1, null, \"d\")");
    assert_true(hd_merger_is_delete(m.merger, &m.incoming));
    set_sides(op, &m, ROW("1"), "(\"a\", null, null, null, 1, null, \"I\")");
    assert_false(hd_merger_is_delete(m.merger, &m.incoming));
    merging_clear(&m);

    /* version 9 keeps that payload as properties of the table */
    merging_init(&m, 9, NULL);
    m.c.config.record_merge_mode = "COMMIT_TIME_ORDERING";
    test_set(op, &m.c.config.properties,
             "hoodie.record.merge.property.hoodie.payload.delete.field=op");
    test_set(op, &m.c.config.properties,
             "hoodie.record.merge.property.hoodie.payload.delete.marker=D");
    OK(make(op, &m));
    set_sides(op, &m, ROW("1"), "(\"a\", null, null, null, 1, null, \"D\")");
    assert_true(hd_merger_is_delete(m.merger, &m.incoming));
    merging_clear(&m);
}

static void the_empty_payload_deletes_everything(void **state)
{
    struct hd_op *op = *state;
    struct merging m;

    merging_init(&m, 6, PACKAGE "EmptyHoodieRecordPayload");
    OK(make(op, &m));
    assert_int_equal(combine(op, &m, ROW("9"), ROW("1")), HD_MERGE_DELETE);
    assert_true(hd_merger_is_delete(m.merger, &m.incoming));
    merging_clear(&m);
}

/* ---- refusals ----------------------------------------------------------------------------- */

static void what_is_not_known_is_refused(void **state)
{
    struct hd_op *op = *state;
    static const struct {
        const char *payload_class, *mode, *ordering, *property;
        hudi_status status;
        const char *message;
    } cases[] = {
        {"com.example.Mine", NULL, "ts", NULL, HUDI_NOT_IMPLEMENTED, "com.example.Mine"},
        {PACKAGE "debezium.MySqlDebeziumAvroPayload", NULL, "ts", NULL, HUDI_NOT_IMPLEMENTED,
         "MySqlDebezium"},
        {"com.example.Mine", "CUSTOM", "ts", NULL, HUDI_NOT_IMPLEMENTED, "com.example.Mine"},
        {NULL, "SOMETHING", "ts", NULL, HUDI_NOT_IMPLEMENTED, "SOMETHING"},
        {NULL, "EVENT_TIME_ORDERING", "ts", "hoodie.table.partial.update.mode=FILL_UNAVAILABLE",
         HUDI_NOT_IMPLEMENTED, "FILL_UNAVAILABLE"},
        {NULL, "EVENT_TIME_ORDERING", "nope", NULL, HUDI_INVALID, "ordering field \"nope\""},
        {NULL, "EVENT_TIME_ORDERING", "ts", "hoodie.payload.delete.field=op", HUDI_INVALID,
         "go together"},
    };

    for (size_t i = 0; i < HD_ARRAY_LENGTH(cases); i++) {
        struct merging m;

        merging_init(&m, 9, cases[i].payload_class);
        m.c.config.record_merge_mode = cases[i].mode;
        m.c.ordering[0] = cases[i].ordering;
        if (cases[i].property != NULL)
            test_set(op, &m.c.config.properties, cases[i].property);
        assert_int_equal(make(op, &m), cases[i].status);
        assert_null(m.merger);
        if (strstr(hudi_error_message(op->error), cases[i].message) == NULL)
            fail_msg("%s", hudi_error_message(op->error));
        hd_op_clear_error(op);
        merging_clear(&m);
    }
}

static void running_out_of_memory_anywhere_is_reported(void **state)
{
    struct hd_op *op = *state;
    hudi_status status = HUDI_INTERNAL;
    struct merging m;

    merging_init(&m, 6, PACKAGE "OverwriteNonDefaultsWithLatestAvroPayload");
    m.c.config.create_schema = "{\"type\":\"record\",\"name\":\"r\",\"fields\":[{\"name\":\"name\","
                               "\"type\":\"string\",\"default\":\"none\"}]}";
    test_set(op, &m.c.options.set, "hoodie.payload.delete.field=op");
    test_set(op, &m.c.options.set, "hoodie.payload.delete.marker=d");
    for (int nth = 1; status != HUDI_OK; nth++) {
        test_fault_arm(op, nth);
        status = make(op, &m);
        assert_int_equal(status == HUDI_OK, !test_fault_fired(op));
        assert_int_equal(status == HUDI_OK, m.merger != NULL);
    }
    test_fault_disarm(op);
    merging_clear(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(overwriting_takes_the_later_write_whatever_its_time),
        TEST(one_write_with_overwriting_goes_by_time_before_version_8),
        TEST(without_an_ordering_field_arrival_decides),
        TEST(event_time_keeps_the_row_with_the_larger_time),
        TEST(a_null_time_ranks_lowest),
        TEST(times_of_different_integer_types_compare_by_value),
        TEST(a_delete_by_arrival_takes_effect_whatever_is_stored),
        TEST(within_a_write_what_follows_a_delete_replaces_it_before_version_8),
        TEST(the_first_value_payload_keeps_the_stored_row_of_a_tie),
        TEST(several_ordering_fields_compare_one_after_the_other),
        TEST(partial_updates_fill_in_what_is_not_null),
        TEST(partial_updates_of_one_write_are_merged_too),
        TEST(partial_updates_of_one_write_are_merged_with_deletes_before_version_8),
        TEST(defaults_do_not_overwrite),
        TEST(deletes_are_known_by_flag_or_marker),
        TEST(the_empty_payload_deletes_everything),
        TEST(what_is_not_known_is_refused),
        TEST(running_out_of_memory_anywhere_is_reported),
    };

    return cmocka_run_group_tests_name("merge", tests, NULL, NULL);
}
