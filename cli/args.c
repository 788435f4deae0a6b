/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

static int find_option(const struct cli_command *command, const char *name, size_t n)
{
    for (int i = 0; command->options[i].name != NULL; i++)
        if (strlen(command->options[i].name) == n && memcmp(command->options[i].name, name, n) == 0)
            return i;
    return -1;
}

/* Letters to put in, leave out or change to make one word of the other; at most 31 letters each. */
static size_t edit_distance(const char *a, size_t n_a, const char *b, size_t n_b)
{
    size_t row[32];

    for (size_t j = 0; j <= n_b; j++)
        row[j] = j;
    for (size_t i = 0; i < n_a; i++) {
        size_t diagonal = row[0];
        row[0] = i + 1;
        for (size_t j = 0; j < n_b; j++) {
            const size_t change = diagonal + (a[i] != b[j]);
            diagonal = row[j + 1];
            const size_t one_more = (row[j] < row[j + 1] ? row[j] : row[j + 1]) + 1;
            row[j + 1] = change < one_more ? change : one_more;
        }
    }
    return row[n_b];
}

void cli_take_nearer(const char *word, size_t n, const char *name, const char **nearest,
                     size_t *distance)
{
    const size_t n_name = strlen(name);

    if (n > 31 || n_name > 31)
        return;
    const size_t apart = edit_distance(word, n, name, n_name);
    if (apart <= (n < 4 ? 1 : 2) && apart < *distance) {
        *nearest = name;
        *distance = apart;
    }
}

static bool fail_unknown_option(const struct cli_command *command, const char *word, size_t n)
{
    const char *nearest = NULL;
    size_t distance = SIZE_MAX;

    for (const struct cli_option *option = command->options; option->name != NULL; option++)
        cli_take_nearer(word, n, option->name, &nearest, &distance);
    if (nearest != NULL)
        cli_fail_text(CLI_EXIT_USAGE, "%s has no option --%.*s: did you mean --%s?", command->name,
                      (int)n, word, nearest);
    else
        cli_fail_text(CLI_EXIT_USAGE, "%s has no option --%.*s (see hudi %s --help)", command->name,
                      (int)n, word, command->name);
    return false;
}

const char *cli_value(const struct cli_command *command, const struct cli_args *args,
                      const char *name)
{
    const int i = find_option(command, name, strlen(name));

    return i < 0 ? NULL : args->values[i];
}

static bool set_hudi_option(hudi_options *options, const char *key, const char *value)
{
    hudi_error *error = NULL;

    if (hudi_options_set(options, key, value, &error) == HUDI_OK)
        return true;
    cli_fail(error);
    return false;
}

/* Of an option of the command and -o with its key, neither may be dropped without a word. */
static bool check_pairs(const struct cli_command *command, const struct cli_args *args)
{
    hudi_error *error = NULL;
    hudi_options *words = NULL;
    bool ok = true;

    if (hudi_options_new(&words, &error) != HUDI_OK) {
        cli_fail(error);
        return false;
    }
    for (int i = 0; command->options[i].name != NULL && ok; i++) {
        const struct cli_option *option = &command->options[i];
        const char *pair =
            option->hudi_key == NULL ? NULL : hudi_options_get(args->pairs, option->hudi_key);

        if (pair == NULL || args->values[i] == NULL)
            continue;
        ok = set_hudi_option(words, option->hudi_key,
                             option->value == NULL ? "true" : args->values[i]);
        if (!ok || strcmp(hudi_options_get(words, option->hudi_key), pair) == 0)
            continue;
        cli_fail_text(CLI_EXIT_USAGE, "--%s%s%s and -o %s=%s contradict each other", option->name,
                      option->value == NULL ? "" : " ", args->values[i], option->hudi_key, pair);
        ok = false;
    }
    hudi_options_free(words);
    return ok;
}

/* "KEY=VALUE" of -o. */
static bool take_pair(struct cli_args *args, const char *pair)
{
    const char *equals = pair == NULL ? NULL : strchr(pair, '=');

    if (equals == NULL || equals == pair) {
        cli_fail_text(CLI_EXIT_USAGE, "-o takes KEY=VALUE");
        return false;
    }
    char *key = strndup(pair, (size_t)(equals - pair));
    if (key == NULL) {
        cli_fail_text(CLI_EXIT_FAILURE, "out of memory");
        return false;
    }
    const bool ok = set_hudi_option(args->options, key, equals + 1) &&
                    set_hudi_option(args->pairs, key, equals + 1);
    free(key);
    return ok;
}

/* --NAME, --NAME VALUE or --NAME=VALUE at argv[*i]. */
static bool take_option(const struct cli_command *command, int argc, char **argv, int *i,
                        struct cli_args *args)
{
    const char *word = argv[*i] + 2, *equals = strchr(word, '=');
    const size_t n = equals == NULL ? strlen(word) : (size_t)(equals - word);
    const int option = find_option(command, word, n);
    const char *value = "";

    if (option < 0)
        return fail_unknown_option(command, word, n);
    if (command->options[option].value == NULL) {
        if (equals != NULL) {
            cli_fail_text(CLI_EXIT_USAGE, "--%.*s takes no value", (int)n, word);
            return false;
        }
    } else if (equals != NULL) {
        value = equals + 1;
    } else if (*i + 1 < argc) {
        value = argv[++*i];
    } else {
        cli_fail_text(CLI_EXIT_USAGE, "--%s takes %s", word, command->options[option].value);
        return false;
    }
    args->values[option] = value;
    if (command->options[option].hudi_key == NULL)
        return true;
    return set_hudi_option(args->options, command->options[option].hudi_key,
                           command->options[option].value == NULL ? "true" : value);
}

bool cli_args_parse(const struct cli_command *command, int argc, char **argv, struct cli_args *args)
{
    hudi_error *error = NULL;
    bool only_words = false;

    *args = (struct cli_args){0};
    if (hudi_options_new(&args->options, &error) != HUDI_OK ||
        hudi_options_new(&args->pairs, &error) != HUDI_OK) {
        cli_fail(error);
        return false;
    }
    args->words = calloc((size_t)argc + 1, sizeof *args->words);
    if (args->words == NULL) {
        cli_fail_text(CLI_EXIT_FAILURE, "out of memory");
        return false;
    }
    for (int i = 0; i < argc; i++) {
        char *word = argv[i];

        if (only_words || word[0] != '-' || strcmp(word, "-") == 0) {
            args->words[args->n_words++] = word;
        } else if (strcmp(word, "--") == 0) {
            only_words = true;
        } else if (strcmp(word, "-o") == 0) {
            if (!take_pair(args, ++i < argc ? argv[i] : NULL))
                return false;
        } else if (word[1] == '-') {
            if (!take_option(command, argc, argv, &i, args))
                return false;
        } else {
            cli_fail_text(CLI_EXIT_USAGE, "unknown option %s (see hudi %s --help)", word,
                          command->name);
            return false;
        }
    }
    if (args->n_words < command->min_words ||
        (command->max_words >= 0 && args->n_words > command->max_words)) {
        cli_fail_text(CLI_EXIT_USAGE, "use: hudi %s %s", command->name, command->arguments);
        return false;
    }
    return check_pairs(command, args);
}

void cli_args_clear(struct cli_args *args)
{
    hudi_options_free(args->options);
    hudi_options_free(args->pairs);
    free(args->words);
    *args = (struct cli_args){0};
}
