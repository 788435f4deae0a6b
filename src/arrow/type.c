/* SPDX-License-Identifier: Apache-2.0 */
#include "arrow/type.h"

#include <string.h>

/* Formats without parameters. `name` is what hd_type_describe() prints. */
struct plain_format {
    const char *format;
    enum hd_type_id id;
    enum hd_time_unit unit;
    const char *name;
};

static const struct plain_format PLAIN[] = {
    {"n", HD_TYPE_NULL, 0, "null"},
    {"b", HD_TYPE_BOOL, 0, "bool"},
    {"i", HD_TYPE_INT32, 0, "int32"},
    {"l", HD_TYPE_INT64, 0, "int64"},
    {"f", HD_TYPE_FLOAT, 0, "float"},
    {"g", HD_TYPE_DOUBLE, 0, "double"},
    {"u", HD_TYPE_STRING, 0, "string"},
    {"z", HD_TYPE_BINARY, 0, "binary"},
    {"tdD", HD_TYPE_DATE, 0, "date32[day]"},
    {"ttm", HD_TYPE_TIME, HD_UNIT_MILLI, "time32[ms]"},
    {"ttu", HD_TYPE_TIME, HD_UNIT_MICRO, "time64[us]"},
    {"ttn", HD_TYPE_TIME, HD_UNIT_NANO, "time64[ns]"},
    {"+l", HD_TYPE_LIST, 0, "list"},
    {"+m", HD_TYPE_MAP, 0, "map"},
    {"+s", HD_TYPE_STRUCT, 0, "struct"},
    {"c", HD_TYPE_OTHER, 0, "int8"},
    {"C", HD_TYPE_OTHER, 0, "uint8"},
    {"s", HD_TYPE_OTHER, 0, "int16"},
    {"S", HD_TYPE_OTHER, 0, "uint16"},
    {"I", HD_TYPE_OTHER, 0, "uint32"},
    {"L", HD_TYPE_OTHER, 0, "uint64"},
    {"e", HD_TYPE_OTHER, 0, "halffloat"},
    {"U", HD_TYPE_OTHER, 0, "large_string"},
    {"Z", HD_TYPE_OTHER, 0, "large_binary"},
    {"vu", HD_TYPE_OTHER, 0, "string_view"},
    {"vz", HD_TYPE_OTHER, 0, "binary_view"},
    {"tdm", HD_TYPE_OTHER, 0, "date64[ms]"},
    {"tts", HD_TYPE_OTHER, 0, "time32[s]"},
    {"tDs", HD_TYPE_OTHER, 0, "duration[s]"},
    {"tDm", HD_TYPE_OTHER, 0, "duration[ms]"},
    {"tDu", HD_TYPE_OTHER, 0, "duration[us]"},
    {"tDn", HD_TYPE_OTHER, 0, "duration[ns]"},
    {"tiM", HD_TYPE_OTHER, 0, "month_interval"},
    {"tiD", HD_TYPE_OTHER, 0, "day_time_interval"},
    {"tin", HD_TYPE_OTHER, 0, "month_day_nano_interval"},
    {"+L", HD_TYPE_OTHER, 0, "large_list"},
    {"+vl", HD_TYPE_OTHER, 0, "list_view"},
    {"+vL", HD_TYPE_OTHER, 0, "large_list_view"},
    {"+r", HD_TYPE_OTHER, 0, "run_end_encoded"},
};

static const struct plain_format *find_plain(const char *format)
{
    for (size_t i = 0; i < HD_ARRAY_LENGTH(PLAIN); i++) {
        if (strcmp(PLAIN[i].format, format) == 0)
            return &PLAIN[i];
    }
    return NULL;
}

/* A decimal number with an optional sign; moves `*at` behind it. */
static bool take_int(const char **at, int32_t *out)
{
    const char *c = *at;
    const bool negative = *c == '-';
    int64_t value = 0;

    if (negative)
        c++;
    if (*c < '0' || *c > '9')
        return false;
    for (; *c >= '0' && *c <= '9'; c++) {
        value = value * 10 + (*c - '0');
        if (value > INT32_MAX)
            return false;
    }
    *out = (int32_t)(negative ? -value : value);
    *at = c;
    return true;
}

static bool parse_decimal(const char *format, struct hd_type *out)
{
    const char *at = format + 2;
    int32_t bits = 128;

    if (!take_int(&at, &out->precision) || *at++ != ',' || !take_int(&at, &out->scale))
        return false;
    if (*at == ',') {
        at++;
        if (!take_int(&at, &bits))
            return false;
    }
    if (*at != '\0' || out->precision < 1)
        return false;
    const bool canonical =
        bits == 128 && out->precision <= 38 && out->scale >= 0 && out->scale <= out->precision;
    out->id = canonical ? HD_TYPE_DECIMAL : HD_TYPE_OTHER;
    return canonical || bits == 32 || bits == 64 || bits == 128 || bits == 256;
}

