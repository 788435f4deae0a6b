/* SPDX-License-Identifier: Apache-2.0 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "base/internal.h"
#include "base/op.h"
#include "support/fault.h"

static void every_status_has_a_name_of_its_own(void **state)
{
    (void)state;
    for (int a = HUDI_OK; a <= HUDI_SERVICE_FAILED; a++) {
        assert_string_not_equal(hudi_status_name((hudi_status)a), "unknown");
        for (int b = HUDI_OK; b < a; b++)
            assert_string_not_equal(hudi_status_name((hudi_status)a),
                                    hudi_status_name((hudi_status)b));
    }
    assert_string_equal(hudi_status_name(HUDI_CORRUPT), "corrupt");
    assert_string_equal(hudi_status_name((hudi_status)(HUDI_SERVICE_FAILED + 1)), "unknown");
    assert_string_equal(hudi_status_name((hudi_status)-1), "unknown");
}

static void a_failure_has_status_and_message(void **state)
{
    struct hd_op *op = *state;

    assert_int_equal(hd_fail(op, HUDI_CORRUPT, "block at byte %d of %s", 42, "x.log"),
                     HUDI_CORRUPT);
    assert_int_equal(hudi_error_status(op->error), HUDI_CORRUPT);
    assert_string_equal(hudi_error_message(op->error), "block at byte 42 of x.log");
    assert_null(hudi_error_path(op->error));
    assert_false(hudi_error_retriable(op->error));
}

static void the_first_failure_stays_and_the_status_is_the_callers(void **state)
{
    struct hd_op *op = *state;

    hd_fail(op, HUDI_CORRUPT, "first");
    assert_int_equal(hd_fail(op, HUDI_IO, "second"), HUDI_IO);
    assert_int_equal(hd_fail_errno(op, EAGAIN, "third"), HUDI_IO);
    assert_string_equal(hudi_error_message(op->error), "first");
    assert_int_equal(hudi_error_status(op->error), HUDI_CORRUPT);
    assert_false(hudi_error_retriable(op->error));
    hd_op_clear_error(op);
    assert_null(op->error);
    hd_fail(op, HUDI_IO, "fourth");
    assert_string_equal(hudi_error_message(op->error), "fourth");
}

static void the_status_is_evaluated_once(void **state)
{
    struct hd_op *op = *state;
    int n = 0;

    hd_fail(op, (n++, HUDI_IO), "x");
    assert_int_equal(n, 1);
}

static void the_first_path_stays(void **state)
{
    struct hd_op *op = *state;

    assert_int_equal(hd_fail_path(op, HUDI_END, "/none"), HUDI_END);
    assert_null(op->error);
    hd_fail(op, HUDI_IO, "x");
    assert_int_equal(hd_fail_path(op, HUDI_IO, NULL), HUDI_IO);
    assert_null(hudi_error_path(op->error));
    assert_int_equal(hd_fail_path(op, HUDI_IO, "/a"), HUDI_IO);
    hd_fail_path(op, HUDI_IO, "/b");
    assert_string_equal(hudi_error_path(op->error), "/a");
}

static void errno_picks_status_text_and_retriable(void **state)
{
    struct hd_op *op = *state;

    assert_int_equal(hd_fail_errno(op, ENOENT, "open %s", "f"), HUDI_IO);
    assert_string_equal(hudi_error_message(op->error), "open f: no such file or directory");
    assert_false(hudi_error_retriable(op->error));
    hd_op_clear_error(op);
    assert_int_equal(hd_fail_errno(op, ENOMEM, "map"), HUDI_NO_MEMORY);
    hd_op_clear_error(op);
    const int passing[] = {EAGAIN, EINTR, EBUSY};
    for (size_t i = 0; i < HD_ARRAY_LENGTH(passing); i++) {
        assert_int_equal(hd_fail_errno(op, passing[i], "lock"), HUDI_IO);
        assert_true(hudi_error_retriable(op->error));
        hd_op_clear_error(op);
    }
    hd_fail_errno(op, 123456, "odd");
    assert_non_null(strstr(hudi_error_message(op->error), "123456"));
}

static void retriable_can_be_set_later(void **state)
{
    struct hd_op *op = *state;

    assert_int_equal(hd_fail_retriable(op, HUDI_NOT_FOUND), HUDI_NOT_FOUND);
    hd_fail(op, HUDI_CONFLICT, "held");
    assert_int_equal(hd_fail_retriable(op, HUDI_CONFLICT), HUDI_CONFLICT);
    assert_true(hudi_error_retriable(op->error));
}

static void a_message_is_one_line_whatever_it_quotes(void **state)
{
    struct hd_op *op = *state;

    hd_fail(op, HUDI_CORRUPT, "name %s", "a\nb\r\x1b[0m\x7f\tz\xc3\xa9");
    assert_string_equal(hudi_error_message(op->error), "name a?b??[0m??z\xc3\xa9");
}

/* At every length around the limit; the text is two-byte characters behind 0 or 1 single ones. */
static void a_long_message_is_cut_between_characters(void **state)
{
    struct hd_op *op = *state;
    char text[2101];

    for (size_t shift = 0; shift < 2; shift++) {
        memset(text, 'a', shift);
        for (size_t i = shift; i + 1 < sizeof text; i += 2)
            memcpy(text + i, "\xc3\xa9", 2);
        for (int n = 1000; n < 1050; n++) {
            hd_fail(op, HUDI_IO, "%.*s", n, text);
            const char *message = hudi_error_message(op->error);
            const size_t length = strlen(message);
            if (n < 1024) {
                assert_int_equal(length, n);
                assert_memory_equal(message, text, length);
            } else {
                assert_in_range(length, 1020, 1023);
                assert_string_equal(message + length - 3, "...");
                assert_int_equal((length - 3 - shift) % 2, 0);
                assert_memory_equal(message, text, length - 3);
            }
            hd_op_clear_error(op);
        }
    }
}

