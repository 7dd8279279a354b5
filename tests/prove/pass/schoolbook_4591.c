/*
 * Eight coefficients mod 4591, a Barrett reduction in 64 bits, freezing by masks.
 *
 * flags: -O2
 * contract: z4591_eight.toml
 * expect:
 */
#include <stdint.h>

#define N 8
void mul(int16_t c[N], const int16_t a[N], const int16_t b[N]) {
    int32_t t[2 * N] = {0};
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) t[i + j] += a[i] * b[j];
    for (int i = 2 * N - 1; i >= N; i--) { /* x^N = x + 1 */
        t[i - N] += t[i];
        t[i - N + 1] += t[i];
    }
    for (int i = 0; i < N; i++) {
        int32_t r = t[i] - 4591 * (int32_t)(((int64_t)t[i] * 935518 + ((int64_t)1 << 31)) >> 32);
        r -= 4591 & -(r > 2295);
        r += 4591 & -(r < -2295);
        c[i] = (int16_t)r;
    }
}
