/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/record/time_zone.h"

#include <stdio.h>
#include <string.h>

#include "arrow/java_text.h"
#include "base/cursor.h"
#include "engine/record/time_zone_rule.h"
#include "store/file_system.h"

/*
 * TZif (RFC 8536), integers big-endian:
 *
 *     "TZif" | u8 version | 15 zero | u32 counts: isutc, isstd, leap, times, types, chars
 *     | times (4 bytes, in the second block 8) | u8 type of each | types: i32 offset, u8 dst, u8
 * name | chars | leap records | isstd | isut
 *
 * From version 2 on the block is there twice, the second time with 64-bit times and followed by
 * "\n", the rule for later times, "\n".
 */

#define MAX_FILE_BYTES (1 << 20)
#define ZONE_INFO "/usr/share/zoneinfo/"

struct hd_time_zone {
    const char *id;
    int64_t *times; /* ascending, seconds since the epoch */
    int32_t *offsets;
    size_t n_times;
    int32_t first_offset; /* before times[0] */
    bool has_rule;        /* after the last time */
    struct hd_time_zone_rule rule;
};

struct counts {
    uint32_t isutc, isstd, leap, times, types, chars;
};

/* ---- TZif --------------------------------------------------------------------------------- */

static hudi_status take_header(struct hd_op *op, struct hd_cursor *in, uint8_t *version,
                               struct counts *n)
{
    HD_TRY(hd_cursor_expect(op, in, "TZif", 4));
    HD_TRY(hd_cursor_u8(op, in, version));
    HD_TRY(hd_cursor_skip(op, in, 15));
    HD_TRY(hd_cursor_u32be(op, in, &n->isutc));
    HD_TRY(hd_cursor_u32be(op, in, &n->isstd));
    HD_TRY(hd_cursor_u32be(op, in, &n->leap));
    HD_TRY(hd_cursor_u32be(op, in, &n->times));
    HD_TRY(hd_cursor_u32be(op, in, &n->types));
    return hd_cursor_u32be(op, in, &n->chars);
}

static hudi_status skip_first_block(struct hd_op *op, struct hd_cursor *in, const struct counts *n)
{
    const uint64_t size = (uint64_t)n->times * 5 + (uint64_t)n->types * 6 + n->chars +
                          (uint64_t)n->leap * 8 + n->isstd + n->isutc;

    return hd_cursor_skip(op, in, size);
}

static hudi_status take_time(struct hd_op *op, struct hd_cursor *in, bool wide, int64_t *out)
{
    uint64_t time = 0;
    uint32_t narrow = 0;

    if (wide) {
        HD_TRY(hd_cursor_u64be(op, in, &time));
        *out = (int64_t)time;
    } else {
        HD_TRY(hd_cursor_u32be(op, in, &narrow));
        *out = (int32_t)narrow;
    }
    return HUDI_OK;
}

static hudi_status take_types(struct hd_op *op, struct hd_cursor *in, uint32_t n, int32_t *offsets)
{
    for (uint32_t i = 0; i < n; i++) {
        uint32_t offset = 0;

        HD_TRY(hd_cursor_u32be(op, in, &offset));
        HD_TRY(hd_cursor_skip(op, in, 2));
        offsets[i] = (int32_t)offset;
        if (offsets[i] <= -100000 || offsets[i] >= 100000)
            return hd_fail(op, HUDI_CORRUPT, "an offset of %d seconds is no time zone's",
                           offsets[i]);
    }
    return HUDI_OK;
}

/* A block whose counts are in `n`; every count is held against what is left before it is used. */
static hudi_status take_block(struct hd_op *op, struct hd_cursor *in, bool wide,
                              const struct counts *n, struct hd_arena *arena,
                              struct hd_time_zone *zone)
{
    const uint64_t width = wide ? 8 : 4;
    struct hd_slice numbers = {0};
    struct hd_cursor times;
    int32_t types[256] = {0};

    if (n->types == 0 || n->types > 256)
        return hd_fail(op, HUDI_CORRUPT, "%u kinds of local time, expected 1 to 256", n->types);
    HD_TRY(hd_cursor_sub(op, in, n->times * width, &times));
    HD_TRY(hd_cursor_take(op, in, n->times, &numbers));
    HD_TRY(take_types(op, in, n->types, types));
    HD_TRY(
        hd_cursor_skip(op, in, (uint64_t)n->chars + n->leap * (width + 4) + n->isstd + n->isutc));
    HD_TRY(hd_arena_array(op, arena, n->times, sizeof(*zone->times), &zone->times));
    HD_TRY(hd_arena_array(op, arena, n->times, sizeof(*zone->offsets), &zone->offsets));
    zone->first_offset = types[0];
    for (uint32_t i = 0; i < n->times; i++) {
        HD_TRY(take_time(op, &times, wide, &zone->times[i]));
        if (i > 0 && zone->times[i] <= zone->times[i - 1])
            return hd_fail(op, HUDI_CORRUPT, "transition %u is not later than the one before", i);
        if (numbers.data[i] >= n->types)
            return hd_fail(op, HUDI_CORRUPT, "transition %u is to kind %u of %u", i,
                           numbers.data[i], n->types);
        zone->offsets[i] = types[numbers.data[i]];
    }
    zone->n_times = n->times;
    return HUDI_OK;
}

