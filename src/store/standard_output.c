/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <unistd.h>

#include "store/file_system_ops.h"

static hudi_status stdout_write(struct hd_op *op, hd_output_file *file, const void *bytes,
                                uint64_t n)
{
    const char *at = bytes;

    (void)file;
    while (n > 0) {
        const ssize_t written = write(STDOUT_FILENO, at, (size_t)n);

        if (written < 0 && errno == EINTR) {
            HD_TRY(hd_op_check_cancel(op));
            continue;
        }
        if (written < 0)
            return hd_fail_errno(op, errno, "standard output");
        at += written;
        n -= (uint64_t)written;
    }
    return HUDI_OK;
}

static hudi_status stdout_sync(struct hd_op *op, hd_output_file *file)
{
    (void)op;
    (void)file;
    return HUDI_OK;
}

static void stdout_abort(hd_output_file *file, bool keep)
{
    (void)keep;
    hd_free(NULL, file->path);
    hd_free(NULL, file);
}

static hudi_status stdout_close(struct hd_op *op, hd_output_file *file)
{
    (void)op;
    stdout_abort(file, true);
    return HUDI_OK;
}

hudi_status hd_output_file_standard(struct hd_op *op, hd_output_file **out)
{
    static const struct hd_output_file_ops OPS = {
        .write = stdout_write, .sync = stdout_sync, .close = stdout_close, .abort = stdout_abort};
    hd_output_file *file;

    *out = NULL;
    HD_TRY(hd_alloc(op, sizeof *file, &file));
    file->ops = &OPS;
    file->faults = op->faults;
    const hudi_status status = hd_strdup(op, "standard output", &file->path);
    if (status != HUDI_OK) {
        hd_free(op, file);
        return status;
    }
    *out = file;
    return HUDI_OK;
}
