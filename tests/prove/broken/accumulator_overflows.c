/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A 16-bit accumulator: eight products of 2295 by 2295 do not fit.
 *
 * flags: -O1
 * contract: z4591_eight.toml
 * expect:
 *   refuted
 *   range (disjoint)
 */
#include <stdint.h>

#define N 8
void mul(int16_t c[N], const int16_t a[N], const int16_t b[N]) {
    uint16_t t[2 * N] = {0};
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) t[i + j] += (uint16_t)(a[i] * b[j]);
    for (int i = 2 * N - 1; i >= N; i--) { /* x^N = x + 1 */
        t[i - N] += t[i];
        t[i - N + 1] += t[i];
    }
    for (int i = 0; i < N; i++) {
        int32_t r = (int16_t)t[i] % 4591;
        r -= 4591 & -(r > 2295);
        r += 4591 & -(r < -2295);
        c[i] = (int16_t)r;
    }
}
