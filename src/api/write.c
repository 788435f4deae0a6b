/* SPDX-License-Identifier: Apache-2.0 */
#include "api/api.h"
#include "arrow/stream.h"
#include "engine/commit/writable.h"
#include "service/after_write.h"

struct hudi_commit {
    struct hd_commit_result result;
};

static void release(struct hd_op *op, hudi_write *write)
{
    if (write == NULL)
        return;
    hd_options_clear(&write->options);
    hd_free(op, write->uri);
    hd_free(op, write);
}

hudi_status hudi_write_begin(hudi_table *table, const hudi_options *options, hudi_write **out,
                             hudi_error **err)
{
    HD_TRY(HD_CHECK_GIVEN(err, HD_ARG(table), HD_OUT(out)));
    hudi_status status = HUDI_OK;
    struct hd_op op;
    hudi_write *write = NULL;

    *out = NULL;
    hd_call_begin(&op, table->context, NULL);
    HD_TRY_OUT(hd_alloc(&op, sizeof *write, &write));
    write->context = table->context;
    HD_TRY_OUT(hd_strdup(&op, table->snapshot.uri, &write->uri));
    HD_TRY_OUT(hd_options_merge(&op, &write->options, &table->options));
    if (options != NULL)
        HD_TRY_OUT(hd_options_merge(&op, &write->options, &options->options));
    HD_TRY_OUT(hd_coordinator_begin(&op, table->context->pool, write->uri, &write->options,
                                    &write->coordinator));
    *out = write;
    write = NULL;
out:
    release(&op, write);
    return hd_call_end(&op, status, err);
}

hudi_status hudi_write_check_new_table(hudi_context *context, const hudi_options *options,
                                       hudi_error **err)
{
    HD_TRY(HD_CHECK_GIVEN(err, HD_ARG(context)));
    hudi_status status = HUDI_OK;
    struct hd_op op;
    struct hd_options all = {0};

    hd_call_begin(&op, context, NULL);
    HD_TRY_OUT(hd_options_merge(&op, &all, &context->options));
    if (options != NULL)
        HD_TRY_OUT(hd_options_merge(&op, &all, &options->options));
    status = hd_check_new_table(&op, &all);
out:
    hd_options_clear(&all);
    return hd_call_end(&op, status, err);
}

const char *hudi_write_instant(const hudi_write *write)
{
    return hd_coordinator_config(write->coordinator)->instant_time;
}

static hudi_status open_writer(struct hd_op *op, hudi_write *write)
{
    if (write->failed)
        return hd_fail(op, HUDI_INVALID, "the write has failed before; it can only be aborted");
    if (write->writer != NULL)
        return HUDI_OK;
    return hd_writer_open(op, hd_coordinator_config(write->coordinator), &write->writer);
}

static hudi_status tell_write(struct hd_op *op, void *self, int64_t n_rows, const char *where,
                              const char *reason)
{
    hudi_write *write = self;
    struct hd_str named = {0};
    hudi_status status =
        hd_str_printf(op, &named, "%s%s%s", write->input_name == NULL ? "" : write->input_name,
                      write->input_name == NULL ? "" : " ", where);

    if (status == HUDI_OK)
        status = hd_writer_fail_record(op, write->writer, n_rows, hd_str_text(&named), reason);
    hd_str_clear(&named);
    return status;
}

hudi_status hudi_write_open_rows(hudi_write *write, const char *path, const char *format,
                                 const struct ArrowSchema *types, struct ArrowArrayStream *out,
                                 hudi_error **err)
{
    HD_TRY(HD_CHECK_GIVEN(err, HD_ARG(write), HD_ARG(path), HD_OUT(out)));
    hudi_status status = HUDI_OK;
    struct hd_op op;
    const struct hd_left_out left_out = {tell_write, write};

    *out = (struct ArrowArrayStream){0};
    hd_call_begin(&op, write->context, NULL);
    HD_TRY_OUT(open_writer(&op, write));
    hd_free(&op, write->input_name);
    write->input_name = NULL;
    HD_TRY_OUT(
        hd_strdup(&op, strcmp(path, "-") == 0 ? "standard input" : path, &write->input_name));
    status = hd_rows_open(&op, write->context, path, format, types, &left_out, out);
out:
    return hd_call_end(&op, status, err);
}

