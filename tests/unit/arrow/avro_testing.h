/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_UNIT_ARROW_AVRO_TESTING_H
#define TEST_UNIT_ARROW_AVRO_TESTING_H

#include "arrow/avro_decoder.h"
#include "arrow/avro_encoder.h"
#include "arrow/avro_type.h"
#include "unit/arrow/arrow_testing.h"

/* Schemas of which fastavro 1.13.1 made the records below (schemaless_writer). */

#define AVRO_RECORD(fields) "{\"type\":\"record\",\"name\":\"r\",\"fields\":[" fields "]}"
#define AVRO_FIELD(name, type) "{\"name\":\"" name "\",\"type\":" type "}"
#define AVRO_LOGICAL(type, logical) "{\"type\":\"" type "\",\"logicalType\":\"" logical "\"}"

#define PRIMITIVES                                                                                                                                                   \
    AVRO_RECORD(AVRO_FIELD("b", "\"boolean\"") "," AVRO_FIELD("i", "\"int\"") "," AVRO_FIELD(                                                                        \
        "l",                                                                                                                                                         \
        "\"long"                                                                                                                                                     \
        "\"") "," AVRO_FIELD("f",                                                                                                                                    \
                             "\"float\"") "," AVRO_FIELD("d",                                                                                                        \
                                                         "\"double\"") "," AVRO_FIELD("s",                                                                           \
                                                                                      "\"string"                                                                     \
                                                                                      "\"") "," AVRO_FIELD("y",                                                      \
                                                                                                           "\"bytes\"") "," AVRO_FIELD("x",                          \
                                                                                                                                       "{\"type\":\"fixed\","        \
                                                                                                                                       "\"name\":\"x4\",\"size\":"   \
                                                                                                                                       "4}") "," AVRO_FIELD("e",     \
                                                                                                                                                            "{\"typ" \
                                                                                                                                                            "e\":"   \
                                                                                                                                                            "\"enum" \
                                                                                                                                                            "\","    \
                                                                                                                                                            "\"name" \
                                                                                                                                                            "\":"    \
                                                                                                                                                            "\"e3\"" \
                                                                                                                                                            ",\"sym" \
                                                                                                                                                            "bols\"" \
                                                                                                                                                            ":["     \
                                                                                                                                                            "\"RED"  \
                                                                                                                                                            "\","    \
                                                                                                                                                            "\"GREE" \
                                                                                                                                                            "N\","   \
                                                                                                                                                            "\"BLUE" \
                                                                                                                                                            "\"]}"))
static const char *const PRIMITIVE_RECORDS[] = {
    "01ffffffff0ffeffffffffffffffff010000c03f9a9999999999b9bf1268c3a4c39f20e282ac0461627778797a04",
    "00feffffff0fffffffffffffffffff01000000809c7500883ce4377e00006162636400",
};
#define PRIMITIVE_ROWS                                                                             \
    "[(true, -2147483648, 9223372036854775807, 1.5, -0.10000000000000001, \"h\xc3\xa4\xc3\x9f "    \
    "\xe2\x82\xac\", \"ab\", \"wxyz\", \"BLUE\"), "                                                \
    "(false, 2147483647, -9223372036854775808, -0, 1.0000000000000001e+300, \"\", \"\", \"abcd\"," \
    " \"RED\")]"

#define LOGICALS                                                                                                                                                                                                                                                                                                                                                                              \
    AVRO_RECORD(                                                                                                                                                                                                                                                                                                                                                                              \
        AVRO_FIELD("day", AVRO_LOGICAL("int", "date")) "," AVRO_FIELD("tm", AVRO_LOGICAL("int", "time-millis")) "," AVRO_FIELD("tu", AVRO_LOGICAL("long", "time-micros")) "," AVRO_FIELD(                                                                                                                                                                                                     \
            "sm",                                                                                                                                                                                                                                                                                                                                                                             \
            AVRO_LOGICAL(                                                                                                                                                                                                                                                                                                                                                                     \
                "long",                                                                                                                                                                                                                                                                                                                                                                       \
                "timestamp-millis")) "," AVRO_FIELD("su",                                                                                                                                                                                                                                                                                                                                     \
                                                    AVRO_LOGICAL(                                                                                                                                                                                                                                                                                                                             \
                                                        "long",                                                                                                                                                                                                                                                                                                                               \
                                                        "times"                                                                                                                                                                                                                                                                                                                               \
                                                        "tamp-"                                                                                                                                                                                                                                                                                                                               \
                                                        "micro"                                                                                                                                                                                                                                                                                                                               \
                                                        "s")) "," AVRO_FIELD("sn",                                                                                                                                                                                                                                                                                                            \
                                                                             AVRO_LOGICAL(                                                                                                                                                                                                                                                                                                    \
                                                                                 "long",                                                                                                                                                                                                                                                                                                      \
                                                                                 "timestamp-"                                                                                                                                                                                                                                                                                                 \
                                                                                 "nanos")) "," AVRO_FIELD("lm",                                                                                                                                                                                                                                                                               \
                                                                                                          AVRO_LOGICAL(                                                                                                                                                                                                                                                                       \
                                                                                                              "long", "local-timestamp-millis")) "," AVRO_FIELD("lu",                                                                                                                                                                                                                         \
                                                                                                                                                                AVRO_LOGICAL(                                                                                                                                                                                                                 \
                                                                                                                                                                    "long", "local-timestamp-micros")) "," AVRO_FIELD("db",                                                                                                                                                                   \
                                                                                                                                                                                                                      "{\"type\":\"bytes\",\"logicalType\":\"decimal\",\"precision\":20,\"scale\":3}") "," AVRO_FIELD("df", "{\"type\":\"fixed\",\"name\":\"d9\",\"size\":9,\"logicalType\":" \
                                                                                                                                                                                                                                                                                                                            "\"decimal\",\"precision\":20,\"scale\":3}") "," AVRO_FIELD("u",  \
                                                                                                                                                                                                                                                                                                                                                                                        AVRO_LOGICAL("string", "uuid")))
