/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The same modulo an even number, with sums whose coefficients are all even.
 *
 * flags: -O1
 * contract: z17_four.toml
 * with: ring = "Z52810[x]/(x^4 - 20x^1 - 36)"
 * with: argument.a.range = [-26405, 26404]
 * with: argument.b.range = [-26405, 26404]
 * with: argument.c.range = [-26405, 26404]
 * expect:
 *   proved
 */
#include <stdint.h>

#define N 4
void mul(int16_t c[N], const int16_t a[N], const int16_t b[N]) {
    int32_t t[2 * N] = {0};
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            int32_t s = a[i] * b[j];
            s = s - 52810 * (((s >> 11) * 5083 + 65536) >> 17);
            t[i + j] += s;
        }
    for (int i = 2 * N - 1; i >= N; i--) {
        t[i - N] += 36 * t[i];
        t[i - N + 1] += 20 * t[i];
    }
    for (int i = 0; i < N; i++) {
        int32_t r = t[i] - 52810 * (((t[i] >> 6) * 5083 + 2097152) >> 22);
        r -= 52810 & -(r > 26404);
        r += 52810 & -(r < -26405);
        c[i] = (int16_t)r;
    }
}
