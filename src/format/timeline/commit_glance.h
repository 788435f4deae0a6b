/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_FORMAT_COMMIT_GLANCE_H
#define HD_FORMAT_COMMIT_GLANCE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

/** A write stat's path, as it stands in the commit, and fileSizeInBytes. @return whether to go on
 */
typedef bool (*hd_commit_glance_fn)(void *self, struct hd_slice path, int64_t n_bytes);

/**
 * The paths and sizes of a commit's write stats without taking its JSON apart: a twentieth of
 * the cost of hd_commit_metadata_parse(), for whoever looks at many commits and will find nothing
 * in most. Only for texts laid out as Hudi and we write them: one path and one size in each stat,
 * in this order. The text is not checked beyond that: of one that is cut, the stats before the cut
 * are given.
 * @return false where the text is anything else (a path with escapes, another order or number of
 *         these members), or where `look` returned false: parse it then. `look` may have been
 * called
 */
bool hd_commit_glance(struct hd_slice text, hd_commit_glance_fn look, void *self);

#endif
