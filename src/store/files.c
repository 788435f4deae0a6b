/* SPDX-License-Identifier: Apache-2.0 */
/* Input and output files: the part that all file systems share, and input files over memory. */
#include <inttypes.h>
#include <string.h>

#include "store/file_system_ops.h"

/* ---- input -------------------------------------------------------------------------------- */

hudi_status hd_input_file_init(struct hd_op *op, size_t n_bytes,
                               const struct hd_input_file_ops *ops, const char *path, uint64_t size,
                               hd_input_file **out)
{
    hudi_status status = HUDI_OK;
    hd_input_file *file = NULL;

    *out = NULL;
    HD_TRY(hd_alloc(op, n_bytes, &file));
    file->ops = ops;
    file->size = size;
    HD_TRY_OUT(hd_strdup(op, path, &file->path));
    *out = file;
    file = NULL;
out:
    hd_free(op, file);
    return status;
}

void hd_input_file_release(hd_input_file *file)
{
    hd_free(NULL, file->path);
    hd_free(NULL, file);
}

uint64_t hd_input_file_size(const hd_input_file *file)
{
    return file->size;
}

const char *hd_input_file_path(const hd_input_file *file)
{
    return file->path;
}

hudi_status hd_input_file_read_at(struct hd_op *op, hd_input_file *file, uint64_t offset,
                                  void *into, uint64_t n)
{
    if (offset > file->size || n > file->size - offset) {
        (void)hd_fail(op, HUDI_CORRUPT,
                      "%" PRIu64 " bytes wanted at byte %" PRIu64 " of a file of %" PRIu64, n,
                      offset, file->size);
        return hd_fail_path(op, HUDI_CORRUPT, file->path);
    }
    if (n == 0)
        return HUDI_OK;
    HD_TRY(hd_op_check_cancel(op));
    HD_TRY(hd_op_fault_point(op, "read"));
    const hudi_status status = file->ops->read_at(op, file, offset, into, n);
    return status == HUDI_OK ? status : hd_fail_path(op, status, file->path);
}

void hd_input_file_close(hd_input_file *file)
{
    if (file != NULL)
        file->ops->close(file);
}

/* Bytes in memory. */
struct bytes_file {
    hd_input_file file;
    uint8_t *bytes;
};

static hudi_status bytes_read_at(struct hd_op *op, hd_input_file *file, uint64_t offset, void *into,
                                 uint64_t n)
{
    const struct bytes_file *self = (const struct bytes_file *)file;

    (void)op;
    memcpy(into, self->bytes + offset, (size_t)n);
    return HUDI_OK;
}

static void bytes_close(hd_input_file *file)
{
    hd_free(NULL, ((struct bytes_file *)file)->bytes);
    hd_input_file_release(file);
}

static const struct hd_input_file_ops BYTES_FILE_OPS = {bytes_read_at, bytes_close};

hudi_status hd_input_file_of_bytes(struct hd_op *op, const void *bytes, size_t n,
                                   hd_input_file **out)
{
    hd_input_file *file;

    *out = NULL;
    HD_TRY(
        hd_input_file_init(op, sizeof(struct bytes_file), &BYTES_FILE_OPS, "(memory)", n, &file));
    struct bytes_file *self = (struct bytes_file *)file;
    const hudi_status status = hd_alloc_raw(op, n, 1, &self->bytes);
    if (status != HUDI_OK) {
        hd_input_file_release(file);
        return status;
    }
    if (n > 0)
        memcpy(self->bytes, bytes, n);
    *out = file;
    return HUDI_OK;
}

struct window_file {
    hd_input_file file;
    hd_input_file *of; /* borrowed */
    uint64_t start;
};

static hudi_status window_read_at(struct hd_op *op, hd_input_file *file, uint64_t offset,
                                  void *into, uint64_t n)
{
    const struct window_file *self = (const struct window_file *)file;

    return hd_input_file_read_at(op, self->of, self->start + offset, into, n);
}

static const struct hd_input_file_ops WINDOW_FILE_OPS = {window_read_at, hd_input_file_release};

