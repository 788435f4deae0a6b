/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_SUPPORT_SERVICE_SCENE_H
#define TEST_SUPPORT_SERVICE_SCENE_H

#include "support/model_table.h"

/*
 * Table services, each with a table that it has something to do on, for tests that stop or kill
 * them: whoever runs one again must come to where an undisturbed run ends.
 */
struct service_scene {
    const char *uri;          /* of the table, which need not exist */
    hudi_context *context;    /* the test's */
    struct model_rows before; /* what the table holds when the service begins */
    struct model_rows after;  /* and when it is done, unless the service writes */
    int64_t next_value;
    char target[24]; /* the instant that savepoint, restore and rollback are for */
};

struct test_service {
    const char *name;
    bool logged;   /* on a merge-on-read table */
    bool writes;   /* new rows with each run: `after` says nothing */
    bool by_steps; /* while it is at work the table may read as at steps between before and after */
    void (*prepare)(struct service_scene *scene); /* behind the table's first writes; may be NULL */
    hudi_status (*run)(struct service_scene *scene, hudi_error **error);
    void (*expect)(struct service_scene *scene, const char *what); /* what is to be seen of it */
};

extern const struct test_service test_services[];
extern const size_t n_test_services;

/** Make the table anew, and what the service is to work on. Ends the test on failure. */
void service_scene_begin(struct service_scene *scene, const struct test_service *service);
void service_scene_clear(struct service_scene *scene);

/** End the test unless the table reads as before or after, or with `done` as after. */
void service_scene_expect_rows(struct service_scene *scene, const struct test_service *service,
                               bool done, const char *what);

#endif
