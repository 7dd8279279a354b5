/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Products reduced one by one by low products and shifts alone, and their sum again, q being 1
 * modulo 16: the
 * constant of the last quotient is too small, and what is left too large to be frozen.
 *
 * flags: -O1
 * contract: z17_four.toml
 * with: ring = "Z65521[x]/(x^4 + 50)"
 * with: argument.a.range = [-32760, 32760]
 * with: argument.b.range = [-32760, 32760]
 * with: argument.c.range = [-32760, 32760]
 * expect:
 *   refuted
 *   unmodelled (disjoint)
 */
#include <stdint.h>

#define N 4
void mul(int16_t c[N], const int16_t a[N], const int16_t b[N]) {
    int32_t t[2 * N] = {0};
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            int32_t s = a[i] * b[j];
            s = s - 65521 * (((s >> 11) * 4097 + 65536) >> 17);
            t[i + j] += s;
        }
    for (int i = 2 * N - 1; i >= N; i--) {
        t[i - N] += -50 * t[i];
    }
    for (int i = 0; i < N; i++) {
        int32_t r = t[i] - 65521 * (((t[i] >> 6) * 3278 + 2097152) >> 22);
        r -= 65521 & -(r > 32760);
        r += 65521 & -(r < -32760);
        c[i] = (int16_t)r;
    }
}