hudi_status hd_input_file_window(struct hd_op *op, hd_input_file *file, uint64_t offset, uint64_t n,
                                 hd_input_file **out)
{
    *out = NULL;
    if (offset > file->size || n > file->size - offset)
        return hd_fail(op, HUDI_CORRUPT, "%llu bytes at byte %llu of a file of %llu",
                       (unsigned long long)n, (unsigned long long)offset,
                       (unsigned long long)file->size);
    HD_TRY(
        hd_input_file_init(op, sizeof(struct window_file), &WINDOW_FILE_OPS, file->path, n, out));
    struct window_file *self = (struct window_file *)*out;
    self->of = file;
    self->start = offset;
    return HUDI_OK;
}

/* ---- output ------------------------------------------------------------------------------- */

hudi_status hd_output_file_init(struct hd_op *op, size_t n_bytes,
                                const struct hd_output_file_ops *ops, const char *path,
                                hd_output_file **out)
{
    hudi_status status = HUDI_OK;
    hd_output_file *file = NULL;

    *out = NULL;
    HD_TRY(hd_alloc(op, n_bytes, &file));
    file->ops = ops;
    HD_TRY_OUT(hd_strdup(op, path, &file->path));
    *out = file;
    file = NULL;
out:
    hd_free(op, file);
    return status;
}

void hd_output_file_release(hd_output_file *file)
{
    hd_free(NULL, file->path);
    hd_free(NULL, file);
}

uint64_t hd_output_file_position(const hd_output_file *file)
{
    return file->position;
}

const char *hd_output_file_path(const hd_output_file *file)
{
    return file->path;
}

hudi_status hd_output_file_write(struct hd_op *op, hd_output_file *file, const void *bytes,
                                 uint64_t n)
{
    if (n == 0)
        return HUDI_OK;
    HD_TRY(hd_op_check_cancel(op));
    HD_TRY(hd_op_fault_point(op, "write"));
    const hudi_status status = file->ops->write(op, file, bytes, n);
    if (status != HUDI_OK)
        return hd_fail_path(op, status, file->path);
    file->position += n;
    return HUDI_OK;
}

static bool crashed(const hd_output_file *file)
{
    return file->faults != NULL && file->faults->sticky && file->faults->fired;
}

hudi_status hd_output_file_close(struct hd_op *op, hd_output_file *file, bool sync)
{
    hudi_status status = HUDI_OK;

    if (sync) {
        status = hd_op_fault_point(op, "sync");
        if (status == HUDI_OK)
            status = file->ops->sync(op, file);
    }
    if (status == HUDI_OK)
        status = hd_op_fault_point(op, "close");
    if (status != HUDI_OK) {
        status = hd_fail_path(op, status, file->path);
        hd_output_file_abort(file);
        return status;
    }
    char *path = file->path; /* outlives the file for the error */
    file->path = NULL;
    status = file->ops->close(op, file);
    if (status != HUDI_OK && op->error != NULL)
        status = hd_fail_path(op, status, path);
    hd_free(op, path);
    return status;
}

void hd_output_file_abort(hd_output_file *file)
{
    if (file != NULL)
        file->ops->abort(file, crashed(file));
}

/* Bytes in memory. */
struct str_file {
    hd_output_file file;
    struct hd_str *into;
    size_t start;
};

static hudi_status str_write(struct hd_op *op, hd_output_file *file, const void *bytes, uint64_t n)
{
    return hd_str_append(op, ((struct str_file *)file)->into, bytes, (size_t)n);
}

static hudi_status str_sync(struct hd_op *op, hd_output_file *file)
{
    (void)op;
    (void)file;
    return HUDI_OK;
}

static hudi_status str_close(struct hd_op *op, hd_output_file *file)
{
    (void)op;
    hd_output_file_release(file);
    return HUDI_OK;
}

static void str_abort(hd_output_file *file, bool keep)
{
    const struct str_file *self = (const struct str_file *)file;

    (void)keep;
    self->into->size = self->start;
    hd_output_file_release(file);
}

static const struct hd_output_file_ops STR_FILE_OPS = {str_write, str_sync, str_close, str_abort};

hudi_status hd_output_file_of_str(struct hd_op *op, struct hd_str *into, hd_output_file **out)
{
    HD_TRY(hd_output_file_init(op, sizeof(struct str_file), &STR_FILE_OPS, "(memory)", out));
    struct str_file *self = (struct str_file *)*out;
    self->into = into;
    self->start = into->size;
    return HUDI_OK;
}
