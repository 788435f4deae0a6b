/* SPDX-License-Identifier: Apache-2.0 */

#include "format/layout/file_name.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Longest instant in a name; those of the timeline have the same limit (HD_INSTANT_TIME_BYTES). */
#define INSTANT_DIGITS_MAX 23

static bool is_digits(struct hd_slice s)
{
    for (size_t i = 0; i < s.size; i++) {
        if (s.data[i] < '0' || s.data[i] > '9')
            return false;
    }
    return s.size > 0;
}

static bool is_instant(struct hd_slice s)
{
    return s.size <= INSTANT_DIGITS_MAX && is_digits(s);
}

/* The part before the next `c` is split off `rest`; false without one. */
static bool split_at(struct hd_slice *rest, char c, struct hd_slice *before)
{
    const uint8_t *at = rest->size > 0 ? memchr(rest->data, c, rest->size) : NULL;

    if (at == NULL)
        return false;
    const size_t n = (size_t)(at - rest->data);
    *before = hd_slice_of(rest->data, n);
    *rest = hd_slice_of(at + 1, rest->size - n - 1);
    return true;
}

static bool is_base_extension(struct hd_slice s)
{
    static const char *const EXTENSIONS[] = {".parquet", ".orc", ".hfile", ".lance"};

    for (size_t i = 0; i < HD_ARRAY_LENGTH(EXTENSIONS); i++) {
        if (hd_slice_equal(s, hd_slice_text(EXTENSIONS[i])))
            return true;
    }
    return false;
}

/* {file id}_{token}_{instant}{extension} */
static bool parse_base(struct hd_slice rest, struct hd_file_name *out)
{
    out->kind = HD_FILE_BASE;
    if (!split_at(&rest, '_', &out->file_id) || !split_at(&rest, '_', &out->write_token) ||
        !split_at(&rest, '.', &out->instant))
        return false;
    out->extension = hd_slice_of(rest.data - 1, rest.size + 1); /* with the dot */
    return out->file_id.size > 0 && out->write_token.size > 0 && is_instant(out->instant) &&
           is_base_extension(out->extension);
}

static bool parse_log_version(struct hd_slice digits, uint32_t *out)
{
    uint64_t value = 0;

    if (!is_digits(digits) || digits.size > 10)
        return false;
    for (size_t i = 0; i < digits.size; i++)
        value = value * 10 + (uint64_t)(digits.data[i] - '0');
    *out = (uint32_t)value;
    return value <= UINT32_MAX;
}

/* Three numbers: "0-123-115". */
static bool is_log_token(struct hd_slice token)
{
    struct hd_slice part;

    return split_at(&token, '-', &part) && is_digits(part) && split_at(&token, '-', &part) &&
           is_digits(part) && is_digits(token);
}

/* The last ".log." of a name; the size of the name without one. */
static size_t find_log_mark(struct hd_slice name)
{
    static const char MARK[] = ".log.";
    const size_t mark_bytes = sizeof MARK - 1;

    for (size_t at = name.size >= mark_bytes ? name.size - mark_bytes + 1 : 0; at > 0; at--) {
        if (memcmp(name.data + at - 1, MARK, mark_bytes) == 0)
            return at - 1;
    }
    return name.size;
}

/* .{file id}_{instant}.log.{version}[_{token}[.cdc]] */
static bool parse_log(struct hd_slice name, struct hd_file_name *out)
{
    const size_t mark = find_log_mark(name);
    struct hd_slice version;

    if (mark == name.size)
        return false;
    struct hd_slice rest = hd_slice_of(name.data + mark + 5, name.size - mark - 5);
    out->kind = HD_FILE_LOG;
    if (split_at(&rest, '_', &version)) {
        if (hd_slice_ends_with(rest, ".cdc")) {
            out->kind = HD_FILE_CDC_LOG;
            rest.size -= 4;
        }
        out->write_token = rest;
        if (!is_log_token(rest))
            return false;
    } else {
        version = rest;
    }
    if (!parse_log_version(version, &out->log_version))
        return false;
    size_t underscore = mark; /* the last one: a file id may hold others in old tables */
    while (underscore > 1 && name.data[underscore - 1] != '_')
        underscore--;
    if (underscore <= 2)
        return false;
    out->file_id = hd_slice_of(name.data + 1, underscore - 2);
    out->instant = hd_slice_of(name.data + underscore, mark - underscore);
    return is_instant(out->instant);
}

bool hd_file_name_parse(const char *name, struct hd_file_name *out)
{
    const struct hd_slice text = hd_slice_text(name);

    *out = (struct hd_file_name){0};
    if (text.size > 0 && (text.data[0] == '.' ? parse_log(text, out) : parse_base(text, out)))
        return true;
    *out = (struct hd_file_name){.kind = HD_FILE_OTHER};
    return false;
}

hudi_status hd_base_file_name_format(struct hd_op *op, const char *file_id, const char *write_token,
                                     const char *instant, const char *extension, char **out)
{
    return hd_asprintf(op, out, "%s_%s_%s%s", file_id, write_token, instant, extension);
}

hudi_status hd_log_file_name_format(struct hd_op *op, const char *file_id, const char *instant,
                                    uint32_t log_version, const char *write_token, char **out)
{
    return hd_asprintf(op, out, ".%s_%s.log.%" PRIu32 "_%s", file_id, instant, log_version,
                       write_token);
}

void hd_write_token_format(uint32_t task, uint32_t stage, uint64_t attempt,
                           char out[HD_WRITE_TOKEN_BYTES])
{
    snprintf(out, HD_WRITE_TOKEN_BYTES, "%" PRIu32 "-%" PRIu32 "-%" PRIu64, task, stage, attempt);
}
