/* SPDX-License-Identifier: Apache-2.0 */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "arrow/array.h"
#include "arrow/builder.h"
#include "arrow/schema.h"
#include "arrow/stream.h"
#include "arrow/text.h"
#include "base/checked_int.h"
#include "base/map.h"
#include "codec/base64.h"
#include "codec/json.h"
#include "rows/json_guess.h"
#include "rows/json_rows.h"

#define BATCH_ROWS 65536
#define BATCH_BYTES (64u << 20)
#define GUESS_LINES 1000
#define VALUE_BYTES 40 /* of a value, in messages */
/* Numbers with a fraction or an exponent come as doubles. Below these they are what was written:
 * whole ones, and the unscaled values of decimals. */
#define EXACT_INTEGER 0x1p53
#define EXACT_UNSCALED INT64_C(1000000000000000)

struct json_stream {
    hd_line_reader *reader;
    struct ArrowSchema schema;
    hd_builder *root;
    struct hd_left_out left_out; /* whom to tell of bad records; without: they are errors */
    hd_name_test is_ignored;     /* which names are none of the rows' */
    struct hd_map columns;       /* name -> child number */
    int64_t n_given;             /* rows, in batches before */
    bool at_end;
    /* Lines read for guessing, to be parsed first. */
    struct hd_str early;
    size_t early_at;
    int64_t early_line;
};

/* A column, or what is in it: "point.x", "tags.element", "nums.value", as Parquet's messages say.
 */
struct place {
    const struct place *in; /* NULL: a column */
    const char *name;
    struct hd_slice line; /* of a column: what it is read from */
};

static struct hd_slice line_of(const struct place *place)
{
    while (place->in != NULL)
        place = place->in;
    return place->line;
}

static hudi_status append_path(struct hd_op *op, const struct place *place, struct hd_str *out)
{
    if (place->in != NULL) {
        HD_TRY(append_path(op, place->in, out));
        HD_TRY(hd_str_append(op, out, ".", 1));
    }
    return hd_str_append(op, out, place->name, strlen(place->name));
}

/* A value that does not fit: `column "a": VALUE WHAT`, without the line. */
static hudi_status misfit(struct hd_op *op, const struct place *column, const hd_json *value,
                          const char *what)
{
    struct hd_str text = {0}, path = {0};
    struct hd_json_writer json;
    hudi_status status = HUDI_OK;

    HD_TRY_OUT(append_path(op, column, &path));
    if (value == NULL || hd_json_is_null(value)) { /* says it */
        status = hd_fail(op, HUDI_INVALID, "column \"%s\" %s", hd_str_text(&path), what);
        goto out;
    }
    hd_json_writer_init(&json, &text, HD_JSON_COMPACT);
    HD_TRY_OUT(hd_json_value(op, &json, value));
    size_t n = text.size;
    if (n > VALUE_BYTES) {
        for (n = VALUE_BYTES; n > 0 && (text.data[n] & 0xc0) == 0x80;)
            n--;
    }
    status = hd_fail(op, HUDI_INVALID, "column \"%s\": %.*s%s %s", hd_str_text(&path), (int)n,
                     text.data, n < text.size ? "..." : "", what);
out:
    hd_str_clear(&text);
    hd_str_clear(&path);
    return status;
}

static hudi_status append_value(struct hd_op *op, hd_builder *builder,
                                const struct ArrowSchema *field, const hd_json *value,
                                const struct place *column);

/* The text of a string value. */
static hudi_status text_of(struct hd_op *op, const hd_json *value, const char *expected,
                           const struct place *column, struct hd_slice *out)
{
    if (!hd_json_is_string(value))
        return misfit(op, column, value, expected);
    return hd_json_as_string(op, value, column->name, out);
}

static hudi_status append_integer(struct hd_op *op, hd_builder *builder, const hd_json *value,
                                  const struct place *column)
{
    int64_t integer;

    if (!hd_json_is_number(value) ||
        hd_json_as_int64(op, value, column->name, &integer) != HUDI_OK) {
        hd_op_clear_error(op);
        return misfit(op, column, value, "is no integer");
    }
    if (!hd_json_is_integer(value) && fabs((double)integer) >= EXACT_INTEGER)
        return misfit(op, column, value, "has more digits than are kept: leave out the fraction");
    if (hd_builder_type(builder)->id == HD_TYPE_INT32 &&
        (integer < INT32_MIN || integer > INT32_MAX))
        return misfit(op, column, value, "does not fit 32 bits");
    return hd_builder_append_integer(op, builder, integer);
}

