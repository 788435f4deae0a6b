/* SPDX-License-Identifier: Apache-2.0 */
#include "arrow/gather.h"

#include <assert.h>
#include <string.h>

#include "arrow/array.h"
#include "arrow/bits.h"
#include "arrow/schema.h"
#include "arrow/view.h"
#include "base/arena.h"

/*
 * A column is gathered in one walk over the runs for each of its buffers. Short runs are copied in
 * blocks of a fixed size that may write past their end: what follows overwrites it, and the buffer
 * has SLACK_BYTES for the last one. They may also read past their end, but never past the end of
 * the source column.
 */
#define BLOCK_BYTES 32
#define SLACK_BYTES 64
#define MANY_BYTES 256 /* from here on memcpy() is as fast */

/* Rows of sources that no cache holds are asked for some runs ahead: their offsets first, then the
 * bytes that these lead to. */
#define OFFSETS_AHEAD 32
#define BYTES_AHEAD 16

/* What the inner loops need of one source, offset applied: row r is at values + r * width. */
struct source {
    const uint8_t *values;
    const int32_t *offsets;
    const uint8_t *data;
    uint64_t n_bytes; /* readable at `values`, or at `data` for types with offsets */
    const uint8_t *validity;
    uint64_t bit; /* of row 0 in `validity` and in the values of BOOL */
    uint64_t end_bit;
};

/* The rows wanted, the same for all columns of a struct. */
struct rows {
    const struct hd_run *runs;
    size_t n_runs;
    uint64_t n_rows;
    bool has_nulls; /* a run is HD_RUN_NULLS */
};

struct gather {
    struct hd_op *op;
    struct hd_arena arena; /* views and sources */
};

/* `n` views of one column, one a source. */
struct column {
    const struct ArrowSchema *field;
    struct hd_type type;
    const struct hd_view **views;
    struct source *sources;
    uint32_t n;
};

static hudi_status gather_column(struct gather *g, const struct ArrowSchema *field,
                                 const struct hd_view **views, uint32_t n_sources,
                                 const struct rows *rows, struct ArrowArray *out);

static inline void copy_bytes(uint8_t *to, const uint8_t *from, uint64_t n, uint64_t readable)
{
    if (n >= MANY_BYTES || n + BLOCK_BYTES > readable) {
        memcpy(to, from, n);
        return;
    }
    for (uint64_t i = 0; i < n; i += BLOCK_BYTES)
        memcpy(to + i, from + i, BLOCK_BYTES);
}

/* Inlined for each width, which makes the products shifts. */
static inline __attribute__((always_inline)) void
copy_fixed(const struct source *sources, const struct rows *rows, uint64_t width, uint8_t *to)
{
    for (size_t i = 0; i < rows->n_runs; i++) {
        const struct hd_run run = rows->runs[i];
        const uint64_t n = run.length * width;

        if (run.source == HD_RUN_NULLS) {
            memset(to, 0, n);
        } else {
            const struct source *s = &sources[run.source];
            const uint64_t at = run.start * width;
            copy_bytes(to, s->values + at, n, s->n_bytes - at);
        }
        to += n;
    }
}

static hudi_status gather_fixed(struct gather *g, const struct column *c, const struct rows *rows,
                                uint64_t width, struct ArrowArray *out)
{
    const uint64_t n_bytes = rows->n_rows * width;
    uint8_t *values;

    HD_TRY(hd_buffer_new_raw(g->op, n_bytes + SLACK_BYTES, &values));
    hd_array_set_buffer(out, 1, values);
    switch (width) {
    case 4:
        copy_fixed(c->sources, rows, 4, values);
        break;
    case 8:
        copy_fixed(c->sources, rows, 8, values);
        break;
    case 16:
        copy_fixed(c->sources, rows, 16, values);
        break;
    default:
        copy_fixed(c->sources, rows, width, values);
    }
    memset(values + n_bytes, 0, SLACK_BYTES);
    return HUDI_OK;
}

static hudi_status gather_bools(struct gather *g, const struct column *c, const struct rows *rows,
                                struct ArrowArray *out)
{
    struct hd_bit_writer w = {0};

