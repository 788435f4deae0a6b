/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "format/table/config_keys.h"

/* Options of one call: names and values checked against the table of keys. */

/* Flink's options whose number is in MiB where Hudi's key has bytes. */
static const char *const mib_aliases[] = {
    "write.parquet.max.file.size", "write.parquet.block.size",
    "write.parquet.page.size",     "write.log.max.size",
    "write.log_block.size",        "write.merge.max_memory",
    "compaction.max_memory",       "clustering.plan.strategy.small.file.limit",
};

static bool is_family(const struct hd_config_key *key)
{
    return key->name[strlen(key->name) - 1] == '*';
}

const struct hd_config_key *hd_config_key_find(const char *name)
{
    for (size_t i = 0; i < hd_n_config_keys; i++) {
        const struct hd_config_key *key = &hd_config_keys[i];

        if (strcmp(key->name, name) == 0)
            return key;
        for (const char *const *alias = key->aliases; alias != NULL && *alias != NULL; alias++)
            if (strcmp(*alias, name) == 0)
                return key;
    }
    for (size_t i = 0; i < hd_n_config_keys; i++) {
        const struct hd_config_key *key = &hd_config_keys[i];
        const size_t n = strlen(key->name) - 1;

        if (is_family(key) && strncmp(key->name, name, n) == 0 && name[n] != '\0')
            return key;
    }
    return NULL;
}

/* ---- names -------------------------------------------------------------------------------- */

#define LONGEST_NAME 128

/* Edits (insert, drop, change one character) from `a` to `b`; both shorter than LONGEST_NAME. */
static size_t distance(const char *a, const char *b)
{
    const size_t n = strlen(b);
    size_t row[LONGEST_NAME];

    for (size_t j = 0; j <= n; j++)
        row[j] = j;
    for (size_t i = 0; a[i] != '\0'; i++) {
        size_t diagonal = row[0];

        row[0] = i + 1;
        for (size_t j = 0; j < n; j++) {
            const size_t change = diagonal + (tolower((unsigned char)a[i]) != b[j]);
            size_t best = row[j] < row[j + 1] ? row[j] + 1 : row[j + 1] + 1;

            diagonal = row[j + 1];
            row[j + 1] = change < best ? change : best;
        }
    }
    return row[n];
}

static void consider(const char *given, const char *name, const char **best, size_t *best_distance)
{
    if (strlen(name) >= LONGEST_NAME)
        return;
    const size_t d = distance(given, name);

    if (d < *best_distance) {
        *best_distance = d;
        *best = name;
    }
}

/* The known name nearest to `given`, or NULL when none is near. */
static const char *nearest(const char *given)
{
    const char *best = NULL;
    size_t best_distance = strlen(given) / 3 + 1;

    if (strlen(given) >= LONGEST_NAME)
        return NULL;
    for (size_t i = 0; i < hd_n_config_keys; i++) {
        const struct hd_config_key *key = &hd_config_keys[i];

        if (is_family(key))
            continue;
        consider(given, key->name, &best, &best_distance);
        for (const char *const *alias = key->aliases; alias != NULL && *alias != NULL; alias++)
            consider(given, *alias, &best, &best_distance);
    }
    return best;
}

/* ---- values ------------------------------------------------------------------------------- */

static hudi_status list_choices(struct hd_op *op, const struct hd_config_key *key,
                                struct hd_str *out)
{
    for (const char *const *choice = key->choices; *choice != NULL; choice++)
        HD_TRY(hd_str_printf(op, out, "%s%s", choice == key->choices ? "" : ", ", *choice));
    return HUDI_OK;
}

