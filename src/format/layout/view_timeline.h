/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_FORMAT_VIEW_TIMELINE_H
#define HD_FORMAT_VIEW_TIMELINE_H

#include "format/layout/file_system_view.h"

/* What a view needs from inside the instants, on top of names: each reads only what it must. */

/** Invariant 2: read the commits of instants with several base files for one file id. */
hudi_status hd_view_choose_base_files(struct hd_op *op, const struct hd_timeline *timeline,
                                      struct hd_file_system_view *view);

/** Set `replaced_by` from the completed replacecommits. */
hudi_status hd_view_mark_replaced(struct hd_op *op, const struct hd_timeline *timeline,
                                  struct hd_file_system_view *view);

/** Set `compaction_instant` from the plans of pending compactions. */
hudi_status hd_view_mark_compactions(struct hd_op *op, const struct hd_timeline *timeline,
                                     struct hd_file_system_view *view);

#endif
