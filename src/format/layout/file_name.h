/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_FORMAT_FILE_NAME_H
#define HD_FORMAT_FILE_NAME_H

#include <stdbool.h>
#include <stdint.h>

#include "base/op.h"
#include "base/str.h"

enum hd_file_kind { HD_FILE_OTHER, HD_FILE_BASE, HD_FILE_LOG, HD_FILE_CDC_LOG };

/** A data file's name taken apart; slices point into it. docs/format/table-layout.md 5 */
struct hd_file_name {
    enum hd_file_kind kind;
    struct hd_slice file_id;
    struct hd_slice write_token;
    struct hd_slice instant;   /* log files: base instant (version < 8) or delta instant */
    struct hd_slice extension; /* base: ".parquet", ".orc", ".hfile" ... with the dot */
    uint32_t log_version;
};

/** HD_FILE_OTHER (false) for what is no data file: metadata, .crc, ._*, temporary names. */
bool hd_file_name_parse(const char *name, struct hd_file_name *out);

/** "{file_id}_{token}_{instant}{ext}" */
hudi_status hd_base_file_name_format(struct hd_op *op, const char *file_id, const char *write_token,
                                     const char *instant, const char *extension, char **out);

/** ".{file_id}_{instant}.log.{version}_{token}" */
hudi_status hd_log_file_name_format(struct hd_op *op, const char *file_id, const char *instant,
                                    uint32_t log_version, const char *write_token, char **out);

#define HD_WRITE_TOKEN_BYTES 64
/** "{task}-{stage}-{attempt}" */
void hd_write_token_format(uint32_t task, uint32_t stage, uint64_t attempt,
                           char out[HD_WRITE_TOKEN_BYTES]);

#endif
