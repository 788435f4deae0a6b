/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HUDI_CLI_CLI_H
#define HUDI_CLI_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "hudi/hudi.h"

/*
 * The program on the public API alone. One cmd_NAME.c per sub-command fills in a struct
 * cli_command; main.c finds it, args.c takes the words apart, and run() does the work. Results go
 * to standard output, all else to standard error.
 */

enum {
    CLI_EXIT_OK = 0,
    CLI_EXIT_FAILURE = 1,
    CLI_EXIT_USAGE = 2,
    CLI_EXIT_NO_READER = 141, /* as a shell says it of SIGPIPE */
};

/** An option of a command. */
struct cli_option {
    const char *name;  /* "key", for --key */
    const char *value; /* what it takes ("F[,F]"); NULL: a switch */
    const char *help;
    const char *hudi_key; /* the value is this option of Hudi's as well; NULL: the command's own */
};

#define CLI_MAX_OPTIONS 32

/** The words of a call, taken apart. */
struct cli_args {
    char **words; /* what is neither an option nor its value, n_words of them */
    int n_words;
    const char *values[CLI_MAX_OPTIONS]; /* by number of the command's option; "" for a switch */
    hudi_options *options;               /* from -o and from options with a hudi_key */
    hudi_options *pairs;                 /* from -o alone */
};

struct cli_command {
    const char *name;
    const char *arguments;            /* "TABLE [FILE...]" */
    int min_words, max_words;         /* -1: any number */
    const char *summary;              /* one line */
    const char *help;                 /* paragraphs, or NULL */
    const struct cli_option *options; /* ends with name NULL */
    int (*run)(hudi_context *context, const struct cli_args *args);
};

extern const struct cli_command cli_create, cli_write, cli_read, cli_show, cli_timeline, cli_log,
    cli_rollback, cli_clean, cli_compact, cli_cluster, cli_archive, cli_savepoint, cli_restore,
    cli_verify;

/** Take the words apart; false when they do not fit, which has been told on standard error. */
bool cli_args_parse(const struct cli_command *command, int argc, char **argv,
                    struct cli_args *args);
void cli_args_clear(struct cli_args *args);

/** The value of an option by name, NULL when it was not given. */
const char *cli_value(const struct cli_command *command, const struct cli_args *args,
                      const char *name);

/** Print "hudi: MESSAGE" (and the path, unless the message names it), free `error`, and give the
 * exit code. Silent when standard output failed since nobody reads it any more. */
int cli_fail(hudi_error *error);
/** The same for a fault of the program's own making. */
int cli_fail_text(int exit_code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** Is standard output a pipe that nobody reads any more (`| head`)? */
bool cli_reader_is_gone(void);

/** Keep in `*nearest` and `*distance` (NULL and SIZE_MAX at first) the name that `word` of `n`
 * bytes was probably meant to be, if `name` is nearer; NULL stays when none is near. */
void cli_take_nearer(const char *word, size_t n, const char *name, const char **nearest,
                     size_t *distance);

/** Whole file, or standard input for "-"; NULL after a failure that has been told. */
char *cli_read_file(const char *path, size_t *n_bytes);

/** Print a JSON string, quotes and all; bytes that are no UTF-8 become U+FFFD. */
void cli_print_json_text(const char *text);

/** "1.5 MiB" */
void cli_format_bytes(double n_bytes, char out[32]);

/** What a dry run of `command` ("restore") says: `verb` ("would be removed") for the files of each
 * instant. */
void cli_print_preview(const hudi_preview *preview, const char *command, const char *instant,
                       const char *verb, bool json);
/** The same document of a run: the part that is known without a preview, and without its end. */
void cli_print_json_head(const char *command, const char *instant, bool dry_run);

/** Cancels on SIGINT and SIGTERM, as long as the program runs. */
hudi_cancel *cli_cancel(void);

/** A stream that passes rows on and shows a progress line on standard error when that is a
 * terminal. Takes `in`. */
void cli_progress(struct ArrowArrayStream *in, const char *what, struct ArrowArrayStream *out);
/** The same line for what services of the context do. */
void cli_progress_watch(hudi_context *context);
/** Take the line away, before anything else is printed; nothing when there is none. */
void cli_progress_end(void);

#endif
