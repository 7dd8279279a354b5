/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A product in Z3329[x]/(x^4 + 1), for `ringforge prove`.
 *
 * -DLAZY leaves out the last corrections, as a hurried author might: the output is right modulo
 * 3329, but not canonical.
 */
#include <stdint.h>

/* (t - q·(t/q mod 2^16)) / 2^16 */
static int16_t montgomery(int32_t t)
{
    const int16_t k = (int16_t)((uint32_t)t * 62209u); /* 1/3329 mod 2^16 */
    return (int16_t)((t - k * 3329) >> 16);
}

void tiny_mul(int16_t c[4], const int16_t a[4], const int16_t b[4])
{
    int32_t t[7] = {0};
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) t[i + j] += a[i] * b[j];
    for (int i = 0; i < 4; i++) {
        int16_t r = montgomery(montgomery(i < 3 ? t[i] - t[i + 4] : t[i]) * 1353); /* 2^32 mod 3329 */
#ifndef LAZY
        r = (int16_t)(r - (3329 & ((1664 - r) >> 15)));
        r = (int16_t)(r + (3329 & ((r + 1664) >> 15)));
#endif
        c[i] = r;
    }
}
