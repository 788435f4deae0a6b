/* SPDX-License-Identifier: Apache-2.0 */
/*
 * docs/CONFIGURATION.md from the table of keys:
 *
 *     gen_configuration FILE            write it
 *     gen_configuration --check FILE    exit 1 when FILE is not what would be written
 */
#include <inttypes.h>
#include <stdio.h>

#include "format/table/config_keys.h"

struct section {
    const char *title;
    const char *text;
    unsigned with;    /* any of these scopes */
    unsigned without; /* and none of these */
};

static const struct section sections[] = {
    {"Table properties",
     "Stored in the table when it is created (`.hoodie/hoodie.properties`); options of `create`, "
     "and what later calls find in the table.",
     HD_KEY_TABLE, HD_KEY_ACCEPTED | HD_KEY_REFUSED},
    {"Writing", "Options of a write.", HD_KEY_WRITE,
     HD_KEY_TABLE | HD_KEY_ACCEPTED | HD_KEY_REFUSED},
    {"Reading", "Options of a query.", HD_KEY_READ,
     HD_KEY_WRITE | HD_KEY_TABLE | HD_KEY_ACCEPTED | HD_KEY_REFUSED},
    {"Context", "Of the whole program, whatever the table.", HD_KEY_CONTEXT,
     HD_KEY_ACCEPTED | HD_KEY_REFUSED},
    {"Refused unless they have their default",
     "Hudi knows them, and ignoring them would give other results than were asked for: any other "
     "value is an error.",
     HD_KEY_REFUSED, 0},
    {"Accepted and without effect",
     "Hudi knows them, so that a configuration written for it can be given as it is; the last "
     "column says why nothing follows.",
     HD_KEY_ACCEPTED, 0},
};

static hudi_status append_cell(struct hd_op *op, struct hd_str *out, const char *text)
{
    for (; *text != '\0'; text++)
        HD_TRY(hd_str_printf(op, out, "%s%c", *text == '|' ? "\\" : "", *text));
    return HUDI_OK;
}

static hudi_status append_type(struct hd_op *op, struct hd_str *out,
                               const struct hd_config_key *key)
{
    static const char *const names[] = {
        [HD_KEY_TEXT] = "text",  [HD_KEY_LIST] = "list",     [HD_KEY_BOOL] = "boolean",
        [HD_KEY_INT] = "number", [HD_KEY_DOUBLE] = "number", [HD_KEY_ENUM] = "",
    };

    for (const char *const *choice = key->choices; choice != NULL && *choice != NULL; choice++)
        HD_TRY(hd_str_printf(op, out, "%s`%s`", choice == key->choices ? "" : ", ", *choice));
    HD_TRY(hd_str_append_text(op, out, names[key->type]));
    if (key->type != HD_KEY_INT)
        return HUDI_OK;
    if (key->max == INT64_MAX)
        return hd_str_printf(op, out, " from %" PRId64, key->min);
    return hd_str_printf(op, out, ", %" PRId64 " to %" PRId64, key->min, key->max);
}

static hudi_status append_key(struct hd_op *op, struct hd_str *out, const struct hd_config_key *key)
{
    HD_TRY(hd_str_printf(op, out, "| `%s` | ", key->name));
    HD_TRY(append_type(op, out, key));
    HD_TRY(hd_str_append_text(op, out, " | "));
    if (key->default_value != NULL)
        HD_TRY(hd_str_printf(op, out, "`%s`", key->default_value));
    HD_TRY(hd_str_append_text(op, out, " | "));
    HD_TRY(append_cell(op, out, key->help));
    for (const char *const *alias = key->aliases; alias != NULL && *alias != NULL; alias++)
        HD_TRY(hd_str_printf(op, out, "%s`%s`", alias == key->aliases ? "; also " : ", ", *alias));
    return hd_str_append_text(op, out, " |\n");
}

static hudi_status append_page(struct hd_op *op, struct hd_str *out)
{
    HD_TRY(hd_str_append_text(
        op, out,
        "<!-- SPDX-License-Identifier: Apache-2.0 -->\n"
        "<!-- Made by tools/gen_configuration.c from src/format/table/config_keys*: change it "
        "there. -->\n"
        "# Configuration\n\n"
        "Options are Hudi's own keys; those of this library begin with `libhudi.`. Older names of "
        "Hudi and Flink's\nnames are accepted; sizes under Flink's names are in MiB, as there. "
        "A name that is not here is an error. Where a\nkey ends in `*`, every key that begins so "
        "is meant. An empty default is none.\n"));
    for (size_t i = 0; i < HD_ARRAY_LENGTH(sections); i++) {
        const struct section *section = &sections[i];

        HD_TRY(hd_str_printf(op, out,
                             "\n## %s\n\n%s\n\n| key | values | default | meaning |\n"
                             "|---|---|---|---|\n",
                             section->title, section->text));
        for (size_t k = 0; k < hd_n_config_keys; k++)
            if ((hd_config_keys[k].scope & section->with) != 0 &&
                (hd_config_keys[k].scope & section->without) == 0)
                HD_TRY(append_key(op, out, &hd_config_keys[k]));
    }
    return HUDI_OK;
}

/* Whether the file holds exactly `text`. */
static bool is_same(const char *path, const struct hd_str *text)
{
    FILE *file = fopen(path, "rb");
    bool same = file != NULL;

    for (size_t i = 0; same && i < text->size; i++)
        same = getc(file) == (unsigned char)text->data[i];
    same = same && getc(file) == EOF;
    if (file != NULL)
        fclose(file);
    return same;
}

static bool write_page(const char *path, const struct hd_str *text)
{
    FILE *file = fopen(path, "wb");

    if (file == NULL)
        return false;
    const bool written = fwrite(text->data, 1, text->size, file) == text->size;

    return fclose(file) == 0 && written;
}

int main(int argc, char **argv)
{
    const bool check = argc == 3 && strcmp(argv[1], "--check") == 0;
    struct hd_op op;
    struct hd_str page = {0};
    int result = 1;

    if (argc != 2 && !check) {
        fprintf(stderr, "use: gen_configuration [--check] FILE\n");
        return 2;
    }
    hd_op_init(&op);
    if (append_page(&op, &page) != HUDI_OK)
        fprintf(stderr, "gen_configuration: %s\n", hudi_error_message(op.error));
    else if (check && !is_same(argv[2], &page))
        fprintf(stderr, "%s is not what tools/gen_configuration.c makes: run it\n", argv[2]);
    else if (!check && !write_page(argv[1], &page))
        fprintf(stderr, "gen_configuration: %s cannot be written\n", argv[1]);
    else
        result = 0;
    hd_str_clear(&page);
    hd_op_clear(&op);
    return result;
}
