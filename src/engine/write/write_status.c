/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/write/write_status.h"

#include "codec/json.h"

/* Source: WriteStatus.RANDOM_SEED (Hudi 0.15.0) */
#define SAMPLING_SEED 9038412832ull

hudi_status hd_write_status_add(struct hd_op *op, struct hd_write_status *status,
                                const struct hd_write_stat *stat)
{
    HD_TRY(hd_grow(op, &status->stats, &status->stat_capacity, status->n_stats + 1,
                   sizeof *status->stats));
    status->stats[status->n_stats++] = *stat;
    return HUDI_OK;
}

/* java.util.Random with Hudi's seed: the same failures are sampled in each run. */
static double next_double(struct hd_write_status *status)
{
    const uint64_t mask = (1ull << 48) - 1;
    uint64_t drawn = 0;

    if (status->sampling == 0)
        status->sampling = (SAMPLING_SEED ^ 0x5deece66d) & mask;
    for (int bits = 26; bits <= 27; bits++) {
        status->sampling = (status->sampling * 0x5deece66d + 0xb) & mask;
        drawn = (drawn << bits) + (status->sampling >> (48 - bits));
    }
    return (double)drawn * 0x1p-53;
}

/* Is the failure one of those that are kept? */
static bool is_kept(struct hd_write_status *status, double sampled_fraction, int64_t at)
{
    const bool is_early =
        status->n_failures < HD_FIRST_FAILURES || at < status->failures[HD_FIRST_FAILURES - 1].at;
    const bool is_sampled = status->n_failures == 0 || sampled_fraction >= 1.0 ||
                            next_double(status) <= sampled_fraction;

    return is_early || (is_sampled && status->n_failures < HD_MAX_FAILURES);
}

hudi_status hd_write_status_fail(struct hd_op *op, struct hd_write_status *status,
                                 double sampled_fraction, int64_t at, const char *where,
                                 const char *reason)
{
    struct hd_failed_record record = {.at = at};
    size_t place;

    status->n_failed++;
    if (!is_kept(status, sampled_fraction, at))
        return HUDI_OK;
    HD_TRY(hd_grow(op, &status->failures, &status->failure_capacity, status->n_failures + 1,
                   sizeof *status->failures));
    HD_TRY(hd_arena_strdup(op, &status->arena, where, (char **)&record.key));
    HD_TRY(hd_arena_strdup(op, &status->arena, reason, (char **)&record.reason));
    if (status->n_failures == HD_MAX_FAILURES)
        status->n_failures--;
    for (place = status->n_failures; place > 0 && status->failures[place - 1].at > at; place--)
        status->failures[place] = status->failures[place - 1];
    status->failures[place] = record;
    status->n_failures++;
    return HUDI_OK;
}

hudi_status hd_write_status_absorb(struct hd_op *op, struct hd_write_status *status,
                                   const struct hd_write_status *from)
{
    for (size_t i = 0; i < from->n_stats; i++) {
        struct hd_write_stat stat;
        HD_TRY(hd_write_stat_copy(op, &status->arena, &from->stats[i], &stat));
        HD_TRY(hd_write_status_add(op, status, &stat));
    }
    for (size_t i = 0; i < from->n_failures; i++) {
        const struct hd_failed_record *failed = &from->failures[i];

        HD_TRY(hd_write_status_fail(op, status, 1.0, failed->at, failed->key, failed->reason));
    }
    status->n_failed += from->n_failed - (int64_t)from->n_failures;
    return HUDI_OK;
}

void hd_write_status_clear(struct hd_op *op, struct hd_write_status *status)
{
    hd_free(op, status->stats);
    hd_free(op, status->failures);
    hd_arena_clear(&status->arena);
    *status = (struct hd_write_status){0};
}

static hudi_status encode_lists(struct hd_op *op, const struct hd_write_status *status,
                                struct hd_json_writer *json)
{
    struct hd_str stat = {0};
    hudi_status result = HUDI_OK;

    HD_TRY(hd_json_key(op, json, "stats"));
    HD_TRY(hd_json_begin_array(op, json));
    for (size_t i = 0; i < status->n_stats && result == HUDI_OK; i++) {
        stat.size = 0;
        result = hd_write_stat_format(op, &status->stats[i], &stat);
        if (result == HUDI_OK)
            result = hd_json_raw(op, json, hd_str_slice(&stat));
    }
    hd_str_clear(&stat);
    HD_TRY(result);
    HD_TRY(hd_json_end_array(op, json));
    HD_TRY(hd_json_key(op, json, "failures"));
    HD_TRY(hd_json_begin_array(op, json));
    for (size_t i = 0; i < status->n_failures; i++) {
        HD_TRY(hd_json_begin_object(op, json));
        HD_TRY(hd_json_put_text(op, json, "key", status->failures[i].key));
        HD_TRY(hd_json_put_text(op, json, "reason", status->failures[i].reason));
        HD_TRY(hd_json_put_int64(op, json, "at", status->failures[i].at));
        HD_TRY(hd_json_end_object(op, json));
    }
    return hd_json_end_array(op, json);
}