/* Rounding 0.1 is what a double is for; but two whole numbers that become one are keys that do. */
static hudi_status append_number(struct hd_op *op, hd_builder *builder, const hd_json *value,
                                 const struct place *column)
{
    const bool single = hd_builder_type(builder)->id == HD_TYPE_FLOAT;
    int64_t integer;
    double real;
    struct hd_slice text;

    if (hd_json_is_string(value)) { /* "NaN", "Infinity" */
        HD_TRY(text_of(op, value, "is no number", column, &text));
        if (!hd_parse_double(text, &real) || isfinite(real))
            return misfit(op, column, value, "is no number");
        return hd_builder_append_double(op, builder, real);
    }
    if (!hd_json_is_number(value))
        return misfit(op, column, value, "is no number");
    HD_TRY(hd_json_as_double(op, value, column->name, &real));
    if (single && !isfinite((float)real))
        return misfit(op, column, value, "does not fit a float");
    if (hd_json_is_integer(value)) {
        HD_TRY(hd_json_as_int64(op, value, column->name, &integer));
        if (!hd_double_is(single ? (float)real : real, integer))
            return misfit(op, column, value,
                          single ? "has more digits than a float keeps"
                                 : "has more digits than a double keeps");
    }
    return hd_builder_append_double(op, builder, real);
}

/* Has the line a number with a fraction or an exponent, of more digits than a double keeps? */
static bool has_long_number(struct hd_slice line)
{
    bool quoted = false, number = false, fraction = false;
    size_t n_digits = 0;

    for (size_t i = 0; i <= line.size; i++) {
        const uint8_t c = i < line.size ? line.data[i] : ',';

        if (quoted || c == '"') {
            i += quoted && c == '\\';
            quoted ^= c == '"';
        } else if (c >= '0' && c <= '9') {
            number = true;
            n_digits += n_digits > 0 || c != '0';
        } else if (number && strchr(".eE+-", c) != NULL) {
            fraction = true; /* the digits of an exponent count, too: no harm */
        } else {
            if (fraction && n_digits > DBL_DIG)
                return true;
            number = fraction = false;
            n_digits = 0;
        }
    }
    return false;
}

static hudi_status append_decimal(struct hd_op *op, hd_builder *builder, const hd_json *value,
                                  const struct place *column)
{
    const struct hd_type *type = hd_builder_type(builder);
    struct hd_slice text;
    struct hd_str number = {0};
    hd_int128 unscaled;
    hudi_status status = HUDI_OK;

    if (hd_json_is_number(value)) {
        struct hd_json_writer json;
        hd_json_writer_init(&json, &number, HD_JSON_COMPACT);
        HD_TRY_OUT(hd_json_value(op, &json, value));
        text = hd_str_slice(&number);
    } else {
        HD_TRY_OUT(text_of(op, value, "is no decimal", column, &text));
    }
    if (!hd_parse_decimal(text, type->precision, type->scale, HD_ROUND_EXACT, &unscaled)) {
        status = misfit(op, column, value, "is no decimal of this precision and scale");
        goto out;
    }
    if (hd_json_is_number(value) && !hd_json_is_integer(value) &&
        (unscaled >= EXACT_UNSCALED || unscaled <= -EXACT_UNSCALED) &&
        has_long_number(line_of(column))) {
        status = misfit(op, column, value, "may have lost digits: write it as a string");
        goto out;
    }
    status = hd_builder_append_decimal(op, builder, unscaled);
out:
    hd_str_clear(&number);
    return status;
}

static hudi_status append_time(struct hd_op *op, hd_builder *builder, const hd_json *value,
                               const struct place *column)
{
    const struct hd_type *type = hd_builder_type(builder);
    struct hd_slice text;
    int64_t number = 0;
    int32_t days = 0;
    bool ok;

    if (hd_json_is_integer(value)) { /* raw: days, or units since the epoch or midnight */
        HD_TRY(hd_json_as_int64(op, value, column->name, &number));
        return hd_builder_append_integer(op, builder, number);
    }
    HD_TRY(text_of(op, value, "is no date or time", column, &text));
    if (type->id == HD_TYPE_DATE) {
        ok = hd_parse_date(text, &days);
        number = days;
    } else if (type->id == HD_TYPE_TIME) {
        ok = hd_parse_time(text, type->unit, &number);
    } else {
        /* "Z" is read for local timestamps too: what is printed without is the same reading. */
        if (!type->utc && text.size > 0 && text.data[text.size - 1] == 'Z')
            text.size--;
        ok = hd_parse_timestamp(text, type->unit, type->utc, &number);
    }
    if (!ok)
        return misfit(op, column, value,
                      type->id == HD_TYPE_DATE   ? "is no date"
                      : type->id == HD_TYPE_TIME ? "is no time of day of this unit"
                                                 : "is no timestamp of this unit");
    return hd_builder_append_integer(op, builder, number);
}

