/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/engine/slice/merge_testing.h"

/*
 * A whole slice, base file and log files, with the log files damaged: either the read fails with an
 * error of the data, or the rows of all blocks that are whole are there as they were.
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

/* Read with blocks [from, to) of a log damaged. */
static void read_damaged(struct damaged *d, size_t from, size_t to, size_t where)
{
    struct hd_op *op = d->m.op;
    struct hd_str got = {0};
    const hudi_status status = merge_read(&d->m, &got, NULL);

    if (status != HUDI_OK) {
        if (status != HUDI_CORRUPT && status != HUDI_SCHEMA && status != HUDI_INVALID &&
            status != HUDI_NOT_IMPLEMENTED)
            fail_msg("damage at %zu: %s", where, hudi_error_message(op->error));
        hd_op_clear_error(op);
    }
    for (size_t i = 0; status == HUDI_OK && i < N_BLOCKS; i++) {
        if ((i < from || i >= to) && LEFT[i].line != NULL &&
            strstr(hd_str_text(&got), LEFT[i].line) == NULL)
            fail_msg("damage at %zu: block %zu is whole, its row is lost: %s", where, i,
                     hd_str_text(&got));
    }
    /* The delete is one of the blocks. */
    if (status == HUDI_OK && (from > 1 || to <= 1) && strstr(hd_str_text(&got), "keyZZZZ|") != NULL)
        fail_msg("damage at %zu: a deleted row is back", where);
    hd_str_clear(&got);
}

/* Blocks of the log that a size damaged in `block` may lead into: it and the next. */
static size_t reach(size_t block)
{
    return block + 1 < N_BLOCKS && LEFT[block + 1].log == LEFT[block].log ? block + 2 : block + 1;
}

static void a_change_of_any_byte_leaves_the_rows_of_other_blocks(void **state)
{
    struct damaged d;

    open_damaged(*state, &d);
    for (size_t block = 0; block < N_BLOCKS; block++) {
        struct hd_str *const log = &d.m.logs[LEFT[block].log];

        for (size_t at = d.start[block]; at < d.end[block]; at++) {
            const char flip = (char)(1 << (at * 5 % 8));

            log->data[at] ^= flip;
            read_damaged(&d, block, reach(block), at);
            log->data[at] ^= flip;
        }
    }
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
        cmocka_unit_test(a_change_of_any_byte_leaves_the_rows_of_other_blocks),
        cmocka_unit_test(a_cut_at_any_byte_leaves_the_rows_before_it),
    };

    return cmocka_run_group_tests(tests, test_op_setup, test_op_teardown);
}
