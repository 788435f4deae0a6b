/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/record/merge.h"

#include <string.h>
#include <strings.h>

#include "arrow/java_text.h"
#include "arrow/schema.h"
#include "engine/record/field_path.h"
#include "engine/record/merge_defaults.h"
#include "format/table/table_version.h"

/*
 * Invariants
 *  1. A merger is read-only after hd_merger_new(): threads may share it.
 *  2. No function on rows allocates or fails.
 *  3. What differs between releases is decided in hd_merger_new() (`struct habits`).
 */

#define IS_DELETED_COLUMN "_hoodie_is_deleted"

/** What releases do differently under the same rule. */
struct habits {
    bool renew_stored;  /* EVENT_TIME: a stored row that wins gets new meta columns (below 4) */
    bool renew_partial; /* PARTIAL_UPDATE: the same (below 8) */
    bool
        precombine_by_order; /* OVERWRITE rules: pre-combine goes by the ordering value (below 8) */
    bool precombine_columns; /* OVERWRITE_NON_DEFAULTS: pre-combine merges columns (from 8 on) */
    bool earlier_delete_loses;  /* pre-combine: what follows a delete replaces it (below 8) */
    bool partial_delete_wins;   /* PARTIAL_UPDATE: a delete ignores the ordering value (below 8) */
    bool partial_deletes_merge; /* PARTIAL_UPDATE, pre-combine: rows that mark deletes as well, and
                                   what follows one that wins replaces it (below 8) */
    bool marked_delete_wins; /* EventTimeAvroPayload: a row that marks a delete deletes the stored
                                row whatever its ordering value (version 6) */
    bool marker_alone;       /* DefaultHoodieRecordPayload: with a delete field of its own,
                                _hoodie_is_deleted marks nothing (version 6) */
    bool tie_to_stored;      /* FirstValueAvroPayload */
    bool meta_of_incoming;   /* rows of both have the incoming row's meta columns (below 8) */
};

struct hd_merger {
    enum hd_merge_rule rule;
    struct habits habits;
    struct hd_field_path *ordering;
    size_t n_ordering;
    int32_t n_columns;
    int32_t is_deleted_column; /* -1: none */
    int32_t delete_column;     /* -1: none */
    struct hd_slice delete_marker;
    bool delete_marker_any_case;
    struct hd_merge_defaults defaults; /* OVERWRITE_NON_DEFAULTS */
    struct hd_arena arena;
};

/* ---- construction ------------------------------------------------------------------------- */

/* An option, else the table property of that name; NULL when neither is there or it is empty. */
static const char *setting(const struct hd_table_config *config, const struct hd_options *options,
                           const char *key)
{
    const char *value = options == NULL ? NULL : hd_properties_get(&options->set, key);

    if (value == NULL)
        value = hd_properties_get(&config->properties, key);
    return value == NULL || *value == '\0' ? NULL : value;
}

static const char *merge_property(const struct hd_table_config *config,
                                  const struct hd_options *options, const char *key,
                                  const char *table_key)
{
    const char *value = setting(config, options, key);

    return value != NULL ? value : setting(config, options, table_key);
}

static const struct payload {
    const char *class_name; /* without package */
    enum hd_merge_rule rule;
} payloads[] = {
    {"OverwriteWithLatestAvroPayload", HD_MERGE_OVERWRITE_WITH_LATEST},
    {"DefaultHoodieRecordPayload", HD_MERGE_EVENT_TIME},
    {"EventTimeAvroPayload", HD_MERGE_EVENT_TIME},
    {"FirstValueAvroPayload", HD_MERGE_EVENT_TIME},
    {"OverwriteNonDefaultsWithLatestAvroPayload", HD_MERGE_OVERWRITE_NON_DEFAULTS},
    {"PartialUpdateAvroPayload", HD_MERGE_PARTIAL_UPDATE},
    {"EmptyHoodieRecordPayload", HD_MERGE_EMPTY},
    {"AWSDmsAvroPayload", HD_MERGE_OVERWRITE_WITH_LATEST},
};

static hudi_status rule_of_class(struct hd_op *op, int32_t table_version, const char *payload_class,
                                 struct hd_merger *merger)
{
    const char *dot = strrchr(payload_class, '.');
    const char *name = dot == NULL ? payload_class : dot + 1;

