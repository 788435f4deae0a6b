/* SPDX-License-Identifier: Apache-2.0 */
#include "format/table/properties.h"

#include <inttypes.h>
#include <time.h>

#include "base/utf8.h"

/*
 * Java's properties format. A logical line is a natural line, joined with the next one while it
 * ends in an odd number of backslashes; the white space that begins a natural line is dropped.
 * Comment lines and blank lines do not count, but an empty line that follows a joined one ends it.
 *
 * Source: java.util.Properties.load, store (documented behaviour)
 */

struct parser {
    const uint8_t *bytes;
    size_t size;
    size_t at;
    size_t line;    /* of the byte at `at`, from 1 */
    uint32_t high;  /* a high surrogate that waits for its low one, or 0 */
    bool begins;    /* at the start of a natural line: white space is dropped */
    bool line_ends; /* the logical line is over */
};

static bool is_blank(uint8_t c)
{
    return c == ' ' || c == '\t' || c == '\f';
}

static hudi_status append_code_point(struct hd_op *op, struct hd_str *out, uint32_t c)
{
    char utf8[4];
    size_t n;

    if (c < 0x80) {
        utf8[0] = (char)c;
        n = 1;
    } else if (c < 0x800) {
        utf8[0] = (char)(0xc0 | (c >> 6));
        utf8[1] = (char)(0x80 | (c & 0x3f));
        n = 2;
    } else if (c < 0x10000) {
        utf8[0] = (char)(0xe0 | (c >> 12));
        utf8[1] = (char)(0x80 | ((c >> 6) & 0x3f));
        utf8[2] = (char)(0x80 | (c & 0x3f));
        n = 3;
    } else {
        utf8[0] = (char)(0xf0 | (c >> 18));
        utf8[1] = (char)(0x80 | ((c >> 12) & 0x3f));
        utf8[2] = (char)(0x80 | ((c >> 6) & 0x3f));
        utf8[3] = (char)(0x80 | (c & 0x3f));
        n = 4;
    }
    return hd_str_append(op, out, utf8, n);
}

/* Half a surrogate pair, as Java would keep it, has no UTF-8 form: it becomes U+FFFD. */
static hudi_status flush_surrogate(struct hd_op *op, struct parser *p, struct hd_str *out)
{
    if (p->high == 0)
        return HUDI_OK;
    p->high = 0;
    return append_code_point(op, out, 0xfffd);
}

static hudi_status append_unit(struct hd_op *op, struct parser *p, struct hd_str *out,
                               uint32_t unit)
{
    if (unit >= 0xdc00 && unit <= 0xdfff && p->high != 0) {
        const uint32_t c = 0x10000 + ((p->high - 0xd800) << 10) + (unit - 0xdc00);

        p->high = 0;
        return append_code_point(op, out, c);
    }
    HD_TRY(flush_surrogate(op, p, out));
    if (unit == 0)
        return hd_fail(op, HUDI_CORRUPT, "properties line %zu has a NUL character", p->line);
    if (unit >= 0xd800 && unit <= 0xdbff) {
        p->high = unit;
        return HUDI_OK;
    }
    return append_code_point(op, out, unit >= 0xdc00 && unit <= 0xdfff ? 0xfffd : unit);
}

/* Step over "\n", "\r" or "\r\n". */
static void skip_newline(struct parser *p)
{
    if (p->bytes[p->at] == '\r' && p->at + 1 < p->size && p->bytes[p->at + 1] == '\n')
        p->at++;
    p->at++;
    p->line++;
}

static bool at_newline(const struct parser *p)
{
    return p->at < p->size && (p->bytes[p->at] == '\n' || p->bytes[p->at] == '\r');
}

/* To the first byte of the next logical line; false at the end. */
static bool next_line(struct parser *p)
{
    while (p->at < p->size) {
        if (is_blank(p->bytes[p->at])) {
            p->at++;
        } else if (at_newline(p)) {
            skip_newline(p);
        } else if (p->bytes[p->at] == '#' || p->bytes[p->at] == '!') {
            while (p->at < p->size && !at_newline(p))
                p->at++;
        } else {
            p->line_ends = false;
            p->begins = false;
            return true;
        }
    }
    return false;
}

static hudi_status take_unicode(struct hd_op *op, struct parser *p, uint32_t *unit)
{
    *unit = 0;
    for (int i = 0; i < 4; i++) {
        const uint8_t c = p->at < p->size ? p->bytes[p->at] : 0;
        uint32_t digit;

        if (c >= '0' && c <= '9')
            digit = (uint32_t)(c - '0');
        else if (c >= 'a' && c <= 'f')
            digit = (uint32_t)(c - 'a' + 10);
        else if (c >= 'A' && c <= 'F')
            digit = (uint32_t)(c - 'A' + 10);
        else
            return hd_fail(op, HUDI_CORRUPT, "properties line %zu has a bad \\u escape", p->line);
        *unit = *unit << 4 | digit;
        p->at++;
    }
    return HUDI_OK;
}

