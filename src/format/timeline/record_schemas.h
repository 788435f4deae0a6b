/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_FORMAT_RECORD_SCHEMAS_H
#define HD_FORMAT_RECORD_SCHEMAS_H

#include "base/op.h"
#include "base/str.h"

/** Append the schema of a record of the timeline, "HoodieArchivedMetaEntry": one of those in
 * record_schemas.c. */
hudi_status hd_record_schema(struct hd_op *op, const char *name, struct hd_str *out);

#endif
