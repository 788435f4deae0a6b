/* SPDX-License-Identifier: Apache-2.0 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/internal.h"
#include "base/op.h"
#include "support/fault.h"

/* First outputs of xoroshiro128+ (24, 16, 37) from the state 1, 2, worked out by hand from its
 * definition: 1 + 2; then the state is (1 << 24) ^ 3 ^ (3 << 16), 3 << 37; their sum follows. */
static void the_sequence_is_xoroshiro128plus(void **state)
{
    struct hd_op *op = *state;

    assert_true(hd_random_u64(op) == 3);
    assert_true(op->random_state[0] == 0x1030003);
    assert_true(op->random_state[1] == UINT64_C(3) << 37);
    assert_true(hd_random_u64(op) == UINT64_C(0x6001030003));
}

static void two_new_ops_differ(void **state)
{
    struct hd_op a, b;

    (void)state;
    hd_op_init(&a);
    hd_op_init(&b);
    assert_memory_not_equal(a.random_state, b.random_state, sizeof a.random_state);
    hd_op_clear(&a);
    hd_op_clear(&b);
}

static void seeds_spread_even_from_zero(void **state)
{
    const uint64_t zero[2] = {0, 0};
    struct hd_op a, b;

    (void)state;
    for (uint64_t i = 0; i < 1000; i++) {
        hd_random_seed(&a, zero, i);
        hd_random_seed(&b, zero, i + 1);
        const uint64_t x = hd_random_u64(&a) ^ hd_random_u64(&b);
        assert_in_range(__builtin_popcountll(x), 8, 56);
    }
}

static void bits_are_set_half_of_the_time(void **state)
{
    struct hd_op *op = *state;
    int n_set[64] = {0};

    for (int i = 0; i < 10000; i++) {
        const uint64_t x = hd_random_u64(op);
        for (int bit = 0; bit < 64; bit++)
            n_set[bit] += x >> bit & 1;
    }
    for (int bit = 0; bit < 64; bit++)
        assert_in_range(n_set[bit], 4700, 5300);
}

static void uuids_are_version_4_and_lower_case(void **state)
{
    struct hd_op *op = *state;
    char uuid[HD_UUID_BYTES], before[HD_UUID_BYTES] = "";
    unsigned seen_variants = 0;

    for (int n = 0; n < 1000; n++) {
        hd_random_uuid(op, uuid);
        assert_int_equal(strlen(uuid), 36);
        for (size_t i = 0; i < 36; i++) {
            if (i == 8 || i == 13 || i == 18 || i == 23)
                assert_int_equal(uuid[i], '-');
            else
                assert_non_null(strchr("0123456789abcdef", uuid[i]));
        }
        assert_int_equal(uuid[14], '4');
        assert_non_null(strchr("89ab", uuid[19]));
        seen_variants |= 1U << (strchr("89ab", uuid[19]) - "89ab");
        assert_string_not_equal(uuid, before);
        memcpy(before, uuid, sizeof before);
    }
    assert_int_equal(seen_variants, 15);
}

int main(void)
{
#define WITH_OP(test) cmocka_unit_test_setup_teardown(test, test_op_setup, test_op_teardown)
    const struct CMUnitTest tests[] = {
        WITH_OP(the_sequence_is_xoroshiro128plus),     cmocka_unit_test(two_new_ops_differ),
        cmocka_unit_test(seeds_spread_even_from_zero), WITH_OP(bits_are_set_half_of_the_time),
        WITH_OP(uuids_are_version_4_and_lower_case),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