static bool parse_timestamp(const char *format, struct hd_type *out)
{
    static const char UNITS[] = "smun";
    const char *unit = format[2] == '\0' ? NULL : strchr(UNITS, format[2]);

    if (unit == NULL || format[3] != ':')
        return false;
    out->unit = (enum hd_time_unit)(unit - UNITS);
    out->utc = format[4] != '\0';
    out->id = out->unit == HD_UNIT_SECOND ? HD_TYPE_OTHER : HD_TYPE_TIMESTAMP;
    return true;
}

static bool parse_format(const char *format, struct hd_type *out)
{
    *out = (struct hd_type){0};
    if (format == NULL)
        return false;
    const struct plain_format *plain = find_plain(format);
    if (plain != NULL) {
        out->id = plain->id;
        out->unit = plain->unit;
        return true;
    }
    if (strncmp(format, "w:", 2) == 0) {
        const char *at = format + 2;
        out->id = HD_TYPE_FIXED_BINARY;
        return take_int(&at, &out->byte_width) && *at == '\0' && out->byte_width >= 0;
    }
    if (strncmp(format, "d:", 2) == 0)
        return parse_decimal(format, out);
    if (strncmp(format, "ts", 2) == 0)
        return parse_timestamp(format, out);
    out->id = HD_TYPE_OTHER;
    if (strncmp(format, "+w:", 3) == 0) {
        const char *at = format + 3;
        int32_t n;
        return take_int(&at, &n) && *at == '\0' && n >= 0;
    }
    return strncmp(format, "+ud:", 4) == 0 || strncmp(format, "+us:", 4) == 0;
}

static bool has_children(const struct ArrowSchema *field, int64_t n)
{
    if (field->n_children < 0 || (n >= 0 && field->n_children != n) ||
        (field->n_children > 0 && field->children == NULL))
        return false;
    for (int64_t i = 0; i < field->n_children; i++) {
        if (field->children[i] == NULL || field->children[i]->format == NULL)
            return false;
    }
    return true;
}

/* The children that a format asks for are there. */
static bool check_children(const struct ArrowSchema *field, const struct hd_type *type)
{
    const char *format = field->format;

    if (type->id == HD_TYPE_MAP)
        return has_children(field, 1) && strcmp(field->children[0]->format, "+s") == 0 &&
               has_children(field->children[0], 2);
    if (type->id == HD_TYPE_STRUCT || format[0] != '+' || format[1] == 'u')
        return has_children(field, format[0] == '+' ? -1 : 0);
    return has_children(field, format[1] == 'r' ? 2 : 1);
}

bool hd_type_parse(const struct ArrowSchema *field, struct hd_type *out)
{
    if (!parse_format(field->format, out) || !check_children(field, out))
        return false;
    if (field->dictionary != NULL) {
        const bool strings = out->id == HD_TYPE_INT32 && field->dictionary->format != NULL &&
                             strcmp(field->dictionary->format, "u") == 0 &&
                             field->dictionary->dictionary == NULL;
        *out = (struct hd_type){.id = strings ? HD_TYPE_DICTIONARY : HD_TYPE_OTHER};
    }
    return true;
}

uint64_t hd_type_width(const struct hd_type *type)
{
    switch (type->id) {
    case HD_TYPE_NULL:
    case HD_TYPE_BOOL:
    case HD_TYPE_STRUCT:
        return 0;
    case HD_TYPE_INT64:
    case HD_TYPE_DOUBLE:
    case HD_TYPE_TIMESTAMP:
        return 8;
    case HD_TYPE_TIME:
        return type->unit <= HD_UNIT_MILLI ? 4 : 8;
    case HD_TYPE_DECIMAL:
        return 16;
    case HD_TYPE_FIXED_BINARY:
        return (uint64_t)type->byte_width;
    default:
        return 4;
    }
}

int64_t hd_type_n_buffers(const struct hd_type *type)
{
    switch (type->id) {
    case HD_TYPE_NULL:
        return 0;
    case HD_TYPE_STRUCT:
        return 1;
    case HD_TYPE_STRING:
    case HD_TYPE_BINARY:
        return 3;
    default:
        return 2;
    }
}

hudi_status hd_type_of(struct hd_op *op, const struct ArrowSchema *field, struct hd_type *out)
{
    if (hd_type_parse(field, out))
        return HUDI_OK;
    *out = (struct hd_type){0};
    return hd_fail(op, HUDI_INVALID, "field \"%s\" has the Arrow format \"%s\" with %lld children",
                   field->name == NULL ? "" : field->name,
                   field->format == NULL ? "" : field->format, (long long)field->n_children);
}

static hudi_status describe(struct hd_op *op, const struct ArrowSchema *field, int depth,
                            struct hd_str *out);

static hudi_status describe_children(struct hd_op *op, const struct ArrowSchema *field, int depth,
                                     struct hd_str *out)
{
    const bool map = strcmp(field->format, "+m") == 0;
    const struct ArrowSchema *parent = map ? field->children[0] : field;

