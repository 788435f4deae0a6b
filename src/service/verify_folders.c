/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <string.h>

#include "format/layout/partition_walk.h"
#include "service/verify_internal.h"

/* Folders whose listings are held at a time, and levels of folders below the table. */
#define WAVE_FOLDERS 64
#define MAX_DEPTH 64

struct wave {
    struct hd_verify *verify;
    struct hd_verify_folder *folders;
    size_t n_folders;
    struct hd_verify_file **files; /* of all of them */
    size_t n_files;
    struct hd_verify_file **logs;
    size_t n_logs;
};

struct level {
    const char **paths;
    size_t n;
    size_t capacity;
};

static hudi_status list_one(struct hd_op *op, void *argument, size_t i)
{
    const struct wave *const wave = argument;

    return hd_verify_list(op, wave->verify, &wave->folders[i]);
}

static hudi_status check_one(struct hd_op *op, void *argument, size_t i)
{
    const struct wave *const wave = argument;

    return hd_verify_base_file(op, wave->verify, wave->files[i]);
}

static hudi_status check_log(struct hd_op *op, void *argument, size_t i)
{
    const struct wave *const wave = argument;

    return hd_verify_log_file(op, wave->verify, wave->logs[i]);
}

static hudi_status find_duplicates(struct hd_op *op, void *argument, size_t i)
{
    const struct wave *const wave = argument;

    return hd_verify_duplicates(op, wave->verify, &wave->folders[i]);
}

/* The files of all folders of the wave as two lists of work. */
static hudi_status list_files(struct hd_op *op, struct wave *wave)
{
    size_t n_files = 0, n_logs = 0;

    for (size_t i = 0; i < wave->n_folders; i++) {
        n_files += wave->folders[i].n_files;
        n_logs += wave->folders[i].n_logs;
    }
    HD_TRY(hd_alloc_array(op, n_files, sizeof(struct hd_verify_file *), &wave->files));
    HD_TRY(hd_alloc_array(op, n_logs, sizeof(struct hd_verify_file *), &wave->logs));
    for (size_t i = 0; i < wave->n_folders; i++) {
        struct hd_verify_folder *const folder = &wave->folders[i];

        for (size_t f = 0; f < folder->n_files; f++) {
            folder->files[f].folder = folder;
            wave->files[wave->n_files++] = &folder->files[f];
        }
        for (size_t f = 0; f < folder->n_logs; f++)
            wave->logs[wave->n_logs++] = &folder->logs[f];
    }
    return HUDI_OK;
}

/* What was found in the wave's folders goes to the whole check, and their folders to `next`. */
static hudi_status gather(struct hd_op *op, struct wave *wave, struct hd_arena *arena,
                          struct level *next)
{
    struct hd_verify *const verify = wave->verify;

    for (size_t i = 0; i < wave->n_folders; i++) {
        struct hd_verify_folder *const folder = &wave->folders[i];

        HD_TRY(hd_report_merge(op, &verify->report, &folder->report));
        for (size_t f = 0; f < folder->n_files; f++) {
            HD_TRY(hd_report_merge(op, &verify->report, &folder->files[f].report));
            if (folder->files[f].n_rows >= 0 && folder->files[f].is_latest)
                verify->n_rows += folder->files[f].n_rows;
            verify->n_files++;
        }
        for (size_t f = 0; f < folder->n_logs; f++)
            HD_TRY(hd_report_merge(op, &verify->report, &folder->logs[f].report));
        HD_TRY(hd_grow(op, &next->paths, &next->capacity, next->n + folder->n_below,
                       sizeof *next->paths));
        for (size_t b = 0; b < folder->n_below; b++) {
            char *path;
            HD_TRY(hd_arena_printf(op, arena, &path, "%s%s%s", folder->path,
                                   folder->path[0] == '\0' ? "" : "/", folder->below[b]));
            next->paths[next->n++] = path;
        }
    }
    return HUDI_OK;
}

static void clear_wave(struct hd_op *op, struct wave *wave)
{
    for (size_t i = 0; i < wave->n_folders && wave->folders != NULL; i++) {
        for (size_t f = 0; f < wave->folders[i].n_files; f++) {
            hd_report_clear(&wave->folders[i].files[f].report);
            hd_key_hashes_clear(op, &wave->folders[i].files[f]);
        }
        for (size_t f = 0; f < wave->folders[i].n_logs; f++)
            hd_report_clear(&wave->folders[i].logs[f].report);
        hd_report_clear(&wave->folders[i].report);
        hd_arena_clear(&wave->folders[i].arena);
    }
    hd_free(op, wave->folders);
    hd_free(op, wave->files);
    hd_free(op, wave->logs);
}

static hudi_status run_wave(struct hd_op *op, struct hd_verify *verify, const char **paths,
                            size_t n_paths, struct hd_arena *arena, struct level *next)
{
    hudi_status status = HUDI_OK;
    struct wave wave = {.verify = verify, .n_folders = n_paths};

    HD_TRY_OUT(hd_alloc_array(op, n_paths, sizeof *wave.folders, &wave.folders));
    for (size_t i = 0; i < n_paths; i++)
        wave.folders[i].path = paths[i];
    HD_TRY_OUT(hd_each(op, verify->pool, n_paths, list_one, &wave));
    HD_TRY_OUT(list_files(op, &wave));
    atomic_store(&verify->n_hashes, 0);
    HD_TRY_OUT(hd_each(op, verify->pool, wave.n_files, check_one, &wave));
    HD_TRY_OUT(hd_each(op, verify->pool, wave.n_logs, check_log, &wave));
    HD_TRY_OUT(hd_each(op, verify->pool, n_paths, find_duplicates, &wave));
    HD_TRY_OUT(gather(op, &wave, arena, next));
out:
    clear_wave(op, &wave);
    return status;
}

hudi_status hd_verify_folders(struct hd_op *op, struct hd_verify *verify)
{
    hudi_status status = HUDI_OK;
    struct hd_arena arena = {0};
    struct level level = {0}, next = {0};

    HD_TRY_OUT(hd_grow(op, &level.paths, &level.capacity, 1, sizeof *level.paths));
    level.paths[level.n++] = "";
    for (unsigned depth = 0; level.n > 0; depth++) {
        if (depth > MAX_DEPTH) {
            status = hd_fail(op, HUDI_CORRUPT, "folders are more than %d levels deep at \"%s\"",
                             MAX_DEPTH, level.paths[0]);
            goto out;
        }
        next.n = 0;
        for (size_t at = 0; at < level.n; at += WAVE_FOLDERS) {
            const size_t left = level.n - at;
            HD_TRY_OUT(run_wave(op, verify, level.paths + at,
                                left < WAVE_FOLDERS ? left : WAVE_FOLDERS, &arena, &next));
        }
        const struct level done = level;
        level = next;
        next = done;
    }
out:
    hd_free(op, level.paths);
    hd_free(op, next.paths);
    hd_arena_clear(&arena);
    return status;
}
