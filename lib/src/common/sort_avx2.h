/* SPDX-License-Identifier: Apache-2.0 OR MIT OR ISC OR CC0-1.0 */
/*
 * sort_avx2.h: sort.c with AVX2, by bitonic merges [Knuth3 §5.3.4]. Part of sort.c.
 *
 * Words lie in blocks of 256, 32 registers; word 32 l + j of a block, in the order to come, is lane l of register j.
 * So registers are compared with registers, and lanes only where runs of 64, 128 and 256 words are merged.
 */
#ifndef RINGFORGE_SORT_AVX2_H
#define RINGFORGE_SORT_AVX2_H

#include <immintrin.h>

#define RF_SORT_BLOCKS 5
#define RF_SORT_MOST (256 * RF_SORT_BLOCKS) /* words */
#define RF_COMPARE(a, b)                                                                           \
    do {                                                                                           \
        __m256i t_ = _mm256_min_epu32(a, b);                                                       \
        (b) = _mm256_max_epu32(a, b);                                                              \
        (a) = t_;                                                                                  \
    } while (0)

RF_AVX2 static inline __m256i rf_even_lanes(__m256i a, __m256i b)
{
    return _mm256_castps_si256(_mm256_shuffle_ps(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b), 0x88));
}

RF_AVX2 static inline __m256i rf_odd_lanes(__m256i a, __m256i b)
{
    return _mm256_castps_si256(_mm256_shuffle_ps(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b), 0xdd));
}

/* In each of two registers compares lanes that are 4, 2 and 1 apart, from distance `far` on. */
RF_AVX2 static inline void rf_compare_lanes(__m256i *x, __m256i *y, int far)
{
    __m256i a = *x, b = *y, t;
    if (far == 4) {
        t = _mm256_permute2x128_si256(a, b, 0x20);
        b = _mm256_permute2x128_si256(a, b, 0x31);
        a = t;
        RF_COMPARE(a, b);
    }
    if (far >= 2) {
        t = _mm256_unpacklo_epi64(a, b);
        b = _mm256_unpackhi_epi64(a, b);
        a = t;
        RF_COMPARE(a, b);
    }
    if (far >= 1) {
        t = rf_even_lanes(a, b);
        b = rf_odd_lanes(a, b);
        a = t;
        RF_COMPARE(a, b);
        t = _mm256_unpacklo_epi32(a, b);
        b = _mm256_unpackhi_epi32(a, b);
        a = t;
    }
    if (far >= 2) {
        t = _mm256_unpacklo_epi64(a, b);
        b = _mm256_unpackhi_epi64(a, b);
        a = t;
    }
    if (far == 4) {
        t = _mm256_permute2x128_si256(a, b, 0x20);
        b = _mm256_permute2x128_si256(a, b, 0x31);
        a = t;
    }
    *x = a;
    *y = b;
}

/* Sorts runs of 64 far words that are bitonic, or columns of 32 where far is 0, of one block. */
RF_AVX2 static inline void rf_sort_bitonic(__m256i v[32], int far)
{
    int j;
    for (j = 0; j < 8; j++) {
        __m256i a = v[j], b = v[j + 8], c = v[j + 16], d = v[j + 24];
        rf_compare_lanes(&a, &c, far);
        rf_compare_lanes(&b, &d, far);
        RF_COMPARE(a, c);
        RF_COMPARE(b, d);
        RF_COMPARE(a, b);
        RF_COMPARE(c, d);
        v[j] = a;
        v[j + 8] = b;
        v[j + 16] = c;
        v[j + 24] = d;
    }
    for (j = 0; j < 32; j += 8) {
        __m256i a = v[j], b = v[j + 1], c = v[j + 2], d = v[j + 3];
        __m256i e = v[j + 4], f = v[j + 5], g = v[j + 6], h = v[j + 7];
        RF_COMPARE(a, e);
        RF_COMPARE(b, f);
        RF_COMPARE(c, g);
        RF_COMPARE(d, h);
        RF_COMPARE(a, c);
        RF_COMPARE(b, d);
        RF_COMPARE(e, g);
        RF_COMPARE(f, h);
        RF_COMPARE(a, b);
        RF_COMPARE(c, d);
        RF_COMPARE(e, f);
        RF_COMPARE(g, h);
        v[j] = a;
        v[j + 1] = b;
        v[j + 2] = c;
        v[j + 3] = d;
        v[j + 4] = e;
        v[j + 5] = f;
        v[j + 6] = g;
        v[j + 7] = h;
    }
}

