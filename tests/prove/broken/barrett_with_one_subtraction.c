/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Barrett's quotient from 64 bits is up to two too small, and one multiple is subtracted.
 *
 * flags: -O2
 * contract: z2113929217_pointwise.toml
 * expect:
 *   refuted
 *   range (disjoint)
 */
#include <stdint.h>

#define Q 2113929217u
void pointwise(uint32_t *c, const uint32_t *a, const uint32_t *b) {
    for (int i = 0; i < 4; i++) {
        uint64_t x = (uint64_t)a[i] * b[i];
        uint32_t hi = (uint32_t)(x >> 30);
        uint32_t quotient = (uint32_t)(((uint64_t)hi * 2181570688u) >> 32); /* floor(2^62 / q) */
        uint64_t r = x - (uint64_t)quotient * Q;
        r -= Q;
        r += Q & -(r >> 63);
        c[i] = (uint32_t)r;
    }
}