hudi_status hudi_write_stream(hudi_write *write, struct ArrowArrayStream *in, hudi_cancel *cancel,
                              hudi_error **err)
{
    if (HD_CHECK_GIVEN(err, HD_ARG(write), HD_ARG(in)) != HUDI_OK) {
        if (in != NULL)
            hd_stream_clear(in);
        return HUDI_INVALID;
    }
    hudi_status status = HUDI_OK;
    struct hd_op op;

    hd_call_begin(&op, write->context, cancel);
    HD_TRY_OUT(open_writer(&op, write));
    HD_TRY_OUT(hd_writer_write(&op, write->writer, write->input_name, in));
out:
    hd_free(&op, write->input_name);
    write->input_name = NULL;
    write->failed |= status != HUDI_OK;
    hd_stream_clear(in);
    return hd_call_end(&op, status, err);
}

hudi_status hudi_write_commit(hudi_write *write, hudi_commit **out, hudi_error **err)
{
    HD_TRY(HD_CHECK_GIVEN(err, HD_ARG(write), HD_OUT_IF_GIVEN(out)));
    hudi_status status = HUDI_OK;
    struct hd_op op;
    struct hd_write_status done;
    hudi_commit *commit = NULL;

    if (out != NULL)
        *out = NULL;
    hd_call_begin(&op, write->context, NULL);
    if (write->failed)
        HD_TRY_OUT(
            hd_fail(&op, HUDI_INVALID, "the write has failed before; it can only be aborted"));
    HD_TRY_OUT(hd_alloc(&op, sizeof *commit, &commit));
    if (write->writer != NULL) {
        status = hd_writer_close(&op, write->writer, &done);
        write->writer = NULL;
        HD_TRY_OUT(status);
        HD_TRY_OUT(hd_coordinator_add_status(&op, write->coordinator, &done));
    }
    status = hd_coordinator_commit(&op, write->coordinator, &commit->result);
    write->coordinator = NULL;
    HD_TRY_OUT(status);
    if (commit->result.committed)
        status = hd_services_after_write(&op, write->context->pool, write->uri, &write->options);
    if (out != NULL) {
        *out = commit;
        commit = NULL;
    }
out:
    hudi_commit_free(commit);
    hudi_write_abort(write);
    return hd_call_end(&op, status, err);
}

void hudi_write_abort(hudi_write *write)
{
    struct hd_op op;

    if (write == NULL)
        return;
    hd_call_begin(&op, write->context, NULL);
    hd_writer_abort(&op, write->writer);
    hd_free(&op, write->input_name);
    hd_coordinator_abort(&op, write->coordinator);
    release(&op, write);
    hd_call_end(&op, HUDI_OK, NULL);
}

const char *hudi_commit_instant(const hudi_commit *commit)
{
    return commit->result.committed ? commit->result.instant_time : NULL;
}

int64_t hudi_commit_inserts(const hudi_commit *commit)
{
    return commit->result.n_inserts;
}

int64_t hudi_commit_updates(const hudi_commit *commit)
{
    return commit->result.n_updates;
}

int64_t hudi_commit_deletes(const hudi_commit *commit)
{
    return commit->result.n_deletes;
}

int64_t hudi_commit_files(const hudi_commit *commit)
{
    return commit->result.n_files;
}

int64_t hudi_commit_bytes(const hudi_commit *commit)
{
    return commit->result.n_bytes;
}

int64_t hudi_commit_failed_rows(const hudi_commit *commit)
{
    return commit->result.n_failed;
}

const char *hudi_commit_failure(const hudi_commit *commit, size_t i)
{
    return i < commit->result.n_failures ? commit->result.failures[i] : NULL;
}

void hudi_commit_free(hudi_commit *commit)
{
    if (commit == NULL)
        return;
    hd_commit_result_clear(&commit->result);
    hd_free(NULL, commit);
}
