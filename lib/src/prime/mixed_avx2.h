/* SPDX-License-Identifier: Apache-2.0 OR MIT OR ISC OR CC0-1.0 */
/* mixed_avx2.h: levels of mixed.c with AVX2, eight pairs at a time. Part of mixed.c. */
#ifndef RINGFORGE_PRIME_MIXED_AVX2_H
#define RINGFORGE_PRIME_MIXED_AVX2_H

#include <immintrin.h>

/* Where eights of `pairs` start: the last overlaps the one before, so nothing outside is touched. */
#define RF_MIXED_EIGHTS(i, pairs) for (i = 0; i < (pairs); i = i + 8 < (pairs) && i + 16 > (pairs) ? (pairs) - 8 : i + 8)

/* to[i] and 1 or 2 bytes of out from from[2 i] + m from[2 i + 1], at least eight pairs; to is not from. */
RF_AVX2 static void rf_mixed_join_avx2(uint16_t *to, uint8_t *out, const uint16_t *from, int pairs, uint32_t m,
                                       int bytes)
{
    const __m256i factors = _mm256_set1_epi32((int32_t)(m << 16 | 1));
    /* Of each word of 32 bits the bytes that go out are gathered in the lower, the rest in the upper half. */
    const __m256i two = _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15));
    const __m256i one = _mm256_setr_epi8(0, 4, 8, 12, -1, -1, -1, -1, 1, 2, 5, 6, 9, 10, 13, 14, -1, -1, -1, -1, 0, 4,
                                         8, 12, 1, 2, 5, 6, 9, 10, 13, 14);
    int i;
    RF_MIXED_EIGHTS(i, pairs)
    {
        __m256i x = _mm256_madd_epi16(_mm256_loadu_si256((const __m256i *)(const void *)(from + 2 * i)), factors);
        __m128i low;
        x = _mm256_permute4x64_epi64(_mm256_shuffle_epi8(x, bytes == 2 ? two : one), 0xd8);
        low = _mm256_castsi256_si128(x);
        _mm_storeu_si128((__m128i *)(void *)(to + i), _mm256_extracti128_si256(x, 1));
        if (bytes == 2)
            _mm_storeu_si128((__m128i *)(void *)(out + 2 * i), low);
        else
            _mm_storel_epi64((__m128i *)(void *)(out + i), _mm_or_si128(low, _mm_unpackhi_epi64(low, low)));
    }
}

/*
 * And back: to[2 i], to[2 i + 1] from from[i] and the bytes. Quotients are below 2^15, as from[i] is below
 * its modulus; v = floor(2^32 / m), as for rf_mixed_divide.
 */
RF_AVX2 static void rf_mixed_part_avx2(uint16_t *to, const uint8_t *in, const uint16_t *from, int pairs, uint32_t m,
                                       uint32_t v, int bytes)
{
    const __m256i modulus = _mm256_set1_epi32((int32_t)m), inverse = _mm256_set1_epi32((int32_t)v);
    int i;
    RF_MIXED_EIGHTS(i, pairs)
    {
        __m256i x = _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)(const void *)(from + i))), d, less;
        if (bytes == 2) {
            __m128i low = _mm_loadu_si128((const __m128i *)(const void *)(in + 2 * i));
            x = _mm256_or_si256(_mm256_slli_epi32(x, 16), _mm256_cvtepu16_epi32(low));
        } else {
            __m128i low = _mm_loadl_epi64((const __m128i *)(const void *)(in + i));
            x = _mm256_or_si256(_mm256_slli_epi32(x, 8), _mm256_cvtepu8_epi32(low));
        }
        d = _mm256_blend_epi32(_mm256_srli_epi64(_mm256_mul_epu32(x, inverse), 32),
                               _mm256_mul_epu32(_mm256_srli_epi64(x, 32), inverse), 0xaa);
        x = _mm256_sub_epi32(x, _mm256_madd_epi16(d, modulus)); /* below 2 m */
        less = _mm256_cmpgt_epi32(modulus, x);
        x = _mm256_min_epu32(x, _mm256_sub_epi32(x, modulus));
        d = _mm256_add_epi32(_mm256_add_epi32(d, _mm256_set1_epi32(1)), less);
        d = _mm256_min_epu32(d, _mm256_sub_epi32(d, modulus));
        _mm256_storeu_si256((__m256i *)(void *)(to + 2 * i), _mm256_or_si256(x, _mm256_slli_epi32(d, 16)));
    }
}

#undef RF_MIXED_EIGHTS
#endif /* RINGFORGE_PRIME_MIXED_AVX2_H */
