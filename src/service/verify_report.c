/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "service/verify_internal.h"

static hudi_status add(struct hd_op *op, struct hd_report *report, bool is_note, const char *kind,
                       const char *where, const char *format, va_list arguments)
{
    struct hd_report_entry entry = {.is_note = is_note, .finding = {.kind = kind}};
    char message[1024], *text;

    vsnprintf(message, sizeof message, format, arguments);
    const bool is_utf8 = hd_utf8_valid(hd_slice_text(message));
    for (char *c = message; *c != '\0'; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f || ((unsigned char)*c >= 0x80 && !is_utf8))
            *c = '?';
    HD_TRY(hd_arena_strdup(op, &report->arena, message, &text));
    entry.finding.message = text;
    HD_TRY(hd_arena_strdup(op, &report->arena, where, &text));
    entry.finding.where = text;
    HD_TRY(hd_grow(op, &report->entries, &report->capacity, report->n_entries + 1,
                   sizeof *report->entries));
    report->entries[report->n_entries++] = entry;
    return HUDI_OK;
}

hudi_status hd_report_finding(struct hd_op *op, struct hd_report *report, const char *kind,
                              const char *where, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    const hudi_status status = add(op, report, false, kind, where, format, arguments);
    va_end(arguments);
    return status;
}

hudi_status hd_report_note(struct hd_op *op, struct hd_report *report, const char *kind,
                           const char *where, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    const hudi_status status = add(op, report, true, kind, where, format, arguments);
    va_end(arguments);
    return status;
}

hudi_status hd_report_of_instant(struct hd_op *op, struct hd_report *report, struct hd_slice time)
{
    char *text;

    HD_TRY(hd_arena_strndup(op, &report->arena, time.data, time.size, &text));
    report->entries[report->n_entries - 1].instant = text;
    return HUDI_OK;
}

hudi_status hd_report_failure(struct hd_op *op, struct hd_report *report, hudi_status status,
                              const char *kind, const char *where)
{
    hudi_error *error;

    if (status != HUDI_CORRUPT && status != HUDI_IO && status != HUDI_INVALID &&
        status != HUDI_NOT_IMPLEMENTED)
        return status;
    error = hd_op_take_error(op);
    if (status == HUDI_NOT_IMPLEMENTED)
        status = hd_report_note(op, report, "not-checked", where, "%s", hudi_error_message(error));
    else
        status = hd_report_finding(op, report, kind, where, "%s", hudi_error_message(error));
    hudi_error_free(error);
    return status;
}

hudi_status hd_report_merge(struct hd_op *op, struct hd_report *into, struct hd_report *from)
{
    for (size_t i = 0; i < from->n_entries; i++) {
        const struct hd_report_entry *entry = &from->entries[i];

        HD_TRY((entry->is_note ? hd_report_note : hd_report_finding)(
            op, into, entry->finding.kind, entry->finding.where, "%s", entry->finding.message));
        if (entry->instant != NULL)
            HD_TRY(hd_report_of_instant(op, into, hd_slice_text(entry->instant)));
    }
    hd_report_clear(from);
    return HUDI_OK;
}

void hd_report_clear(struct hd_report *report)
{
    hd_free(NULL, report->entries);
    hd_arena_clear(&report->arena);
    *report = (struct hd_report){0};
}

static int compare_findings(const void *a, const void *b)
{
    const struct hd_finding *const x = a, *const y = b;
    int order = strcmp(x->where, y->where);

    if (order == 0)
        order = strcmp(x->kind, y->kind);
    return order != 0 ? order : strcmp(x->message, y->message);
}

static hudi_status copy_finding(struct hd_op *op, struct hd_arena *arena,
                                const struct hd_finding *from, struct hd_finding *to)
{
    char *text;

    to->kind = from->kind; /* static */
    HD_TRY(hd_arena_strdup(op, arena, from->where, &text));
    to->where = text;
    HD_TRY(hd_arena_strdup(op, arena, from->message, &text));
    to->message = text;
    return HUDI_OK;
}

hudi_status hd_report_publish(struct hd_op *op, const struct hd_report *report,
                              struct hd_verification *out)
{
    size_t n_notes = 0;

    for (size_t i = 0; i < report->n_entries; i++)
        n_notes += report->entries[i].is_note;
    HD_TRY(hd_arena_array(op, &out->arena, n_notes, sizeof *out->notes, &out->notes));
    HD_TRY(hd_arena_array(op, &out->arena, report->n_entries - n_notes, sizeof *out->findings,
                          &out->findings));
    for (size_t i = 0; i < report->n_entries; i++) {
        const struct hd_report_entry *entry = &report->entries[i];

        HD_TRY(copy_finding(op, &out->arena, &entry->finding,
                            entry->is_note ? &out->notes[out->n_notes++]
                                           : &out->findings[out->n_findings++]));
    }
    if (out->n_notes > 0)
        qsort(out->notes, out->n_notes, sizeof *out->notes, compare_findings);
    if (out->n_findings > 0)
        qsort(out->findings, out->n_findings, sizeof *out->findings, compare_findings);
    return HUDI_OK;
}