    for (size_t i = 0; i < HD_ARRAY_LENGTH(payloads); i++) {
        if (strcmp(payloads[i].class_name, name) != 0)
            continue;
        merger->rule = payloads[i].rule;
        merger->habits.tie_to_stored = strcmp(name, "FirstValueAvroPayload") == 0;
        merger->habits.marked_delete_wins =
            table_version == 6 && strcmp(name, "EventTimeAvroPayload") == 0;
        merger->habits.marker_alone =
            table_version == 6 && strcmp(name, "DefaultHoodieRecordPayload") == 0;
        if (strcmp(name, "AWSDmsAvroPayload") == 0) {
            merger->delete_marker = hd_slice_text("D");
            merger->delete_marker_any_case = true;
        }
        return HUDI_OK;
    }
    return hd_fail(op, HUDI_NOT_IMPLEMENTED, "payload class %s is not known", payload_class);
}

static hudi_status rule_of_mode(struct hd_op *op, const struct hd_table_config *config,
                                const struct hd_options *options, const char *mode,
                                struct hd_merger *merger)
{
    const char *partial = setting(config, options, "hoodie.table.partial.update.mode");

    if (strcasecmp(mode, "EVENT_TIME_ORDERING") == 0)
        merger->rule = partial == NULL ? HD_MERGE_EVENT_TIME : HD_MERGE_PARTIAL_UPDATE;
    else if (strcasecmp(mode, "COMMIT_TIME_ORDERING") == 0)
        merger->rule =
            partial == NULL ? HD_MERGE_OVERWRITE_WITH_LATEST : HD_MERGE_OVERWRITE_NON_DEFAULTS;
    else
        return hd_fail(op, HUDI_NOT_IMPLEMENTED, "record merge mode %s is not known", mode);
    if (partial != NULL && strcasecmp(partial, "IGNORE_DEFAULTS") != 0)
        return hd_fail(op, HUDI_NOT_IMPLEMENTED, "partial update mode %s is not known", partial);
    return HUDI_OK;
}

static hudi_status choose_rule(struct hd_op *op, const struct hd_table_config *config,
                               const struct hd_options *options, struct hd_merger *merger)
{
    const char *payload_class =
        options == NULL ? NULL
                        : hd_properties_get(&options->set, "hoodie.datasource.write.payload.class");
    const char *mode =
        options == NULL ? NULL : hd_properties_get(&options->set, "hoodie.write.record.merge.mode");
    const int32_t version = config->version->number;

    if (payload_class != NULL && *payload_class != '\0')
        return rule_of_class(op, version, payload_class, merger);
    if (mode == NULL || *mode == '\0')
        mode = config->record_merge_mode;
    if (mode != NULL && *mode != '\0' && strcasecmp(mode, "CUSTOM") != 0)
        return rule_of_mode(op, config, options, mode, merger);
    if (config->payload_class == NULL)
        return hd_fail(op, HUDI_NOT_IMPLEMENTED, "the table has a merger of its own: %s",
                       mode == NULL ? "no merge mode, no payload class" : mode);
    return rule_of_class(op, version, config->payload_class, merger);
}

hudi_status hd_merge_rule_find(struct hd_op *op, const struct hd_table_config *config,
                               const struct hd_options *options, enum hd_merge_rule *out)
{
    struct hd_merger merger = {0};

    HD_TRY(choose_rule(op, config, options, &merger));
    *out = merger.rule;
    return HUDI_OK;
}

static hudi_status find_ordering(struct hd_op *op, const struct hd_table_config *config,
                                 const struct ArrowSchema *schema, struct hd_merger *merger)
{
    HD_TRY(hd_arena_array(op, &merger->arena, config->n_ordering_fields, sizeof(*merger->ordering),
                          &merger->ordering));
    for (size_t i = 0; i < config->n_ordering_fields; i++) {
        const char *name = config->ordering_fields[i];
        struct hd_field_path *path = &merger->ordering[i];
        const hudi_status status = hd_field_path_find(op, schema, name, path);

        if (status == HUDI_NOT_FOUND)
            return hd_fail(op, HUDI_INVALID, "ordering field \"%s\" is not a column of the table",
                           name);
        HD_TRY(status);
        if (path->type.id == HD_TYPE_LIST || path->type.id == HD_TYPE_MAP ||
            path->type.id == HD_TYPE_STRUCT || path->type.id == HD_TYPE_NULL ||
            !hd_type_comparable(&path->type, &path->type))
            return hd_fail(op, HUDI_INVALID, "ordering field \"%s\" has a type without order",
                           name);
    }
    merger->n_ordering = config->n_ordering_fields;
    return HUDI_OK;
}

