/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A sum of two words without a spare bit has 33 bits, and is taken modulo 2^32.
 *
 * flags: -O2
 * contract: z65393_pointwise.toml
 * expect:
 *   refuted
 *   range (disjoint)
 */
#include <stdint.h>

#define Q 65393u
void pointwise(uint16_t *c, const uint16_t *a, const uint16_t *b) {
    for (int i = 0; i < 8; i++) {
        uint32_t x = (uint32_t)a[i] * b[i];
        uint16_t m = (uint16_t)(x * 7791u);
        uint32_t s = ((uint32_t)x + (uint32_t)m * Q) >> 16;
        uint32_t d = s - Q;
        d += Q & -(d >> 31);
        c[i] = (uint16_t)d;
    }
}
