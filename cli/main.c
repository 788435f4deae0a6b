/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "cli.h"

static const struct cli_command *const COMMANDS[] = {
    &cli_create,  &cli_write,     &cli_read,    &cli_show,    &cli_timeline,
    &cli_log,     &cli_rollback,  &cli_clean,   &cli_compact, &cli_cluster,
    &cli_archive, &cli_savepoint, &cli_restore, &cli_verify,
};
#define N_COMMANDS (sizeof COMMANDS / sizeof COMMANDS[0])

static hudi_cancel *cancel;

hudi_cancel *cli_cancel(void)
{
    return cancel;
}

static void on_signal(int number)
{
    (void)number;
    hudi_cancel_request(cancel);
}

static void catch_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};

    if (hudi_cancel_new(&cancel, NULL) != HUDI_OK)
        return;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

/* A descriptor of 0 to 2 that is closed would be the next file that is opened, and notes and
 * results would go into a file of the table. What stands in its place fails as the closed one
 * would. */
static void hold_standard_descriptors(void)
{
    static const int MODES[] = {O_WRONLY, O_RDONLY, O_RDONLY};

    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", MODES[fd]) != fd)
            exit(CLI_EXIT_FAILURE);
    /* It must not end a write in the middle; the end is as quiet (cli_reader_is_gone). */
    signal(SIGPIPE, SIG_IGN);
}

static void print_usage(FILE *to)
{
    fprintf(to, "hudi %s: Apache Hudi tables\n\nuse: hudi COMMAND ARGUMENTS\n\n", hudi_version());
    for (size_t i = 0; i < N_COMMANDS; i++)
        fprintf(to, "  %-10s %s\n", COMMANDS[i]->name, COMMANDS[i]->summary);
    fprintf(to,
            "\nhudi COMMAND --help tells more; hudi --options lists what -o KEY=VALUE takes.\n");
}

/* `text` behind `left`, in lines of at most LINE_COLUMNS, all starting at HELP_COLUMN. */
static void print_wrapped(const char *left, const char *text)
{
    enum { HELP_COLUMN = 33, LINE_COLUMNS = 100 };

    printf("  %-*s ", HELP_COLUMN - 3, left);
    for (size_t room = LINE_COLUMNS - HELP_COLUMN; strlen(text) > room;) {
        size_t n = room;
        while (n > 0 && text[n] != ' ')
            n--;
        if (n == 0)
            break; /* a word longer than the line */
        printf("%.*s\n%*s", (int)n, text, HELP_COLUMN, "");
        text += n + 1;
    }
    printf("%s\n", text);
}

static void print_help(const struct cli_command *command)
{
    printf("use: hudi %s %s\n\n%s\n", command->name, command->arguments, command->summary);
    if (command->help != NULL)
        printf("\n%s\n", command->help);
    printf("\noptions:\n");
    for (const struct cli_option *option = command->options; option->name != NULL; option++) {
        char left[64];
        snprintf(left, sizeof left, "--%s%s%s", option->name, option->value == NULL ? "" : " ",
                 option->value == NULL ? "" : option->value);
        print_wrapped(left, option->help);
    }
    print_wrapped("-o KEY=VALUE", "any option of Hudi's (hudi --options)");
}

static void print_options(void)
{
    for (size_t i = 0; i < hudi_option_count(); i++) {
        const hudi_option_info *info = hudi_option_at(i);
        const char *value = hudi_option_default(info);
        printf("%s\t%s\t%s\t%s\n", hudi_option_name(info), hudi_option_type(info),
               value == NULL ? "" : value, hudi_option_help(info));
    }
}

static void print_log(void *self, hudi_log_level level, const char *message)
{
    (void)self;
    if (level < HUDI_LOG_WARN)
        return;
    cli_progress_end();
    fprintf(stderr, "hudi: note: %s\n", message);
}

static int run_command(const struct cli_command *command, int argc, char **argv)
{
    struct cli_args args;
    hudi_context *context = NULL;
    hudi_error *error = NULL;
    int exit_code = CLI_EXIT_USAGE;

    for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            print_help(command);
            return CLI_EXIT_OK;
        }
    }
    if (!cli_args_parse(command, argc, argv, &args))
        goto out;
    catch_signals();
    if (hudi_context_new(args.options, &context, &error) != HUDI_OK) {
        exit_code = cli_fail(error);
        goto out;
    }
    hudi_context_set_log(context, print_log, NULL);
    cli_progress_watch(context);
    exit_code = command->run(context, &args);
out:
    hudi_context_free(context);
    cli_args_clear(&args);
    return exit_code;
}

/* Columns of one batch after the other take and free blocks of the same few sizes: given back to
 * the system each time, they would be cleared page by page each time. */
static void keep_freed_memory(void)
{
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, 32 << 20); /* the most that it takes */
    mallopt(M_TRIM_THRESHOLD, 128 << 20);
#endif
}

static int run(int argc, char **argv)
{
    if (argc < 2) {
        print_usage(stderr);
        return CLI_EXIT_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
        strcmp(argv[1], "help") == 0) {
        print_usage(stdout);
        return CLI_EXIT_OK;
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("hudi %s\n", hudi_version());
        return CLI_EXIT_OK;
    }
    if (strcmp(argv[1], "--options") == 0) {
        print_options();
        return CLI_EXIT_OK;
    }
    const char *nearest = NULL;
    size_t distance = SIZE_MAX;
    for (size_t i = 0; i < N_COMMANDS; i++) {
        if (strcmp(argv[1], COMMANDS[i]->name) == 0)
            return run_command(COMMANDS[i], argc - 2, argv + 2);
        cli_take_nearer(argv[1], strlen(argv[1]), COMMANDS[i]->name, &nearest, &distance);
    }
    if (nearest != NULL)
        return cli_fail_text(CLI_EXIT_USAGE, "no command \"%s\": did you mean %s? (hudi --help)",
                             argv[1], nearest);
    return cli_fail_text(CLI_EXIT_USAGE, "no command \"%s\" (see hudi --help)", argv[1]);
}

int main(int argc, char **argv)
{
    keep_freed_memory();
    hold_standard_descriptors();
    const int exit_code = run(argc, argv);

    if (fflush(stdout) == 0 && !ferror(stdout))
        return exit_code;
    return cli_reader_is_gone()
               ? CLI_EXIT_NO_READER
               : cli_fail_text(CLI_EXIT_FAILURE, "standard output could not be written");
}
