/* SPDX-License-Identifier: Apache-2.0 */
/* Files of the timeline with one Avro record, against those that Hudi wrote. */
#ifndef TEST_FORMAT_PLAN_TESTING_H
#define TEST_FORMAT_PLAN_TESTING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "codec/avro.h"
#include "support/table.h"

static inline size_t plan_count(struct hd_slice text, const char *what)
{
    const size_t n = strlen(what);
    size_t count = 0;

    for (size_t i = 0; i + n <= text.size; i++)
        count += memcmp(text.data + i, what, n) == 0;
    return count;
}

/* Readers on Avro 1.9 and later need it at each string, and at each map. */
static inline void plan_expect_java_strings(struct hd_slice file)
{
    const size_t n_strings = plan_count(file, "\"string\"");

    assert_int_equal(plan_count(file, "\"type\":\"string\",\"avro.java.string\":\"String\""),
                     n_strings);
    assert_int_equal(plan_count(file, "\"avro.java.string\":\"String\""),
                     n_strings + plan_count(file, "\"map\""));
}

/* The bytes of a container's one record. */
static inline struct hd_str plan_record_of(struct hd_op *op, struct hd_slice file)
{
    struct hd_avro_container container;
    struct hd_cursor records;
    struct hd_str out = {0};
    uint64_t n;

    test_must(op, hd_avro_container_open(op, file, &container));
    test_must(op, hd_avro_container_next(op, &container, &records, &n));
    assert_int_equal(n, 1);
    test_must(op, hd_str_append(op, &out, records.at, hd_cursor_left(&records)));
    hd_avro_container_clear(&container);
    return out;
}

/* `ours` is cleared. */
static inline void plan_expect_same_record(struct hd_op *op, struct hd_slice real,
                                           struct hd_str *ours)
{
    struct hd_str wanted = plan_record_of(op, real), made = plan_record_of(op, hd_str_slice(ours));

    assert_int_equal(made.size, wanted.size);
    assert_memory_equal(made.data, wanted.data, wanted.size);
    plan_expect_java_strings(real);
    plan_expect_java_strings(hd_str_slice(ours));
    hd_str_clear(&wanted);
    hd_str_clear(&made);
    hd_str_clear(ours);
}

#endif