    HD_TRY(hd_buffer_new(g->op, (rows->n_rows + 7) / 8, &w.next));
    hd_array_set_buffer(out, 1, w.next);
    for (size_t i = 0; i < rows->n_runs; i++) {
        const struct hd_run run = rows->runs[i];

        if (run.source == HD_RUN_NULLS) {
            hd_bits_fill(&w, false, run.length);
        } else {
            const struct source *s = &c->sources[run.source];
            hd_bits_copy(&w, s->values, s->bit + run.start, run.length, s->end_bit);
        }
    }
    hd_bits_flush(&w);
    return HUDI_OK;
}

/* Left out when no row is null. */
static hudi_status gather_validity(struct gather *g, const struct column *c,
                                   const struct rows *rows, struct ArrowArray *out)
{
    bool any = rows->has_nulls;
    struct hd_bit_writer w = {0};

    for (uint32_t i = 0; i < c->n && !any; i++)
        any = c->sources[i].validity != NULL;
    out->length = (int64_t)rows->n_rows;
    if (!any)
        return HUDI_OK;
    HD_TRY(hd_buffer_new(g->op, (rows->n_rows + 7) / 8, &w.next));
    uint8_t *validity = w.next;
    hd_array_set_buffer(out, 0, validity);
    for (size_t i = 0; i < rows->n_runs; i++) {
        const struct hd_run run = rows->runs[i];
        const struct source *s = run.source == HD_RUN_NULLS ? NULL : &c->sources[run.source];

        if (s != NULL && s->validity != NULL)
            hd_bits_copy(&w, s->validity, s->bit + run.start, run.length, s->end_bit);
        else
            hd_bits_fill(&w, s != NULL, run.length);
    }
    hd_bits_flush(&w);
    out->null_count = out->length - hd_bits_count(validity, 0, out->length);
    if (out->null_count == 0) {
        hd_array_set_buffer(out, 0, NULL);
        hd_buffer_free(validity);
    }
    return HUDI_OK;
}

static inline void prefetch_offsets(const struct source *sources, const struct rows *rows, size_t i)
{
    if (i < rows->n_runs && rows->runs[i].source != HD_RUN_NULLS)
        __builtin_prefetch(sources[rows->runs[i].source].offsets + rows->runs[i].start);
}

static inline void prefetch_bytes(const struct source *sources, const struct rows *rows, size_t i)
{
    if (i >= rows->n_runs || rows->runs[i].source == HD_RUN_NULLS)
        return;
    const struct source *const s = &sources[rows->runs[i].source];
    __builtin_prefetch(s->data + s->offsets[rows->runs[i].start]);
}

/* Bytes or child rows below the runs. */
static hudi_status count_items(struct gather *g, const struct column *c, const struct rows *rows,
                               uint64_t *out)
{
    uint64_t n = 0;

    for (size_t i = 0; i < rows->n_runs; i++) {
        const struct hd_run run = rows->runs[i];
        prefetch_offsets(c->sources, rows, i + OFFSETS_AHEAD);
        if (run.source == HD_RUN_NULLS)
            continue;
        const int32_t *offsets = c->sources[run.source].offsets + run.start;
        n += (uint64_t)((int64_t)offsets[run.length] - offsets[0]);
    }
    *out = n;
    if (n > INT32_MAX)
        return hd_fail(g->op, HUDI_INVALID,
                       "%llu rows of field \"%s\" hold %llu %s, more than one array can",
                       (unsigned long long)rows->n_rows,
                       c->field->name == NULL ? "" : c->field->name, (unsigned long long)n,
                       c->type.id == HD_TYPE_LIST || c->type.id == HD_TYPE_MAP ? "items" : "bytes");
    return HUDI_OK;
}

/* The run's offsets moved so that they go on from `at`; returns where they end. */
static inline int32_t copy_offsets(const int32_t *from, uint32_t n, int32_t at, int32_t *to)
{
    const int32_t shift = (int32_t)((uint32_t)at - (uint32_t)from[0]);

    for (uint32_t i = 1; i <= n; i++)
        to[i - 1] = from[i] + shift;
    return at + (from[n] - from[0]);
}

