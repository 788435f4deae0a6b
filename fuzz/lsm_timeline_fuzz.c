/* SPDX-License-Identifier: Apache-2.0 */
/* The archive of version 8: the input is a manifest, or behind a byte of 1 one of its files. What
 * is read is in order. */
#include <stdlib.h>
#include <string.h>

#include "format/timeline/archived_timeline.h"
#include "store/memory.h"

#define FOLDER "/t/.hoodie/timeline/history"

static const char MANIFEST[] = "{\"files\":[{\"fileName\":\"0_9_0.parquet\"}]}";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const bool is_file = size > 0 && data[0] == 1;
    struct hd_op op;
    hd_file_system *fs;
    struct hd_table_config config = {.archive_folder = ".hoodie/timeline/history"};
    struct hd_archived_timeline archive;

    hd_op_init(&op);
    if (hd_memory_file_system_open(&op, "fuzz", &fs) != HUDI_OK ||
        hd_table_version_of(&op, 8, &config.version) != HUDI_OK ||
        hd_fs_make_dirs(&op, fs, FOLDER) != HUDI_OK ||
        (is_file &&
         hd_fs_replace(&op, fs, FOLDER "/0_9_0.parquet", data + 1, size - 1) != HUDI_OK) ||
        (is_file ? hd_fs_replace(&op, fs, FOLDER "/manifest_1", MANIFEST, strlen(MANIFEST))
                 : hd_fs_replace(&op, fs, FOLDER "/manifest_1", data, size)) != HUDI_OK)
        abort();
    const hudi_status status =
        hd_archived_timeline_load(&op, fs, "/t", &config, NULL, NULL, &archive);
    if ((status == HUDI_OK) == (op.error != NULL))
        abort();
    for (size_t i = 1; i < archive.n_instants; i++) {
        if (strcmp(archive.instants[i - 1].time, archive.instants[i].time) > 0)
            abort();
    }
    hd_archived_timeline_clear(&archive);
    hd_fs_free(fs);
    hd_memory_drop("fuzz");
    hd_op_clear(&op);
    return 0;
}
