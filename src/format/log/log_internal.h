/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_FORMAT_LOG_INTERNAL_H
#define HD_FORMAT_LOG_INTERNAL_H

/* Numbers of the block frame (log_block.h), for the files of this folder. */

#define HD_LOG_MAGIC "#HUDI#"
#define HD_LOG_MAGIC_BYTES 6
#define HD_LOG_PREFIX_BYTES 14 /* magic and size */
#define HD_LOG_TRAILER_BYTES 8
/* What the size field counts in an empty block: version, type, two empty maps, content length and
 * the trailer. */
#define HD_LOG_MIN_SIZE 32
#define HD_LOG_FORMAT_VERSION 1
#define HD_LOG_MAX_CONTENT_VERSION 3

#endif
