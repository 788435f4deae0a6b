/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HUDI_H
#define HUDI_H

/* Apache Hudi tables in C. Every public header; see docs/ARCHITECTURE.md for where things are. */

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
