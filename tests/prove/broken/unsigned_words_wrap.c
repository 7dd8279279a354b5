/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The same without the multiple of q before a subtraction: a difference wraps, and as a word without sign it is
 * another residue.
 *
 * flags: -O1
 * contract: z17_four.toml
 * with: ring = "Z12289[x]/(x^4 + 1)"
 * with: argument.a.range = [0, 12288]
 * with: argument.b.range = [0, 12288]
 * with: argument.c.range = [0, 12288]
 * expect:
 *   refuted
 *   function (disjoint)
 */
#include <stdint.h>

#define N 4
#define Q 12289

static const uint16_t psi[4][2] = {{4091, 65531}, {4401, 57649}, {11208, 43976}, {11060, 27444}};
static const uint16_t omega[2][2] = {{4091, 65531}, {7888, 7888}};
static const uint16_t scale[4][2] = {{4095, 16383}, {9524, 25908}, {1972, 18356}, {9487, 21775}};

static uint16_t high(uint16_t a, uint16_t b) { return (uint16_t)(((uint32_t)a * b) >> 16); }
static uint16_t low(uint16_t a, uint16_t b) { return (uint16_t)((uint32_t)a * b); }
static uint16_t canonical(uint16_t a, uint16_t b, uint16_t t) {
    uint16_t d = (uint16_t)(high(a, b) - high(t, Q)), up = (uint16_t)(d + Q);
    return d < up ? d : up;
}
static uint16_t times(uint16_t a, const uint16_t w[2]) { return canonical(a, w[0], low(a, w[1])); }
static void butterfly(uint16_t *a, uint16_t *b, const uint16_t w[2]) {
    uint16_t u = *a, t = times(*b, w);
    *a = (uint16_t)(u + t);
    *b = (uint16_t)(u - t);
}
static void forward(uint16_t x[N], const int16_t a[N]) {
    for (int i = 0; i < N; i++)
        x[i] = (uint16_t)a[i];
    butterfly(&x[0], &x[2], psi[1]);
    butterfly(&x[1], &x[3], psi[1]);
    butterfly(&x[0], &x[1], psi[2]);
    butterfly(&x[2], &x[3], psi[3]);
}
void mul(int16_t c[N], const int16_t a[N], const int16_t b[N]) {
    static const uint16_t r[2] = {10952, 43720};
    uint16_t x[N], y[N];
    forward(x, a);
    forward(y, b);
    for (int i = 0; i < N; i++) {
        uint16_t z = times(y[i], r);
        x[i] = canonical(x[i], z, low(low(x[i], z), 53249));
    }
    butterfly(&x[0], &x[1], omega[0]);
    butterfly(&x[2], &x[3], omega[0]);
    butterfly(&x[0], &x[2], omega[0]);
    butterfly(&x[1], &x[3], omega[1]);
    for (int i = 0; i < N; i++)
        c[i] = (int16_t)times(x[i], scale[i]);
}
