/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Sums some of whose terms have even coefficients: the shift is that of the wrong one.
 *
 * flags: -O2
 * contract: z17_four.toml
 * with: ring = "Z41[x]/(x^4 - 1x^1 - 2)"
 * with: argument.a.range = [-20, 20]
 * with: argument.b.range = [-20, 20]
 * with: argument.c.range = [-20, 20]
 * expect:
 *   refuted
 *   range (disjoint)
 */
#include <stdint.h>

#define N 4
void mul(int16_t c[N], const int16_t a[N], const int16_t b[N]) {
    int32_t t[2 * N] = {0};
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            int32_t s = a[i] * b[j];
            t[i + j] += s;
        }
    for (int i = 2 * N - 1; i >= N; i--) {
        t[i - N] += 2 * t[i];
        t[i - N + 1] += 1 * t[i];
    }
    for (int i = 0; i < N; i++) {
        int32_t r = t[i] - 41 * (((t[i] >> 2) * 6394 + 65536) >> 17);
        r -= 41 & -(r > 20);
        r += 41 & -(r < -20);
        c[i] = (int16_t)r;
    }
}
