/* SPDX-License-Identifier: Apache-2.0 */
#include "arrow/stream.h"

#include <errno.h>
#include <string.h>

#include "arrow/array.h"
#include "arrow/schema.h"

/* ---- export ---------------------------------------------------------------------------------- */

/* A stream that failed goes on failing with the same error; one that ended has ended. */
struct exported {
    struct hd_op op;
    const struct hd_stream_ops *ops;
    void *self;
    hudi_status status; /* HUDI_OK while batches may come, then HUDI_END or the failure */
    char *last_error;   /* NULL: none, or no memory for it */
};

static int errno_of(hudi_status status)
{
    switch (status) {
    case HUDI_OK:
    case HUDI_END:
        return 0;
    case HUDI_NO_MEMORY:
        return ENOMEM;
    case HUDI_CANCELLED:
        return ECANCELED;
    case HUDI_INVALID:
    case HUDI_SCHEMA:
        return EINVAL;
    case HUDI_NOT_IMPLEMENTED:
        return ENOSYS;
    default:
        return EIO;
    }
}

static int exported_fail(struct exported *e, hudi_status status)
{
    const hudi_error *error = e->op.error;
    struct hd_op scratch = e->op;

    e->status = status;
    scratch.error = NULL;
    if (error != NULL && e->last_error == NULL) {
        const char *path = hudi_error_path(error), *message = hudi_error_message(error);
        if (path == NULL || strstr(message, path) != NULL)
            hd_strdup(&scratch, message, &e->last_error);
        else
            hd_asprintf(&scratch, &e->last_error, "%s: %s", path, message);
    }
    hd_op_clear_error(&scratch);
    return errno_of(status);
}

static int exported_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
    struct exported *e = stream->private_data;

    *out = (struct ArrowSchema){0};
    if (e->status != HUDI_OK && e->status != HUDI_END)
        return errno_of(e->status);
    const hudi_status status = e->ops->schema(&e->op, e->self, out);
    return status == HUDI_OK ? 0 : exported_fail(e, status);
}

static int exported_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
    struct exported *e = stream->private_data;

    *out = (struct ArrowArray){0};
    if (e->status != HUDI_OK)
        return errno_of(e->status);
    const hudi_status status = e->ops->next(&e->op, e->self, out);
    if (status == HUDI_END)
        e->status = HUDI_END;
    return status == HUDI_OK || status == HUDI_END ? 0 : exported_fail(e, status);
}

static const char *exported_last_error(struct ArrowArrayStream *stream)
{
    const struct exported *e = stream->private_data;

    if (e->last_error != NULL)
        return e->last_error;
    if (e->op.error != NULL)
        return hudi_error_message(e->op.error);
    return e->status == HUDI_OK || e->status == HUDI_END ? NULL : hudi_status_name(e->status);
}

static void exported_release(struct ArrowArrayStream *stream)
{
    struct exported *e = stream->private_data;

    e->ops->close(e->self);
    hd_free(&e->op, e->last_error);
    hd_op_clear(&e->op);
    hd_free(NULL, e);
    stream->release = NULL;
}

hudi_status hd_stream_export(struct hd_op *parent, const struct hd_stream_ops *ops, void *self,
                             struct ArrowArrayStream *out)
{
    struct exported *e;

    *out = (struct ArrowArrayStream){0};
    HD_TRY(hd_alloc(parent, sizeof *e, &e));
    hd_op_init_child(&e->op, parent);
    e->ops = ops;
    e->self = self;
    *out = (struct ArrowArrayStream){.get_schema = exported_schema,
                                     .get_next = exported_next,
                                     .get_last_error = exported_last_error,
                                     .release = exported_release,
                                     .private_data = e};
    return HUDI_OK;
}

/* ---- import ---------------------------------------------------------------------------------- */

static hudi_status status_of(int errno_value)
{
    switch (errno_value) {
    case EINVAL:
        return HUDI_INVALID;
    case ENOMEM:
        return HUDI_NO_MEMORY;
    case ECANCELED:
        return HUDI_CANCELLED;
    case ENOSYS:
    case ENOTSUP:
        return HUDI_NOT_IMPLEMENTED;
    default:
        return HUDI_IO;
    }
}