/* Sorts the columns of eight registers, by the network of 19 comparisons [Knuth3 §5.3.4]. */
RF_AVX2 static inline void rf_sort_eight(__m256i v[8])
{
    __m256i a = v[0], b = v[1], c = v[2], d = v[3], e = v[4], f = v[5], g = v[6], h = v[7];
    RF_COMPARE(a, c);
    RF_COMPARE(b, d);
    RF_COMPARE(e, g);
    RF_COMPARE(f, h);
    RF_COMPARE(a, e);
    RF_COMPARE(b, f);
    RF_COMPARE(c, g);
    RF_COMPARE(d, h);
    RF_COMPARE(a, b);
    RF_COMPARE(c, d);
    RF_COMPARE(e, f);
    RF_COMPARE(g, h);
    RF_COMPARE(c, e);
    RF_COMPARE(d, f);
    RF_COMPARE(b, e);
    RF_COMPARE(d, g);
    RF_COMPARE(b, c);
    RF_COMPARE(d, e);
    RF_COMPARE(f, g);
    v[0] = a;
    v[1] = b;
    v[2] = c;
    v[3] = d;
    v[4] = e;
    v[5] = f;
    v[6] = g;
    v[7] = h;
}

/* Merges sorted columns of eight registers to one of 16. */
RF_AVX2 static inline void rf_merge_eights(__m256i v[16])
{
    int i, k;
    for (i = 0; i < 4; i++) { /* and what is 4 apart of both halves */
        __m256i a = v[i], b = v[i + 4], c = v[11 - i], d = v[15 - i];
        RF_COMPARE(a, d);
        RF_COMPARE(b, c);
        RF_COMPARE(a, b);
        RF_COMPARE(c, d);
        v[i] = a;
        v[i + 4] = b;
        v[11 - i] = c;
        v[15 - i] = d;
    }
    for (k = 0; k < 16; k += 4) {
        __m256i a = v[k], b = v[k + 1], c = v[k + 2], d = v[k + 3];
        RF_COMPARE(a, c);
        RF_COMPARE(b, d);
        RF_COMPARE(a, b);
        RF_COMPARE(c, d);
        v[k] = a;
        v[k + 1] = b;
        v[k + 2] = c;
        v[k + 3] = d;
    }
}

/* Lanes in reverse order within groups of 2, 4 or 8. */
RF_AVX2 static inline __m256i rf_reverse(__m256i x, int group)
{
    if (group == 2)
        return _mm256_shuffle_epi32(x, 0xb1);
    if (group == 4)
        return _mm256_shuffle_epi32(x, 0x1b);
    return _mm256_permutevar8x32_epi32(x, _mm256_setr_epi32(7, 6, 5, 4, 3, 2, 1, 0));
}

/*
 * Merges runs of 16 g words to one of 32 g, that is lanes of the lower with lanes of the upper half of each
 * group of g: the i-th word from the start is compared with the i-th from the end.
 */
RF_AVX2 static inline void rf_merge_lanes(__m256i v[32], int g)
{
    int j;
    for (j = 0; j < 16; j++) {
        __m256i a = v[j], b = rf_reverse(v[31 - j], g), less = a;
        RF_COMPARE(less, b);
        if (g == 2) {
            v[j] = _mm256_blend_epi32(less, b, 0xaa);
            b = _mm256_blend_epi32(b, less, 0xaa);
        } else if (g == 4) {
            v[j] = _mm256_blend_epi32(less, b, 0xcc);
            b = _mm256_blend_epi32(b, less, 0xcc);
        } else {
            v[j] = _mm256_blend_epi32(less, b, 0xf0);
            b = _mm256_blend_epi32(b, less, 0xf0);
        }
        v[31 - j] = rf_reverse(b, g);
    }
    rf_sort_bitonic(v, g / 4);
}

RF_AVX2 static void rf_sort_block(__m256i v[32])
{
    int j;
    for (j = 0; j < 32; j += 8)
        rf_sort_eight(v + j);
    rf_merge_eights(v);
    rf_merge_eights(v + 16);
    for (j = 0; j < 8; j++) {
        RF_COMPARE(v[j], v[31 - j]);
        RF_COMPARE(v[j + 8], v[23 - j]);
    }
    rf_sort_bitonic(v, 0);
    rf_merge_lanes(v, 2);
    rf_merge_lanes(v, 4);
    rf_merge_lanes(v, 8);
}

