/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

bool cli_reader_is_gone(void)
{
    struct pollfd output = {.fd = STDOUT_FILENO};

    return poll(&output, 1, 0) > 0 && (output.revents & POLLERR) != 0;
}

int cli_fail(hudi_error *error)
{
    if (error == NULL)
        return cli_fail_text(CLI_EXIT_FAILURE, "failed without a reason");
    const hudi_status status = hudi_error_status(error);
    const char *message = hudi_error_message(error), *path = hudi_error_path(error);

    if (path != NULL && strcmp(path, "standard output") == 0 && cli_reader_is_gone()) {
        hudi_error_free(error);
        return CLI_EXIT_NO_READER;
    }
    cli_progress_end();
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

    cli_progress_end();
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

/* Bytes of the UTF-8 character at `c`, 0 when it is none (a NUL ends every check). */
static int utf8_bytes(const unsigned char *c)
{
    static const unsigned int SMALLEST[] = {0, 0, 0x80, 0x800, 0x10000};
    const int n = c[0] < 0x80 ? 1 : c[0] < 0xc0 ? 0 : c[0] < 0xe0 ? 2 : c[0] < 0xf0 ? 3 : 4;
    unsigned int code_point = n < 2 ? c[0] : c[0] & (0x7fu >> n);

    for (int i = 1; i < n; i++) {
        if ((c[i] & 0xc0) != 0x80)
            return 0;
        code_point = code_point << 6 | (c[i] & 0x3fu);
    }
    if (n == 0 || c[0] >= 0xf8 || code_point < SMALLEST[n] || code_point > 0x10ffff ||
        (code_point >= 0xd800 && code_point < 0xe000))
        return 0;
    return n;
}

void cli_print_json_text(const char *text)
{
    putchar('"');
    for (const unsigned char *c = (const unsigned char *)text; *c != '\0';) {
        const int n = utf8_bytes(c);

        if (*c == '"' || *c == '\\')
            printf("\\%c", *c);
        else if (*c < 0x20)
            printf("\\u%04x", *c);
        else if (n == 0)
            fputs("\xef\xbf\xbd", stdout);
        else
            fwrite(c, 1, (size_t)n, stdout);
        c += n == 0 ? 1 : n;
    }
    putchar('"');
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
