/* SPDX-License-Identifier: Apache-2.0 */
#include "store/temporary_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

/* Where the file system has no files without a name, one whose name is gone at once. */
static hudi_status open_named(struct hd_op *op, const char *folder, int *out)
{
    char *path;

    HD_TRY(hd_asprintf(op, &path, "%s/libhudi-XXXXXX", folder));
    *out = mkostemp(path, O_CLOEXEC);
    const int error = errno;
    if (*out >= 0)
        (void)unlink(path);
    hd_free(op, path);
    if (*out >= 0)
        return HUDI_OK;
    return hd_fail_path(op, hd_fail_errno(op, error, "no temporary file can be made"), folder);
}

hudi_status hd_temporary_file(struct hd_op *op, const char *folder, int *out)
{
    *out = -1;
    if (folder == NULL || *folder == '\0')
        folder = getenv("TMPDIR");
    if (folder == NULL || *folder == '\0')
        folder = "/tmp";
    HD_TRY(hd_op_fault_point(op, "open"));
    *out = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    return *out >= 0 ? HUDI_OK : open_named(op, folder, out);
}
