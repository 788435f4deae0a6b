/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_RECORD_TESTING_H
#define TEST_RECORD_TESTING_H

#include "format/table/table_config.h"
#include "unit/arrow/arrow_testing.h"

/* A table's configuration without a table. Zeroed and filled in by test_config(); the properties
 * and options given are pairs "key=value", NULL at the end. */
struct test_config {
    struct hd_table_config config;
    struct hd_table_version version;
    struct hd_options options;
    const char *keys[4];
    const char *partitions[4];
    const char *kinds[4];
    const char *ordering[4];
};

static inline void test_set(struct hd_op *op, struct hd_properties *properties, const char *pair)
{
    char key[200];
    const char *equals = strchr(pair, '=');

    assert_non_null(equals);
    assert_in_range(equals - pair, 1, sizeof(key) - 1);
    memcpy(key, pair, (size_t)(equals - pair));
    key[equals - pair] = '\0';
    OK(hd_properties_set(op, properties, key, equals + 1));
}

/* Split "a,b" into `out`; names may hold dots. */
static inline size_t test_names(char *names, const char **out)
{
    size_t n = 0;

    for (char *at = strtok(names, ","); at != NULL; at = strtok(NULL, ","))
        out[n++] = at;
    return n;
}

static inline void test_config_init(struct test_config *c, int version)
{
    const struct hd_table_version *real = NULL;

    *c = (struct test_config){0};
    assert_int_equal(hd_table_version_of(NULL, version, &real), HUDI_OK);
    c->version = *real;
    c->config.version = &c->version;
    c->config.default_partition = version < 5 ? "default" : "__HIVE_DEFAULT_PARTITION__";
    c->config.populate_meta_fields = true;
    c->config.payload_class = "org.apache.hudi.common.model.OverwriteWithLatestAvroPayload";
    c->config.record_key_fields = c->keys;
    c->config.partition_fields = c->partitions;
    c->config.ordering_fields = c->ordering;
}

static inline void test_config_clear(struct test_config *c)
{
    hd_properties_clear(&c->config.properties);
    hd_options_clear(&c->options);
}

/* Columns by position: struct ArrowSchema fields[], a root over them. */
struct test_schema {
    struct ArrowSchema root;
    struct ArrowSchema *children[16];
};

static inline void test_schema_init(struct test_schema *s, struct ArrowSchema *fields, int64_t n)
{
    *s = (struct test_schema){.root = {.format = "+s", .name = "", .n_children = n}};
    for (int64_t i = 0; i < n; i++)
        s->children[i] = &fields[i];
    s->root.children = s->children;
}

#endif
