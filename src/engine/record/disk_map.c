/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/record/disk_map.h"

struct hd_disk_map {
    enum hd_disk_map_type type;
};

hudi_status hd_disk_map_new(struct hd_op *op, const struct hd_spillable_map_options *options,
                            hd_disk_map **out)
{
    HD_TRY(hd_alloc(op, sizeof **out, out));
    (*out)->type = options->disk_map;
    return HUDI_OK;
}

void hd_disk_map_free(struct hd_op *op, hd_disk_map *map)
{
    hd_free(op, map);
}

hudi_status hd_disk_map_put(struct hd_op *op, hd_disk_map *map, const struct hd_view *columns,
                            int64_t row, uint64_t *locator)
{
    (void)map, (void)columns, (void)row;
    *locator = 0;
    return hd_fail(op, HUDI_NOT_IMPLEMENTED, "a spillable map cannot spill yet");
}

hudi_status hd_disk_map_get(struct hd_op *op, const hd_disk_map *map, const uint64_t *locators,
                            size_t n, struct ArrowArray *out)
{
    (void)map, (void)locators, (void)n;
    *out = (struct ArrowArray){0};
    return hd_fail(op, HUDI_NOT_IMPLEMENTED, "a spillable map cannot spill yet");
}

uint64_t hd_disk_map_disk_bytes(const hd_disk_map *map)
{
    (void)map;
    return 0;
}

uint64_t hd_disk_map_memory_bytes(const hd_disk_map *map)
{
    (void)map;
    return 0;
}
