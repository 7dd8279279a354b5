/* SPDX-License-Identifier: Apache-2.0 OR MIT OR ISC OR CC0-1.0 */
/*
 * sort_neon.h: sort.c with Neon, the same merge exchange four words at a time. Part of sort.c.
 *
 * While p is at least 4, words that are compared lie in whole registers. Then the list is taken apart into four, by
 * its index modulo 4, so that they do so for p = 2 and 1 as well. Largest words fill the list up; they stay at its end.
 */
#ifndef RINGFORGE_SORT_NEON_H
#define RINGFORGE_SORT_NEON_H

#include <arm_neon.h>

#define RF_SORT_MOST 1280 /* words, a multiple of 64 */
#define RF_SORT_PART (RF_SORT_MOST / 4)

/* Functions take w registers at a time, w = 1, 2 or 4, so that few instructions go to counting. */

/* Registers from x on with those from y on. */
static inline void rf_sort_two_neon(uint32_t *x, uint32_t *y, const int w)
{
    int k;
    for (k = 0; k < 4 * w; k += 4) {
        const uint32x4_t a = vld1q_u32(x + k), b = vld1q_u32(y + k);
        vst1q_u32(x + k, vminq_u32(a, b));
        vst1q_u32(y + k, vmaxq_u32(a, b));
    }
}

/* a, and what is at y: lesser words stay in a. */
static inline void rf_sort_pass(uint32x4_t a[4], uint32_t *y, const int w)
{
    int k;
    for (k = 0; k < w; k++) {
        const uint32x4_t b = vld1q_u32(y + 4 * k);
        vst1q_u32(y + 4 * k, vmaxq_u32(a[k], b));
        a[k] = vminq_u32(a[k], b);
    }
}

static inline void rf_sort_get(uint32x4_t a[4], const uint32_t *x, const int w)
{
    int k;
    for (k = 0; k < w; k++)
        a[k] = vld1q_u32(x + 4 * k);
}

static inline void rf_sort_put(uint32_t *x, const uint32x4_t a[4], const int w)
{
    int k;
    for (k = 0; k < w; k++)
        vst1q_u32(x + 4 * k, a[k]);
}

/* All of one p, a multiple of 4 w; so is `size`. */
static inline void rf_sort_far(uint32_t *x, int size, int top, int p, const int w)
{
    int i, j, q;
    for (i = 0; i + p < size; i += 2 * p)
        for (j = i; j < i + p && j + p < size; j += 4 * w)
            rf_sort_two_neon(x + j, x + j + p, w);
    for (i = p; i < size; i += 2 * p)
        for (j = i; j < i + p && j < size; j += 4 * w) {
            uint32x4_t a[4];
            rf_sort_get(a, x + j, w);
            for (q = top; q > p; q /= 2)
                if (j + q - p < size)
                    rf_sort_pass(a, x + j + q - p, w);
            rf_sort_put(x + j, a, w);
        }
}

/* a with y[q / 4], for q from `top` down to 4, as far as that is before `length`. */
static inline void rf_sort_passes(uint32x4_t a[4], uint32_t *y, int top, int length)
{
    int q;
    for (q = top / 4; q > 0; q /= 2)
        if (q < length)
            rf_sort_pass(a, y + q, 4);
}

static inline void rf_sort_part(uint32_t *x, uint32_t *y, int top, int length)
{
    uint32x4_t a[4];
    rf_sort_get(a, x, 4);
    rf_sort_passes(a, y, top, length);
    rf_sort_put(x, a, 4);
}

/* p = 2 and p = 1, on the four parts of the list; behind each there are 16 largest words. */
static void rf_sort_near(uint32_t x[4][RF_SORT_PART + 16], int top, int length)
{
    int k;
    for (k = 0; k < length; k += 16) {
        rf_sort_two_neon(x[0] + k, x[2] + k, 4);
        rf_sort_two_neon(x[1] + k, x[3] + k, 4);
    }
    for (k = 0; k < length; k += 16) {
        rf_sort_part(x[2] + k, x[0] + k, top, length - k);
        rf_sort_part(x[3] + k, x[1] + k, top, length - k);
    }
    for (k = 0; k < length; k += 16) {
        rf_sort_two_neon(x[0] + k, x[1] + k, 4);
        rf_sort_two_neon(x[2] + k, x[3] + k, 4);
    }
    for (k = 0; k < length; k += 16) {
        rf_sort_part(x[1] + k, x[0] + k, top, length - k);
        rf_sort_part(x[3] + k, x[2] + k, top, length - k);
        /* q = 2 after all others of these words */
        rf_sort_two_neon(x[1] + k, x[2] + k, 4);
        rf_sort_two_neon(x[3] + k, x[0] + k + 1, 4);
    }
}

/* 0 < n <= RF_SORT_MOST. */
static void rf_sort_neon(uint32_t *x, int n)
{
    uint32_t all[RF_SORT_MOST], parts[4][RF_SORT_PART + 16];
    const int size = (n + 63) / 64 * 64;
    int top = 1, p, i;
    memset(all + size - 64, 0xff, 64 * sizeof *all);
    memcpy(all, x, (size_t)n * sizeof *x);
    while (2 * top < size)
        top *= 2;
    for (p = top; p >= 16; p /= 2)
        rf_sort_far(all, size, top, p, 4);
    rf_sort_far(all, size, top, 8, 2);
    rf_sort_far(all, size, top, 4, 1);
    for (i = 0; i < 4; i++)
        memset(parts[i] + size / 4, 0xff, 16 * sizeof **parts);
    for (i = 0; i < size; i += 16) {
        const uint32x4x4_t v = vld4q_u32(all + i);
        vst1q_u32(parts[0] + i / 4, v.val[0]);
        vst1q_u32(parts[1] + i / 4, v.val[1]);
        vst1q_u32(parts[2] + i / 4, v.val[2]);
        vst1q_u32(parts[3] + i / 4, v.val[3]);
    }
    rf_sort_near(parts, top, size / 4);
    for (i = 0; i < size; i += 16) {
        uint32x4x4_t v;
        v.val[0] = vld1q_u32(parts[0] + i / 4);
        v.val[1] = vld1q_u32(parts[1] + i / 4);
        v.val[2] = vld1q_u32(parts[2] + i / 4);
        v.val[3] = vld1q_u32(parts[3] + i / 4);
        vst4q_u32(all + i, v);
    }
    memcpy(x, all, (size_t)n * sizeof *x);
}

#undef RF_SORT_PART
#endif /* RINGFORGE_SORT_NEON_H */
