/* SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>

#include "arrow/decimal.h"
#include "arrow/schema.h"
#include "format/table/internal.h"
#include "format/table/table_schema.h"

/*
 * Columns as text, one a line:
 *
 *     columns := column { ("," | newline) column }
 *     column  := name [":"] type ["not" "null"] ["comment" 'text']
 *     type    := word | word "(" number ["," number] ")" | "array" "<" type ">"
 *              | "map" "<" "string" "," type ">"
 *              | "struct" "<" name [":"] type ["not" "null"] { "," ... } ">"
 *     name    := characters up to a blank or one of :,<>() | `anything`
 *
 * "#" and "--" begin comments that end with the line. Keywords in any case.
 */

struct ddl {
    struct hd_op *op;
    const char *at;
    const char *end;
    const char *line_start;
    size_t line;
    int depth;
};

static hudi_status parse_type(struct ddl *d, const char *name, struct ArrowSchema *out);

#define FAIL(d, ...) fail_at((d), (d)->at, __VA_ARGS__)

static hudi_status fail_at(struct ddl *d, const char *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static hudi_status fail_at(struct ddl *d, const char *at, const char *format, ...)
{
    char what[200];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    return hd_fail(d->op, HUDI_INVALID, "schema line %zu column %zu: %s", d->line,
                   (size_t)(at - d->line_start) + 1, what);
}

/* Blanks and comments; newlines too where they have no meaning. */
static void skip_blanks(struct ddl *d, bool newlines)
{
    while (d->at < d->end) {
        if (*d->at == '\n') {
            if (!newlines)
                return;
            d->at++;
            d->line++;
            d->line_start = d->at;
        } else if (*d->at == '#' || (*d->at == '-' && d->end - d->at > 1 && d->at[1] == '-')) {
            while (d->at < d->end && *d->at != '\n')
                d->at++;
        } else if (isspace((unsigned char)*d->at)) {
            d->at++;
        } else {
            return;
        }
    }
}

static bool accept_char(struct ddl *d, char c)
{
    skip_blanks(d, d->depth > 0);
    if (d->at == d->end || *d->at != c)
        return false;
    d->at++;
    return true;
}

static hudi_status expect_char(struct ddl *d, char c)
{
    return accept_char(d, c) ? HUDI_OK : FAIL(d, "'%c' is missing", c);
}

static bool is_word_char(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* A keyword or type name in lower case; "" when there is none or it is too long. */
static void take_word(struct ddl *d, char out[32])
{
    size_t n = 0;
    const char *at;

    skip_blanks(d, d->depth > 0);
    for (at = d->at; at < d->end && is_word_char(*at); at++, n++)
        if (n < 31)
            out[n] = (char)tolower((unsigned char)*at);
    if (n > 31)
        n = 0;
    else
        d->at = at;
    out[n] = '\0';
}

static bool accept_word(struct ddl *d, const char *word)
{
    const struct ddl before = *d;
    char found[32];

    take_word(d, found);
    if (strcmp(found, word) == 0)
        return true;
    *d = before;
    return false;
}

static hudi_status take_name(struct ddl *d, char **out)
{
    const char *start, *end;

    skip_blanks(d, true);
    start = d->at;
    if (d->at < d->end && *d->at == '`') {
        start++;
        for (end = start; end < d->end && *end != '`' && *end != '\n'; end++)
            ;
        if (end == d->end || *end != '`')
            return FAIL(d, "name without a closing `");
        d->at = end + 1;
    } else {
        for (end = start;
             end < d->end && !isspace((unsigned char)*end) && strchr(":,<>()", *end) == NULL; end++)
            ;
        d->at = end;
    }
    if (end == start)
        return fail_at(d, start, "a column name is missing");
    return hd_strndup(d->op, start, (size_t)(end - start), out);
}

static hudi_status take_number(struct ddl *d, int32_t max, int32_t *out)
{
    int64_t value = 0;

    skip_blanks(d, d->depth > 0);
    const char *start = d->at;

    while (d->at < d->end && isdigit((unsigned char)*d->at) && value <= max)
        value = value * 10 + (*d->at++ - '0');
    if (d->at == start || value > max)
        return fail_at(d, start, "a number up to %d is missing", (int)max);
    *out = (int32_t)value;
    return HUDI_OK;
}

/* "not null" or nothing, then a comment or nothing. */
static hudi_status take_tail(struct ddl *d, bool *nullable)
{
    *nullable = true;
    if (accept_word(d, "not")) {
        if (!accept_word(d, "null"))
            return FAIL(d, "\"null\" is missing after \"not\"");
        *nullable = false;
    } else {
        accept_word(d, "null");
    }
    if (!accept_word(d, "comment"))
        return HUDI_OK;
    skip_blanks(d, d->depth > 0);
    const char quote = d->at < d->end ? *d->at : '\0';

    if (quote != '\'' && quote != '"')
        return FAIL(d, "a comment in quotes is missing");
    for (d->at++; d->at < d->end && *d->at != quote && *d->at != '\n'; d->at++)
        ;
    if (d->at == d->end || *d->at != quote)
        return FAIL(d, "comment without a closing quote");
    d->at++;
    return HUDI_OK;
}

/* Spark SQL's names, and ours for what it has no name for. */
static const struct {
    const char *name;
    struct hd_type type;
} types[] = {
    {"boolean", {.id = HD_TYPE_BOOL}},
    {"bool", {.id = HD_TYPE_BOOL}},
    {"tinyint", {.id = HD_TYPE_INT32}},
    {"byte", {.id = HD_TYPE_INT32}},
    {"smallint", {.id = HD_TYPE_INT32}},
    {"short", {.id = HD_TYPE_INT32}},
    {"int", {.id = HD_TYPE_INT32}},
    {"integer", {.id = HD_TYPE_INT32}},
    {"bigint", {.id = HD_TYPE_INT64}},
    {"long", {.id = HD_TYPE_INT64}},
    {"float", {.id = HD_TYPE_FLOAT}},
    {"real", {.id = HD_TYPE_FLOAT}},
    {"double", {.id = HD_TYPE_DOUBLE}},
    {"string", {.id = HD_TYPE_STRING}},
    {"uuid", {.id = HD_TYPE_STRING}},
    {"binary", {.id = HD_TYPE_BINARY}},
    {"bytes", {.id = HD_TYPE_BINARY}},
    {"date", {.id = HD_TYPE_DATE}},
    {"time", {.id = HD_TYPE_TIME, .unit = HD_UNIT_MICRO}},
    {"time_micros", {.id = HD_TYPE_TIME, .unit = HD_UNIT_MICRO}},
    {"time_millis", {.id = HD_TYPE_TIME, .unit = HD_UNIT_MILLI}},
    {"timestamp", {.id = HD_TYPE_TIMESTAMP, .unit = HD_UNIT_MICRO, .utc = true}},
    {"timestamp_ltz", {.id = HD_TYPE_TIMESTAMP, .unit = HD_UNIT_MICRO, .utc = true}},
    {"timestamp_micros", {.id = HD_TYPE_TIMESTAMP, .unit = HD_UNIT_MICRO, .utc = true}},
    {"timestamp_millis", {.id = HD_TYPE_TIMESTAMP, .unit = HD_UNIT_MILLI, .utc = true}},
    {"timestamp_ntz", {.id = HD_TYPE_TIMESTAMP, .unit = HD_UNIT_MICRO}},
    {"local_timestamp_micros", {.id = HD_TYPE_TIMESTAMP, .unit = HD_UNIT_MICRO}},
    {"local_timestamp_millis", {.id = HD_TYPE_TIMESTAMP, .unit = HD_UNIT_MILLI}},
};

static hudi_status parse_decimal(struct ddl *d, struct hd_type *type)
{
    *type = (struct hd_type){.id = HD_TYPE_DECIMAL, .precision = 10};
    if (!accept_char(d, '('))
        return HUDI_OK;
    HD_TRY(take_number(d, HD_DECIMAL_MAX_DIGITS, &type->precision));
    if (type->precision == 0)
        return FAIL(d, "a decimal has at least one digit");
    if (accept_char(d, ','))
        HD_TRY(take_number(d, type->precision, &type->scale));
    return expect_char(d, ')');
}

static hudi_status parse_leaf(struct ddl *d, const char *word, const char *start,
                              struct hd_type *type)
{
    int32_t n;

    for (size_t i = 0; i < HD_ARRAY_LENGTH(types); i++) {
        if (strcmp(types[i].name, word) == 0) {
            *type = types[i].type;
            return HUDI_OK;
        }
    }
    if (strcmp(word, "decimal") == 0 || strcmp(word, "dec") == 0 || strcmp(word, "numeric") == 0)
        return parse_decimal(d, type);
    if (strcmp(word, "varchar") == 0 || strcmp(word, "char") == 0) {
        *type = (struct hd_type){.id = HD_TYPE_STRING};
        HD_TRY(expect_char(d, '('));
        HD_TRY(take_number(d, INT32_MAX / 10, &n));
        return expect_char(d, ')');
    }
    if (strcmp(word, "fixed") == 0) {
        *type = (struct hd_type){.id = HD_TYPE_FIXED_BINARY};
        HD_TRY(expect_char(d, '('));
        HD_TRY(take_number(d, 65536, &type->byte_width));
        if (type->byte_width == 0)
            return FAIL(d, "a fixed value has at least one byte");
        return expect_char(d, ')');
    }
    if (word[0] == '\0')
        return fail_at(d, start, "a type is missing");
    return fail_at(d, start, "\"%s\" is no type", word);
}

/* The fields of a struct or the columns of the table, collected before their number is known. */
struct columns {
    struct ArrowSchema *items;
    size_t n;
    size_t capacity;
};

static void columns_clear(struct hd_op *op, struct columns *columns)
{
    for (size_t i = 0; i < columns->n; i++)
        hd_schema_clear(&columns->items[i]);
    hd_free(op, columns->items);
}

static hudi_status add_column(struct ddl *d, struct columns *columns)
{
    char *name = NULL;
    struct ArrowSchema type = {0};
    bool nullable;
    hudi_status status = HUDI_OK;

    HD_TRY(hd_grow(d->op, &columns->items, &columns->capacity, columns->n + 1,
                   sizeof *columns->items));
    HD_TRY_OUT(take_name(d, &name));
    accept_char(d, ':');
    HD_TRY_OUT(parse_type(d, name, &type));
    HD_TRY_OUT(take_tail(d, &nullable));
    if (!nullable)
        type.flags &= ~(int64_t)ARROW_FLAG_NULLABLE;
    columns->items[columns->n++] = type; /* moved */
    type.release = NULL;
out:
    hd_schema_clear(&type);
    hd_free(d->op, name);
    return status;
}

/* Moves the columns into a struct. */
static hudi_status make_struct(struct ddl *d, struct columns *columns, const char *name,
                               bool nullable, struct ArrowSchema *out)
{
    HD_TRY(hd_schema_init_struct(d->op, out, name, nullable, (int64_t)columns->n));
    for (size_t i = 0; i < columns->n; i++)
        *out->children[i] = columns->items[i];
    columns->n = 0;
    return HUDI_OK;
}

static hudi_status parse_struct(struct ddl *d, const char *name, struct ArrowSchema *out)
{
    struct columns columns = {0};
    hudi_status status = HUDI_OK;

    do {
        HD_TRY_OUT(add_column(d, &columns));
    } while (accept_char(d, ','));
    HD_TRY_OUT(make_struct(d, &columns, name, true, out));
out:
    columns_clear(d->op, &columns);
    return status;
}

static hudi_status parse_map(struct ddl *d, const char *name, struct ArrowSchema *out)
{
    char key[32];

    take_word(d, key);
    if (strcmp(key, "string") != 0)
        return FAIL(d, "keys of a map are strings");
    HD_TRY(expect_char(d, ','));
    HD_TRY(hd_schema_init_map(d->op, out, name, true));
    return parse_type(d, "value", out->children[0]->children[1]);
}

static hudi_status parse_nested(struct ddl *d, const char *word, const char *name,
                                struct ArrowSchema *out)
{
    if (++d->depth > HD_TYPE_MAX_DEPTH / 4)
        return FAIL(d, "types nest more than %d deep", HD_TYPE_MAX_DEPTH / 4);
    HD_TRY(expect_char(d, '<'));
    if (strcmp(word, "struct") == 0) {
        HD_TRY(parse_struct(d, name, out));
    } else if (strcmp(word, "map") == 0) {
        HD_TRY(parse_map(d, name, out));
    } else {
        HD_TRY(hd_schema_init_list(d->op, out, name, true));
        HD_TRY(parse_type(d, "element", out->children[0]));
    }
    HD_TRY(expect_char(d, '>'));
    d->depth--;
    return HUDI_OK;
}

static hudi_status parse_type(struct ddl *d, const char *name, struct ArrowSchema *out)
{
    char word[32];
    struct hd_type type;

    skip_blanks(d, d->depth > 0);
    const char *start = d->at;

    take_word(d, word);
    if (strcmp(word, "struct") == 0 || strcmp(word, "map") == 0 || strcmp(word, "array") == 0) {
        const hudi_status status = parse_nested(d, word, name, out);

        if (status != HUDI_OK)
            hd_schema_clear(out);
        return status;
    }
    HD_TRY(parse_leaf(d, word, start, &type));
    return hd_schema_init_field(d->op, out, name, &type, true);
}

static hudi_status parse_columns(struct ddl *d, struct columns *columns)
{
    for (skip_blanks(d, true); d->at < d->end; skip_blanks(d, true)) {
        HD_TRY(add_column(d, columns));
        if (accept_char(d, ','))
            continue;
        skip_blanks(d, false);
        if (d->at < d->end && *d->at != '\n')
            return FAIL(d, "the end of the line is missing");
    }
    if (columns->n == 0)
        return FAIL(d, "a table has at least one column");
    return HUDI_OK;
}

hudi_status hd_table_schema_parse(struct hd_op *op, struct hd_slice text, struct ArrowSchema *out)
{
    struct ddl d = {.op = op, .at = (const char *)text.data, .line = 1};
    struct columns columns = {0};
    hudi_status status = HUDI_OK;

    *out = (struct ArrowSchema){0};
    if (memchr(text.data == NULL ? (const uint8_t *)"" : text.data, '\0', text.size) != NULL)
        return hd_fail(op, HUDI_INVALID, "schema text has a NUL character");
    d.end = d.at + text.size;
    d.line_start = d.at;
    skip_blanks(&d, true);
    if (d.at < d.end && *d.at == '{') {
        char *json;

        HD_TRY(hd_strndup(op, d.at, (size_t)(d.end - d.at), &json));
        status = hd_table_schema_from_avro(op, json, out);
        hd_free(op, json);
        return status;
    }
    HD_TRY_OUT(parse_columns(&d, &columns));
    HD_TRY_OUT(make_struct(&d, &columns, "", false, out));
out:
    columns_clear(op, &columns);
    return status;
}
