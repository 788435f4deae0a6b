/* SPDX-License-Identifier: Apache-2.0 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "codec/base64.h"
#include "support/fault.h"

/* RFC 4648, section 10; the last line has every sixth bit pattern at its ends. */
static const struct {
    const char *bytes, *text;
} VECTORS[] = {
    {"", ""},
    {"f", "Zg=="},
    {"fo", "Zm8="},
    {"foo", "Zm9v"},
    {"foob", "Zm9vYg=="},
    {"fooba", "Zm9vYmE="},
    {"foobar", "Zm9vYmFy"},
    {"\xfb\xff\xbf\xff", "+/+//w=="},
};

static void encodes_and_decodes_the_vectors_of_the_rfc(void **state)
{
    struct hd_op *op = *state;

    for (size_t i = 0; i < sizeof VECTORS / sizeof *VECTORS; i++) {
        struct hd_str text = {0}, bytes = {0};

        assert_int_equal(hd_base64_encode(op, hd_slice_text(VECTORS[i].bytes), &text), HUDI_OK);
        assert_string_equal(hd_str_text(&text), VECTORS[i].text);
        assert_int_equal(hd_base64_decode(op, hd_str_slice(&text), &bytes), HUDI_OK);
        assert_string_equal(hd_str_text(&bytes), VECTORS[i].bytes);
        hd_str_clear(&text);
        hd_str_clear(&bytes);
    }
}

static void appends_to_what_is_there(void **state)
{
    struct hd_op *op = *state;
    struct hd_str text = {0};

    assert_int_equal(hd_str_append_text(op, &text, "x"), HUDI_OK);
    assert_int_equal(hd_base64_encode(op, hd_slice_text("foo"), &text), HUDI_OK);
    assert_int_equal(hd_base64_decode(op, hd_slice_text("Zm8="), &text), HUDI_OK);
    assert_string_equal(text.data, "xZm9vfo");
    assert_int_equal(text.size, 7);
    hd_str_clear(&text);
}

static void refuses_text_that_is_not_strictly_base64(void **state)
{
    static const char *const BAD[] = {
        "Z",    "Zg",       "Zg=",      "Zm9vYg=", "Zg==Zg==", "=g==", "====",           "Z===",
        "Zm 9", "Zm9\n",    "Zm9vZ-8=", "Zm_v",    "Zh==",     "Zm9=", "Zm9v\xc3\xa9==", "Z=9v",
        "*m9v", "Zm9vZm9*", "Zg==Zm9v"};
    struct hd_op *op = *state;

    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        struct hd_str bytes = {0};

        assert_int_equal(hd_str_append_text(op, &bytes, "kept"), HUDI_OK);
        assert_int_equal(hd_base64_decode(op, hd_slice_text(BAD[i]), &bytes), HUDI_CORRUPT);
        assert_string_equal(bytes.data, "kept");
        assert_int_equal(bytes.size, 4);
        hd_op_clear_error(op);
        hd_str_clear(&bytes);
    }
}

static void survives_every_fault(void **state)
{
    struct hd_op *op = *state;
    hudi_status status = HUDI_INTERNAL;

    for (int nth = 1; status != HUDI_OK; nth++) {
        struct hd_str text = {0}, bytes = {0};

        test_fault_arm(op, nth);
        status = hd_base64_encode(op, hd_slice_text("foobar"), &text);
        if (status == HUDI_OK)
            status = hd_base64_decode(op, hd_slice_text("Zm9vYmFy"), &bytes);
        assert_int_equal(status == HUDI_OK, !test_fault_fired(op));
        hd_str_clear(&text);
        hd_str_clear(&bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(encodes_and_decodes_the_vectors_of_the_rfc, test_op_setup,
                                        test_op_teardown),
        cmocka_unit_test_setup_teardown(appends_to_what_is_there, test_op_setup, test_op_teardown),
        cmocka_unit_test_setup_teardown(refuses_text_that_is_not_strictly_base64, test_op_setup,
                                        test_op_teardown),
        cmocka_unit_test_setup_teardown(survives_every_fault, test_op_setup, test_op_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
