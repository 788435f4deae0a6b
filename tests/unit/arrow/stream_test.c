/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>

#include "arrow/stream.h"
#include "arrow_testing.h"

static void streams_batches_and_ends(void **state)
{
    struct hd_op *op = *state;
    const struct ArrowSchema field = FIELD("i", "a");
    struct ArrowArray batches[] = {test_array(op, &field, "[1]"), test_array(op, &field, "[2, 3]"),
                                   test_array(op, &field, "[4]")};
    struct ArrowArrayStream stream;
    struct ArrowSchema schema;
    struct ArrowArray out;

    OK(hd_stream_of_batches(op, &field, batches, 3, &stream));
    assert_null(batches[2].release);
    OK(hd_stream_schema(op, &stream, &schema));
    assert_true(hd_type_equal(&schema, &field));
    hd_schema_clear(&schema);
    OK(hd_stream_next(op, &stream, &out));
    ASSERT_ARRAY(&field, &out, "[1]");
    hd_array_clear(&out);
    OK(hd_stream_next(op, &stream, &out));
    hd_stream_clear(&stream); /* the third is never taken */
    assert_null(stream.release);
    ASSERT_ARRAY(&field, &out, "[2, 3]");
    hd_array_clear(&out);
    OK(hd_stream_of_batches(op, &field, NULL, 0, &stream));
    assert_int_equal(hd_stream_next(op, &stream, &out), HUDI_END);
    assert_int_equal(hd_stream_next(op, &stream, &out), HUDI_END);
    assert_null(op->error);
    hd_stream_clear(&stream);
    assert_int_equal(hd_stream_next(op, &stream, &out), HUDI_INVALID);
}

struct failing {
    hudi_status status;
    const char *path;
    int n_calls, n_closed;
};

static hudi_status failing_schema(struct hd_op *op, void *self, struct ArrowSchema *out)
{
    const struct hd_type type = {.id = HD_TYPE_INT32};

    (void)self;
    return hd_schema_init_field(op, out, "a", &type, true);
}

static hudi_status failing_next(struct hd_op *op, void *self, struct ArrowArray *out)
{
    struct failing *f = self;

    (void)out;
    f->n_calls++;
    hudi_status status = hd_fail(op, f->status, "call %d is one too many", f->n_calls);
    return f->path == NULL ? status : hd_fail_path(op, status, f->path);
}

static void failing_close(void *self)
{
    ((struct failing *)self)->n_closed++;
}

static const struct hd_stream_ops FAILING = {failing_schema, failing_next, failing_close};

static void a_failed_stream_goes_on_failing_with_its_first_error(void **state)
{
    static const struct {
        hudi_status status;
        int errno_value;
    } CASES[] = {{HUDI_IO, EIO},
                 {HUDI_CORRUPT, EIO},
                 {HUDI_INVALID, EINVAL},
                 {HUDI_SCHEMA, EINVAL},
                 {HUDI_NO_MEMORY, ENOMEM},
                 {HUDI_CANCELLED, ECANCELED},
                 {HUDI_NOT_IMPLEMENTED, ENOSYS}};
    struct hd_op *op = *state;

    for (size_t i = 0; i < HD_ARRAY_LENGTH(CASES); i++) {
        struct failing f = {.status = CASES[i].status, .path = i == 0 ? "a/b.parquet" : NULL};
        struct ArrowArrayStream stream;
        struct ArrowArray out;
        const char *message =
            i == 0 ? "a/b.parquet: call 1 is one too many" : "call 1 is one too many";

        OK(hd_stream_export(op, &FAILING, &f, &stream));
        for (int k = 0; k < 2; k++) {
            assert_int_equal(stream.get_next(&stream, &out), CASES[i].errno_value);
            assert_null(out.release);
            assert_string_equal(stream.get_last_error(&stream), message);
        }
        assert_int_equal(f.n_calls, 1);
        /* and through our own import with the very status */
        assert_int_equal(hd_stream_next(op, &stream, &out), CASES[i].status);
        assert_string_equal(hudi_error_message(op->error), message);
        hd_op_clear_error(op);
        hd_stream_clear(&stream);
        assert_int_equal(f.n_closed, 1);
    }
}

/* A stream as a foreign library makes it. */
static int foreign_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
    (void)stream;
    (void)out;
    return 0; /* and no schema */
}

static int foreign_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
    (void)out;
    return *(int *)stream->private_data;
}

static const char *foreign_error(struct ArrowArrayStream *stream)
{
    return *(int *)stream->private_data == EPIPE ? NULL : "it broke\nat line 7";
}

static void foreign_release(struct ArrowArrayStream *stream)
{
    stream->release = NULL;
}

static void takes_status_and_message_of_foreign_streams(void **state)
{
    static const struct {
        int errno_value;
        hudi_status status;
    } CASES[] = {{EIO, HUDI_IO},
                 {EINVAL, HUDI_INVALID},
                 {ENOMEM, HUDI_NO_MEMORY},
                 {ENOTSUP, HUDI_NOT_IMPLEMENTED}};
    struct hd_op *op = *state;
    int errno_value;
    struct ArrowArrayStream stream = {foreign_schema, foreign_next, foreign_error, foreign_release,
                                      &errno_value};
    struct ArrowSchema schema;
    struct ArrowArray out;

    for (size_t i = 0; i < HD_ARRAY_LENGTH(CASES); i++) {
        errno_value = CASES[i].errno_value;
        assert_int_equal(hd_stream_next(op, &stream, &out), CASES[i].status);
        assert_string_equal(hudi_error_message(op->error), "it broke");
        hd_op_clear_error(op);
    }
    errno_value = EPIPE;
    assert_int_equal(hd_stream_next(op, &stream, &out), HUDI_IO);
    assert_non_null(strstr(hudi_error_message(op->error), "the input stream failed"));
    hd_op_clear_error(op);
    assert_int_equal(hd_stream_schema(op, &stream, &schema), HUDI_INVALID);
    hd_stream_clear(&stream);
}

static void survives_every_fault(void **state)
{
    struct hd_op *op = *state;
    const struct ArrowSchema field = FIELD("i", "a");
    hudi_status status = HUDI_INTERNAL;

    for (int nth = 1; status != HUDI_OK; nth++) {
        test_fault_disarm(op);
        struct ArrowArray batches[] = {test_array(op, &field, "[1]")};
        struct ArrowArrayStream stream;
        struct ArrowSchema schema = {0};

        test_fault_arm(op, nth);
        status = hd_stream_of_batches(op, &field, batches, 1, &stream);
        if (status == HUDI_OK)
            status = hd_stream_schema(op, &stream, &schema);
        assert_int_equal(status == HUDI_OK, !test_fault_fired(op));
        assert_null(batches[0].release);
        hd_schema_clear(&schema);
        hd_stream_clear(&stream);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(streams_batches_and_ends),
        TEST(a_failed_stream_goes_on_failing_with_its_first_error),
        TEST(takes_status_and_message_of_foreign_streams),
        TEST(survives_every_fault),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