static inline void repeat_offset(int32_t at, uint32_t n, int32_t *to)
{
    for (uint32_t i = 0; i < n; i++)
        to[i] = at;
}

static hudi_status gather_strings(struct gather *g, const struct column *c, const struct rows *rows,
                                  struct ArrowArray *out)
{
    uint64_t n_bytes;
    int32_t *offsets, at = 0;
    uint8_t *data;

    HD_TRY(count_items(g, c, rows, &n_bytes));
    HD_TRY(hd_buffer_new_raw(g->op, (rows->n_rows + 1) * sizeof *offsets, &offsets));
    hd_array_set_buffer(out, 1, offsets);
    HD_TRY(hd_buffer_new_raw(g->op, n_bytes + SLACK_BYTES, &data));
    hd_array_set_buffer(out, 2, data);
    *offsets++ = 0;
    for (size_t i = 0; i < rows->n_runs; i++) {
        const struct hd_run run = rows->runs[i];

        prefetch_offsets(c->sources, rows, i + OFFSETS_AHEAD);
        prefetch_bytes(c->sources, rows, i + BYTES_AHEAD);
        if (run.source == HD_RUN_NULLS) {
            repeat_offset(at, run.length, offsets);
        } else {
            const struct source *s = &c->sources[run.source];
            const int32_t *from = s->offsets + run.start;
            const uint64_t first = (uint64_t)from[0];
            const int32_t end = copy_offsets(from, run.length, at, offsets);
            copy_bytes(data + at, s->data + first, (uint64_t)(end - at), s->n_bytes - first);
            at = end;
        }
        offsets += run.length;
    }
    memset(data + n_bytes, 0, SLACK_BYTES);
    return HUDI_OK;
}

/* Offsets of a LIST or MAP and the runs of child rows below. */
static hudi_status gather_offsets(struct gather *g, const struct column *c, const struct rows *rows,
                                  struct ArrowArray *out, struct hd_run_list *below)
{
    uint64_t n_items;
    int32_t *offsets, at = 0;

    HD_TRY(count_items(g, c, rows, &n_items));
    HD_TRY(hd_buffer_new_raw(g->op, (rows->n_rows + 1) * sizeof *offsets, &offsets));
    hd_array_set_buffer(out, 1, offsets);
    *offsets++ = 0;
    for (size_t i = 0; i < rows->n_runs; i++) {
        const struct hd_run run = rows->runs[i];

        if (run.source == HD_RUN_NULLS) {
            repeat_offset(at, run.length, offsets);
        } else {
            const int32_t *from = c->sources[run.source].offsets + run.start;
            const int32_t end = copy_offsets(from, run.length, at, offsets);
            HD_TRY(
                hd_run_list_add(g->op, below, run.source, (uint32_t)from[0], (uint32_t)(end - at)));
            at = end;
        }
        offsets += run.length;
    }
    return HUDI_OK;
}

static hudi_status gather_child(struct gather *g, const struct column *c, int64_t i,
                                const struct rows *rows, struct ArrowArray *out)
{
    const struct hd_view **views;

    HD_TRY(hd_arena_array(g->op, &g->arena, c->n, sizeof(void *), &views));
    for (uint32_t s = 0; s < c->n; s++)
        views[s] = &c->views[s]->children[i];
    return gather_column(g, c->field->children[i], views, c->n, rows, out->children[i]);
}

static hudi_status gather_list(struct gather *g, const struct column *c, const struct rows *rows,
                               struct ArrowArray *out)
{
    struct hd_run_list below = {0};
    hudi_status status;

    HD_TRY_OUT(gather_offsets(g, c, rows, out, &below));
    const struct rows child_rows = {below.runs, below.n_runs, below.n_rows, false};
    HD_TRY_OUT(gather_child(g, c, 0, &child_rows, out));
out:
    hd_free(g->op, below.runs);
    return status;
}