static void a_long_message_keeps_room_for_no_errno_text(void **state)
{
    struct hd_op *op = *state;

    for (int n = 1000; n < 1050; n++) {
        hd_fail_errno(op, ENOENT, "%*d", n, 1);
        assert_in_range(strlen(hudi_error_message(op->error)), 1000, 1023);
        hd_op_clear_error(op);
    }
}

static void without_memory_every_status_still_has_an_error(void **state)
{
    struct hd_op *op = *state;

    test_fault_deny_error_memory(op);
    for (int i = HUDI_END; i <= HUDI_SERVICE_FAILED; i++) {
        assert_int_equal(hd_fail(op, (hudi_status)i, "text %d", i), i);
        assert_int_equal(hudi_error_status(op->error), i);
        assert_true(strlen(hudi_error_message(op->error)) > 5);
        hd_fail_path(op, (hudi_status)i, "/path");
        hd_fail_retriable(op, (hudi_status)i);
        assert_null(hudi_error_path(op->error));
        assert_false(hudi_error_retriable(op->error));
        hudi_error *error = hd_op_take_error(op);
        hudi_error_free(error);
        assert_int_equal(hudi_error_status(error), i); /* it is static */
    }
}

static void without_memory_the_path_is_left_out(void **state)
{
    struct hd_op *op = *state;

    hd_fail(op, HUDI_IO, "x");
    test_fault_deny_error_memory(op);
    assert_int_equal(hd_fail_path(op, HUDI_IO, "/path"), HUDI_IO);
    assert_null(hudi_error_path(op->error));
    assert_string_equal(hudi_error_message(op->error), "x");
}

static void accessors_take_null(void **state)
{
    (void)state;
    assert_int_equal(hudi_error_status(NULL), HUDI_OK);
    assert_string_equal(hudi_error_message(NULL), "no error");
    assert_null(hudi_error_path(NULL));
    assert_false(hudi_error_retriable(NULL));
    hudi_error_free(NULL);
}

int main(void)
{
#define WITH_OP(test) cmocka_unit_test_setup_teardown(test, test_op_setup, test_op_teardown)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_status_has_a_name_of_its_own),
        WITH_OP(a_failure_has_status_and_message),
        WITH_OP(the_first_failure_stays_and_the_status_is_the_callers),
        WITH_OP(the_status_is_evaluated_once),
        WITH_OP(the_first_path_stays),
        WITH_OP(errno_picks_status_text_and_retriable),
        WITH_OP(retriable_can_be_set_later),
        WITH_OP(a_message_is_one_line_whatever_it_quotes),
        WITH_OP(a_long_message_is_cut_between_characters),
        WITH_OP(a_long_message_keeps_room_for_no_errno_text),
        WITH_OP(without_memory_every_status_still_has_an_error),
        WITH_OP(without_memory_the_path_is_left_out),
        cmocka_unit_test(accessors_take_null),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
