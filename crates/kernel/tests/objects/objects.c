/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The objects of this folder: README.md says how they are made. */
#include <stdint.h>

#ifdef TWOS
/* Z_2048[x]/(x^3 + 1): values at 1 and -1 in words modulo 2^16, whose sums are halved. */
void mul(int16_t *restrict c, const int16_t *restrict a, const int16_t *restrict b) {
    uint16_t p0 = a[0], p1 = a[1], p2 = a[2], q0 = b[0], q1 = b[1], q2 = b[2];
    uint16_t even = (uint16_t)(p0 + p2), odd = p1, other = (uint16_t)(q0 + q2);
    uint16_t one = (uint16_t)((unsigned)(uint16_t)(even + odd) * (uint16_t)(other + q1));
    uint16_t minus = (uint16_t)((unsigned)(uint16_t)(even - odd) * (uint16_t)(other - q1));
    uint16_t zero = (uint16_t)((unsigned)p0 * q0), top = (uint16_t)((unsigned)p2 * q2);
    uint16_t w2 = (uint16_t)((uint16_t)(one + minus) >> 1);
    uint16_t w1 = (uint16_t)((uint16_t)(one - minus) >> 1);
    uint16_t m1 = (uint16_t)((unsigned)p0 * q1 + (unsigned)p1 * q0);
    uint16_t r0 = (uint16_t)(zero - (uint16_t)(w1 - m1));
    uint16_t r1 = (uint16_t)(m1 - top);
    uint16_t r2 = (uint16_t)(w2 - zero - top);
    c[0] = (int16_t)((int16_t)(r0 << 5) >> 5);
    c[1] = (int16_t)((int16_t)(r1 << 5) >> 5);
    c[2] = (int16_t)((int16_t)(r2 << 5) >> 5);
}
#else
#define Q 3329
static inline int16_t reduce(int32_t a) {
    int16_t t = (int16_t)((uint32_t)a * 62209u);
    return (int16_t)((a - (int32_t)t * Q) >> 16);
}
#endif

#ifdef PRODUCT
/* Z_3329[x]/(x^2 + 1) by Montgomery's reduction. */
void mul(int16_t c[2], const int16_t a[2], const int16_t b[2]) {
    int16_t m0 = reduce((int32_t)a[0] * 1353), m1 = reduce((int32_t)a[1] * 1353);
    c[0] = reduce((int32_t)m0 * b[0] - (int32_t)m1 * b[1]);
    c[1] = reduce((int32_t)m0 * b[1] + (int32_t)m1 * b[0]);
}
#endif

#ifdef TABLE
/* The transform of x^4 + 1 with leaves x^2 - 1729 and x^2 + 1729, by a table that the caller hands over. */
void forward(int16_t c[4], const int16_t a[4], const int16_t *table) {
    for (int i = 0; i < 2; i++) {
        int16_t t = reduce((int32_t)a[i + 2] * table[0]);
        c[i] = (int16_t)(a[i] + t);
        c[i + 2] = (int16_t)(a[i] - t);
    }
}
#endif

#ifdef CALLS
/* The product of PRODUCT, computed in one way where c is a, and in another where it is not. */
void mul(int16_t c[2], const int16_t a[2], const int16_t b[2]) {
    const int16_t *x = c == a ? b : a, *y = c == a ? a : b;
    int16_t m0 = reduce((int32_t)x[0] * 1353), m1 = reduce((int32_t)x[1] * 1353);
    int16_t y0 = y[0], y1 = y[1];
    c[0] = reduce((int32_t)m0 * y0 - (int32_t)m1 * y1);
    c[1] = reduce((int32_t)m0 * y1 + (int32_t)m1 * y0);
}
#endif