static hudi_status take_footer(struct hd_op *op, struct hd_cursor *in, struct hd_time_zone *zone)
{
    struct hd_slice rest = {0};

    HD_TRY(hd_cursor_expect(op, in, "\n", 1));
    HD_TRY(hd_cursor_take(op, in, hd_cursor_left(in), &rest));
    const uint8_t *end = rest.size == 0 ? NULL : memchr(rest.data, '\n', rest.size);

    if (end == NULL)
        return hd_fail(op, HUDI_CORRUPT, "the rule for later times has no end");
    if (end == rest.data)
        return HUDI_OK; /* none */
    zone->has_rule =
        hd_time_zone_rule_parse(hd_slice_of(rest.data, (size_t)(end - rest.data)), &zone->rule);
    if (!zone->has_rule)
        return hd_fail(op, HUDI_CORRUPT, "the rule for later times is none");
    return HUDI_OK;
}

static hudi_status parse_file(struct hd_op *op, struct hd_slice bytes, struct hd_arena *arena,
                              struct hd_time_zone *zone)
{
    struct hd_cursor in = hd_cursor_over(bytes.data, bytes.size, 0);
    struct counts n = {0};
    uint8_t version = 0;

    HD_TRY(take_header(op, &in, &version, &n));
    if (version < '2')
        return take_block(op, &in, false, &n, arena, zone);
    HD_TRY(skip_first_block(op, &in, &n));
    HD_TRY(take_header(op, &in, &version, &n));
    HD_TRY(take_block(op, &in, true, &n, arena, zone));
    return take_footer(op, &in, zone);
}

hudi_status hd_time_zone_parse(struct hd_op *op, const char *name, struct hd_slice bytes,
                               struct hd_arena *arena, const struct hd_time_zone **out)
{
    struct hd_time_zone *zone = NULL;
    char *id = NULL;

    *out = NULL;
    HD_TRY(hd_arena_alloc(op, arena, sizeof(*zone), &zone));
    HD_TRY(hd_arena_strdup(op, arena, name, &id));
    zone->id = id;
    HD_TRY(parse_file(op, bytes, arena, zone));
    *out = zone;
    return HUDI_OK;
}

/* ---- names -------------------------------------------------------------------------------- */

/* Java's short names that the tz database has not, or has for something else. */
static const struct short_name {
    const char *id;
    const char *zone;
} short_names[] = {
    {"ACT", "Australia/Darwin"},     {"AET", "Australia/Sydney"},
    {"AGT", "America/Buenos_Aires"}, {"ART", "Africa/Cairo"},
    {"AST", "America/Anchorage"},    {"BET", "America/Sao_Paulo"},
    {"BST", "Asia/Dhaka"},           {"CAT", "Africa/Harare"},
    {"CNT", "America/St_Johns"},     {"CST", "America/Chicago"},
    {"CTT", "Asia/Shanghai"},        {"EAT", "Africa/Addis_Ababa"},
    {"ECT", "Europe/Paris"},         {"IET", "America/Indianapolis"},
    {"IST", "Asia/Calcutta"},        {"JST", "Asia/Tokyo"},
    {"MIT", "Pacific/Apia"},         {"NET", "Asia/Yerevan"},
    {"NST", "Pacific/Auckland"},     {"PLT", "Asia/Karachi"},
    {"PNT", "America/Phoenix"},      {"PRT", "America/Puerto_Rico"},
    {"PST", "America/Los_Angeles"},  {"SST", "Pacific/Guadalcanal"},
    {"VST", "Asia/Ho_Chi_Minh"},
};

/* One or two digits. */
static bool take_number(const char **at, int max_digits, int32_t *out)
{
    int n = 0;

    *out = 0;
    for (; n < max_digits && **at >= '0' && **at <= '9'; n++)
        *out = *out * 10 + (*(*at)++ - '0');
    return n > 0;
}

/* The part behind "GMT": sign, hours, and minutes with or without a colon. */
static bool parse_offset(const char *text, int32_t *offset_s)
{
    const bool negative = *text == '-';
    int32_t hours, minutes = 0;

    if (*text != '-' && *text != '+')
        return false;
    text++;
    const size_t n_digits = strspn(text, "0123456789");

    if (!take_number(&text, n_digits == 3 || n_digits == 1 ? 1 : 2, &hours))
        return false;
    if (*text == ':')
        text++;
    else if (n_digits <= 2 && *text != '\0')
        return false;
    if (*text != '\0' && (strlen(text) != 2 || !take_number(&text, 2, &minutes)))
        return false;
    if (*text != '\0' || hours > 23 || minutes > 59)
        return false;
    *offset_s = (hours * 60 + minutes) * 60 * (negative ? -1 : 1);
    return true;
}