    HD_TRY(hd_str_append_char(op, out, '<'));
    for (int64_t i = 0; i < parent->n_children; i++) {
        const struct ArrowSchema *child = parent->children[i];
        if (i > 0)
            HD_TRY(hd_str_append_text(op, out, ", "));
        if (!map)
            HD_TRY(hd_str_printf(op, out, "%s: ", child->name == NULL ? "" : child->name));
        HD_TRY(describe(op, child, depth + 1, out));
    }
    return hd_str_append_char(op, out, '>');
}

static hudi_status describe_timestamp(struct hd_op *op, const struct ArrowSchema *field,
                                      const struct hd_type *type, struct hd_str *out)
{
    static const char *const UNITS[] = {"s", "ms", "us", "ns"};

    HD_TRY(hd_str_printf(op, out, "timestamp[%s", UNITS[type->unit]));
    if (type->utc)
        HD_TRY(hd_str_printf(op, out, ", %s", field->format + 4));
    return hd_str_append_char(op, out, ']');
}

static hudi_status describe(struct hd_op *op, const struct ArrowSchema *field, int depth,
                            struct hd_str *out)
{
    struct hd_type type;

    if (depth > HD_TYPE_MAX_DEPTH)
        return hd_fail(op, HUDI_INVALID, "types nest more than %d deep", HD_TYPE_MAX_DEPTH);
    HD_TRY(hd_type_of(op, field, &type));
    if (field->dictionary != NULL) {
        HD_TRY(hd_str_append_text(op, out, "dictionary<"));
        HD_TRY(describe(op, field->dictionary, depth + 1, out));
        return hd_str_append_char(op, out, '>');
    }
    const char *format = field->format;
    const struct plain_format *plain = find_plain(format);
    if (plain != NULL) {
        HD_TRY(hd_str_append_text(op, out, plain->name));
        return format[0] == '+' ? describe_children(op, field, depth, out) : HUDI_OK;
    }
    parse_format(format, &type);
    if (format[0] == 'w')
        return hd_str_printf(op, out, "fixed_size_binary[%d]", (int)type.byte_width);
    if (format[0] == 'd')
        return hd_str_printf(op, out, "decimal(%d, %d)", (int)type.precision, (int)type.scale);
    if (format[0] == 't')
        return describe_timestamp(op, field, &type, out);
    HD_TRY(hd_str_append_text(op, out, format[1] == 'w' ? "fixed_size_list" : "union"));
    return describe_children(op, field, depth, out);
}

hudi_status hd_type_describe(struct hd_op *op, const struct ArrowSchema *field, struct hd_str *out)
{
    return describe(op, field, 0, out);
}

static bool same_name(const struct ArrowSchema *a, const struct ArrowSchema *b)
{
    return strcmp(a->name == NULL ? "" : a->name, b->name == NULL ? "" : b->name) == 0;
}

static bool same_type(const struct hd_type *a, const struct hd_type *b)
{
    return a->id == b->id && a->unit == b->unit && a->utc == b->utc &&
           a->byte_width == b->byte_width && a->precision == b->precision && a->scale == b->scale;
}

static bool equal(const struct ArrowSchema *a, const struct ArrowSchema *b, bool names, int depth)
{
    struct hd_type x, y;

    if (depth > HD_TYPE_MAX_DEPTH || !hd_type_parse(a, &x) || !hd_type_parse(b, &y) ||
        !same_type(&x, &y) || a->n_children != b->n_children ||
        (a->dictionary == NULL) != (b->dictionary == NULL))
        return false;
    if (x.id == HD_TYPE_OTHER && strcmp(a->format, b->format) != 0)
        return false;
    if (a->dictionary != NULL && !equal(a->dictionary, b->dictionary, true, depth + 1))
        return false;
    for (int64_t i = 0; i < a->n_children; i++) {
        if (names && x.id == HD_TYPE_STRUCT && !same_name(a->children[i], b->children[i]))
            return false;
        /* key and value of a map go by place */
        if (!equal(a->children[i], b->children[i], x.id != HD_TYPE_MAP, depth + 1))
            return false;
    }
    return true;
}

bool hd_type_equal(const struct ArrowSchema *a, const struct ArrowSchema *b)
{
    return equal(a, b, true, 0);
}

static bool is_canonical(const struct ArrowSchema *field, int depth)
{
    struct hd_type type;

    if (depth > HD_TYPE_MAX_DEPTH || !hd_type_parse(field, &type) || type.id == HD_TYPE_OTHER ||
        type.id == HD_TYPE_DICTIONARY)
        return false;
    for (int64_t i = 0; i < field->n_children; i++) {
        if (!is_canonical(field->children[i], depth + 1))
            return false;
    }
    return true;
}

bool hd_type_is_canonical(const struct ArrowSchema *field)
{
    return is_canonical(field, 0);
}