static hudi_status find_delete_columns(struct hd_op *op, const struct hd_table_config *config,
                                       const struct hd_options *options,
                                       const struct ArrowSchema *schema, struct hd_merger *merger)
{
    const char *field = merge_property(config, options, "hoodie.payload.delete.field",
                                       "hoodie.record.merge.property.hoodie.payload.delete.field");
    const char *marker =
        merge_property(config, options, "hoodie.payload.delete.marker",
                       "hoodie.record.merge.property.hoodie.payload.delete.marker");
    struct hd_type type = {0};

    merger->is_deleted_column = hd_schema_find(schema, IS_DELETED_COLUMN);
    if (merger->is_deleted_column >= 0) {
        HD_TRY(hd_type_of(op, schema->children[merger->is_deleted_column], &type));
        if (type.id != HD_TYPE_BOOL || (field != NULL && merger->habits.marker_alone))
            merger->is_deleted_column = -1; /* Hudi looks at booleans only */
    }
    merger->delete_column = -1;
    if ((field == NULL) != (marker == NULL))
        return hd_fail(op, HUDI_INVALID,
                       "hoodie.payload.delete.field and hoodie.payload.delete.marker go together");
    if (field == NULL && merger->delete_marker.size == 0)
        return HUDI_OK;
    merger->delete_column = hd_schema_find(schema, field == NULL ? "Op" : field);
    if (merger->delete_column >= 0) {
        HD_TRY(hd_type_of(op, schema->children[merger->delete_column], &type));
        if (!hd_java_type_has_text(&type))
            return hd_fail(op, HUDI_INVALID,
                           "column \"%s\" has a type that cannot mark deleted records", field);
    }
    if (field != NULL) {
        char *copy = NULL;

        HD_TRY(hd_arena_strdup(op, &merger->arena, marker, &copy));
        merger->delete_marker = hd_slice_text(copy);
        merger->delete_marker_any_case = false;
    }
    return HUDI_OK;
}

static hudi_status fill_merger(struct hd_op *op, const struct hd_table_config *config,
                               const struct hd_options *options, const struct ArrowSchema *schema,
                               struct hd_merger *merger)
{
    const bool old = config->version->number < 8;

    HD_TRY(choose_rule(op, config, options, merger));
    merger->habits.renew_stored = config->version->late_renews_stored;
    merger->habits.renew_partial = old;
    merger->habits.precombine_by_order = old;
    merger->habits.precombine_columns = !old;
    merger->habits.earlier_delete_loses = old;
    merger->habits.partial_delete_wins = old;
    merger->habits.partial_deletes_merge = old;
    merger->habits.meta_of_incoming = old;
    merger->n_columns = (int32_t)schema->n_children;
    HD_TRY(find_ordering(op, config, schema, merger));
    HD_TRY(find_delete_columns(op, config, options, schema, merger));
    if (merger->rule == HD_MERGE_OVERWRITE_NON_DEFAULTS)
        HD_TRY(hd_merge_defaults_parse(op, config->create_schema, schema, &merger->arena,
                                       &merger->defaults));
    return HUDI_OK;
}

hudi_status hd_merger_new(struct hd_op *op, const struct hd_table_config *config,
                          const struct hd_options *options, const struct ArrowSchema *schema,
                          hd_merger **out)
{
    struct hd_merger *merger = NULL;

    *out = NULL;
    HD_TRY(hd_alloc(op, sizeof(*merger), &merger));
    const hudi_status status = fill_merger(op, config, options, schema, merger);

    if (status != HUDI_OK) {
        hd_merger_free(merger);
        return status;
    }
    *out = merger;
    return HUDI_OK;
}

void hd_merger_free(hd_merger *merger)
{
    if (merger == NULL)
        return;
    hd_arena_clear(&merger->arena);
    hd_free(NULL, merger);
}

enum hd_merge_rule hd_merger_rule(const hd_merger *merger)
{
    return merger->rule;
}

int32_t hd_merger_ordering_column(const hd_merger *merger)
{
    return merger->n_ordering == 0 ? -1 : merger->ordering[0].steps[0];
}

const struct hd_view *hd_merger_ordering_value(const hd_merger *merger,
                                               const struct hd_merge_side *side)
{
    if (merger->n_ordering != 1 ||
        hd_field_path_is_null(&merger->ordering[0], side->columns, side->row))
        return NULL;
    return hd_field_path_view(&merger->ordering[0], side->columns);
}

/* ---- rows --------------------------------------------------------------------------------- */

