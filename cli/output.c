/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

int cli_fail(hudi_error *error)
{
    if (error == NULL)
        return cli_fail_text(CLI_EXIT_FAILURE, "failed without a reason");
    const hudi_status status = hudi_error_status(error);
    const char *message = hudi_error_message(error), *path = hudi_error_path(error);

    if (path != NULL && strstr(message, path) == NULL)
        fprintf(stderr, "hudi: %s: %s\n", path, message);
    else
        fprintf(stderr, "hudi: %s\n", message);
    hudi_error_free(error);
    return status == HUDI_INVALID ? CLI_EXIT_USAGE : CLI_EXIT_FAILURE;
}

int cli_fail_text(int exit_code, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    fputs("hudi: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    return exit_code;
}

char *cli_read_file(const char *path, size_t *n_bytes)
{
    FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");
    char *text = NULL;
    size_t capacity = 0, n;

    *n_bytes = 0;
    if (file == NULL) {
        cli_fail_text(CLI_EXIT_FAILURE, "%s: %s", path, strerror(errno));
        return NULL;
    }
    do {
        if (capacity - *n_bytes < 4096) {
            capacity = capacity * 2 + 8192;
            char *larger = realloc(text, capacity);
            if (larger == NULL) {
                free(text);
                text = NULL;
                cli_fail_text(CLI_EXIT_FAILURE, "%s: out of memory", path);
                goto out;
            }
            text = larger;
        }
        n = fread(text + *n_bytes, 1, capacity - *n_bytes - 1, file);
        *n_bytes += n;
    } while (n > 0);
    if (ferror(file)) {
        cli_fail_text(CLI_EXIT_FAILURE, "%s: %s", path, strerror(errno));
        free(text);
        text = NULL;
        goto out;
    }
    text[*n_bytes] = '\0';
out:
    if (file != stdin)
        fclose(file);
    return text;
}

void cli_format_bytes(double n_bytes, char out[32])
{
    static const char *const UNITS[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    size_t unit = 0;

    while (n_bytes >= 1024 && unit + 1 < sizeof UNITS / sizeof UNITS[0]) {
        n_bytes /= 1024;
        unit++;
    }
    snprintf(out, 32, unit == 0 ? "%.0f %s" : "%.1f %s", n_bytes, UNITS[unit]);
}
