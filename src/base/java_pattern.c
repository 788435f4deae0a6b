/* SPDX-License-Identifier: Apache-2.0 */
/* By way of the extended regular expressions of POSIX: which of several matches is found makes no
 * difference when the whole text must match. */
#include "base/java_pattern.h"

#include <ctype.h>
#include <string.h>

#include "base/str.h"

static hudi_status not_understood(struct hd_op *op, const char *text, const char *at)
{
    return hd_fail(op, HUDI_NOT_IMPLEMENTED,
                   "\"%.10s\" in the pattern \"%.100s\" is not understood", at, text);
}

/* What is between the brackets of a class of characters, NULL for other letters. */
static const char *class_of(char letter)
{
    switch (letter) {
    case 'd':
    case 'D':
        return "0-9";
    case 'w':
    case 'W':
        return "a-zA-Z0-9_";
    case 's':
    case 'S':
        return " \t\n\v\f\r";
    default:
        return NULL;
    }
}

/* Behind a backslash, outside of brackets. */
static hudi_status add_escape(struct hd_op *op, const char *text, const char *at,
                              struct hd_str *out)
{
    const char *const class = class_of(at[1]);

    if (class != NULL)
        return hd_str_printf(op, out, "[%s%s]", isupper((unsigned char)at[1]) ? "^" : "", class);
    if (at[1] == '\0')
        return hd_fail(op, HUDI_INVALID, "the pattern \"%.100s\" ends with a backslash", text);
    if (isalnum((unsigned char)at[1]))
        return not_understood(op, text, at);
    return strchr(".[]{}()*+?|^$\\", at[1]) != NULL ? hd_str_printf(op, out, "\\%c", at[1])
                                                    : hd_str_printf(op, out, "%c", at[1]);
}

/* From the bracket to the one that ends it, which `*end` is set behind. A backslash means itself to
 * POSIX there, and `]`, `^` and `-` count by their place. */
static hudi_status add_brackets(struct hd_op *op, const char *text, const char *at,
                                struct hd_str *out, const char **end)
{
    const char *const begin = at;
    bool closing = false, hyphen = false, caret = false;
    struct hd_str set = {0};
    hudi_status status = HUDI_OK;
    const bool negated = at[1] == '^';

    for (at += 1 + negated; *at != ']' && status == HUDI_OK; at++) {
        if (*at == '\0')
            HD_TRY_OUT(
                hd_fail(op, HUDI_INVALID, "\"[\" in the pattern \"%.100s\" does not end", text));
        if (*at == '[' || (at[0] == '&' && at[1] == '&'))
            HD_TRY_OUT(not_understood(op, text, at));
        if (*at != '\\') {
            if (*at == '^')
                caret = true;
            else if (*at == '-' && (at[1] == ']' || at == begin + 1 + negated))
                hyphen = true;
            else
                status = hd_str_printf(op, &set, "%c", *at);
            continue;
        }
        at++;
        if (strchr("dws", *at) != NULL && *at != '\0')
            status = hd_str_printf(op, &set, "%s", class_of(*at));
        else if (*at == '\0' || isalnum((unsigned char)*at))
            status = not_understood(op, text, at - 1);
        else if (*at == ']' || *at == '-' || *at == '^')
            *(*at == ']' ? &closing : *at == '-' ? &hyphen : &caret) = true;
        else
            status = hd_str_printf(op, &set, "%c", *at);
    }
    HD_TRY_OUT(status);
    *end = at + 1;
    if (caret && !negated && !closing && set.size == 0 && !hyphen)
        HD_TRY_OUT(hd_str_printf(op, out, "\\^"));
    else
        HD_TRY_OUT(hd_str_printf(op, out, "[%s%s%.*s%s%s]", negated ? "^" : "", closing ? "]" : "",
                                 (int)set.size, set.size == 0 ? "" : (const char *)set.data,
                                 caret ? "^" : "", hyphen ? "-" : ""));
out:
    hd_str_clear(&set);
    return status;
}

/* A quantifier, and what makes it lazy, which is the same here. */
static hudi_status add_quantifier(struct hd_op *op, const char *text, const char *at,
                                  struct hd_str *out, const char **end)
{
    const size_t n = *at == '{' ? strcspn(at, "}") + 1 : 1;

    if (*at == '{' && at[n - 1] != '}')
        return hd_fail(op, HUDI_INVALID, "\"{\" in the pattern \"%.100s\" does not end", text);
    if (at[n] == '+')
        return not_understood(op, text, at);
    *end = at + n + (at[n] == '?');
    return hd_str_printf(op, out, "%.*s", (int)n, at);
}

static hudi_status translate(struct hd_op *op, const char *text, struct hd_str *out)
{
    HD_TRY(hd_str_printf(op, out, "^("));
    for (const char *at = text; *at != '\0';) {
        const char *end = at + 1;

        if (*at == '\\') {
            HD_TRY(add_escape(op, text, at, out));
            end = at + 2;
        } else if (*at == '[') {
            HD_TRY(add_brackets(op, text, at, out, &end));
        } else if (*at == '*' || *at == '+' || *at == '?' || *at == '{') {
            HD_TRY(add_quantifier(op, text, at, out, &end));
        } else if (at[0] == '(' && at[1] == '?') {
            if (at[2] != ':')
                return not_understood(op, text, at);
            HD_TRY(hd_str_printf(op, out, "("));
            end = at + 3;
        } else {
            HD_TRY(hd_str_printf(op, out, "%c", *at));
        }
        at = end;
    }
    return hd_str_printf(op, out, ")$");
}

hudi_status hd_java_pattern_parse(struct hd_op *op, const char *text, struct hd_java_pattern *out)
{
    struct hd_str posix = {0};
    char why[100];

    *out = (struct hd_java_pattern){0};
    hudi_status status = translate(op, text, &posix);
    if (status == HUDI_OK) {
        const int fault = regcomp(&out->regex, (const char *)posix.data, REG_EXTENDED | REG_NOSUB);

        out->is_set = fault == 0;
        if (fault == REG_ESPACE) {
            status = hd_fail(op, HUDI_NO_MEMORY, "no memory for the pattern \"%.100s\"", text);
        } else if (fault != 0) {
            (void)regerror(fault, &out->regex, why, sizeof why);
            status = hd_fail(op, HUDI_INVALID, "\"%.100s\" is no pattern: %s", text, why);
        }
    }
    hd_str_clear(&posix);
    return status;
}

bool hd_java_pattern_matches(const struct hd_java_pattern *pattern, const char *text)
{
    return regexec(&pattern->regex, text, 0, NULL, 0) == 0;
}

void hd_java_pattern_clear(struct hd_java_pattern *pattern)
{
    if (pattern->is_set)
        regfree(&pattern->regex);
    *pattern = (struct hd_java_pattern){0};
}
