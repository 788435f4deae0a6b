/* SPDX-License-Identifier: Apache-2.0 */
#include "format/table/config_keys.h"

/* One row a key, in the order of docs/CONFIGURATION.md. The macros only give the columns of a row
 * their names; a name that ends in '*' stands for all that begin like it and have no row before. */
#define TABLE HD_KEY_TABLE
#define WRITE HD_KEY_WRITE
#define READ HD_KEY_READ
#define CONTEXT HD_KEY_CONTEXT
#define ACCEPTED HD_KEY_ACCEPTED
#define REFUSED HD_KEY_REFUSED
#define SERVICE (HD_KEY_WRITE | HD_KEY_ACCEPTED)
#define NONE NULL
#define MAX INT64_MAX
#define A(...) ((const char *const[]){__VA_ARGS__, NULL})
#define CHOICES(...) A(__VA_ARGS__)
#define TEXT(name, scope, value, aliases, help)                                                    \
    {                                                                                              \
        name, aliases, HD_KEY_TEXT, scope, value, 0, 0, NULL, help                                 \
    }
#define LIST(name, scope, value, aliases, help)                                                    \
    {                                                                                              \
        name, aliases, HD_KEY_LIST, scope, value, 0, 0, NULL, help                                 \
    }
#define BOOL(name, scope, value, aliases, help)                                                    \
    {                                                                                              \
        name, aliases, HD_KEY_BOOL, scope, value, 0, 0, NULL, help                                 \
    }
#define DOUBLE(name, scope, value, aliases, help)                                                  \
    {                                                                                              \
        name, aliases, HD_KEY_DOUBLE, scope, value, 0, 0, NULL, help                               \
    }
#define INT(name, scope, value, aliases, min, max, help)                                           \
    {                                                                                              \
        name, aliases, HD_KEY_INT, scope, value, min, max, NULL, help                              \
    }
#define ENUM(name, scope, value, aliases, choices, help)                                           \
    {                                                                                              \
        name, aliases, HD_KEY_ENUM, scope, value, 0, 0, choices, help                              \
    }

const struct hd_config_key hd_config_keys[] = {
#include "format/table/config_keys_read.inc"
#include "format/table/config_keys_services.inc"
#include "format/table/config_keys_table.inc"
#include "format/table/config_keys_write.inc"
};
const size_t hd_n_config_keys = HD_ARRAY_LENGTH(hd_config_keys);