static int compare_values(const struct hd_view *a, int64_t row_a, const struct hd_view *b,
                          int64_t row_b)
{
    if (a->type.id == HD_TYPE_INT64 && b->type.id == HD_TYPE_INT64) {
        const int64_t x = hd_view_i64(a, row_a);
        const int64_t y = hd_view_i64(b, row_b);

        return (x > y) - (x < y);
    }
    if (!hd_type_comparable(&a->type, &b->type))
        return 0; /* as Hudi: values of different classes are not compared, arrival decides */
    return hd_view_compare(a, row_a, b, row_b);
}

/* Order of two rows by the ordering fields, a null lowest; 0 without ordering fields. */
static int compare_rows(const hd_merger *merger, const struct hd_merge_side *a,
                        const struct hd_merge_side *b)
{
    for (size_t i = 0; i < merger->n_ordering; i++) {
        const struct hd_field_path *path = &merger->ordering[i];
        const bool null_a = hd_field_path_is_null(path, a->columns, a->row);
        const bool null_b = hd_field_path_is_null(path, b->columns, b->row);

        if (null_a || null_b) {
            if (null_a && null_b)
                continue;
            return null_a ? -1 : 1;
        }
        const int order = compare_values(hd_field_path_view(path, a->columns), a->row,
                                         hd_field_path_view(path, b->columns), b->row);
        if (order != 0)
            return order;
    }
    return 0;
}

/* A delete without an ordering value that counts. */
static bool is_unordered_delete(const hd_merger *merger, const struct hd_merge_side *side)
{
    if (!side->is_delete)
        return false;
    if (side->by_arrival)
        return true;
    for (size_t i = 0; i < merger->n_ordering; i++) {
        if (!hd_field_path_is_null(&merger->ordering[i], side->columns, side->row))
            return false;
    }
    return true;
}

bool hd_merger_is_delete(const hd_merger *merger, const struct hd_merge_side *incoming)
{
    if (incoming->is_delete || merger->rule == HD_MERGE_EMPTY)
        return true;
    if (merger->is_deleted_column >= 0) {
        const struct hd_view *flag = &incoming->columns[merger->is_deleted_column];

        if (!hd_view_is_null(flag, incoming->row) && hd_view_bool(flag, incoming->row))
            return true;
    }
    if (merger->delete_column < 0)
        return false;
    const struct hd_view *mark = &incoming->columns[merger->delete_column];
    char scratch[HD_JAVA_TEXT_BYTES];

    if (hd_view_is_null(mark, incoming->row))
        return false;
    const struct hd_slice text = hd_java_text(mark, incoming->row, false, scratch);

    if (merger->delete_marker_any_case)
        return text.size == merger->delete_marker.size &&
               strncasecmp((const char *)text.data, (const char *)merger->delete_marker.data,
                           text.size) == 0;
    return hd_slice_equal(text, merger->delete_marker);
}

/* Does the older row's ordering value beat that of the row that came later? */
static bool older_wins(const hd_merger *merger, const struct hd_merge_side *older,
                       const struct hd_merge_side *newer)
{
    if (merger->n_ordering == 0 || is_unordered_delete(merger, older) ||
        is_unordered_delete(merger, newer))
        return false;
    const int order = compare_rows(merger, older, newer);

    if (order != 0 || !merger->habits.tie_to_stored)
        return order > 0;
    return !hd_field_path_is_null(&merger->ordering[0], older->columns, older->row);
}

bool hd_merger_stored_wins(const hd_merger *merger, const struct hd_merge_side *stored,
                           const struct hd_merge_side *incoming)
{
    return older_wins(merger, stored, incoming);
}

bool hd_merger_meta_from_incoming(const hd_merger *merger, const struct hd_merge_side *stored,
                                  const struct hd_merge_side *incoming)
{
    return merger->rule == HD_MERGE_OVERWRITE_NON_DEFAULTS || merger->habits.meta_of_incoming ||
           !older_wins(merger, stored, incoming);
}

/* Do two rows of one write become one with columns of both? Source: PartialUpdateAvroPayload
 * .preCombine (Hudi 0.15.0), where a mark that is null counts as any other column that is. */
static bool merges_rows(const hd_merger *merger, const struct hd_merge_side *earlier,
                        const struct hd_merge_side *later)
{
    if (merger->habits.partial_deletes_merge)
        return !hd_merger_is_delete(merger, older_wins(merger, earlier, later) ? earlier : later);
    return !hd_merger_is_delete(merger, earlier) && !hd_merger_is_delete(merger, later);
}

