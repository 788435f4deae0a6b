/* SPDX-License-Identifier: Apache-2.0 */
#include "format/layout/table_snapshot.h"

hudi_status hd_table_snapshot_load(struct hd_op *op, const char *uri, struct hd_table_snapshot *out)
{
    hudi_status status = HUDI_OK;

    *out = (struct hd_table_snapshot){0};
    HD_TRY_OUT(hd_strdup(op, uri, &out->uri));
    HD_TRY_OUT(hd_fs_open(op, uri, &out->fs, &out->path));
    HD_TRY_OUT(hd_table_config_load(op, out->fs, out->path, &out->config));
    HD_TRY_OUT(hd_timeline_load(op, out->fs, out->path, &out->config, &out->timeline));
    return HUDI_OK;
out:
    hd_table_snapshot_clear(op, out);
    return hd_fail_path(op, status, uri);
}

hudi_status hd_table_snapshot_reload(struct hd_op *op, struct hd_table_snapshot *snapshot)
{
    struct hd_table_config config;

    HD_TRY(hd_table_config_load(op, snapshot->fs, snapshot->path, &config));
    hd_timeline_clear(&snapshot->timeline);
    hd_table_config_clear(&snapshot->config);
    snapshot->config = config;
    return hd_timeline_load(op, snapshot->fs, snapshot->path, &snapshot->config,
                            &snapshot->timeline);
}

void hd_table_snapshot_clear(struct hd_op *op, struct hd_table_snapshot *snapshot)
{
    hd_timeline_clear(&snapshot->timeline);
    hd_table_config_clear(&snapshot->config);
    hd_fs_free(snapshot->fs);
    hd_free(op, snapshot->path);
    hd_free(op, snapshot->uri);
    *snapshot = (struct hd_table_snapshot){0};
}
