/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/file_system_ops.h"
#include "store/temporary_file.h"

#define COPY_BYTES (1u << 20)

hudi_status hd_standard_input_read(struct hd_op *op, void *into, size_t n, size_t *got)
{
    for (;;) {
        const ssize_t read_bytes = read(STDIN_FILENO, into, n);

        if (read_bytes >= 0) {
            *got = (size_t)read_bytes;
            return HUDI_OK;
        }
        if (errno != EINTR)
            return hd_fail_errno(op, errno, "standard input");
        HD_TRY(hd_op_check_cancel(op));
    }
}

static hudi_status append(struct hd_op *op, int fd, const uint8_t *bytes, size_t n)
{
    while (n > 0) {
        const ssize_t written = write(fd, bytes, n);

        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return hd_fail_errno(op, errno, "standard input cannot be kept in a temporary file");
        bytes += written;
        n -= (size_t)written;
    }
    return HUDI_OK;
}

static hudi_status copy_to(struct hd_op *op, int fd, uint64_t *n_bytes)
{
    hudi_status status = HUDI_OK;
    uint8_t *buffer = NULL;
    size_t got = 1;

    *n_bytes = 0;
    HD_TRY(hd_alloc_raw(op, COPY_BYTES, 1, &buffer));
    while (got > 0) {
        HD_TRY_OUT(hd_standard_input_read(op, buffer, COPY_BYTES, &got));
        HD_TRY_OUT(append(op, fd, buffer, got));
        *n_bytes += got;
    }
out:
    hd_free(op, buffer);
    return status;
}

/* A file that was redirected and not read from yet is read in its place. */
static bool is_whole_file(uint64_t *n_bytes)
{
    struct stat info;

    if (fstat(STDIN_FILENO, &info) != 0 || !S_ISREG(info.st_mode) ||
        lseek(STDIN_FILENO, 0, SEEK_CUR) != 0)
        return false;
    *n_bytes = (uint64_t)info.st_size;
    return true;
}

hudi_status hd_input_file_standard(struct hd_op *op, const char *folder, hd_input_file **out)
{
    hudi_status status = HUDI_OK;
    uint64_t n_bytes;
    int fd = -1;

    *out = NULL;
    if (is_whole_file(&n_bytes)) {
        fd = dup(STDIN_FILENO);
        if (fd < 0)
            return hd_fail_errno(op, errno, "standard input");
    } else {
        HD_TRY(hd_temporary_file(op, folder, &fd));
        HD_TRY_OUT(copy_to(op, fd, &n_bytes));
    }
    HD_TRY_OUT(hd_posix_input_of(op, fd, "standard input", n_bytes, out));
    fd = -1;
out:
    if (fd >= 0)
        (void)close(fd);
    return status;
}
