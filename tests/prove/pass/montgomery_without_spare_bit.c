/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A sum of two words without a spare bit has 33 bits, and its upper half 17.
 *
 * flags: -O2
 * contract: z65393_pointwise.toml
 * expect:
 *   proved
 */
#include <stdint.h>

#define Q 65393u
void pointwise(uint16_t *c, const uint16_t *a, const uint16_t *b) {
    for (int i = 0; i < 8; i++) {
        uint32_t x = (uint32_t)a[i] * b[i];
        uint16_t m = (uint16_t)(x * 7791u);
        uint64_t s = ((uint64_t)x + (uint32_t)m * Q) >> 16;
        uint64_t d = s - Q;
        d += Q & -(d >> 63);
        c[i] = (uint16_t)d;
    }
}
