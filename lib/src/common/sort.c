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
        for (q = top; q > p; q /= 2)
            for (i = p; i + q - p < n; i += 2 * p)
                for (j = i; j < i + p && j + q - p < n; j++)
                    rf_sort_two(x + j, x + j + q - p);
    }
}

#if RF_HAVE_AVX2_CODE
#include <immintrin.h>

#define RF_SORT_MAX 160 /* registers of 8 */
#define RF_SORT_TWO(a, y)                                                                          \
    do {                                                                                           \
        __m256i b_ = _mm256_loadu_si256((const __m256i *)(y));                                     \
        _mm256_storeu_si256((__m256i *)(y), _mm256_max_epu32(a, b_));                              \
        (a) = _mm256_min_epu32(a, b_);                                                             \
    } while (0)

/*
 * The elements without and with the bit p = 1, 2 or 4 lie apart, each in order, n of them each: element
 * j of `odd` is compared with element j of `even`, then with j + q/2 of `even`. A distance of less than
 * a register gets a pass of its own, or else what was just stored would be loaded in other pieces.
 */
RF_AVX2 static void rf_sort_apart(uint32_t *even, uint32_t *odd, int n, int smallest)
{
    int top = 8, s, j;
    while (2 * top < n)
        top *= 2;
    for (j = 0; j < n; j += 8) {
        __m256i a = _mm256_loadu_si256((const __m256i *)(even + j));
        RF_SORT_TWO(a, odd + j);
        _mm256_storeu_si256((__m256i *)(even + j), a);
    }
    for (j = 0; j < n; j += 8) {
        __m256i a = _mm256_loadu_si256((const __m256i *)(odd + j));
        for (s = top; s >= 8; s /= 2)
            if (j + s < n)
                RF_SORT_TWO(a, even + j + s);
        _mm256_storeu_si256((__m256i *)(odd + j), a);
    }
    /* Behind the end of `even` stand eight elements that are the largest there are. */
    for (s = 4; s >= smallest; s /= 2)
        for (j = 0; j < n; j += 8) {
            __m256i a = _mm256_loadu_si256((const __m256i *)(odd + j));
            RF_SORT_TWO(a, even + j + s);
            _mm256_storeu_si256((__m256i *)(odd + j), a);
        }
}

RF_AVX2 static void rf_sort_avx2(uint32_t *x, int n)
{
    uint32_t v[8 * RF_SORT_MAX], even[4 * RF_SORT_MAX + 8], odd[4 * RF_SORT_MAX];
    const __m256i evens = _mm256_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7);
    const __m256i back = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    int count = (n + 15) / 16 * 2, top = 1, p, q, i, j, half = 4 * count;
    memcpy(v, x, (size_t)n * 4);
    memset(v + n, 0xff, (size_t)(8 * count - n) * 4);
    memset(even + half, 0xff, 32);
    while (2 * top < count)
        top *= 2;
    for (p = top; p > 0; p /= 2) { /* distances in registers */
        for (i = 0; i + p < count; i += 2 * p)
            for (j = i; j < i + p && j + p < count; j++) {
                __m256i a = _mm256_loadu_si256((const __m256i *)(v + 8 * j));
                RF_SORT_TWO(a, v + 8 * (j + p));
                _mm256_storeu_si256((__m256i *)(v + 8 * j), a);
            }
        for (i = p; i < count; i += 2 * p)
            for (j = i; j < i + p && j < count; j++) {
                __m256i a = _mm256_loadu_si256((const __m256i *)(v + 8 * j));
                for (q = top; q > p; q /= 2)
                    if (j + q - p < count)
                        RF_SORT_TWO(a, v + 8 * (j + q - p));
                _mm256_storeu_si256((__m256i *)(v + 8 * j), a);
            }
    }
    for (p = 4; p > 0; p /= 2) {
        for (i = 0; i < half; i += 8) {
            __m256i a = _mm256_loadu_si256((const __m256i *)(v + 2 * i));
            __m256i b = _mm256_loadu_si256((const __m256i *)(v + 2 * i + 8));
            if (p == 2) {
                a = _mm256_permute4x64_epi64(a, 0xd8);
                b = _mm256_permute4x64_epi64(b, 0xd8);
            } else if (p == 1) {
                a = _mm256_permutevar8x32_epi32(a, evens);
                b = _mm256_permutevar8x32_epi32(b, evens);
            }
            _mm256_storeu_si256((__m256i *)(even + i), _mm256_permute2x128_si256(a, b, 0x20));
            _mm256_storeu_si256((__m256i *)(odd + i), _mm256_permute2x128_si256(a, b, 0x31));
        }
        rf_sort_apart(even, odd, half, p);
        for (i = 0; i < half; i += 8) {
            __m256i e = _mm256_loadu_si256((const __m256i *)(even + i));
            __m256i o = _mm256_loadu_si256((const __m256i *)(odd + i));
            __m256i a = _mm256_permute2x128_si256(e, o, 0x20), b = _mm256_permute2x128_si256(e, o, 0x31);
            if (p == 2) {
                a = _mm256_permute4x64_epi64(a, 0xd8);
                b = _mm256_permute4x64_epi64(b, 0xd8);
            } else if (p == 1) {
                a = _mm256_permutevar8x32_epi32(a, back);
                b = _mm256_permutevar8x32_epi32(b, back);
            }
            _mm256_storeu_si256((__m256i *)(v + 2 * i), a);
            _mm256_storeu_si256((__m256i *)(v + 2 * i + 8), b);
        }
    }
    memcpy(x, v, (size_t)n * 4);
    rf_zeroize(v, sizeof v);
    rf_zeroize(even, sizeof even);
    rf_zeroize(odd, sizeof odd);
}
#endif

void RF_NS(sort_u32)(uint32_t *x, int n)
{
#if RF_HAVE_AVX2_CODE
    if (rf_avx2() && n <= 8 * RF_SORT_MAX) {
        rf_sort_avx2(x, n);
        return;
    }
#endif
    rf_sort_c(x, n);
}

#if RF_HAVE_AVX2_CODE
#undef RF_SORT_MAX
#undef RF_SORT_TWO
#endif

#else
typedef int rf_no_sort; /* C has no empty sources */
#endif /* RF_NEED_SORT */