bool hd_merger_precombine(const hd_merger *merger, const struct hd_merge_side *earlier,
                          const struct hd_merge_side *later, bool *columns)
{
    const bool by_order = merger->rule == HD_MERGE_EVENT_TIME ||
                          merger->rule == HD_MERGE_PARTIAL_UPDATE ||
                          (merger->habits.precombine_by_order && merger->rule != HD_MERGE_EMPTY);
    const bool merges_columns =
        merger->rule == HD_MERGE_PARTIAL_UPDATE ||
        (merger->rule == HD_MERGE_OVERWRITE_NON_DEFAULTS && merger->habits.precombine_columns);

    *columns = false;
    if (earlier->is_delete && !earlier->is_row && merger->habits.earlier_delete_loses)
        return true;
    if (merges_columns && !earlier->is_delete && !later->is_delete) {
        *columns = merges_rows(merger, earlier, later);
        if (*columns || merger->habits.partial_deletes_merge)
            return true;
    }
    return !by_order || !older_wins(merger, earlier, later);
}

static bool is_default(const hd_merger *merger, int32_t column, const struct hd_merge_side *side)
{
    return hd_merge_default_equals(&merger->defaults, column, &side->columns[column], side->row);
}

bool hd_merger_column_from_incoming(const hd_merger *merger, int32_t column,
                                    const struct hd_merge_side *stored,
                                    const struct hd_merge_side *incoming)
{
    if (merger->rule == HD_MERGE_OVERWRITE_NON_DEFAULTS)
        return !is_default(merger, column, incoming);
    if (hd_view_is_null(&incoming->columns[column], incoming->row))
        return false;
    return hd_view_is_null(&stored->columns[column], stored->row) ||
           !older_wins(merger, stored, incoming);
}

/* The stored row beats the incoming one and may get from it what it has not. */
static enum hd_merge_choice fill_stored(const hd_merger *merger, const struct hd_merge_side *stored,
                                        const struct hd_merge_side *incoming)
{
    for (int32_t i = 0; i < merger->n_columns; i++) {
        if (hd_view_is_null(&stored->columns[i], stored->row) &&
            !hd_view_is_null(&incoming->columns[i], incoming->row))
            return HD_MERGE_COLUMNS;
    }
    return merger->habits.renew_partial ? HD_MERGE_REWRITE_STORED : HD_MERGE_KEEP_STORED;
}

static enum hd_merge_choice combine_partial(const hd_merger *merger,
                                            const struct hd_merge_side *stored,
                                            const struct hd_merge_side *incoming)
{
    const bool stored_wins = older_wins(merger, stored, incoming);

    if (hd_merger_is_delete(merger, incoming)) {
        if (!stored_wins || merger->habits.partial_delete_wins)
            return HD_MERGE_DELETE;
        return HD_MERGE_KEEP_STORED;
    }
    if (hd_merger_is_delete(merger, stored))
        return stored_wins ? HD_MERGE_KEEP_STORED : HD_MERGE_TAKE_INCOMING;
    return stored_wins ? fill_stored(merger, stored, incoming) : HD_MERGE_COLUMNS;
}

static enum hd_merge_choice combine_event_time(const hd_merger *merger,
                                               const struct hd_merge_side *stored,
                                               const struct hd_merge_side *incoming)
{
    const bool deletes = hd_merger_is_delete(merger, incoming);

    if (older_wins(merger, stored, incoming) &&
        !(deletes && !incoming->is_delete && merger->habits.marked_delete_wins)) {
        if (merger->habits.renew_stored && !stored->is_delete)
            return HD_MERGE_REWRITE_STORED;
        return HD_MERGE_KEEP_STORED;
    }
    return deletes ? HD_MERGE_DELETE : HD_MERGE_TAKE_INCOMING;
}

enum hd_merge_choice hd_merger_combine(const hd_merger *merger, const struct hd_merge_side *stored,
                                       const struct hd_merge_side *incoming)
{
    switch (merger->rule) {
    case HD_MERGE_EVENT_TIME:
        return combine_event_time(merger, stored, incoming);
    case HD_MERGE_PARTIAL_UPDATE:
        return combine_partial(merger, stored, incoming);
    case HD_MERGE_EMPTY:
        return HD_MERGE_DELETE;
    case HD_MERGE_OVERWRITE_WITH_LATEST:
    case HD_MERGE_OVERWRITE_NON_DEFAULTS:
        break;
    }
    if (hd_merger_is_delete(merger, incoming))
        return HD_MERGE_DELETE;
    if (merger->rule == HD_MERGE_OVERWRITE_NON_DEFAULTS && !hd_merger_is_delete(merger, stored))
        return HD_MERGE_COLUMNS;
    return HD_MERGE_TAKE_INCOMING;
}
