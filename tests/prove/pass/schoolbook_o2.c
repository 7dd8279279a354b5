/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Plain C, remainder by `%` with a constant, which compilers turn into a multiplication and
 * shifts (-O2).
 *
 * flags: -O2
 * contract: z17_four.toml
 * expect:
 *   proved
 */
#include <stdint.h>

#define N 4
void mul(int16_t c[N], const int16_t a[N], const int16_t b[N]) {
    int32_t t[2 * N] = {0};
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) t[i + j] += a[i] * b[j];
    for (int i = 2 * N - 1; i >= N; i--) { /* x^N = x + 1 */
        t[i - N] += t[i];
        t[i - N + 1] += t[i];
    }
    for (int i = 0; i < N; i++) {
        int32_t r = t[i] % 17;
        r -= 17 & -(r > 8);
        r += 17 & -(r < -8);
        c[i] = (int16_t)r;
    }
}
