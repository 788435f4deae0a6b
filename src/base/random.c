/* SPDX-License-Identifier: Apache-2.0 */

#include <stdio.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "base/internal.h"
#include "base/op.h"

static uint64_t rotate_left(uint64_t x, unsigned n)
{
    return x << n | x >> (64 - n);
}

/* One step of splitmix64: a bijection that spreads small differences over all bits. */
static uint64_t splitmix(uint64_t x)
{
    x += 0x9E3779B97F4A7C15;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9;
    x = (x ^ x >> 27) * 0x94D049BB133111EB;
    return x ^ x >> 31;
}

void hd_random_seed(struct hd_op *op, const uint64_t base[2], uint64_t index)
{
    op->random_state[0] = splitmix(base[0] ^ splitmix(index));
    op->random_state[1] = splitmix(base[1] + splitmix(~index));
    if (op->random_state[0] == 0 && op->random_state[1] == 0)
        op->random_state[0] = 1; /* all zero is the one state that never changes */
}

void hd_random_seed_system(struct hd_op *op)
{
    uint64_t seed[2];

    if (getrandom(seed, sizeof seed, 0) != (ssize_t)sizeof seed) {
        struct timespec now;

        clock_gettime(CLOCK_REALTIME, &now);
        seed[0] = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
        seed[1] = (uint64_t)getpid() << 32 ^ (uint64_t)(uintptr_t)op;
    }
    hd_random_seed(op, seed, 0);
}

/* xoroshiro128+ with the constants 24, 16, 37. */
uint64_t hd_random_u64(struct hd_op *op)
{
    const uint64_t a = op->random_state[0];
    const uint64_t b = op->random_state[1] ^ a;
    const uint64_t result = a + op->random_state[1];

    op->random_state[0] = rotate_left(a, 24) ^ b ^ b << 16;
    op->random_state[1] = rotate_left(b, 37);
    return result;
}

void hd_random_uuid(struct hd_op *op, char out[HD_UUID_BYTES])
{
    const uint64_t high = hd_random_u64(op);
    const uint64_t low = hd_random_u64(op);

    snprintf(out, HD_UUID_BYTES, "%08x-%04x-%04x-%04x-%08x%04x", (unsigned)(high >> 32),
             (unsigned)(high >> 16 & 0xFFFF), (unsigned)(high & 0x0FFF) | 0x4000,
             (unsigned)(low >> 48 & 0x3FFF) | 0x8000, (unsigned)(low >> 16 & 0xFFFFFFFF),
             (unsigned)(low & 0xFFFF));
}
