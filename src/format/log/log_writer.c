/* SPDX-License-Identifier: Apache-2.0 */
#include "format/log/log_writer.h"

#include <inttypes.h>
#include <string.h>

#include "format/layout/file_name.h"
#include "format/log/log_reader.h"

/* Versions that may be taken, one after the other, before something else must be wrong. */
#define MAX_TRIES 1000

struct hd_log_writer {
    struct hd_log_target target;
    char *table_path, *partition_path, *file_id, *instant, *writer,
        *write_token;     /* what `target` points to */
    char *last_file;      /* to be written on; NULL: not, or it was tried */
    uint32_t version;     /* of the next file, or the one that is open */
    hd_output_file *file; /* NULL: the next group begins a file */
    char *temporary;      /* its path until it is whole; NULL: its own */
    /* Every file made: a result may be asked for its name after the next one was begun. */
    struct hd_arena names;
    const char *file_name;
    const char *path;
};

bool hd_log_temporary_is_of(const char *name, const char *time)
{
    const size_t n_prefix = strlen(HD_TEMPORARY_PREFIX), n = strlen(time);

    return strncmp(name, HD_TEMPORARY_PREFIX, n_prefix) == 0 &&
           strncmp(name + n_prefix, time, n) == 0 && name[n_prefix + n] == '-';
}

hudi_status hd_log_writer_open(struct hd_op *op, const struct hd_log_target *target,
                               hd_log_writer **out)
{
    hudi_status status = HUDI_OK;
    hd_log_writer *writer;

    *out = NULL;
    HD_TRY(hd_alloc(op, sizeof *writer, &writer));
    writer->target = *target;
    writer->version = target->first_version;
    HD_TRY_OUT(hd_strdup(op, target->table_path, &writer->table_path));
    HD_TRY_OUT(hd_strdup(op, target->partition_path, &writer->partition_path));
    HD_TRY_OUT(hd_strdup(op, target->file_id, &writer->file_id));
    HD_TRY_OUT(hd_strdup(op, target->instant, &writer->instant));
    HD_TRY_OUT(hd_strdup(op, target->writer, &writer->writer));
    HD_TRY_OUT(hd_strdup(op, target->write_token, &writer->write_token));
    if (target->last_file != NULL)
        HD_TRY_OUT(hd_strdup(op, target->last_file, &writer->last_file));
    *out = writer;
    return HUDI_OK;
out:
    hd_log_writer_abort(op, writer);
    return status;
}

static hudi_status set_names(struct hd_op *op, hd_log_writer *writer, const char *name,
                             const char *suffix)
{
    char *path = NULL;

    HD_TRY(hd_arena_printf(op, &writer->names, (char **)&writer->file_name, "%s%s", name, suffix));
    HD_TRY(hd_path_join(op, writer->partition_path, writer->file_name, &path));
    const hudi_status status = hd_arena_strdup(op, &writer->names, path, (char **)&writer->path);
    hd_free(op, path);
    return status;
}

/* Names of the file of the version at hand. */
static hudi_status make_names(struct hd_op *op, hd_log_writer *writer)
{
    char *name;

    HD_TRY(hd_log_file_name_format(op, writer->file_id, writer->instant, writer->version,
                                   writer->write_token, &name));
    const hudi_status status =
        set_names(op, writer, name, writer->target.suffix == NULL ? "" : writer->target.suffix);
    hd_free(op, name);
    return status;
}

static hudi_status path_of(struct hd_op *op, const hd_log_writer *writer, char **out)
{
    return hd_path_join(op, writer->table_path, writer->path, out);
}

static hudi_status announce(struct hd_op *op, const hd_log_writer *writer)
{
    return writer->target.announce == NULL
               ? HUDI_OK
               : writer->target.announce(op, writer->target.self, writer->file_name);
}

/* The lowest version whose name is free, announced. */
static hudi_status choose_name(struct hd_op *op, hd_log_writer *writer)
{
    for (int i = 0; i < MAX_TRIES; i++, writer->version++) {
        struct hd_file_info info;
        char *path = NULL;

        HD_TRY(make_names(op, writer));
        HD_TRY(path_of(op, writer, &path));
        const hudi_status status = hd_fs_stat(op, writer->target.fs, path, &info);
        hd_free(op, path);
        if (status == HUDI_OK)
            continue;
        if (status != HUDI_NOT_FOUND)
            return status;
        return announce(op, writer);
    }
    return hd_fail(op, HUDI_CONFLICT, "%d names from %s down are taken", MAX_TRIES,
                   writer->file_name);
}