/* A stream of our own says more than its errno. */
static hudi_status stream_failed(struct hd_op *op, struct ArrowArrayStream *stream, int rc)
{
    hudi_status status = status_of(rc);

    if (stream->release == exported_release)
        status = ((const struct exported *)stream->private_data)->status;
    const char *message = stream->get_last_error == NULL ? NULL : stream->get_last_error(stream);
    if (message == NULL || message[0] == '\0')
        return hd_fail(op, status, "the input stream failed: %s", strerror(rc));
    return hd_fail(op, status, "%.*s", (int)strcspn(message, "\r\n"), message);
}

hudi_status hd_stream_schema(struct hd_op *op, struct ArrowArrayStream *stream,
                             struct ArrowSchema *out)
{
    *out = (struct ArrowSchema){0};
    if (stream->release == NULL)
        return hd_fail(op, HUDI_INVALID, "the input stream was released");
    const int rc = stream->get_schema(stream, out);
    if (rc != 0) {
        *out = (struct ArrowSchema){0};
        return stream_failed(op, stream, rc);
    }
    if (out->release == NULL)
        return hd_fail(op, HUDI_INVALID, "the input stream gave no schema");
    return HUDI_OK;
}

hudi_status hd_stream_next(struct hd_op *op, struct ArrowArrayStream *stream,
                           struct ArrowArray *out)
{
    *out = (struct ArrowArray){0};
    if (stream->release == NULL)
        return hd_fail(op, HUDI_INVALID, "the input stream was released");
    const int rc = stream->get_next(stream, out);
    if (rc != 0) {
        *out = (struct ArrowArray){0};
        return stream_failed(op, stream, rc);
    }
    if (out->release == NULL) {
        *out = (struct ArrowArray){0};
        return HUDI_END;
    }
    return HUDI_OK;
}

void hd_stream_clear(struct ArrowArrayStream *stream)
{
    if (stream->release != NULL)
        stream->release(stream);
    *stream = (struct ArrowArrayStream){0};
}

/* ---- batches in memory ----------------------------------------------------------------------- */

struct batches {
    struct ArrowSchema schema;
    int64_t n, next;
    struct ArrowArray arrays[];
};

static hudi_status batches_schema(struct hd_op *op, void *self, struct ArrowSchema *out)
{
    const struct batches *b = self;

    return hd_schema_copy(op, &b->schema, out);
}

static hudi_status batches_next(struct hd_op *op, void *self, struct ArrowArray *out)
{
    struct batches *b = self;

    (void)op;
    if (b->next == b->n)
        return HUDI_END;
    hd_array_move(&b->arrays[b->next++], out);
    return HUDI_OK;
}

static void batches_close(void *self)
{
    struct batches *b = self;

    for (int64_t i = b->next; i < b->n; i++)
        hd_array_clear(&b->arrays[i]);
    hd_schema_clear(&b->schema);
    hd_free(NULL, b);
}

hudi_status hd_stream_of_batches(struct hd_op *op, const struct ArrowSchema *schema,
                                 struct ArrowArray *batches, int64_t n,
                                 struct ArrowArrayStream *out)
{
    static const struct hd_stream_ops OPS = {batches_schema, batches_next, batches_close};
    struct batches *b;
    hudi_status status = HUDI_OK;

    *out = (struct ArrowArrayStream){0};
    HD_TRY_OUT(hd_alloc(op, sizeof *b + (size_t)n * sizeof b->arrays[0], &b));
    for (int64_t i = 0; i < n; i++)
        hd_array_move(&batches[i], &b->arrays[i]);
    b->n = n;
    status = hd_schema_copy(op, schema, &b->schema);
    if (status == HUDI_OK)
        status = hd_stream_export(op, &OPS, b, out);
    if (status != HUDI_OK)
        batches_close(b);
    return status;
out:
    for (int64_t i = 0; i < n; i++)
        hd_array_clear(&batches[i]);
    return status;
}
