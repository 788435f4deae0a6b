/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HUDI_H
#define HUDI_H

/*
 * Apache Hudi tables in C. Every public header; see docs/ARCHITECTURE.md for where things are.
 *
 * NULL: a call with a hudi_status refuses a NULL that its declaration does not allow, with
 * HUDI_INVALID, before it does anything; a stream that it would have taken is released all the
 * same. It may always be given for `err`, `cancel` and `options` or `query`, and for what says so.
 * What asks a handle for something needs the handle, and what frees one takes NULL.
 *
 * What holds for every call, unless its declaration says otherwise:
 *
 * - `X **out` is set to something new on success, which the caller frees with hudi_X_free(), and to
 *   NULL on failure. What is returned as `const` belongs to what it was asked of.
 * - `*err` is set to the error of a failure, and to NULL on success: one that was there before is
 *   not freed. Texts are UTF-8.
 * - An Arrow stream that is given is taken, also on failure; one that is received is released by
 *   the caller, before the table and the context that it came from are freed. Batches that were
 *   received live on until they are released.
 * - A context and a table may be used by several threads at once; a scan, a write and everything
 *   else by one at a time. Calls block until they are done; the one to call from elsewhere is
 *   hudi_cancel_request().
 */

#include "hudi/arrow_c.h"
#include "hudi/context.h"
#include "hudi/error.h"
#include "hudi/lock.h"
#include "hudi/log.h"
#include "hudi/options.h"
#include "hudi/rows.h"
#include "hudi/scan.h"
#include "hudi/service.h"
#include "hudi/status.h"
#include "hudi/table.h"
#include "hudi/timeline.h"
#include "hudi/write.h"

#endif
