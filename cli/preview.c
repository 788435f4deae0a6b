/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "cli.h"

typedef const char *get_file(const hudi_preview *preview, size_t i, size_t f,
                             const char **partition);

void cli_print_json_head(const char *command, const char *instant, bool dry_run)
{
    printf("{\"command\":");
    cli_print_json_text(command);
    printf(",\"instant\":");
    cli_print_json_text(instant);
    printf(",\"dry_run\":%s", dry_run ? "true" : "false");
}

/* {"partition":["name",...],...} */
static void print_json_files(const hudi_preview *preview, size_t i, get_file *get)
{
    const char *name, *partition, *before = NULL;

    printf("{");
    for (size_t f = 0; (name = get(preview, i, f, &partition)) != NULL; f++) {
        if (before == NULL || strcmp(partition, before) != 0) {
            printf(before == NULL ? "" : "],");
            cli_print_json_text(partition);
            printf(":[");
        } else {
            printf(",");
        }
        cli_print_json_text(name);
        before = partition;
    }
    printf(before == NULL ? "}" : "]}");
}

static size_t count_logs(const hudi_preview *preview, size_t i)
{
    const char *partition;
    size_t n = 0;

    while (hudi_preview_log_file(preview, i, n, &partition) != NULL)
        n++;
    return n;
}

static void print_json(const hudi_preview *preview, const char *command, const char *instant)
{
    size_t n_files = 0, n_logs = 0;
    long long n_bytes = 0;

    for (size_t i = 0; i < hudi_preview_length(preview); i++) {
        n_files += hudi_preview_files(preview, i);
        n_bytes += hudi_preview_bytes(preview, i);
        n_logs += count_logs(preview, i);
    }
    cli_print_json_head(command, instant, true);
    printf(",\"files\":%zu,\"bytes\":%lld,\"rollback_blocks\":%zu,\"instants\":[", n_files, n_bytes,
           n_logs);
    for (size_t i = 0; i < hudi_preview_length(preview); i++) {
        printf(i > 0 ? ",{\"instant\":" : "{\"instant\":");
        cli_print_json_text(hudi_preview_instant(preview, i));
        printf(",\"action\":");
        cli_print_json_text(hudi_preview_action(preview, i));
        printf(",\"state\":");
        cli_print_json_text(hudi_preview_state(preview, i));
        printf(",\"files\":%zu,\"bytes\":%lld,\"rollback_blocks\":%zu,\"partitions\":",
               hudi_preview_files(preview, i), (long long)hudi_preview_bytes(preview, i),
               count_logs(preview, i));
        print_json_files(preview, i, hudi_preview_file);
        printf(",\"log_files\":");
        print_json_files(preview, i, hudi_preview_log_file);
        printf("}");
    }
    printf("]}\n");
}

static void print_files(const hudi_preview *preview, size_t i, get_file *get, const char *tail)
{
    const char *name, *partition;

    for (size_t f = 0; (name = get(preview, i, f, &partition)) != NULL; f++)
        printf("%s%s%s%s\n", partition, partition[0] == '\0' ? "" : "/", name, tail);
}

static void print_instant(const hudi_preview *preview, size_t i, const char *verb)
{
    const size_t n_logs = count_logs(preview, i);
    char bytes[32];

    print_files(preview, i, hudi_preview_file, "");
    print_files(preview, i, hudi_preview_log_file, "\trollback block");
    cli_format_bytes((double)hudi_preview_bytes(preview, i), bytes);
    fprintf(stderr, "%s %s: %zu files, %s, %s", hudi_preview_action(preview, i),
            hudi_preview_instant(preview, i), hudi_preview_files(preview, i), bytes, verb);
    if (n_logs > 0)
        fprintf(stderr, "; %zu log files would get a rollback block", n_logs);
    fprintf(stderr, "\n");
}

void cli_print_preview(const hudi_preview *preview, const char *command, const char *instant,
                       const char *verb, bool json)
{
    if (json) {
        print_json(preview, command, instant);
        return;
    }
    for (size_t i = 0; i < hudi_preview_length(preview); i++)
        print_instant(preview, i, verb);
    if (hudi_preview_length(preview) == 0)
        fprintf(stderr, "nothing to undo\n");
}
