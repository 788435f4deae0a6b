/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/record/timestamp_key.h"

#include <regex.h>
#include <string.h>
#include <strings.h>

#include "arrow/java_text.h"
#include "engine/record/date_pattern.h"
#include "engine/record/time_zone.h"

#define PREFIX "hoodie.keygen.timebased."
#define OLD_PREFIX "hoodie.deltastreamer.keygen.timebased."

#define MAX_INPUT_PATTERNS 16

struct hd_timestamp_key {
    bool texts;         /* the value is a text to be read by the input patterns */
    bool numbers;       /* the value is a number of units */
    int64_t multiplier; /* units times this ... */
    int64_t divisor;    /* ... by this are milliseconds */
    bool instants;      /* TIMESTAMP columns are instants whatever the unit */
    const struct hd_date_pattern *inputs[MAX_INPUT_PATTERNS];
    size_t n_inputs;
    const struct hd_date_pattern *first_input; /* for writing: what null stands for */
    const struct hd_date_pattern *output;
    const struct hd_time_zone *input_zone;  /* NULL: as the text says, else UTC */
    const struct hd_time_zone *output_zone; /* NULL: that of the text, else UTC */
    const struct hd_time_zone *utc;
    int32_t now_year;
};

/* ---- options ------------------------------------------------------------------------------ */

static const char *find(const struct hd_properties *properties, const char *prefix,
                        const char *name)
{
    char key[160];
    const size_t n = strlen(prefix);
    const size_t m = strlen(name);

    if (n + m >= sizeof(key))
        return NULL;
    memcpy(key, prefix, n);
    memcpy(key + n, name, m + 1);
    return hd_properties_get(properties, key);
}

/* The option `name` of the call, else of the table; NULL when it is nowhere or empty. */
static const char *setting(const struct hd_table_config *config, const struct hd_options *options,
                           const char *name)
{
    const struct hd_properties *places[] = {options == NULL ? NULL : &options->set,
                                            &config->properties};

    for (size_t i = 0; i < HD_ARRAY_LENGTH(places); i++) {
        if (places[i] == NULL)
            continue;
        const char *value = find(places[i], PREFIX, name);

        if (value == NULL)
            value = find(places[i], OLD_PREFIX, name);
        if (value != NULL && *value != '\0')
            return value;
    }
    return NULL;
}

static const struct unit {
    const char *name;
    int64_t multiplier, divisor;
} units[] = {
    {"NANOSECONDS", 1, 1000000}, {"MICROSECONDS", 1, 1000}, {"MILLISECONDS", 1, 1},
    {"SECONDS", 1000, 1},        {"MINUTES", 60000, 1},     {"HOURS", 3600000, 1},
    {"DAYS", 86400000, 1},
};

static hudi_status set_unit(struct hd_op *op, const char *name, struct hd_timestamp_key *key)
{
    for (size_t i = 0; i < HD_ARRAY_LENGTH(units); i++) {
        if (strcasecmp(units[i].name, name) == 0) {
            key->multiplier = units[i].multiplier;
            key->divisor = units[i].divisor;
            key->numbers = true;
            return HUDI_OK;
        }
    }
    return hd_fail(op, HUDI_INVALID, PREFIX "timestamp.scalar.time.unit is \"%s\"", name);
}

static hudi_status set_type(struct hd_op *op, const struct hd_table_config *config,
                            const struct hd_options *options, struct hd_timestamp_key *key)
{
    const char *type = setting(config, options, "timestamp.type");
    const char *unit = setting(config, options, "timestamp.scalar.time.unit");

    if (type == NULL)
        return hd_fail(op, HUDI_INVALID, PREFIX "timestamp.type is not set");
    if (strcasecmp(type, "UNIX_TIMESTAMP") == 0)
        return set_unit(op, "SECONDS", key);
    if (strcasecmp(type, "EPOCHMILLISECONDS") == 0)
        return set_unit(op, "MILLISECONDS", key);
    if (strcasecmp(type, "EPOCHMICROSECONDS") == 0)
        return set_unit(op, "MICROSECONDS", key);
    if (strcasecmp(type, "SCALAR") == 0)
        return set_unit(op, unit == NULL ? "SECONDS" : unit, key);
    if (strcasecmp(type, "DATE_STRING") != 0 && strcasecmp(type, "MIXED") != 0)
        return hd_fail(op, HUDI_INVALID, PREFIX "timestamp.type is \"%s\"", type);
    key->texts = true;
    return HUDI_OK;
}

static struct hd_slice trim(struct hd_slice text)
{
    while (text.size > 0 && text.data[0] <= ' ') {
        text.data++;
        text.size--;
    }
    while (text.size > 0 && text.data[text.size - 1] <= ' ')
        text.size--;
    return text;
}