/* The dictionaries one behind the other, indices moved. */
static hudi_status gather_dictionary(struct gather *g, const struct column *c,
                                     const struct rows *rows, struct ArrowArray *out)
{
    const struct hd_view **views;
    struct hd_run *whole;
    int32_t *bases, *to;
    uint64_t n_words = 0;

    HD_TRY(hd_arena_array(g->op, &g->arena, c->n, sizeof(void *), &views));
    HD_TRY(hd_arena_array(g->op, &g->arena, c->n, sizeof *whole, &whole));
    HD_TRY(hd_arena_array(g->op, &g->arena, c->n, sizeof *bases, &bases));
    for (uint32_t s = 0; s < c->n; s++) {
        views[s] = c->views[s]->dictionary;
        bases[s] = (int32_t)n_words;
        whole[s] = (struct hd_run){s, 0, (uint32_t)views[s]->length};
        n_words += (uint64_t)views[s]->length;
        if (n_words > INT32_MAX)
            return hd_fail(g->op, HUDI_INVALID, "dictionaries of more than 2^31 values");
    }
    const struct rows words = {whole, c->n, n_words, false};
    HD_TRY(gather_column(g, c->field->dictionary, views, c->n, &words, out->dictionary));
    HD_TRY(gather_fixed(g, c, rows, sizeof(int32_t), out));
    to = (int32_t *)(uintptr_t)out->buffers[1];
    for (size_t i = 0; i < rows->n_runs; i++) {
        const struct hd_run run = rows->runs[i];
        const uint32_t base = run.source == HD_RUN_NULLS ? 0 : (uint32_t)bases[run.source];
        for (uint32_t k = 0; k < run.length; k++)
            to[k] = (int32_t)((uint32_t)to[k] + base); /* null rows hold anything */
        to += run.length;
    }
    return HUDI_OK;
}

/* A field of a struct that takes no null has none: where its struct is null too, nothing has to be
 * said, and a writer would take it for a fault. */
static void settle_required(const struct ArrowSchema *field, const struct ArrowArray *parent,
                            struct ArrowArray *child)
{
    const uint64_t n = (uint64_t)child->length;

    if (hd_schema_nullable(field) || child->null_count == 0 || child->n_buffers == 0 ||
        child->null_count > parent->null_count)
        return;
    const uint8_t *const of_parent = parent->buffers[0], *const validity = child->buffers[0];
    for (uint64_t at = 0; at < n; at += 56) {
        const unsigned n_bits = n - at < 56 ? (unsigned)(n - at) : 56;
        if ((hd_bits_load(of_parent, at, n_bits, n) & ~hd_bits_load(validity, at, n_bits, n)) != 0)
            return;
    }
    hd_buffer_free((void *)(uintptr_t)validity);
    hd_array_set_buffer(child, 0, NULL);
    child->null_count = 0;
}

static hudi_status gather_values(struct gather *g, const struct column *c, const struct rows *rows,
                                 struct ArrowArray *out)
{
    switch (c->type.id) {
    case HD_TYPE_BOOL:
        return gather_bools(g, c, rows, out);
    case HD_TYPE_STRING:
    case HD_TYPE_BINARY:
        return gather_strings(g, c, rows, out);
    case HD_TYPE_LIST:
    case HD_TYPE_MAP:
        return gather_list(g, c, rows, out);
    case HD_TYPE_DICTIONARY:
        return gather_dictionary(g, c, rows, out);
    case HD_TYPE_STRUCT:
        for (int64_t i = 0; i < out->n_children; i++) {
            HD_TRY(gather_child(g, c, i, rows, out));
            settle_required(c->field->children[i], out, out->children[i]);
        }
        return HUDI_OK;
    default:
        return gather_fixed(g, c, rows, hd_type_width(&c->type), out);
    }
}

static void fill_source(const struct hd_view *v, struct source *out)
{
    const uint64_t offset = (uint64_t)v->offset, length = (uint64_t)v->length;

    out->validity = v->validity;
    out->bit = offset;
    out->end_bit = offset + length;
    switch (v->type.id) {
    case HD_TYPE_BOOL:
        out->values = v->values;
        break;
    case HD_TYPE_STRING:
    case HD_TYPE_BINARY:
    case HD_TYPE_LIST:
    case HD_TYPE_MAP:
        out->offsets = (const int32_t *)v->values + offset;
        out->data = v->data;
        out->n_bytes = length == 0 ? 0 : (uint64_t)out->offsets[length];
        break;
    case HD_TYPE_STRUCT:
    case HD_TYPE_NULL:
        break;
    default:
        out->values = (const uint8_t *)v->values + offset * hd_type_width(&v->type);
        out->n_bytes = length * hd_type_width(&v->type);
    }
}

