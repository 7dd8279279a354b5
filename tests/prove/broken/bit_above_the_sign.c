/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * As `pass/sign_of_a_word_of_sums.c`, but with what is above the word for the sign.
 *
 * flags: -O1
 * contract: z17_four.toml
 * with: ring = "Z4591[x]/(x^4 + 1)"
 * with: argument.a.range = [-2295, 2295]
 * with: argument.b.range = [-2295, 2295]
 * with: argument.c.range = [-2295, 2295]
 * expect:
 *   refuted
 *   function (disjoint)
 */
#include <stdint.h>

#define N 4
#define Q 4591

/* x·2^-16, |x| < 2^15·Q */
static int16_t montgomery(int32_t x) {
    int16_t low = (int16_t)((uint16_t)x * 15631u);
    return (int16_t)((x >> 16) - (low * Q >> 16));
}

/* Copies of bit 15, as gcc finds them in larger functions. */
static int32_t sign(uint32_t x) {
    int32_t word = (int32_t)x;
    __asm__("sarl $16, %0" : "+a"(word));
    return word;
}

void mul(int16_t c[N], const int16_t a[N], const int16_t b[N]) {
    for (int k = 0; k < N; k++) {
        int32_t s[2] = {0, 0};
        for (int i = 0; i < N; i++) {
            int32_t p = (int32_t)a[i] * b[(N + k - i) % N];
            s[i % 2] += i <= k ? p : -p;
        }
        /* 2^32 = -433 modulo Q */
        int16_t x = montgomery(montgomery(s[0]) * -433);
        int16_t y = montgomery(montgomery(s[1]) * -433);
        uint32_t z = (uint32_t)(uint16_t)x + (uint16_t)y;
        z += (uint32_t)(sign(z + 2295) & Q);
        z -= (uint32_t)(sign(2295 - z) & Q);
        c[k] = (int16_t)z;
    }
}
