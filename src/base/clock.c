/* SPDX-License-Identifier: Apache-2.0 */

#include <errno.h>
#include <time.h>

#include "base/internal.h"
#include "base/op.h"

static uint64_t system_now_ms(void *self)
{
    struct timespec now;

    (void)self;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Sleeps the whole time, signals or not. */
static void system_sleep_ms(void *self, uint64_t ms)
{
    struct timespec left = {.tv_sec = (time_t)(ms / 1000), .tv_nsec = (long)(ms % 1000) * 1000000};

    (void)self;
    while (nanosleep(&left, &left) != 0 && errno == EINTR)
        continue;
}

struct hd_clock hd_clock_system(void)
{
    return (struct hd_clock){.now_ms = system_now_ms, .sleep_ms = system_sleep_ms};
}