static hudi_status fail_value(struct hd_op *op, const struct hd_config_key *key, const char *name,
                              const char *value)
{
    struct hd_str allowed = {0};
    hudi_status status = HUDI_OK;

    switch (key->type) {
    case HD_KEY_BOOL:
        status = hd_fail(op, HUDI_INVALID, "%s=%s is neither true nor false", name, value);
        break;
    case HD_KEY_INT:
        if (key->max == INT64_MAX)
            status = hd_fail(op, HUDI_INVALID, "%s=%s is no whole number from %" PRId64 " on", name,
                             value, key->min);
        else
            status =
                hd_fail(op, HUDI_INVALID, "%s=%s is no whole number from %" PRId64 " to %" PRId64,
                        name, value, key->min, key->max);
        break;
    case HD_KEY_DOUBLE:
        status = hd_fail(op, HUDI_INVALID, "%s=%s is no number from 0 on", name, value);
        break;
    case HD_KEY_ENUM:
        status = list_choices(op, key, &allowed);
        if (status == HUDI_OK)
            status = hd_fail(op, HUDI_INVALID, "%s=%s is not one of %s", name, value,
                             hd_str_text(&allowed));
        hd_str_clear(&allowed);
        break;
    case HD_KEY_TEXT:
    case HD_KEY_LIST:
        status = hd_fail(op, HUDI_INVALID, "%s=%s cannot be used", name, value);
        break;
    }
    return status;
}

static bool parse_int(const char *text, int64_t *out)
{
    char *end;

    if (!isdigit((unsigned char)text[0]) && text[0] != '-')
        return false;
    errno = 0;
    *out = strtoll(text, &end, 10);
    return errno == 0 && *end == '\0' && end != text;
}

static bool parse_double(const char *text, double *out)
{
    char *end;

    if (!isdigit((unsigned char)text[0]) && text[0] != '.')
        return false;
    *out = strtod(text, &end);
    return *end == '\0' && *out >= 0 && *out <= 1e300;
}

static const char *find_choice(const struct hd_config_key *key, const char *value)
{
    for (const char *const *choice = key->choices; *choice != NULL; choice++)
        if (strcasecmp(*choice, value) == 0 ||
            (value[0] == '\0' && strcmp(*choice, "UNCOMPRESSED") == 0)) /* Hudi's empty codec */
            return *choice;
    return NULL;
}

/* The value as it is stored: `text` itself, a constant, or in `buffer`. */
static hudi_status check_value(struct hd_op *op, const struct hd_config_key *key, const char *name,
                               const char *text, char buffer[32], const char **out)
{
    int64_t integer;
    double real;
    bool in_mib = false;

    *out = text;
    switch (key->type) {
    case HD_KEY_BOOL:
        if (strcasecmp(text, "true") != 0 && strcasecmp(text, "false") != 0)
            return fail_value(op, key, name, text);
        *out = strcasecmp(text, "true") == 0 ? "true" : "false";
        return HUDI_OK;
    case HD_KEY_INT:
        for (size_t i = 0; i < HD_ARRAY_LENGTH(mib_aliases); i++)
            in_mib = in_mib || strcmp(name, mib_aliases[i]) == 0;
        if (!parse_int(text, &integer) || (in_mib && (integer < 0 || integer > INT64_MAX >> 20)))
            return fail_value(op, key, name, text);
        if (in_mib)
            integer <<= 20;
        if (integer < key->min || integer > key->max)
            return fail_value(op, key, name, text);
        snprintf(buffer, 32, "%" PRId64, integer);
        *out = buffer;
        return HUDI_OK;
    case HD_KEY_DOUBLE:
        return parse_double(text, &real) ? HUDI_OK : fail_value(op, key, name, text);
    case HD_KEY_ENUM:
        *out = find_choice(key, text);
        if (*out == NULL && (key->scope & HD_KEY_REFUSED) == 0)
            return fail_value(op, key, name, text);
        return HUDI_OK;
    case HD_KEY_TEXT:
    case HD_KEY_LIST:
        return HUDI_OK;
    }
    return HUDI_OK;
}

/* A refused key may be set to one of its choices, or to its default (nothing, when it has none). */
static bool is_refused(const struct hd_config_key *key, const char *value)
{
    if ((key->scope & HD_KEY_REFUSED) == 0)
        return false;
    if (key->type == HD_KEY_ENUM)
        return value == NULL;
    return strcasecmp(value, key->default_value == NULL ? "" : key->default_value) != 0;
}

/* Does the name begin with the prefix that the options give for a commit's extra metadata? */
static bool is_extra(const struct hd_options *options, const char *name)
{
    const char *prefix =
        hd_properties_get(&options->set, "hoodie.datasource.write.commitmeta.key.prefix");

    return prefix != NULL && *prefix != '\0' && strncmp(name, prefix, strlen(prefix)) == 0;
}