RF_AVX2 static void rf_sort_bitonic_block(__m256i v[32])
{
    rf_sort_bitonic(v, 4);
}

/*
 * Merges a sorted blocks with b that follow, where b = a or b = 1; a is a power of two. Where b is less than a, think
 * of the largest word behind the end: what is compared with it stays.
 */
RF_AVX2 static void rf_merge_blocks(__m256i *v, int a, int b)
{
    __m256i *last = v + 32 * (a - b), *w = v + 32 * a;
    int i, k, d;
    for (i = 0; i < 16 * b; i++) {
        const int o = 32 * b - 1 - i;
        __m256i x = last[i], y = rf_reverse(w[o], 8), z = last[o], u = rf_reverse(w[i], 8);
        RF_COMPARE(x, y);
        RF_COMPARE(z, u);
        last[i] = x;
        w[i] = y;
        last[o] = z;
        w[o] = u;
    }
    for (d = a / 2; d > 0; d /= 2)
        for (k = 0; k < a + (b == a ? a : 0); k += 2 * d)
            for (i = 32 * k; i < 32 * (k + d); i++)
                RF_COMPARE(v[i], v[i + 32 * d]);
    for (k = 0; k < a + b; k++)
        rf_sort_bitonic_block(v + 32 * k);
}

/* The words of a block in order. */
RF_AVX2 static void rf_sort_put(uint32_t x[256], const __m256i v[32])
{
    int j, k;
    for (j = 0; j < 32; j += 8) {
        __m256i t[8], u[8];
        for (k = 0; k < 8; k += 2) {
            t[k] = _mm256_unpacklo_epi32(v[j + k], v[j + k + 1]); /* lanes 0, 1 and 4, 5 */
            t[k + 1] = _mm256_unpackhi_epi32(v[j + k], v[j + k + 1]);
        }
        for (k = 0; k < 8; k += 4) {
            u[k] = _mm256_unpacklo_epi64(t[k], t[k + 2]); /* lanes 0 and 4 */
            u[k + 1] = _mm256_unpackhi_epi64(t[k], t[k + 2]);
            u[k + 2] = _mm256_unpacklo_epi64(t[k + 1], t[k + 3]);
            u[k + 3] = _mm256_unpackhi_epi64(t[k + 1], t[k + 3]);
        }
        for (k = 0; k < 4; k++) {
            _mm256_storeu_si256((__m256i *)(void *)(x + 32 * k + j), _mm256_permute2x128_si256(u[k], u[k + 4], 0x20));
            _mm256_storeu_si256((__m256i *)(void *)(x + 32 * (k + 4) + j), _mm256_permute2x128_si256(u[k], u[k + 4], 0x31));
        }
    }
}

/* 0 < n <= RF_SORT_MOST. */
RF_AVX2 static void rf_sort_avx2(uint32_t *x, int n)
{
    __m256i v[32 * RF_SORT_BLOCKS];
    uint32_t end[256];
    const int blocks = (n + 255) / 256, rest = n - 256 * (blocks - 1);
    int i, k;
    memset(end, 0xff, sizeof end);
    memcpy(end, x + 256 * (blocks - 1), (size_t)rest * 4);
    for (k = 0; k < blocks; k++) {
        const uint32_t *from = k < blocks - 1 ? x + 256 * k : end;
        for (i = 0; i < 32; i++)
            v[32 * k + i] = _mm256_loadu_si256((const __m256i *)(const void *)(from + 8 * i));
        rf_sort_block(v + 32 * k);
    }
    if (blocks >= 2)
        rf_merge_blocks(v, 1, 1);
    if (blocks >= 4)
        rf_merge_blocks(v + 64, 1, 1);
    if (blocks >= 3)
        rf_merge_blocks(v, 2, blocks >= 4 ? 2 : 1);
    if (blocks >= 5)
        rf_merge_blocks(v, 4, 1);
    for (k = 0; k < blocks - 1; k++)
        rf_sort_put(x + 256 * k, v + 32 * k);
    rf_sort_put(end, v + 32 * k);
    memcpy(x + 256 * k, end, (size_t)rest * 4);
}

#undef RF_COMPARE
#endif /* RINGFORGE_SORT_AVX2_H */
