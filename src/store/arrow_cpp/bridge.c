/* SPDX-License-Identifier: Apache-2.0 */
/* The C side of bridge.h. */
#include "store/arrow_cpp/bridge.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/op.h"
#include "store/input_file.h"
#include "store/output_file.h"

#define MAX_TEXT_BYTES 300

/* Arrow's messages begin with a capital, end with a full stop and may have several lines. */
static void tidy(const char *text, char out[MAX_TEXT_BYTES])
{
    size_t n;

    snprintf(out, MAX_TEXT_BYTES, "%s", *text == '\0' ? "unspecified failure" : text);
    out[strcspn(out, "\r\n")] = '\0';
    n = strlen(out);
    while (n > 0 && (out[n - 1] == '.' || out[n - 1] == ' ' || out[n - 1] == ':'))
        out[--n] = '\0';
    if (isupper((unsigned char)out[0]) && islower((unsigned char)out[1]))
        out[0] = (char)tolower((unsigned char)out[0]);
    for (char *at = out; *at != '\0'; at++)
        if (iscntrl((unsigned char)*at))
            *at = '?';
}

hudi_status hd_cpp_fail(struct hd_op *op, hudi_status status, const char *path, const char *text)
{
    char line[MAX_TEXT_BYTES];

    tidy(text, line);
    status = hd_fail(op, status, "%s", line);
    return path == NULL ? status : hd_fail_path(op, status, path);
}

hudi_status hd_cpp_error(const struct hd_op *op)
{
    return op->error == NULL ? HUDI_OK : hudi_error_status(op->error);
}

bool hd_cpp_may_start(struct hd_op *op)
{
    return hd_op_fault_point(op, "arrow") == HUDI_OK;
}

hudi_status hd_cpp_read_at(struct hd_op *op, struct hd_input_file *file, uint64_t offset,
                           void *into, uint64_t n)
{
    return hd_input_file_read_at(op, file, offset, into, n);
}

uint64_t hd_cpp_input_size(const struct hd_input_file *file)
{
    return hd_input_file_size(file);
}

const char *hd_cpp_input_path(const struct hd_input_file *file)
{
    return hd_input_file_path(file);
}

void hd_cpp_input_close(struct hd_input_file *file)
{
    hd_input_file_close(file);
}

hudi_status hd_cpp_write(struct hd_op *op, struct hd_output_file *file, const void *bytes,
                         uint64_t n)
{
    return hd_output_file_write(op, file, bytes, n);
}

uint64_t hd_cpp_output_position(const struct hd_output_file *file)
{
    return hd_output_file_position(file);
}

const char *hd_cpp_output_path(const struct hd_output_file *file)
{
    return hd_output_file_path(file);
}