static const char *const LOGICAL_RECORDS[] = {
    "8cb502aab2992ba898b1bed10201aac49debd99e890686eadddeeded97b82f80e38fa6be63aac49debd99e890608"
    "ff439eb2055aa54d38e5267eea4831323334353637382d396162632d646566302d313233342d3536373839616263"
    "64656630"};
#define LOGICAL_ROWS                                                                               \
    "[(19782, 45296789, 45296789012, -1, 1709168523456789, 1709168523456789123, 1709168523456, "   \
    "1709168523456789, -12345678, 98765432109876543210, "                                          \
    "\"12345678-9abc-def0-1234-56789abcdef0\")]"

#define NESTED(d)                                                                                                                                                                                           \
    AVRO_RECORD(AVRO_FIELD("a", "[\"null\",\"string\"]") "," AVRO_FIELD(                                                                                                                                    \
        "b",                                                                                                                                                                                                \
        "[\"long\","                                                                                                                                                                                        \
        "\"null\"]") "," AVRO_FIELD("c",                                                                                                                                                                    \
                                    "[\"double\"]") "," AVRO_FIELD("d",                                                                                                                                     \
                                                                   d) "," AVRO_FIELD("n",                                                                                                                   \
                                                                                     "[\"null\","                                                                                                           \
                                                                                     "{\"type\":"                                                                                                           \
                                                                                     "\"record\","                                                                                                          \
                                                                                     "\"name\":"                                                                                                            \
                                                                                     "\"in\","                                                                                                              \
                                                                                     "\"fields\":"                                                                                                          \
                                                                                     "[" AVRO_FIELD("x", "\"int\"") "," AVRO_FIELD(                                                                         \
                                                                                         "y",                                                                                                               \
                                                                                         "[\"null"                                                                                                          \
                                                                                         "\","                                                                                                              \
                                                                                         "\"strin"                                                                                                          \
                                                                                         "g\"]") "]}]") "," AVRO_FIELD("t",                                                                                 \
                                                                                                                       "{\"type\""                                                                          \
                                                                                                                       ":\"array"                                                                           \
                                                                                                                       "\","                                                                                \
                                                                                                                       "\"items\""                                                                          \
                                                                                                                       ":["                                                                                 \
                                                                                                                       "\"null\","                                                                          \
                                                                                                                       "\"string"                                                                           \
                                                                                                                       "\"]}") "," AVRO_FIELD("m",                                                          \
                                                                                                                                              "[\"null\",{\"type\":\"map\",\"values\":{\"type\":\"array\"," \
                                                                                                                                              "\"items\":\"long\"}}]"))
#define SEVERAL "[\"null\",\"int\",\"string\",\"double\"]"
static const char *const NESTED_RECORDS[] = {
    "02066f6e65000e000000000000000440020a020202067768790602027000020271000204027a0402040002610000",
    "000200000000000000f0bf00000000",
    "020000010000000000000000000600000000000002400211000200000200",
};
#define NESTED_ROWS                                                                                \
    "[(\"one\", 7, 2.5, 5, (1, \"why\"), [\"p\", null, \"q\"], [(\"z\", [1, 2]), (\"a\", [])]), "  \
    "(null, null, -1, null, null, [], null), "                                                     \
    "(\"\", -1, 0, 2.25, (-9, null), [null], [])]"

static inline struct hd_avro_schema *test_avro(struct hd_op *op, struct hd_arena *arena,
                                               const char *json)
{
    struct hd_avro_schema *schema;

    OK(hd_avro_schema_parse(op, arena, hd_slice_text(json), &schema));
    return schema;
}

/* Bytes of hexadecimal digits in a block of exactly their size; free() them. */
static inline struct hd_slice test_hex(const char *hex)
{
    const size_t n = strlen(hex) / 2;
    uint8_t *bytes = malloc(n == 0 ? 1 : n);

    assert_non_null(bytes);
    for (size_t i = 0; i < n; i++) {
        const char pair[3] = {hex[2 * i], hex[2 * i + 1], '\0'};
        bytes[i] = (uint8_t)strtoul(pair, NULL, 16);
    }
    return hd_slice_of(bytes, n);
}

static inline void test_hex_free(struct hd_slice bytes)
{
    free((void *)(uintptr_t)bytes.data);
}

#endif