static hudi_status add_input(struct hd_op *op, struct hd_slice text, struct hd_arena *arena,
                             struct hd_timestamp_key *key)
{
    text = trim(text);
    if (key->n_inputs == MAX_INPUT_PATTERNS)
        return hd_fail(op, HUDI_NOT_IMPLEMENTED,
                       "more than %d patterns in " PREFIX "input.dateformat", MAX_INPUT_PATTERNS);
    if (key->n_inputs == 0)
        HD_TRY(hd_date_pattern_parse(op, text, false, arena, &key->first_input));
    return hd_date_pattern_parse(op, text, true, arena, &key->inputs[key->n_inputs++]);
}

/* The list of patterns, split where the delimiter, a regular expression, matches. */
static hudi_status split_inputs(struct hd_op *op, const char *list, const char *delimiter,
                                struct hd_arena *arena, struct hd_timestamp_key *key)
{
    regex_t regex;
    regmatch_t match;
    hudi_status status = HUDI_OK;

    if (regcomp(&regex, delimiter, REG_EXTENDED) != 0)
        return hd_fail(op, HUDI_INVALID, PREFIX "input.dateformat.list.delimiter.regex is \"%s\"",
                       delimiter);
    while (status == HUDI_OK && *list != '\0' && regexec(&regex, list, 1, &match, 0) == 0 &&
           match.rm_eo > 0) {
        if (match.rm_so > 0)
            status = add_input(op, hd_slice_of(list, (size_t)match.rm_so), arena, key);
        list += match.rm_eo;
    }
    regfree(&regex);
    if (status == HUDI_OK && *list != '\0')
        status = add_input(op, hd_slice_text(list), arena, key);
    if (status == HUDI_OK && key->n_inputs == 0)
        status = hd_fail(op, HUDI_INVALID, PREFIX "input.dateformat holds no pattern");
    return status;
}

static hudi_status set_patterns(struct hd_op *op, const struct hd_table_config *config,
                                const struct hd_options *options, struct hd_arena *arena,
                                struct hd_timestamp_key *key)
{
    const char *output = setting(config, options, "output.dateformat");
    const char *input = setting(config, options, "input.dateformat");
    const char *delimiter = setting(config, options, "input.dateformat.list.delimiter.regex");
    int64_t year;
    int32_t month, day;

    if (output == NULL)
        return hd_fail(op, HUDI_INVALID, PREFIX "output.dateformat is not set");
    HD_TRY(hd_date_pattern_parse(op, hd_slice_text(output), false, arena, &key->output));
    hd_date_of_days((int64_t)(hd_now_ms(op) / 86400000), &year, &month, &day);
    key->now_year = (int32_t)year;
    if (!key->texts)
        return HUDI_OK;
    if (input == NULL)
        return hd_fail(op, HUDI_INVALID, PREFIX "input.dateformat is not set");
    return split_inputs(op, input, delimiter == NULL ? "," : delimiter, arena, key);
}

static hudi_status set_zones(struct hd_op *op, const struct hd_table_config *config,
                             const struct hd_options *options, struct hd_arena *arena,
                             struct hd_timestamp_key *key)
{
    const char *common = setting(config, options, "timezone");
    const char *input = common != NULL ? common : setting(config, options, "input.timezone");
    const char *output = common != NULL ? common : setting(config, options, "output.timezone");

    HD_TRY(hd_time_zone_fixed(op, 0, arena, &key->utc));
    if (input != NULL)
        HD_TRY(hd_time_zone_load(op, input, arena, &key->input_zone));
    if (output != NULL)
        HD_TRY(hd_time_zone_load(op, output, arena, &key->output_zone));
    return HUDI_OK;
}

hudi_status hd_timestamp_key_new(struct hd_op *op, const struct hd_table_config *config,
                                 const struct hd_options *options, const char *field,
                                 const struct hd_type *type, bool timestamps_as_text,
                                 struct hd_arena *arena, struct hd_timestamp_key **out)
{
    const bool text = type->id == HD_TYPE_STRING || type->id == HD_TYPE_DICTIONARY;
    struct hd_timestamp_key *key = NULL;

    *out = NULL;
    HD_TRY(hd_arena_alloc(op, arena, sizeof(*key), &key));
    HD_TRY(set_type(op, config, options, key));
    HD_TRY(set_patterns(op, config, options, arena, key));
    HD_TRY(set_zones(op, config, options, arena, key));
    key->instants = type->id == HD_TYPE_TIMESTAMP && type->utc && timestamps_as_text;
    if (type->id == HD_TYPE_BOOL || (text && !key->texts) ||
        (!text && !key->numbers && !key->instants))
        return hd_fail(op, HUDI_INVALID,
                       "partition field \"%s\" has a type that " PREFIX
                       "timestamp.type=%s does not "
                       "go with",
                       field, setting(config, options, "timestamp.type"));
    *out = key;
    return HUDI_OK;
}

