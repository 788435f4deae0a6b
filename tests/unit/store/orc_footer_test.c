/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "store/orc_footer.h"
#include "unit/store/store_testing.h"

/* "ORC", padding, an uncompressed footer, a postscript of version 0.12. */
static hudi_status check(struct hd_op *op, const char *footer, size_t n)
{
    uint8_t bytes[4096] = "ORC", *end = bytes + 16;
    hd_input_file *file;

    hd_op_clear_error(op);
    memcpy(end, footer, n);
    end += n;
    uint8_t *postscript = end;
    *end++ = 1 << 3; /* footer bytes */
    *end++ = (uint8_t)(n & 0x7f) | 0x80;
    *end++ = (uint8_t)(n >> 7);
    memcpy(end, "\x22\x02\x00\x0c\x82\xf4\x03\x03ORC", 11); /* version, magic */
    end += 11;
    *end = (uint8_t)(end - postscript);
    end++;
    ASSERT_OK(op, hd_input_file_of_bytes(op, bytes, (size_t)(end - bytes), &file));
    const hudi_status status = hd_orc_footer_check(op, file);
    hd_input_file_close(file);
    return status;
}

#define CHECK(op, text) check(op, text, sizeof text - 1)

/* A type: tag 4, length, kind, then subtypes, precision, scale. */
#define STRUCT_OF_1 "\x22\x05\x08\x0c\x12\x01\x01"
#define DECIMAL(precision, scale) "\x22\x06\x08\x0e\x28" precision "\x30" scale

static void accepts_what_arrow_can_read(void **state)
{
    struct hd_op *op = *state;

    assert_int_equal(CHECK(op, STRUCT_OF_1 "\x22\x02\x08\x03"), HUDI_OK);
    assert_int_equal(CHECK(op, STRUCT_OF_1 DECIMAL("\x26", "\x0a")), HUDI_OK);
    assert_int_equal(CHECK(op, STRUCT_OF_1 DECIMAL("\x00", "\x00")), HUDI_OK); /* Hive 0.11 */
}

/* Arrow would end the process. */
static void refuses_impossible_decimals(void **state)
{
    struct hd_op *op = *state;

    assert_int_equal(CHECK(op, STRUCT_OF_1 DECIMAL("\x27", "\x0a")), HUDI_CORRUPT);
    assert_string_equal(hudi_error_message(op->error), "ORC decimal of precision 39 and scale 10");
    assert_int_equal(CHECK(op, STRUCT_OF_1 DECIMAL("\x0a", "\x0b")), HUDI_CORRUPT);
}

static void refuses_types_in_circles_and_too_deep(void **state)
{
    struct hd_op *op = *state;
    char lists[65 * 7];

    assert_int_equal(CHECK(op, "\x22\x05\x08\x0c\x12\x01\x00"), HUDI_CORRUPT);
    assert_int_equal(CHECK(op, "\x22\x05\x08\x0c\x12\x01\x02"), HUDI_CORRUPT);
    assert_int_equal(CHECK(op, STRUCT_OF_1 "\x22\x05\x08\x0a\x12\x01\x00"), HUDI_CORRUPT);
    assert_int_equal(check(op, "", 0), HUDI_CORRUPT); /* no types */
    for (int depth = 64; depth <= 65; depth++) {
        size_t n = 0;
        for (int i = 0; i < depth; i++) {
            memcpy(lists + n, "\x22\x05\x08\x0a\x12\x01", 6);
            lists[n + 6] = (char)(i + 1);
            n += 7;
        }
        char all[65 * 7 + 4];
        memcpy(all, lists, n);
        memcpy(all + n, "\x22\x02\x08\x03", 4);
        assert_int_equal(check(op, all, n + 4), depth == 64 ? HUDI_OK : HUDI_CORRUPT);
    }
}

static void refuses_stripes_outside_of_the_file(void **state)
{
    struct hd_op *op = *state;

    /* a stripe at byte 3 with 5 bytes of index and 8 of data, then with 9 */
    assert_int_equal(CHECK(op, "\x1a\x06\x08\x03\x10\x05\x18\x08" STRUCT_OF_1 "\x22\x02\x08\x03"),
                     HUDI_OK);
    assert_int_equal(CHECK(op, "\x1a\x06\x08\x03\x10\x05\x18\x09" STRUCT_OF_1 "\x22\x02\x08\x03"),
                     HUDI_CORRUPT);
    assert_string_equal(hudi_error_message(op->error),
                        "ORC stripe of 14 bytes at byte 3 leaves the file");
}

static void survives_every_fault(void **state)
{
    struct hd_op *op = *state;
    hudi_status status = HUDI_INTERNAL;
    size_t n;
    uint8_t *bytes = test_bytes(HD_SOURCE_DIR "/fuzz/corpus/base_file/zlib.orc", &n);
    hd_input_file *file;

    ASSERT_OK(op, hd_input_file_of_bytes(op, bytes, n, &file));
    for (int nth = 1; status != HUDI_OK; nth++) {
        test_fault_arm(op, nth);
        status = hd_orc_footer_check(op, file);
        assert_int_equal(status == HUDI_OK, !test_fault_fired(op));
        assert_true(nth < 1000);
    }
    hd_input_file_close(file);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(accepts_what_arrow_can_read),
        TEST(refuses_impossible_decimals),
        TEST(refuses_types_in_circles_and_too_deep),
        TEST(refuses_stripes_outside_of_the_file),
        TEST(survives_every_fault),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