static hudi_status append_bytes(struct hd_op *op, hd_builder *builder, const hd_json *value,
                                const struct place *column)
{
    struct hd_slice text;
    struct hd_str bytes = {0};
    hudi_status status = HUDI_OK;

    HD_TRY(text_of(op, value, "is no base64 text", column, &text));
    status = hd_base64_decode(op, text, &bytes);
    if (status == HUDI_CORRUPT) {
        hd_op_clear_error(op);
        status = misfit(op, column, value, "is no base64 text");
    }
    const struct hd_type *type = hd_builder_type(builder);
    if (status == HUDI_OK && type->id == HD_TYPE_FIXED_BINARY &&
        bytes.size != (size_t)type->byte_width)
        status = misfit(op, column, value, "has another number of bytes than the column");
    if (status == HUDI_OK)
        status = hd_builder_append_bytes(op, builder, hd_str_slice(&bytes));
    hd_str_clear(&bytes);
    return status;
}

static hudi_status append_list(struct hd_op *op, hd_builder *builder,
                               const struct ArrowSchema *field, const hd_json *value,
                               const struct place *column)
{
    const struct place item = {.in = column, .name = "element"};

    if (!hd_json_is_array(value))
        return misfit(op, column, value, "is no array");
    for (size_t i = 0; i < hd_json_length(value); i++)
        HD_TRY(append_value(op, hd_builder_child(builder, 0), field->children[0],
                            hd_json_at(value, i), &item));
    return hd_builder_append_valid(op, builder);
}

static hudi_status append_map(struct hd_op *op, hd_builder *builder,
                              const struct ArrowSchema *field, const hd_json *value,
                              const struct place *column)
{
    struct hd_json_iter iter = {0};
    struct hd_slice key;
    const hd_json *member;
    const struct place entry = {.in = column, .name = "value"};

    if (!hd_json_is_object(value))
        return misfit(op, column, value, "is no object");
    while (hd_json_next(value, &iter, &key, &member)) {
        HD_TRY(hd_builder_append_bytes(op, hd_builder_child(builder, 0), key));
        HD_TRY(append_value(op, hd_builder_child(builder, 1), field->children[0]->children[1],
                            member, &entry));
    }
    return hd_builder_append_valid(op, builder);
}

static hudi_status append_struct(struct hd_op *op, hd_builder *builder,
                                 const struct ArrowSchema *field, const hd_json *value,
                                 const struct place *column)
{
    struct hd_json_iter iter = {0};
    struct hd_slice key;
    const hd_json *member;

    if (!hd_json_is_object(value))
        return misfit(op, column, value, "is no object");
    while (hd_json_next(value, &iter, &key, &member))
        if (hd_schema_find(field, (const char *)key.data) < 0)
            return misfit(op, column, value, "has a member that is no field of the column");
    for (int64_t i = 0; i < field->n_children; i++) {
        const struct place child = {.in = column, .name = field->children[i]->name};

        HD_TRY(append_value(op, hd_builder_child(builder, i), field->children[i],
                            hd_json_member(value, field->children[i]->name), &child));
    }
    return hd_builder_append_valid(op, builder);
}

static hudi_status append_value(struct hd_op *op, hd_builder *builder,
                                const struct ArrowSchema *field, const hd_json *value,
                                const struct place *column)
{
    struct hd_slice text = {0};
    bool flag;

    if (hd_json_is_null(value)) {
        if (!hd_schema_nullable(field))
            return misfit(op, column, value, "is null or missing where a value must be");
        return hd_builder_append_null(op, builder);
    }
    switch (hd_builder_type(builder)->id) {
    case HD_TYPE_NULL:
        return misfit(op, column, value, "has a value where only null was seen before");
    case HD_TYPE_BOOL:
        if (!hd_json_is_bool(value))
            return misfit(op, column, value, "is neither true nor false");
        HD_TRY(hd_json_as_bool(op, value, column->name, &flag));
        return hd_builder_append_integer(op, builder, flag);
    case HD_TYPE_INT32:
    case HD_TYPE_INT64:
        return append_integer(op, builder, value, column);
    case HD_TYPE_FLOAT:
    case HD_TYPE_DOUBLE:
        return append_number(op, builder, value, column);
    case HD_TYPE_STRING:
        HD_TRY(text_of(op, value, "is no string", column, &text));
        return hd_builder_append_bytes(op, builder, text);
    case HD_TYPE_BINARY:
    case HD_TYPE_FIXED_BINARY:
        return append_bytes(op, builder, value, column);
    case HD_TYPE_DECIMAL:
        return append_decimal(op, builder, value, column);
    case HD_TYPE_DATE:
    case HD_TYPE_TIME:
    case HD_TYPE_TIMESTAMP:
        return append_time(op, builder, value, column);
    case HD_TYPE_LIST:
        return append_list(op, builder, field, value, column);
    case HD_TYPE_MAP:
        return append_map(op, builder, field, value, column);
    case HD_TYPE_STRUCT:
        return append_struct(op, builder, field, value, column);
    default:
        return misfit(op, column, value, "is of a type that has no JSON form");
    }
}

