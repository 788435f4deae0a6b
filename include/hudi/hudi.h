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
