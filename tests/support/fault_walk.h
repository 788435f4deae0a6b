/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_SUPPORT_FAULT_WALK_H
#define TEST_SUPPORT_FAULT_WALK_H

#include "api/api.h"

/*
 * A walk over the points of an action on a table in memory. A point is an allocation or a file
 * operation: at each the action meets a fault, and the test says what must hold then.
 *
 *   HUDI_TEST_SEED     where the walk begins
 *   HUDI_TEST_SECONDS  walk over all points, for that long at most; else over a sample of them
 */

enum fault_mode {
    FAILS_ONCE,  /* alone */
    FAILS_ON,    /* with all that follow, as on a full disk */
    LOSES_POWER, /* likewise, and then what was not synced is gone */
};

/** A store in memory and a context of one thread on it whose operations can be made to fail. */
struct fault_store {
    const char *name;
    bool files_only; /* allocations are no points */
    struct hd_faults faults;
    hudi_context *context; /* another one after a loss of power */
};

void fault_store_open(struct fault_store *store, const char *name);
/** Frees the context and drops the store with all its files. */
void fault_store_close(struct fault_store *store);

/** Let the `nth` point from now fail, 1 the next one; and let everything work again. */
void fault_store_arm(struct fault_store *store, int64_t nth, enum fault_mode mode);
void fault_store_disarm(struct fault_store *store);

struct fault_walk {
    const char *name; /* of the action, for messages */
    enum fault_mode mode;
    int64_t n_sampled; /* points without HUDI_TEST_SECONDS */
    int64_t seconds;   /* HUDI_TEST_SECONDS or a part of it */
    bool in_order;     /* with `seconds`: each point after the one before it */
    struct fault_store *store;
    void *scene; /* the test's, given to what follows */

    /** Make what the action works on. */
    void (*begin)(void *scene);
    hudi_status (*run)(void *scene, hudi_error **error);
    /** End the test unless all is as it must be after the action has met the fault at point `nth`
     * and ended with `status`; 0: there was no fault. `what` is for messages. */
    void (*expect)(void *scene, int64_t nth, hudi_status status, const char *what);
};

/** Run the action undisturbed, which counts its points, then with the fault at each of them. */
void fault_walk(const struct fault_walk *walk);

/** End the test with `what` and the message of `error` when `status` is no success. */
void fault_must(hudi_status status, hudi_error *error, const char *what);

#endif