static hudi_status append_object(struct hd_op *op, struct json_stream *self, struct hd_slice line,
                                 const hd_json *object)
{
    struct hd_json_iter iter = {0};
    struct hd_slice key;
    const hd_json *member;

    if (!hd_json_is_object(object))
        return hd_fail(op, HUDI_INVALID, "is no JSON object");
    while (hd_json_next(object, &iter, &key, &member))
        if (hd_map_find(&self->columns, key) == NULL && !self->is_ignored((const char *)key.data))
            return hd_fail(op, HUDI_INVALID, "there is no column \"%s\"", (const char *)key.data);
    for (int64_t i = 0; i < self->schema.n_children; i++) {
        const struct ArrowSchema *field = self->schema.children[i];
        const struct place column = {.name = field->name, .line = line};

        HD_TRY(append_value(op, hd_builder_child(self->root, i), field,
                            hd_json_member(object, field->name), &column));
    }
    return hd_builder_append_valid(op, self->root);
}

static hudi_status next_line(struct hd_op *op, struct json_stream *self, struct hd_slice *text,
                             int64_t *line)
{
    if (self->early_at < self->early.size) {
        const char *start = self->early.data + self->early_at;
        const char *end = memchr(start, '\n', self->early.size - self->early_at);

        *text = hd_slice_of(start, (size_t)(end - start));
        self->early_at += text->size + 1;
        *line = ++self->early_line;
        return HUDI_OK;
    }
    const hudi_status status = hd_line_reader_next(op, self->reader, text);
    *line = hd_line_reader_line(self->reader);
    return status;
}

static bool is_blank(struct hd_slice text)
{
    for (size_t i = 0; i < text.size; i++)
        if (text.data[i] != ' ' && text.data[i] != '\t')
            return false;
    return true;
}

/* The line is no record of this table: told to who wants to go on without it, else an error. */
static hudi_status refuse_line(struct hd_op *op, struct json_stream *self, int64_t line)
{
    hudi_error *why = hd_op_take_error(op);
    char where[32];
    hudi_status status;

    snprintf(where, sizeof where, "line %" PRId64, line);
    if (self->left_out.tell != NULL) {
        hd_builder_truncate(self->root, hd_builder_length(self->root));
        status = self->left_out.tell(op, self->left_out.self,
                                     self->n_given + hd_builder_length(self->root), where,
                                     hudi_error_message(why));
    } else {
        status = hd_fail(op, HUDI_INVALID, "%s: %s", where, hudi_error_message(why));
    }
    hudi_error_free(why);
    return status;
}

static hudi_status take_line(struct hd_op *op, struct json_stream *self, struct hd_slice text,
                             int64_t line)
{
    hd_json *object = NULL;

    if (is_blank(text))
        return HUDI_OK;
    hudi_status status = hd_json_parse_unique(op, text, &object);
    if (status == HUDI_OK)
        status = append_object(op, self, text, object);
    hd_json_free(object);
    return status == HUDI_CORRUPT || status == HUDI_INVALID ? refuse_line(op, self, line) : status;
}

static hudi_status json_next(struct hd_op *op, void *argument, struct ArrowArray *out)
{
    struct json_stream *self = argument;
    struct hd_slice text;
    int64_t line;

    while (!self->at_end && hd_builder_length(self->root) < BATCH_ROWS &&
           hd_builder_bytes(self->root) < BATCH_BYTES) {
        const hudi_status status = next_line(op, self, &text, &line);

        if (status == HUDI_END)
            self->at_end = true;
        else if (status != HUDI_OK)
            return status;
        else
            HD_TRY(take_line(op, self, text, line));
    }
    if (hd_builder_length(self->root) == 0)
        return HUDI_END;
    self->n_given += hd_builder_length(self->root);
    return hd_builder_finish(op, self->root, out);
}

