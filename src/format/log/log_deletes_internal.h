/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_FORMAT_LOG_DELETES_INTERNAL_H
#define HD_FORMAT_LOG_DELETES_INTERNAL_H

#include "base/cursor.h"
#include "format/log/log_deletes.h"

/* Between the files of log_deletes.h. */

/* Kryo's registered classes, by the number that is written: 0 is null, 1 a class by name. */
enum kryo_class {
    KRYO_NULL = 0,
    KRYO_BY_NAME = 1,
    KRYO_INT = 2,
    KRYO_STRING = 3,
    KRYO_FLOAT = 4,
    KRYO_BOOLEAN = 5,
    KRYO_BYTE = 6,
    KRYO_SHORT = 8,
    KRYO_LONG = 9,
    KRYO_DOUBLE = 10,
};

#define KRYO_KEY_CLASS "org.apache.hudi.common.model.HoodieKey"
#define KRYO_KEY_ARRAY_CLASS "[Lorg.apache.hudi.common.model.HoodieKey;"
#define KRYO_RECORD_CLASS "org.apache.hudi.common.model.DeleteRecord"
#define KRYO_RECORD_ARRAY_CLASS "[Lorg.apache.hudi.common.model.DeleteRecord;"
#define KRYO_DECIMAL_CLASS "java.math.BigDecimal"
#define KRYO_DATE_CLASS "java.time.LocalDate"
#define KRYO_TIMESTAMP_CLASS "java.sql.Timestamp"
#define KRYO_UTF8_CLASS "org.apache.avro.util.Utf8"

/* Branches of orderingVal in version 3. */
enum wrapper_branch {
    WRAPPER_NULL,
    WRAPPER_BOOLEAN,
    WRAPPER_INT,
    WRAPPER_LONG,
    WRAPPER_FLOAT,
    WRAPPER_DOUBLE,
    WRAPPER_BYTES,
    WRAPPER_STRING,
    WRAPPER_DATE,
    WRAPPER_DECIMAL,
    WRAPPER_TIME_MICROS,
    WRAPPER_TIMESTAMP_MICROS,
    WRAPPER_ARRAY,
    WRAPPER_LOCAL_DATE = WRAPPER_ARRAY, /* inside of an array */
    N_WRAPPERS,
};

#define WRAPPED_DECIMAL_PRECISION 30
#define WRAPPED_DECIMAL_SCALE 15

/* One more delete at the end; `*ordering` is NULL in version 1. */
hudi_status log_deletes_add(struct hd_op *op, struct hd_log_deletes *deletes, struct hd_slice key,
                            struct hd_slice partition_path,
                            const struct hd_ordering_value *ordering);

/* Versions 1 and 2. */
hudi_status log_deletes_decode_kryo(struct hd_op *op, struct hd_cursor in,
                                    struct hd_log_deletes *out);
hudi_status log_deletes_encode_kryo(struct hd_op *op, bool with_ordering,
                                    const struct hd_log_deletes *deletes, struct hd_str *out);

#endif