/* The next character of the logical line. `*escaped` is true when a backslash stood before it, so
 * that it is no separator. Sets `line_ends` at the end. */
static hudi_status take_unit(struct hd_op *op, struct parser *p, uint32_t *unit, bool *escaped)
{
    *escaped = false;
    for (;;) {
        while (p->begins && p->at < p->size && is_blank(p->bytes[p->at]))
            p->at++;
        p->begins = false;
        if (p->at == p->size || at_newline(p)) {
            p->line_ends = true;
            return HUDI_OK;
        }
        *unit = p->bytes[p->at++];
        if (*unit != '\\')
            return HUDI_OK;
        if (p->at == p->size) {
            p->line_ends = true;
            return HUDI_OK;
        }
        if (at_newline(p)) {
            skip_newline(p);
            p->begins = true;
            continue;
        }
        *escaped = true;
        *unit = p->bytes[p->at++];
        switch (*unit) {
        case 'u':
            return take_unicode(op, p, unit);
        case 't':
            *unit = '\t';
            return HUDI_OK;
        case 'n':
            *unit = '\n';
            return HUDI_OK;
        case 'r':
            *unit = '\r';
            return HUDI_OK;
        case 'f':
            *unit = '\f';
            return HUDI_OK;
        default:
            return HUDI_OK;
        }
    }
}

/* "key", the separator, and the first character of the value in `*unit` unless the line ends. */
static hudi_status take_key(struct hd_op *op, struct parser *p, struct hd_str *key, uint32_t *unit)
{
    bool escaped, separated = false;

    for (;;) {
        HD_TRY(take_unit(op, p, unit, &escaped));
        if (p->line_ends)
            return flush_surrogate(op, p, key);
        if (!escaped && (*unit == '=' || *unit == ':' || is_blank((uint8_t)*unit)))
            break;
        HD_TRY(append_unit(op, p, key, *unit));
    }
    HD_TRY(flush_surrogate(op, p, key));
    while (!escaped &&
           (is_blank((uint8_t)*unit) || (!separated && (*unit == '=' || *unit == ':')))) {
        separated = separated || !is_blank((uint8_t)*unit);
        HD_TRY(take_unit(op, p, unit, &escaped));
        if (p->line_ends)
            return HUDI_OK;
    }
    return HUDI_OK;
}

static hudi_status take_value(struct hd_op *op, struct parser *p, struct hd_str *value,
                              uint32_t unit)
{
    bool escaped;

    while (!p->line_ends) {
        HD_TRY(append_unit(op, p, value, unit));
        HD_TRY(take_unit(op, p, &unit, &escaped));
    }
    return flush_surrogate(op, p, value);
}

hudi_status hd_properties_parse(struct hd_op *op, struct hd_slice text, struct hd_properties *out)
{
    struct parser p = {.bytes = text.data, .size = text.size, .line = 1};
    hudi_status status = HUDI_OK;
    struct hd_str key = {0}, value = {0};

    *out = (struct hd_properties){0};
    while (next_line(&p)) {
        uint32_t unit = 0;

        key.size = 0;
        value.size = 0;
        HD_TRY_OUT(take_key(op, &p, &key, &unit));
        HD_TRY_OUT(take_value(op, &p, &value, unit));
        HD_TRY_OUT(hd_str_append(op, &key, "", 0)); /* a NUL behind an empty one too */
        HD_TRY_OUT(hd_str_append(op, &value, "", 0));
        HD_TRY_OUT(hd_properties_set(op, out, key.size == 0 ? "" : key.data,
                                     value.size == 0 ? "" : value.data));
    }
out:
    hd_str_clear(&key);
    hd_str_clear(&value);
    if (status != HUDI_OK)
        hd_properties_clear(out);
    return status;
}

void hd_properties_clear(struct hd_properties *properties)
{
    hd_free(NULL, properties->entries);
    hd_map_clear(&properties->by_key);
    hd_arena_clear(&properties->arena);
    *properties = (struct hd_properties){0};
}

/* Keys that were removed stay in the map with this value. */
#define REMOVED UINT64_MAX

const char *hd_properties_get(const struct hd_properties *properties, const char *key)
{
    const struct hd_map_entry *entry = hd_map_find(&properties->by_key, hd_slice_text(key));

    if (entry == NULL || entry->value == REMOVED)
        return NULL;
    return properties->entries[entry->value].value;
}

static void remove_entry(struct hd_properties *properties, struct hd_map_entry *entry)
{
    const size_t gone = (size_t)entry->value;

    properties->n_entries--;
    for (size_t i = gone; i < properties->n_entries; i++) {
        properties->entries[i] = properties->entries[i + 1];
        hd_map_find(&properties->by_key, hd_slice_text(properties->entries[i].key))->value = i;
    }
    entry->value = REMOVED;
}

