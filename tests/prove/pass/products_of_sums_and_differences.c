/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Sixteen products of 8191 by 8191, twice, fit 32 bits: 64 of them do not, which the sums of sums might be.
 *
 * flags: -O1
 * contract: z4591_sixteen.toml
 * with: argument.a.range = [-8191, 8191]
 * with: argument.b.range = [-8191, 8191]
 * expect:
 *   proved
 */
#include <stdint.h>

#define N 8
#define Q 4591

/* The multiple t of v modulo Q, by a quotient of 32 bits: m is t * 2^31 / Q. */
static int16_t narrowed(uint32_t v, int32_t t, int64_t m) {
    int64_t e = ((int32_t)v * m + (1 << 30)) >> 31;
    return (int16_t)((uint32_t)t * v - (uint32_t)(e * Q));
}

void mul(int16_t c[2 * N], const int16_t a[2 * N], const int16_t b[2 * N]) {
    int16_t h[2][N], g[2][N];
    for (int i = 0; i < N; i++) {
        h[0][i] = (int16_t)(a[i] + a[i + N]);
        h[1][i] = (int16_t)(a[i] - a[i + N]);
        g[0][i] = (int16_t)(b[i] + b[i + N]);
        g[1][i] = (int16_t)(b[i] - b[i + N]);
    }
    for (int k = 0; k < N; k++) {
        uint32_t plus = 0, minus = 0; /* modulo x^N - 1 and x^N + 1 */
        for (int i = 0; i < N; i++) {
            int j = (k - i) & (N - 1);
            plus += (uint32_t)(h[0][i] * g[0][j]);
            minus += (uint32_t)(i + j == k ? h[1][i] * g[1][j] : -h[1][i] * g[1][j]);
        }
        c[k] = narrowed(plus + minus, 2296, 1073975704); /* 1/2 */
        c[k + N] = narrowed(plus - minus, 2296, 1073975704);
    }
}
