/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>
#include <strings.h>

#include "arrow/schema.h"
#include "arrow/text.h"
#include "base/utf8.h"
#include "engine/slice/predicate_internal.h"

#define MAX_DEPTH 100       /* of parentheses and NOTs */
#define MAX_CONDITIONS 2000 /* of one filter: bounds the depth of its tree too */
#define MAX_LITERALS 65536  /* of one IN */

enum token_kind {
    TOKEN_END,
    TOKEN_NAME,   /* bare: a column or a key word */
    TOKEN_QUOTED, /* column */
    TOKEN_TEXT,
    TOKEN_NUMBER,
    TOKEN_SIGN, /* operator, parenthesis, comma */
};

struct token {
    enum token_kind kind;
    struct hd_slice text; /* without quotes, doubled ones made one */
    size_t at;            /* from 1 */
};

struct parser {
    struct hd_op *op;
    hd_predicate *predicate;
    struct hd_slice text;
    size_t next; /* byte after `token` */
    struct token token;
    int depth;
    size_t n_conditions;
};

/* ---- tokens ------------------------------------------------------------------------------- */

static bool is_blank(uint8_t c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool is_digit(uint8_t c)
{
    return c >= '0' && c <= '9';
}

static bool is_name(uint8_t c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c >= 0x80 || is_digit(c);
}

static uint8_t byte_at(const struct parser *p, size_t i)
{
    return i < p->text.size ? p->text.data[i] : 0;
}

static hudi_status take_quoted(struct parser *p, uint8_t quote)
{
    const size_t start = p->next + 1;
    char *copy;
    size_t end = start, n = 0;

    for (;; end++) {
        if (end >= p->text.size)
            return hd_fail(p->op, HUDI_INVALID, "filter, character %zu: %c without an end",
                           p->token.at, quote);
        if (p->text.data[end] != quote)
            continue;
        if (byte_at(p, end + 1) != quote)
            break;
        end++;
    }
    HD_TRY(hd_arena_strndup(p->op, &p->predicate->arena, p->text.data + start, end - start, &copy));
    for (size_t i = 0; i < end - start; i++, n++) {
        copy[n] = copy[i];
        i += (uint8_t)copy[i] == quote;
    }
    p->token.kind = quote == '\'' ? TOKEN_TEXT : TOKEN_QUOTED;
    p->token.text = hd_slice_of(copy, n);
    p->next = end + 1;
    if (!hd_utf8_valid(p->token.text))
        return hd_fail(p->op, HUDI_INVALID, "filter, character %zu: text that is not UTF-8",
                       p->token.at);
    return HUDI_OK;
}

/* [+-] digits [. digits] [e [+-] digits], of which at least one digit is there. */
static size_t number_bytes(const struct parser *p)
{
    size_t i = p->next, n_digits = 0;

    i += byte_at(p, i) == '-' || byte_at(p, i) == '+';
    for (; is_digit(byte_at(p, i)); i++)
        n_digits++;
    if (byte_at(p, i) == '.') {
        for (i++; is_digit(byte_at(p, i)); i++)
            n_digits++;
    }
    if (n_digits == 0)
        return 0;
    if (byte_at(p, i) == 'e' || byte_at(p, i) == 'E') {
        size_t exponent = i + 1;

        exponent += byte_at(p, exponent) == '-' || byte_at(p, exponent) == '+';
        if (is_digit(byte_at(p, exponent))) {
            for (i = exponent; is_digit(byte_at(p, i));)
                i++;
        }
    }
    return is_name(byte_at(p, i)) ? 0 : i - p->next;
}

static size_t sign_bytes(const struct parser *p)
{
    static const char *const SIGNS[] = {"<=", ">=", "<>", "!=", "==", "<", ">", "=", "(", ")", ","};

    for (size_t i = 0; i < HD_ARRAY_LENGTH(SIGNS); i++) {
        const size_t n = strlen(SIGNS[i]);
        if (p->text.size - p->next >= n && memcmp(p->text.data + p->next, SIGNS[i], n) == 0)
            return n;
    }
    return 0;
}

static hudi_status next_token(struct parser *p)
{
    size_t n;

    while (is_blank(byte_at(p, p->next)))
        p->next++;
    p->token = (struct token){.kind = TOKEN_END, .at = p->next + 1};
    if (p->next >= p->text.size)
        return HUDI_OK;
    const uint8_t c = p->text.data[p->next];
    if (c == '\'' || c == '"' || c == '`')
        return take_quoted(p, c);
    if (is_name(c) && !is_digit(c)) {
        p->token.kind = TOKEN_NAME;
        for (n = 1; is_name(byte_at(p, p->next + n));)
            n++;
    } else if ((n = number_bytes(p)) > 0) {
        p->token.kind = TOKEN_NUMBER;
    } else if ((n = sign_bytes(p)) > 0) {
        p->token.kind = TOKEN_SIGN;
    } else {
        return hd_fail(p->op, HUDI_INVALID, "filter, character %zu: not part of any filter",
                       p->token.at);
    }
    p->token.text = hd_slice_of(p->text.data + p->next, n);
    p->next += n;
    return HUDI_OK;
}

static bool is_word(const struct parser *p, const char *word)
{
    return p->token.kind == TOKEN_NAME && p->token.text.size == strlen(word) &&
           strncasecmp((const char *)p->token.text.data, word, p->token.text.size) == 0;
}

static bool is_sign(const struct parser *p, const char *sign)
{
    return p->token.kind == TOKEN_SIGN && hd_slice_equal(p->token.text, hd_slice_text(sign));
}

static hudi_status expected(const struct parser *p, const char *what)
{
    if (p->token.kind == TOKEN_END)
        return hd_fail(p->op, HUDI_INVALID, "filter, character %zu: it ends where %s is expected",
                       p->token.at, what);
    return hd_fail(p->op, HUDI_INVALID, "filter, character %zu: %s is expected, not %.*s",
                   p->token.at, what, (int)(p->token.text.size < 60 ? p->token.text.size : 60),
                   (const char *)p->token.text.data);
}

static hudi_status take_sign(struct parser *p, const char *sign)
{
    if (!is_sign(p, sign))
        return expected(p, sign);
    return next_token(p);
}

/* ---- columns and literals ----------------------------------------------------------------- */

static bool same_but_case(const char *name, struct hd_slice text)
{
    return strlen(name) == text.size && strncasecmp(name, (const char *)text.data, text.size) == 0;
}

static hudi_status take_column(struct parser *p, int32_t *out)
{
    const struct ArrowSchema *schema = p->predicate->schema;
    size_t n_alike = 0;

    *out = -1;
    if (p->token.kind != TOKEN_NAME && p->token.kind != TOKEN_QUOTED)
        return expected(p, "a column");
    for (int32_t i = 0; i < schema->n_children; i++) {
        const char *name = schema->children[i]->name;

        if (hd_slice_equal(hd_slice_text(name), p->token.text)) {
            *out = i;
            return next_token(p);
        }
        if (p->token.kind == TOKEN_NAME && same_but_case(name, p->token.text)) {
            *out = i;
            n_alike++;
        }
    }
    if (n_alike == 1)
        return next_token(p);
    return hd_fail(p->op, HUDI_INVALID, "filter, character %zu: %s \"%.*s\"", p->token.at,
                   n_alike > 1 ? "several columns are called" : "there is no column",
                   (int)(p->token.text.size < 200 ? p->token.text.size : 200),
                   (const char *)p->token.text.data);
}

/* DATE, TIMESTAMP or TIME with a text after it. */
static bool is_typed_text(const struct parser *p)
{
    size_t i = p->next;

    if (!is_word(p, "DATE") && !is_word(p, "TIMESTAMP") && !is_word(p, "TIME"))
        return false;
    while (is_blank(byte_at(p, i)))
        i++;
    return byte_at(p, i) == '\'';
}

static bool is_literal(const struct parser *p)
{
    return p->token.kind == TOKEN_TEXT || p->token.kind == TOKEN_NUMBER || is_word(p, "NULL") ||
           is_word(p, "TRUE") || is_word(p, "FALSE") || is_typed_text(p);
}

static hudi_status take_literal(struct parser *p, struct hd_literal *out)
{
    if (!is_literal(p))
        return expected(p, "a value");
    if (is_typed_text(p))
        HD_TRY(next_token(p));
    *out = (struct hd_literal){.text = p->token.text, .at = p->token.at};
    if (p->token.kind == TOKEN_TEXT)
        out->kind = HD_LITERAL_TEXT;
    else if (p->token.kind == TOKEN_NUMBER)
        out->kind = HD_LITERAL_NUMBER;
    else
        out->kind = is_word(p, "NULL") ? HD_LITERAL_NULL : HD_LITERAL_BOOL;
    return next_token(p);
}

static hudi_status check_compares(struct parser *p, int32_t column, size_t at)
{
    const struct ArrowSchema *field = p->predicate->schema->children[column];
    struct hd_type type;

    HD_TRY(hd_type_of(p->op, field, &type));
    switch (type.id) {
    case HD_TYPE_BOOL:
    case HD_TYPE_INT32:
    case HD_TYPE_INT64:
    case HD_TYPE_FLOAT:
    case HD_TYPE_DOUBLE:
    case HD_TYPE_STRING:
    case HD_TYPE_DECIMAL:
    case HD_TYPE_DATE:
    case HD_TYPE_TIME:
    case HD_TYPE_TIMESTAMP:
        return HUDI_OK;
    default:
        break;
    }
    struct hd_str text = {0};
    hudi_status status = hd_type_describe(p->op, field, &text);
    if (status == HUDI_OK)
        status = hd_fail(p->op, HUDI_INVALID,
                         "filter, character %zu: column \"%s\" of type %s has no order; IS NULL is "
                         "all that can be asked",
                         at, field->name, hd_str_text(&text));
    hd_str_clear(&text);
    return status;
}

/* ---- conditions --------------------------------------------------------------------------- */

static hudi_status new_node(struct parser *p, enum hd_node_kind kind, struct hd_node *left,
                            struct hd_node *right, struct hd_node **out)
{
    HD_TRY(hd_arena_alloc(p->op, &p->predicate->arena, sizeof **out, out));
    (*out)->kind = kind;
    (*out)->left = left;
    (*out)->right = right;
    return HUDI_OK;
}

static hudi_status take_comparison(struct parser *p, enum hd_comparison *out)
{
    static const struct {
        const char *sign;
        enum hd_comparison comparison;
    } SIGNS[] = {{"=", HD_EQUAL},      {"==", HD_EQUAL},        {"!=", HD_NOT_EQUAL},
                 {"<>", HD_NOT_EQUAL}, {"<", HD_LESS},          {"<=", HD_LESS_EQUAL},
                 {">", HD_GREATER},    {">=", HD_GREATER_EQUAL}};

    for (size_t i = 0; i < HD_ARRAY_LENGTH(SIGNS); i++) {
        if (!is_sign(p, SIGNS[i].sign))
            continue;
        *out = SIGNS[i].comparison;
        return next_token(p);
    }
    return expected(p, "a comparison, IN or IS NULL");
}

/* The same with its sides exchanged. */
static enum hd_comparison mirrored(enum hd_comparison comparison)
{
    switch (comparison) {
    case HD_LESS:
        return HD_GREATER;
    case HD_LESS_EQUAL:
        return HD_GREATER_EQUAL;
    case HD_GREATER:
        return HD_LESS;
    case HD_GREATER_EQUAL:
        return HD_LESS_EQUAL;
    default:
        return comparison;
    }
}

static hudi_status parse_in(struct parser *p, int32_t column, struct hd_node **out)
{
    hudi_status status = HUDI_OK;
    struct hd_literal *literals = NULL;
    size_t n = 0, capacity = 0;

    HD_TRY(take_sign(p, "("));
    do {
        if (n > 0)
            HD_TRY_OUT(next_token(p));
        if (n >= MAX_LITERALS) {
            status = hd_fail(p->op, HUDI_INVALID, "filter, character %zu: more than %d values",
                             p->token.at, MAX_LITERALS);
            goto out;
        }
        HD_TRY_OUT(hd_grow(p->op, &literals, &capacity, n + 1, sizeof *literals));
        HD_TRY_OUT(take_literal(p, &literals[n++]));
    } while (is_sign(p, ","));
    HD_TRY_OUT(take_sign(p, ")"));
    HD_TRY_OUT(hd_predicate_in(p->op, p->predicate, column, literals, n, out));
out:
    hd_free(p->op, literals);
    return status;
}

static hudi_status parse_is_null(struct parser *p, int32_t column, struct hd_node **out)
{
    HD_TRY(next_token(p));
    const bool negated = is_word(p, "NOT");
    if (negated)
        HD_TRY(next_token(p));
    if (!is_word(p, "NULL"))
        return expected(p, "NULL");
    HD_TRY(next_token(p));
    HD_TRY(new_node(p, HD_NODE_IS_NULL, NULL, NULL, out));
    (*out)->column = column;
    return negated ? new_node(p, HD_NODE_NOT, *out, NULL, out) : HUDI_OK;
}

/* What follows a column. */
static hudi_status parse_of_column(struct parser *p, int32_t column, size_t at,
                                   struct hd_node **out)
{
    static const struct hd_literal YES = {HD_LITERAL_BOOL, {(const uint8_t *)"true", 4}, 0};
    enum hd_comparison comparison;
    struct hd_literal literal;
    struct hd_type type;

    if (is_word(p, "IS"))
        return parse_is_null(p, column, out);
    HD_TRY(check_compares(p, column, at));
    const bool negated = is_word(p, "NOT");
    if (negated)
        HD_TRY(next_token(p));
    if (is_word(p, "IN")) {
        HD_TRY(next_token(p));
        HD_TRY(parse_in(p, column, out));
        return negated ? new_node(p, HD_NODE_NOT, *out, NULL, out) : HUDI_OK;
    }
    if (negated)
        return expected(p, "IN");
    HD_TRY(hd_type_of(p->op, p->predicate->schema->children[column], &type));
    if (type.id == HD_TYPE_BOOL && p->token.kind != TOKEN_SIGN)
        return hd_predicate_compare(p->op, p->predicate, column, HD_EQUAL, &YES, out);
    if (type.id == HD_TYPE_BOOL && is_sign(p, ")"))
        return hd_predicate_compare(p->op, p->predicate, column, HD_EQUAL, &YES, out);
    HD_TRY(take_comparison(p, &comparison));
    HD_TRY(take_literal(p, &literal));
    return hd_predicate_compare(p->op, p->predicate, column, comparison, &literal, out);
}

static hudi_status parse_condition(struct parser *p, struct hd_node **out)
{
    enum hd_comparison comparison;
    struct hd_literal literal;
    int32_t column;

    if (++p->n_conditions > MAX_CONDITIONS)
        return hd_fail(p->op, HUDI_INVALID, "filter, character %zu: more than %d conditions",
                       p->token.at, MAX_CONDITIONS);
    if (!is_literal(p)) {
        const size_t at = p->token.at;
        HD_TRY(take_column(p, &column));
        return parse_of_column(p, column, at, out);
    }
    HD_TRY(take_literal(p, &literal));
    HD_TRY(take_comparison(p, &comparison));
    const size_t at = p->token.at;
    HD_TRY(take_column(p, &column));
    HD_TRY(check_compares(p, column, at));
    return hd_predicate_compare(p->op, p->predicate, column, mirrored(comparison), &literal, out);
}

/* ---- AND, OR, NOT ------------------------------------------------------------------------- */

static hudi_status parse_or(struct parser *p, struct hd_node **out);

static hudi_status parse_not(struct parser *p, struct hd_node **out)
{
    if (p->depth >= MAX_DEPTH)
        return hd_fail(p->op, HUDI_INVALID, "filter, character %zu: nested more than %d deep",
                       p->token.at, MAX_DEPTH);
    p->depth++;
    if (is_word(p, "NOT")) {
        HD_TRY(next_token(p));
        HD_TRY(parse_not(p, out));
        HD_TRY(new_node(p, HD_NODE_NOT, *out, NULL, out));
    } else if (is_sign(p, "(")) {
        HD_TRY(next_token(p));
        HD_TRY(parse_or(p, out));
        HD_TRY(take_sign(p, ")"));
    } else {
        HD_TRY(parse_condition(p, out));
    }
    p->depth--;
    return HUDI_OK;
}

static hudi_status parse_and(struct parser *p, struct hd_node **out)
{
    struct hd_node *right;

    HD_TRY(parse_not(p, out));
    while (is_word(p, "AND")) {
        HD_TRY(next_token(p));
        HD_TRY(parse_not(p, &right));
        HD_TRY(new_node(p, HD_NODE_AND, *out, right, out));
    }
    return HUDI_OK;
}

static hudi_status parse_or(struct parser *p, struct hd_node **out)
{
    struct hd_node *right;

    HD_TRY(parse_and(p, out));
    while (is_word(p, "OR")) {
        HD_TRY(next_token(p));
        HD_TRY(parse_and(p, &right));
        HD_TRY(new_node(p, HD_NODE_OR, *out, right, out));
    }
    return HUDI_OK;
}

/* ---- the predicate ------------------------------------------------------------------------ */

hudi_status hd_predicate_new(struct hd_op *op, const struct ArrowSchema *schema, hd_predicate **out)
{
    hudi_status status = HUDI_OK;

    HD_TRY(hd_alloc(op, sizeof **out, out));
    (*out)->schema = schema;
    status = hd_alloc_array(op, (size_t)schema->n_children, sizeof(int32_t), &(*out)->columns);
    if (status != HUDI_OK) {
        hd_free(op, *out);
        *out = NULL;
    }
    return status;
}

void hd_predicate_free(hd_predicate *predicate)
{
    if (predicate == NULL)
        return;
    hd_arena_clear(&predicate->arena);
    hd_free(NULL, predicate->columns);
    hd_free(NULL, predicate);
}

const int32_t *hd_predicate_columns(const hd_predicate *predicate, int32_t *n)
{
    *n = predicate->n_columns;
    return predicate->columns;
}

/* Insert the columns below `node` into the sorted list. */
static void note_columns(hd_predicate *predicate, const struct hd_node *node)
{
    int32_t at = 0;

    if (node->left != NULL)
        note_columns(predicate, node->left);
    if (node->right != NULL)
        note_columns(predicate, node->right);
    if (node->left != NULL)
        return;
    while (at < predicate->n_columns && predicate->columns[at] < node->column)
        at++;
    if (at < predicate->n_columns && predicate->columns[at] == node->column)
        return;
    memmove(&predicate->columns[at + 1], &predicate->columns[at],
            (size_t)(predicate->n_columns - at) * sizeof *predicate->columns);
    predicate->columns[at] = node->column;
    predicate->n_columns++;
}

hudi_status hd_predicate_and(struct hd_op *op, hd_predicate *predicate, struct hd_slice text)
{
    struct parser p = {.op = op, .predicate = predicate, .text = text};
    struct hd_node *node, *root;

    HD_TRY(next_token(&p));
    HD_TRY(parse_or(&p, &node));
    if (p.token.kind != TOKEN_END)
        return expected(&p, "AND, OR or the end");
    root = node;
    if (predicate->root != NULL)
        HD_TRY(new_node(&p, HD_NODE_AND, predicate->root, node, &root));
    predicate->root = root;
    note_columns(predicate, node);
    return HUDI_OK;
}