/* ---- values ------------------------------------------------------------------------------- */

/* As Java converts a floating number to long: towards zero, NaN 0, within the range. */
static int64_t to_long(double value)
{
    if (value != value)
        return 0;
    if (value >= 9223372036854775807.0)
        return INT64_MAX;
    if (value <= -9223372036854775808.0)
        return INT64_MIN;
    return (int64_t)value;
}

/* The lower 64 bits of the whole part, as BigDecimal.longValue() gives. */
static int64_t decimal_to_long(const struct hd_view *view, int64_t row)
{
    __int128 value;
    int32_t scale = view->type.scale;

    memcpy(&value, hd_view_bytes(view, row).data, sizeof(value));
    for (; scale > 0 && value != 0; scale--)
        value /= 10;
    for (; scale < 0 && scale > -39; scale++)
        value = (__int128)((unsigned __int128)value * 10);
    return (int64_t)(uint64_t)(unsigned __int128)value;
}

static int64_t value_to_long(const struct hd_view *view, int64_t row)
{
    switch (view->type.id) {
    case HD_TYPE_FLOAT:
        return to_long((double)hd_view_float(view, row));
    case HD_TYPE_DOUBLE:
        return to_long(hd_view_double(view, row));
    case HD_TYPE_DECIMAL:
        return decimal_to_long(view, row);
    default:
        return hd_view_integer(view, row);
    }
}

/* Java's TimeUnit.convert(): beyond the range its ends, divisions towards zero. */
static int64_t to_millis(const struct hd_timestamp_key *key, int64_t value)
{
    int64_t millis;

    if (__builtin_mul_overflow(value, key->multiplier, &millis))
        return value < 0 ? INT64_MIN : INT64_MAX;
    return millis / key->divisor;
}

static hudi_status write_text(struct hd_op *op, const struct hd_timestamp_key *key,
                              struct hd_slice text, struct hd_str *out)
{
    const struct hd_time_zone *zone = key->input_zone != NULL ? key->input_zone : key->utc;
    const struct hd_time_zone *shown = key->output_zone != NULL ? key->output_zone : zone;
    struct hd_parsed_time time = {0};
    struct hd_arena arena = {0};
    size_t i = 0;
    int64_t utc_s;
    hudi_status status;

    while (i < key->n_inputs && !hd_date_pattern_read(key->inputs[i], text, key->now_year, &time))
        i++;
    if (i == key->n_inputs)
        return HUDI_NOT_FOUND;
    const int64_t local_s = time.local_ms / 1000 - (time.local_ms % 1000 < 0);

    if (time.has_offset)
        utc_s = local_s - time.offset_s;
    else if (!hd_time_zone_to_utc(zone, local_s, &utc_s))
        return HUDI_NOT_FOUND;
    if (time.has_offset && key->output_zone == NULL && key->input_zone == NULL)
        HD_TRY_OUT(hd_time_zone_fixed(op, time.offset_s, &arena, &shown));
    status = hd_date_pattern_format(op, key->output,
                                    utc_s * 1000 + (time.local_ms - local_s * 1000), shown, out);
out:
    hd_arena_clear(&arena);
    return status;
}

hudi_status hd_timestamp_key_text(struct hd_op *op, const struct hd_timestamp_key *key,
                                  const struct hd_view *view, int64_t row, bool is_null,
                                  struct hd_str *out)
{
    const struct hd_time_zone *zone = key->output_zone != NULL ? key->output_zone : key->utc;
    struct hd_str epoch = {0};
    hudi_status status;
    int64_t millis;

    if (is_null && key->texts) { /* 1 ms after the epoch, by way of the first input pattern */
        status = hd_date_pattern_format(op, key->first_input, 1,
                                        key->input_zone != NULL    ? key->input_zone
                                        : key->output_zone != NULL ? key->output_zone
                                                                   : key->utc,
                                        &epoch);
        if (status == HUDI_OK)
            status = write_text(op, key, hd_str_slice(&epoch), out);
        hd_str_clear(&epoch);
        return status;
    }
    if (is_null)
        millis = to_millis(key, 1);
    else if (view->type.id == HD_TYPE_STRING || view->type.id == HD_TYPE_DICTIONARY)
        return write_text(op, key, hd_view_bytes(view, row), out);
    else if (key->instants)
        millis = view->type.unit == HD_UNIT_MILLI   ? hd_view_i64(view, row)
                 : view->type.unit == HD_UNIT_MICRO ? hd_view_i64(view, row) / 1000
                                                    : hd_view_i64(view, row) / 1000000;
    else
        millis = to_millis(key, value_to_long(view, row));
    return hd_date_pattern_format(op, key->output, millis, zone, out);
}
