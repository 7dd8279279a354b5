/* SPDX-License-Identifier: Apache-2.0 OR MIT OR ISC OR CC0-1.0 */
/*
 * Sorting in constant time: Batcher's merge exchange [Knuth3 §5.2.2, Algorithm M], whose comparisons
 * depend on n alone.
 *
 * For each power of two p, from large to small, first i and i + p are compared, for all i without the
 * bit p; then each i with that bit is compared with i + q - p, for q from the largest power of two
 * down to 2p. The latter may as well be done in ascending order of i, with all q for one i after the
 * other: where two of them share an element, i + q - p = j + r - p with i < j, q comes before r.
 */
#include "sort.h"

#if RF_NEED_SORT

static inline void rf_sort_two(uint32_t *x, uint32_t *y)
{
    uint32_t a = *x, b = *y;
    uint32_t less = (uint32_t)(((uint64_t)b - a) >> 32); /* all ones if b < a */
    uint32_t d = (a ^ b) & less;
    *x = a ^ d;
    *y = b ^ d;
}

static void rf_sort_c(uint32_t *x, int n)
{
    int top = 1, p, q, i, j;
    while (2 * top < n)
        top *= 2;
    for (p = top; p > 0; p /= 2) {
        for (i = 0; i + p < n; i += 2 * p)
            for (j = i; j < i + p && j + p < n; j++)
                rf_sort_two(x + j, x + j + p);
        for (i = p; i < n; i += 2 * p)
            for (j = i; j < i + p && j < n; j++) {
                uint32_t a = x[j];
                for (q = top; q > p; q /= 2)
                    if (j + q - p < n)
                        rf_sort_two(&a, x + j + q - p);
                x[j] = a;
            }
    }
}

#if RF_HAVE_AVX2_CODE
#include "sort_avx2.h"
#endif
#if RF_HAVE_NEON_CODE
#include "sort_neon.h"
#endif

void RF_NS(sort_u32)(uint32_t *x, int n)
{
#if RF_HAVE_VECTOR_CODE
    if (rf_vectors() && n > 0 && n <= RF_SORT_MOST) {
        RF_V(rf_sort)(x, n);
        return;
    }
#endif
    rf_sort_c(x, n);
}

#if RF_HAVE_VECTOR_CODE
#undef RF_SORT_MOST
#endif

#else
typedef int rf_no_sort; /* C has no empty sources */
#endif /* RF_NEED_SORT */