hudi_status hd_options_set(struct hd_op *op, struct hd_options *options, const char *name,
                           const char *text)
{
    const struct hd_config_key *key = hd_config_key_find(name);
    const char *value;
    char buffer[32];

    if (key == NULL && is_extra(options, name))
        return hd_properties_set(op, &options->set, name, text);
    if (key == NULL) {
        const char *suggestion = nearest(name);

        if (suggestion == NULL)
            return hd_fail(op, HUDI_INVALID, "unknown option %s", name);
        return hd_fail(op, HUDI_INVALID, "unknown option %s: did you mean %s?", name, suggestion);
    }
    HD_TRY(check_value(op, key, name, text, buffer, &value));
    if (is_refused(key, value))
        return hd_fail(op, HUDI_NOT_IMPLEMENTED, "%s=%s is not supported: %s", name, text,
                       key->help);
    return hd_properties_set(op, &options->set, is_family(key) ? name : key->name, value);
}

hudi_status hd_options_merge(struct hd_op *op, struct hd_options *to, const struct hd_options *from)
{
    for (size_t i = 0; i < from->set.n_entries; i++)
        HD_TRY(
            hd_properties_set(op, &to->set, from->set.entries[i].key, from->set.entries[i].value));
    if (from->lock_providers != NULL)
        to->lock_providers = from->lock_providers;
    return HUDI_OK;
}

void hd_options_clear(struct hd_options *options)
{
    hd_properties_clear(&options->set);
}

/* ---- reading ------------------------------------------------------------------------------ */

/* What was given or stored; NULL when neither. Stored names may be older ones. */
static const char *given(const struct hd_options *options, const struct hd_properties *table,
                         const struct hd_config_key *key, const char *name)
{
    const char *canonical = is_family(key) ? name : key->name;
    const char *value = options == NULL ? NULL : hd_properties_get(&options->set, canonical);

    if (value != NULL || table == NULL)
        return value;
    value = hd_properties_get(table, canonical);
    for (const char *const *alias = key->aliases;
         (value == NULL || value[0] == '\0') && alias != NULL && *alias != NULL; alias++)
        value = hd_properties_get(table, *alias);
    return value == NULL || value[0] == '\0' ? NULL : value;
}

static const struct hd_config_key *known(const char *name)
{
    const struct hd_config_key *key = hd_config_key_find(name);

    assert(key != NULL);
    return key;
}

bool hd_options_has(const struct hd_options *options, const char *name)
{
    return given(options, NULL, known(name), name) != NULL;
}

const char *hd_options_text(const struct hd_options *options, const struct hd_properties *table,
                            const char *name)
{
    const struct hd_config_key *key = known(name);
    const char *value = given(options, table, key, name);

    return value == NULL ? key->default_value : value;
}

/* Properties of a table are not checked as options are: what does not parse counts as not there. */
bool hd_options_bool(const struct hd_options *options, const struct hd_properties *table,
                     const char *name)
{
    const struct hd_config_key *key = known(name);
    const char *value = given(options, table, key, name);

    if (value == NULL || (strcasecmp(value, "true") != 0 && strcasecmp(value, "false") != 0))
        value = key->default_value;
    return value != NULL && strcasecmp(value, "true") == 0;
}

int64_t hd_options_int(const struct hd_options *options, const struct hd_properties *table,
                       const char *name)
{
    const struct hd_config_key *key = known(name);
    const char *value = given(options, table, key, name);
    int64_t number = 0;

    if (value != NULL && parse_int(value, &number) && number >= key->min && number <= key->max)
        return number;
    if (key->default_value == NULL || !parse_int(key->default_value, &number))
        return 0;
    return number;
}

double hd_options_double(const struct hd_options *options, const struct hd_properties *table,
                         const char *name)
{
    const struct hd_config_key *key = known(name);
    const char *value = given(options, table, key, name);
    double number = 0;

    if (value != NULL && parse_double(value, &number))
        return number;
    if (key->default_value == NULL || !parse_double(key->default_value, &number))
        return 0;
    return number;
}
