/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/engine/slice/merge_testing.h"

/*
 * A whole slice, base file and log files, with the log files damaged: the rows of all blocks that
 * are whole are there as they were. Only what looks like a type or version that is not known may be
 * refused, and by libhudi.read.recover that is passed over too. What would replace the log files
 * fails or gives the same rows.
 */

#define KEYED "_hoodie_record_key string\nv string\nts bigint\n"
#define DEFAULT MERGE_PAYLOADS "DefaultHoodieRecordPayload"

/* No key becomes another by the change of one bit. */
static const char BASE[] = "keyAAAA|base|5\nkeyNNNN|base|5\nkeyZZZZ|base|5\n";

/* What each block leaves in the table, in the order of the two log files. NULL: nothing. */
static const struct {
    const char *line;
    size_t log;
} LEFT[] = {{"keyAAAA|avro|6\n", 0},    {NULL, 0},
            {"keyCCCC|parquet|6\n", 0}, {NULL, 0},
            {"keyHHHH|more|6\n", 0},    {"keyKKKK|second|6\n", 1},
            {"keyNNNN|last|6\n", 1}};
#define N_BLOCKS HD_ARRAY_LENGTH(LEFT)

struct damaged {
    struct merged m;
    size_t start[N_BLOCKS + 1]; /* in its log */
    size_t end[N_BLOCKS];
    size_t n;
};

static void note(struct damaged *d)
{
    const size_t log = LEFT[d->n].log;

    d->start[d->n] = d->n > 0 && LEFT[d->n - 1].log == log ? d->end[d->n - 1] : 0;
    d->end[d->n] = d->m.logs[log].size;
    d->n++;
}

static void open_damaged(struct hd_op *op, struct damaged *d)
{
    *d = (struct damaged){0};
    merge_open(op, &d->m, 6, DEFAULT, KEYED, BASE);
    merge_avro(&d->m, 0, "002", KEYED, "keyAAAA|avro|6\n");
    note(d);
    merge_deletes(&d->m, 0, "002", "keyZZZZ\n");
    note(d);
    merge_parquet(&d->m, 0, "003", KEYED, "keyCCCC|parquet|6\n");
    note(d);
    merge_rollback(&d->m, 0, "005", "99999999");
    note(d);
    merge_avro(&d->m, 0, "003", KEYED, "keyHHHH|more|6\n");
    note(d);
    merge_avro(&d->m, 1, "004", KEYED, "keyKKKK|second|6\n");
    note(d);
    merge_avro(&d->m, 1, "004", KEYED, "keyNNNN|last|6\n");
    note(d);
    assert_int_equal(d->n, N_BLOCKS);
    merge_expect(&d->m, "keyAAAA|avro|6\nkeyNNNN|last|6\nkeyCCCC|parquet|6\nkeyHHHH|more|6\n"
                        "keyKKKK|second|6\n");
}

/* Rows of the blocks but [from, to), which are damaged. */
static void check_rows(const char *got, size_t from, size_t to, size_t where)
{
    for (size_t i = 0; i < N_BLOCKS; i++) {
        if ((i < from || i >= to) && LEFT[i].line != NULL && strstr(got, LEFT[i].line) == NULL)
            fail_msg("damage at %zu: block %zu is whole, its row is lost: %s", where, i, got);
    }
    /* The delete is one of the blocks. */
    if ((from > 1 || to <= 1) && strstr(got, "keyZZZZ|") != NULL)
        fail_msg("damage at %zu: a deleted row is back", where);
}

enum reading { PLAIN, RECOVERING, REPLACING };

static bool may_be(enum reading reading, hudi_status status)
{
    return status == HUDI_OK || (reading != RECOVERING && status == HUDI_NOT_IMPLEMENTED) ||
           (reading == REPLACING && status == HUDI_CORRUPT);
}

static size_t n_refused; /* plain reads */

static void read_damaged(struct damaged *d, size_t from, size_t to, size_t where)
{
    struct hd_op *op = d->m.op;

    for (enum reading reading = PLAIN; reading <= REPLACING; reading++) {
        struct hd_str got = {0};

        d->m.query.recover = reading == RECOVERING;
        d->m.query.replaces_logs = reading == REPLACING;
        const hudi_status status = merge_read(&d->m, &got, NULL);
        if (!may_be(reading, status))
            fail_msg("damage at %zu, read %d: %s", where, (int)reading,
                     hudi_error_message(op->error));
        if (status == HUDI_OK)
            check_rows(hd_str_text(&got), from, to, where);
        n_refused += reading == PLAIN && status != HUDI_OK;
        hd_op_clear_error(op);
        hd_str_clear(&got);
    }
}

static void a_change_of_any_byte_costs_its_block_alone(void **state)
{
    struct damaged d;
    size_t n_bytes = 0;

    n_refused = 0;
    open_damaged(*state, &d);
    for (size_t block = 0; block < N_BLOCKS; block++) {
        struct hd_str *const log = &d.m.logs[LEFT[block].log];

        for (size_t at = d.start[block]; at < d.end[block]; at++) {
            const char flips[] = {(char)(1 << (at * 5 % 8)), (char)0xff};

            for (size_t i = 0; i < sizeof flips; i++) {
                log->data[at] ^= flips[i];
                read_damaged(&d, block, block + 1, at);
                log->data[at] ^= flips[i];
            }
            n_bytes++;
        }
    }
    assert_true(n_bytes > 1000);
    /* Numbers of version and type in each block and its content, and names that could be types. */
    assert_in_range(n_refused, 1, 40 * N_BLOCKS);
    merge_close(&d.m);
}

static void a_cut_at_any_byte_leaves_the_rows_before_it(void **state)
{
    struct damaged d;

    open_damaged(*state, &d);
    for (size_t log = 0; log < 2; log++) {
        const size_t whole = d.m.logs[log].size;
        size_t block = log == 0 ? 0 : N_BLOCKS - 2;

        for (size_t n = 1; n < whole; n++) {
            while (d.end[block] <= n)
                block++;
            d.m.logs[log].size = n;
            read_damaged(&d, block, log == 0 ? N_BLOCKS - 2 : N_BLOCKS, n);
        }
        d.m.logs[log].size = whole;
    }
    merge_close(&d.m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_change_of_any_byte_costs_its_block_alone),
        cmocka_unit_test(a_cut_at_any_byte_leaves_the_rows_before_it),
    };

    return cmocka_run_group_tests(tests, test_op_setup, test_op_teardown);
}