/* Write on in the newest file, where that is whole and has room; else writer->file stays NULL. */
static hudi_status open_last(struct hd_op *op, hd_log_writer *writer)
{
    hudi_status status = HUDI_OK;
    uint64_t n_bytes;
    bool is_whole;
    char *path = NULL;

    HD_TRY_OUT(set_names(op, writer, writer->last_file, ""));
    HD_TRY_OUT(path_of(op, writer, &path));
    status = hd_log_file_is_whole(op, writer->target.fs, path, &n_bytes, &is_whole);
    if (status == HUDI_NOT_FOUND) { /* cleaned since it was listed */
        hd_op_clear_error(op);
        is_whole = false;
        status = HUDI_OK;
    }
    if (status != HUDI_OK || !is_whole || n_bytes > writer->target.max_bytes)
        goto out;
    HD_TRY_OUT(announce(op, writer));
    status = hd_fs_open_append(op, writer->target.fs, path, n_bytes, &writer->file);
    if (status == HUDI_CONFLICT || status == HUDI_NOT_FOUND)
        status = HUDI_OK; /* somebody was faster: it is theirs */
    else if (status == HUDI_OK)
        writer->version = writer->target.first_version - 1;
out:
    hd_free(op, path);
    hd_free(op, writer->last_file);
    writer->last_file = NULL;
    return status;
}

static hudi_status open_file(struct hd_op *op, hd_log_writer *writer)
{
    hudi_status status = HUDI_OK;
    char *path = NULL, uuid[HD_UUID_BYTES];

    if (writer->last_file != NULL) {
        HD_TRY(open_last(op, writer));
        if (writer->file != NULL)
            return HUDI_OK;
    }
    HD_TRY(choose_name(op, writer));
    if (hd_fs_shows_whole_files(writer->target.fs)) {
        HD_TRY_OUT(path_of(op, writer, &path));
    } else {
        hd_random_uuid(op, uuid);
        HD_TRY_OUT(hd_asprintf(op, &path, "%s%s%s/" HD_TEMPORARY_PREFIX "%s-%s", writer->table_path,
                               writer->partition_path[0] == '\0' ? "" : "/", writer->partition_path,
                               writer->writer, uuid));
        HD_TRY_OUT(hd_strdup(op, path, &writer->temporary));
    }
    status = hd_fs_open_output(op, writer->target.fs, path, true, &writer->file);
out:
    hd_free(op, path);
    return status;
}

/* The file that is open, if any, gets its name. */
static hudi_status close_file(struct hd_op *op, hd_log_writer *writer)
{
    hd_output_file *file = writer->file;
    char *path = NULL;

    if (file == NULL)
        return HUDI_OK;
    writer->file = NULL;
    HD_TRY(hd_output_file_close(op, file, true));
    if (writer->temporary == NULL)
        return HUDI_OK;
    HD_TRY(path_of(op, writer, &path));
    const hudi_status status = hd_fs_rename(op, writer->target.fs, writer->temporary, path);
    hd_free(op, path);
    if (status == HUDI_EXISTS) {
        hd_op_clear_error(op);
        return hd_fail_retriable(op, hd_fail(op, HUDI_CONFLICT,
                                             "another writer made %s at the same time",
                                             writer->file_name));
    }
    HD_TRY(status);
    hd_free(op, writer->temporary);
    writer->temporary = NULL;
    return HUDI_OK;
}

hudi_status hd_log_writer_append(struct hd_op *op, hd_log_writer *writer,
                                 const struct hd_slice *parts, size_t n_parts,
                                 struct hd_log_append *out)
{
    *out = (struct hd_log_append){0};
    if (writer->file == NULL)
        HD_TRY(open_file(op, writer));
    *out = (struct hd_log_append){.file_name = writer->file_name,
                                  .path = writer->path,
                                  .version = writer->version,
                                  .offset = hd_output_file_position(writer->file)};
    for (size_t i = 0; i < n_parts; i++)
        HD_TRY(hd_output_file_write(op, writer->file, parts[i].data, parts[i].size));
    out->size_bytes = hd_output_file_position(writer->file) - out->offset;
    if (hd_output_file_position(writer->file) <= writer->target.max_bytes)
        return HUDI_OK;
    HD_TRY(close_file(op, writer));
    writer->version++;
    return HUDI_OK;
}

/* It was closed and could not be named. What failed first is what is told. */
static void remove_temporary(struct hd_op *op, const hd_log_writer *writer)
{
    struct hd_op quiet;

    hd_op_init_child(&quiet, op);
    quiet.cancelled = NULL;
    if (hd_fs_delete_file(&quiet, writer->target.fs, writer->temporary) != HUDI_OK)
        hd_op_clear_error(&quiet);
    hd_op_clear(&quiet);
}

hudi_status hd_log_writer_close(struct hd_op *op, hd_log_writer *writer)
{
    const hudi_status status = close_file(op, writer);

    hd_log_writer_abort(op, writer);
    return status;
}

void hd_log_writer_abort(struct hd_op *op, hd_log_writer *writer)
{
    if (writer == NULL)
        return;
    hd_output_file_abort(writer->file);
    if (writer->file == NULL && writer->temporary != NULL)
        remove_temporary(op, writer);
    hd_free(op, writer->temporary);
    hd_free(op, writer->table_path);
    hd_free(op, writer->partition_path);
    hd_free(op, writer->file_id);
    hd_free(op, writer->instant);
    hd_free(op, writer->writer);
    hd_free(op, writer->write_token);
    hd_free(op, writer->last_file);
    hd_arena_clear(&writer->names);
    hd_free(op, writer);
}
