/* SPDX-License-Identifier: Apache-2.0 */
/* An archive file: damage is logged, never an error, and what is read is in order. */
#include <stdlib.h>
#include <string.h>

#include "format/timeline/archived_timeline.h"
#include "store/memory.h"

#define FOLDER "/t/.hoodie/archived"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hd_op op;
    hd_file_system *fs;
    struct hd_table_config config = {0};
    struct hd_archived_timeline archive;

    hd_op_init(&op);
    if (hd_memory_file_system_open(&op, "fuzz", &fs) != HUDI_OK ||
        hd_table_version_of(&op, 6, &config.version) != HUDI_OK ||
        hd_fs_make_dirs(&op, fs, FOLDER) != HUDI_OK ||
        hd_fs_replace(&op, fs, FOLDER "/.commits_.archive.1_1-0-1", data, size) != HUDI_OK ||
        hd_archived_timeline_load(&op, fs, "/t", &config, NULL, NULL, &archive) != HUDI_OK)
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