static hudi_status json_schema(struct hd_op *op, void *argument, struct ArrowSchema *out)
{
    return hd_schema_copy(op, &((struct json_stream *)argument)->schema, out);
}

static void json_close(void *argument)
{
    struct json_stream *self = argument;

    hd_line_reader_close(NULL, self->reader);
    hd_builder_free(self->root);
    hd_map_clear(&self->columns);
    hd_str_clear(&self->early);
    hd_schema_clear(&self->schema);
    hd_free(NULL, self);
}

/* Columns of `types`, and behind them those of `guessed` that it has not: how a table gets a new
 * column from such rows. */
static hudi_status join_schemas(struct hd_op *op, const struct json_stream *self,
                                const struct ArrowSchema *types, const struct ArrowSchema *guessed,
                                struct ArrowSchema *out)
{
    hudi_status status = HUDI_OK;
    int64_t n = types == NULL ? 0 : types->n_children;
    const int64_t n_typed = n;

    for (int64_t i = 0; i < guessed->n_children; i++) {
        const char *name = guessed->children[i]->name;
        n += !self->is_ignored(name) && (types == NULL || hd_schema_find(types, name) < 0);
    }
    HD_TRY(hd_schema_init_struct(op, out, "", false, n));
    for (n = 0; n < n_typed; n++)
        HD_TRY_OUT(hd_schema_copy(op, types->children[n], out->children[n]));
    for (int64_t i = 0; i < guessed->n_children; i++) {
        const char *name = guessed->children[i]->name;
        if (!self->is_ignored(name) && (types == NULL || hd_schema_find(types, name) < 0))
            HD_TRY_OUT(hd_schema_copy(op, guessed->children[i], out->children[n++]));
    }
out:
    if (status != HUDI_OK)
        hd_schema_clear(out);
    return status;
}

/* Read the first lines, guess from them the columns that `types` has not, keep them to be parsed.
 */
static hudi_status guess(struct hd_op *op, struct json_stream *self,
                         const struct ArrowSchema *types)
{
    struct ArrowSchema guessed = {0};
    hudi_status status = HUDI_OK;
    struct hd_json_guess *seen = NULL;

    HD_TRY(hd_json_guess_new(op, &seen));
    for (int i = 0; i < GUESS_LINES; i++) {
        struct hd_slice text;
        hd_json *object = NULL;

        status = hd_line_reader_next(op, self->reader, &text);
        if (status == HUDI_END)
            break;
        HD_TRY_OUT(status);
        HD_TRY_OUT(hd_str_append(op, &self->early, text.data, text.size));
        HD_TRY_OUT(hd_str_append_char(op, &self->early, '\n'));
        if (is_blank(text))
            continue;
        if (hd_json_parse_unique(op, text, &object) != HUDI_OK) {
            hd_op_clear_error(op); /* told with its line when the rows are parsed */
            continue;
        }
        status = hd_json_guess_add(op, seen, object);
        hd_json_free(object);
        HD_TRY_OUT(status);
    }
    HD_TRY_OUT(hd_json_guess_schema(op, seen, &guessed));
    HD_TRY_OUT(join_schemas(op, self, types, &guessed, &self->schema));
out:
    hd_schema_clear(&guessed);
    hd_json_guess_free(op, seen);
    return status;
}

hudi_status hd_json_rows_open(struct hd_op *op, hd_line_reader *reader,
                              const struct ArrowSchema *types, hd_name_test is_ignored,
                              const struct hd_left_out *left_out, struct ArrowArrayStream *out)
{
    static const struct hd_stream_ops OPS = {
        .schema = json_schema, .next = json_next, .close = json_close};
    hudi_status status = HUDI_OK;
    struct json_stream *self;

    status = hd_alloc(op, sizeof *self, &self);
    if (status != HUDI_OK) {
        hd_line_reader_close(op, reader);
        return status;
    }
    self->reader = reader;
    self->is_ignored = is_ignored;
    if (left_out != NULL)
        self->left_out = *left_out;
    HD_TRY_OUT(guess(op, self, types));
    for (int64_t i = 0; i < self->schema.n_children; i++)
        HD_TRY_OUT(hd_map_put(op, &self->columns, hd_slice_text(self->schema.children[i]->name),
                              (uint64_t)i, NULL, NULL));
    HD_TRY_OUT(hd_builder_new(op, &self->schema, &self->root));
    return hd_stream_export(op, &OPS, self, out);
out:
    json_close(self);
    return status;
}
