/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Modulo a power of two, words that wrap: both parts of a product from its values at 1 and -1, halved, which
 * costs one of sixteen bits.
 *
 * flags: -O2
 * contract: z17_four.toml
 * with: ring = "Z32768[x]/(x^4 - 1)"
 * with: argument.a.range = [-16384, 16383]
 * with: argument.b.range = [-16384, 16383]
 * with: argument.c.range = [-16384, 16383]
 * expect:
 *   proved
 */
#include <stdint.h>

#define N 4
void mul(int16_t c[N], const int16_t a[N], const int16_t b[N]) {
    uint16_t at[2][2] = {{0}};
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) {
            /* x^2 = 1 and x^2 = -1 */
            unsigned p = (unsigned)(a[i] + a[i + 2]) * (unsigned)(b[j] + b[j + 2]);
            unsigned q = (unsigned)(a[i] - a[i + 2]) * (unsigned)(b[j] - b[j + 2]);
            at[0][(i + j) % 2] += p;
            at[1][(i + j) % 2] += i + j < 2 ? q : -q;
        }
    for (int i = 0; i < 2; i++) {
        uint16_t low = (uint16_t)(at[0][i] + at[1][i]) >> 1;
        uint16_t high = (uint16_t)(at[0][i] - at[1][i]) >> 1;
        c[i] = (int16_t)(low << 1) >> 1;
        c[i + 2] = (int16_t)(high << 1) >> 1;
    }
}