hudi_status hd_properties_set(struct hd_op *op, struct hd_properties *properties, const char *key,
                              const char *value)
{
    struct hd_map_entry *entry = hd_map_find(&properties->by_key, hd_slice_text(key));
    char *copy;

    if (value == NULL) {
        if (entry != NULL && entry->value != REMOVED)
            remove_entry(properties, entry);
        return HUDI_OK;
    }
    HD_TRY(hd_arena_strdup(op, &properties->arena, value, &copy));
    if (entry != NULL && entry->value != REMOVED) {
        properties->entries[entry->value].value = copy;
        return HUDI_OK;
    }
    HD_TRY(hd_grow(op, &properties->entries, &properties->capacity, properties->n_entries + 1,
                   sizeof *properties->entries));
    HD_TRY(hd_map_put(op, &properties->by_key, hd_slice_text(key), REMOVED, &entry, NULL));
    entry->value = properties->n_entries;
    properties->entries[properties->n_entries++] =
        (struct hd_property){(const char *)entry->key.data, copy};
    return HUDI_OK;
}

hudi_status hd_properties_copy(struct hd_op *op, const struct hd_properties *from,
                               struct hd_properties *out)
{
    *out = (struct hd_properties){0};
    for (size_t i = 0; i < from->n_entries; i++) {
        const hudi_status status =
            hd_properties_set(op, out, from->entries[i].key, from->entries[i].value);

        if (status != HUDI_OK) {
            hd_properties_clear(out);
            return status;
        }
    }
    return HUDI_OK;
}

/* ---- writing ------------------------------------------------------------------------------ */

static hudi_status append_escaped(struct hd_op *op, struct hd_str *out, const char *text,
                                  bool is_key)
{
    struct hd_slice left = hd_slice_text(text);

    while (left.size > 0) {
        const bool first = left.data == (const uint8_t *)text;
        uint32_t c;
        const size_t n = hd_utf8_take(left, &c);

        if (n == 0)
            return hd_fail(op, HUDI_INVALID, "property text \"%s\" is not UTF-8", text);
        left = hd_slice_of(left.data + n, left.size - n);
        if (c == ' ')
            HD_TRY(hd_str_append_text(op, out, is_key || first ? "\\ " : " "));
        else if (c == '\t')
            HD_TRY(hd_str_append_text(op, out, "\\t"));
        else if (c == '\n')
            HD_TRY(hd_str_append_text(op, out, "\\n"));
        else if (c == '\r')
            HD_TRY(hd_str_append_text(op, out, "\\r"));
        else if (c == '\f')
            HD_TRY(hd_str_append_text(op, out, "\\f"));
        else if (c < 0x80 && strchr(":=#!\\", (int)c) != NULL)
            HD_TRY(hd_str_printf(op, out, "\\%c", (int)c));
        else if (c >= 0x10000)
            HD_TRY(hd_str_printf(op, out, "\\u%04X\\u%04X", 0xd800 + ((c - 0x10000) >> 10),
                                 0xdc00 + ((c - 0x10000) & 0x3ff)));
        else if (c < 0x20 || c > 0x7e)
            HD_TRY(hd_str_printf(op, out, "\\u%04X", c));
        else
            HD_TRY(hd_str_append_char(op, out, (char)c));
    }
    return HUDI_OK;
}

/* As java.util.Date.toString in UTC: "Mon Nov 30 13:56:06 UTC 2026". */
static hudi_status append_java_date(struct hd_op *op, struct hd_str *out, uint64_t now_ms)
{
    static const char days[] = "SunMonTueWedThuFriSat";
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    const time_t seconds = (time_t)(now_ms / 1000);
    struct tm tm = {0};

    if (gmtime_r(&seconds, &tm) == NULL)
        return hd_fail(op, HUDI_INVALID, "time %" PRIu64 " ms is out of range", now_ms);
    return hd_str_printf(op, out, "#%.3s %.3s %02d %02d:%02d:%02d UTC %d\n", days + 3 * tm.tm_wday,
                         months + 3 * tm.tm_mon, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec,
                         tm.tm_year + 1900);
}

hudi_status hd_properties_format(struct hd_op *op, const struct hd_properties *properties,
                                 const char *comment, uint64_t now_ms, struct hd_str *out)
{
    HD_TRY(hd_str_append_char(op, out, '#'));
    for (const char *c = comment; *c != '\0'; c++)
        HD_TRY(hd_str_append_char(op, out, *c == '\n' || *c == '\r' ? ' ' : *c));
    HD_TRY(hd_str_append_char(op, out, '\n'));
    HD_TRY(append_java_date(op, out, now_ms));
    for (size_t i = 0; i < properties->n_entries; i++) {
        HD_TRY(append_escaped(op, out, properties->entries[i].key, true));
        HD_TRY(hd_str_append_char(op, out, '='));
        HD_TRY(append_escaped(op, out, properties->entries[i].value, false));
        HD_TRY(hd_str_append_char(op, out, '\n'));
    }
    return HUDI_OK;
}