static bool is_file_name(const char *id)
{
    if (*id == '\0' || *id == '/' || *id == '.' || strstr(id, "..") != NULL)
        return false;
    for (; *id != '\0'; id++) {
        const bool letter =
            (*id >= 'A' && *id <= 'Z') || (*id >= 'a' && *id <= 'z') || (*id >= '0' && *id <= '9');

        if (!letter && strchr("/_+-", *id) == NULL)
            return false;
    }
    return true;
}

static hudi_status load_file(struct hd_op *op, const char *id, struct hd_arena *arena,
                             const struct hd_time_zone **out)
{
    hd_file_system *fs = NULL;
    char *root = NULL;
    char *path = NULL;
    uint8_t *bytes = NULL;
    size_t n = 0;
    hudi_status status;

    HD_TRY_OUT(hd_fs_open(op, ZONE_INFO, &fs, &root));
    HD_TRY_OUT(hd_path_join(op, root, id, &path));
    status = hd_fs_read_file(op, fs, path, MAX_FILE_BYTES, &bytes, &n);
    if (status == HUDI_NOT_FOUND)
        status =
            hd_fail(op, HUDI_INVALID, "time zone \"%s\" is not known (" ZONE_INFO " has none)", id);
    HD_TRY_OUT(status);
    status = hd_time_zone_parse(op, id, hd_slice_of(bytes, n), arena, out);
    if (status != HUDI_OK)
        status = hd_fail_path(op, status, path);
out:
    hd_free(op, bytes);
    hd_free(op, path);
    hd_free(op, root);
    hd_fs_free(fs);
    return status;
}

hudi_status hd_time_zone_load(struct hd_op *op, const char *id, struct hd_arena *arena,
                              const struct hd_time_zone **out)
{
    int32_t offset_s = 0;

    *out = NULL;
    if (strcmp(id, "UTC") == 0 || strcmp(id, "GMT") == 0 || strcmp(id, "Z") == 0)
        return hd_time_zone_fixed(op, 0, arena, out);
    if (strncmp(id, "GMT", 3) == 0 && parse_offset(id + 3, &offset_s))
        return hd_time_zone_fixed(op, offset_s, arena, out);
    for (size_t i = 0; i < HD_ARRAY_LENGTH(short_names); i++) {
        if (strcmp(short_names[i].id, id) == 0)
            return load_file(op, short_names[i].zone, arena, out);
    }
    if (!is_file_name(id))
        return hd_fail(op, HUDI_INVALID, "time zone \"%s\" is not known", id);
    return load_file(op, id, arena, out);
}

hudi_status hd_time_zone_fixed(struct hd_op *op, int32_t offset_s, struct hd_arena *arena,
                               const struct hd_time_zone **out)
{
    const int32_t minutes = (offset_s < 0 ? -offset_s : offset_s) / 60;
    struct hd_time_zone *zone = NULL;
    char *id = NULL;

    *out = NULL;
    HD_TRY(hd_arena_alloc(op, arena, sizeof(*zone), &zone));
    if (offset_s == 0)
        HD_TRY(hd_arena_strdup(op, arena, "UTC", &id));
    else
        HD_TRY(hd_arena_printf(op, arena, &id, "%c%02d:%02d", offset_s < 0 ? '-' : '+',
                               minutes / 60, minutes % 60));
    zone->id = id;
    zone->first_offset = offset_s;
    *out = zone;
    return HUDI_OK;
}

/* ---- offsets ------------------------------------------------------------------------------ */

int32_t hd_time_zone_offset(const struct hd_time_zone *zone, int64_t utc_s)
{
    size_t low = 0;
    size_t high = zone->n_times;

    if (zone->has_rule && (high == 0 || utc_s >= zone->times[high - 1]))
        return hd_time_zone_rule_offset(&zone->rule, utc_s);
    while (low < high) { /* the first time later than utc_s */
        const size_t middle = low + (high - low) / 2;

        if (zone->times[middle] <= utc_s)
            low = middle + 1;
        else
            high = middle;
    }
    return low == 0 ? zone->first_offset : zone->offsets[low - 1];
}

bool hd_time_zone_to_utc(const struct hd_time_zone *zone, int64_t local_s, int64_t *utc_s)
{
    /* no two changes are within a day of each other */
    const int32_t before = hd_time_zone_offset(zone, local_s - 86400);
    const int32_t after = hd_time_zone_offset(zone, local_s + 86400);

    *utc_s = local_s - before;
    if (hd_time_zone_offset(zone, *utc_s) == before)
        return true;
    *utc_s = local_s - after;
    return hd_time_zone_offset(zone, *utc_s) == after;
}

const char *hd_time_zone_id(const struct hd_time_zone *zone)
{
    return zone->id;
}