hudi_status hd_write_status_encode(struct hd_op *op, const struct hd_write_status *status,
                                   struct hd_str *out)
{
    struct hd_json_writer json;

    hd_json_writer_init(&json, out, HD_JSON_COMPACT);
    HD_TRY(hd_json_begin_object(op, &json));
    HD_TRY(hd_json_put_int64(op, &json, "version", 1));
    HD_TRY(hd_json_put_int64(op, &json, "task", status->task));
    HD_TRY(hd_json_put_int64(op, &json, "attempt", (int64_t)status->attempt));
    HD_TRY(hd_json_put_text(op, &json, "instant", status->instant_time));
    HD_TRY(hd_json_put_text(op, &json, "schema", status->avro_schema));
    HD_TRY(hd_json_put_int64(op, &json, "failed", status->n_failed));
    HD_TRY(encode_lists(op, status, &json));
    return hd_json_end_object(op, &json);
}

static hudi_status copy_text(struct hd_op *op, struct hd_write_status *out, struct hd_slice text,
                             const char **to)
{
    if (text.data == NULL)
        return HUDI_OK;
    return hd_arena_strndup(op, &out->arena, text.data, text.size, (char **)to);
}

static hudi_status decode_stats(struct hd_op *op, const hd_json *stats, struct hd_write_status *out)
{
    for (size_t i = 0; i < hd_json_length(stats); i++) {
        struct hd_str text = {0};
        struct hd_json_writer json;
        struct hd_write_stat stat;

        hd_json_writer_init(&json, &text, HD_JSON_COMPACT);
        hudi_status status = hd_json_value(op, &json, hd_json_at(stats, i));
        if (status == HUDI_OK)
            status = hd_write_stat_parse(op, &out->arena, hd_str_slice(&text), &stat);
        if (status == HUDI_OK)
            status = hd_write_status_add(op, out, &stat);
        hd_str_clear(&text);
        HD_TRY(status);
    }
    return HUDI_OK;
}

static hudi_status decode_failures(struct hd_op *op, const hd_json *failures,
                                   struct hd_write_status *out)
{
    const size_t n = hd_json_length(failures);
    struct hd_slice key, reason;

    HD_TRY(hd_grow(op, &out->failures, &out->failure_capacity, n, sizeof *out->failures));
    for (size_t i = 0; i < n; i++) {
        struct hd_failed_record *record = &out->failures[i];

        *record = (struct hd_failed_record){0};
        HD_TRY(hd_json_get_string(op, hd_json_at(failures, i), "key", &key));
        HD_TRY(hd_json_get_string(op, hd_json_at(failures, i), "reason", &reason));
        HD_TRY(hd_json_get_int64(op, hd_json_at(failures, i), "at", &record->at));
        HD_TRY(copy_text(op, out, key, &record->key));
        HD_TRY(copy_text(op, out, reason, &record->reason));
        out->n_failures++;
    }
    return HUDI_OK;
}

static hudi_status decode_document(struct hd_op *op, const hd_json *document,
                                   struct hd_write_status *out)
{
    int64_t version, task, attempt;
    struct hd_slice text;
    const hd_json *list;

    HD_TRY(hd_json_get_int64(op, document, "version", &version));
    if (version != 1)
        return hd_fail(op, HUDI_NOT_IMPLEMENTED, "write status of version %lld",
                       (long long)version);
    HD_TRY(hd_json_get_int64(op, document, "task", &task));
    HD_TRY(hd_json_get_int64(op, document, "attempt", &attempt));
    if (task < 0 || task > UINT32_MAX || attempt < 0)
        return hd_fail(op, HUDI_CORRUPT, "write status of task %lld, attempt %lld", (long long)task,
                       (long long)attempt);
    out->task = (uint32_t)task;
    out->attempt = (uint64_t)attempt;
    HD_TRY(hd_json_get_string(op, document, "instant", &text));
    HD_TRY(copy_text(op, out, text, &out->instant_time));
    HD_TRY(hd_json_find_string(op, document, "schema", &text));
    HD_TRY(copy_text(op, out, text, &out->avro_schema));
    HD_TRY(hd_json_get_int64(op, document, "failed", &out->n_failed));
    HD_TRY(hd_json_get_array(op, document, "stats", &list));
    HD_TRY(decode_stats(op, list, out));
    HD_TRY(hd_json_get_array(op, document, "failures", &list));
    if (hd_json_length(list) > HD_MAX_FAILURES || out->n_failed < (int64_t)hd_json_length(list))
        return hd_fail(op, HUDI_CORRUPT, "write status tells of %zu failed records of %lld",
                       hd_json_length(list), (long long)out->n_failed);
    return decode_failures(op, list, out);
}

hudi_status hd_write_status_decode(struct hd_op *op, struct hd_slice bytes,
                                   struct hd_write_status *out)
{
    hd_json *document = NULL;

    *out = (struct hd_write_status){0};
    HD_TRY(hd_json_parse(op, bytes, &document));
    const hudi_status status = decode_document(op, document, out);
    hd_json_free(document);
    if (status != HUDI_OK)
        hd_write_status_clear(op, out);
    return status;
}