static hudi_status gather_column(struct gather *g, const struct ArrowSchema *field,
                                 const struct hd_view **views, uint32_t n_sources,
                                 const struct rows *rows, struct ArrowArray *out)
{
    struct column c = {.field = field, .views = views, .n = n_sources};

    HD_TRY(hd_type_of(g->op, field, &c.type));
    if (c.type.id == HD_TYPE_OTHER)
        return hd_fail(g->op, HUDI_NOT_IMPLEMENTED, "field \"%s\" has a type that is not canonical",
                       field->name == NULL ? "" : field->name);
    HD_TRY(hd_array_new(g->op, hd_type_n_buffers(&c.type), field->n_children,
                        field->dictionary != NULL, out));
    if (c.type.id == HD_TYPE_NULL) {
        out->length = out->null_count = (int64_t)rows->n_rows;
        return HUDI_OK;
    }
    HD_TRY(hd_arena_array(g->op, &g->arena, n_sources, sizeof *c.sources, &c.sources));
    for (uint32_t i = 0; i < n_sources; i++)
        fill_source(views[i], &c.sources[i]);
    HD_TRY(gather_validity(g, &c, rows, out));
    return gather_values(g, &c, rows, out);
}

static hudi_status open_sources(struct gather *g, const struct ArrowSchema *field,
                                const struct ArrowArray *const *sources, uint32_t n_sources,
                                const struct hd_view ***out)
{
    struct hd_view *views;

    HD_TRY(hd_arena_array(g->op, &g->arena, n_sources, sizeof *views, &views));
    HD_TRY(hd_arena_array(g->op, &g->arena, n_sources, sizeof(void *), out));
    for (uint32_t i = 0; i < n_sources; i++) {
        HD_TRY(hd_view_open(g->op, &g->arena, field, sources[i], &views[i]));
        (*out)[i] = &views[i];
    }
    return HUDI_OK;
}

hudi_status hd_gather(struct hd_op *op, const struct ArrowSchema *field,
                      const struct ArrowArray *const *sources, uint32_t n_sources,
                      const struct hd_run *runs, size_t n_runs, struct ArrowArray *out)
{
    struct gather g = {.op = op};
    struct rows rows = {.runs = runs, .n_runs = n_runs};
    const struct hd_view **views;
    hudi_status status;

    *out = (struct ArrowArray){0};
    for (size_t i = 0; i < n_runs; i++) {
        rows.n_rows += runs[i].length;
        rows.has_nulls |= runs[i].source == HD_RUN_NULLS && runs[i].length > 0;
        assert(runs[i].source == HD_RUN_NULLS ||
               (runs[i].source < n_sources &&
                (int64_t)runs[i].start + runs[i].length <= sources[runs[i].source]->length));
    }
    HD_TRY_OUT(open_sources(&g, field, sources, n_sources, &views));
    HD_TRY_OUT(gather_column(&g, field, views, n_sources, &rows, out));
out:
    hd_arena_clear(&g.arena);
    if (status != HUDI_OK)
        hd_array_clear(out);
    return status;
}

hudi_status hd_run_list_add(struct hd_op *op, struct hd_run_list *list, uint32_t source,
                            uint32_t start, uint32_t length)
{
    struct hd_run *last = list->n_runs == 0 ? NULL : &list->runs[list->n_runs - 1];

    if (length == 0)
        return HUDI_OK;
    if (last != NULL && last->source == source && length <= UINT32_MAX - last->length &&
        (source == HD_RUN_NULLS || last->start + last->length == start)) {
        last->length += length;
    } else {
        HD_TRY(hd_grow(op, &list->runs, &list->capacity, list->n_runs + 1, sizeof *list->runs));
        list->runs[list->n_runs++] = (struct hd_run){source, start, length};
    }
    list->n_rows += length;
    return HUDI_OK;
}
