/* SPDX-License-Identifier: Apache-2.0 OR MIT OR ISC OR CC0-1.0 */
/* poly_avx2.h: the loops of poly.c with AVX2. Part of poly.c. */
#ifndef RINGFORGE_MLKEM_POLY_AVX2_H
#define RINGFORGE_MLKEM_POLY_AVX2_H

#include <immintrin.h>

RF_AVX2 static void rf_mlkem_freeze_avx2(int16_t a[256])
{
    int i;
    for (i = 0; i < 256; i += 16)
        rf_mlkem_store(a + i, rf_mlkem_residue_avx2(rf_mlkem_load(a + i)));
}

/* 2^16 a + b: Montgomery's product of a and 2^32, and b. */
RF_AVX2 static void rf_mlkem_scale_add_avx2(int16_t a[256], const int16_t b[256])
{
    const __m256i factor = _mm256_set1_epi16(1353), by_q = _mm256_set1_epi16((int16_t)(1353 * 62209 % 65536));
    const __m256i q = _mm256_set1_epi16(RF_MLKEM_Q);
    int i;
    for (i = 0; i < 256; i += 16) {
        __m256i x = rf_mlkem_load(a + i), low = _mm256_mulhi_epi16(_mm256_mullo_epi16(x, by_q), q);
        x = _mm256_sub_epi16(_mm256_mulhi_epi16(x, factor), low);
        rf_mlkem_store(a + i, rf_mlkem_residue_avx2(_mm256_add_epi16(x, rf_mlkem_load(b + i))));
    }
}

/* 16 words of 12 bits from the 24 bytes at `in`, which are all that is read. */
RF_AVX2 static inline __m256i rf_mlkem_words12(const uint8_t *in)
{
    const __m256i bytes = _mm256_setr_epi8(0, 1, 1, 2, 3, 4, 4, 5, 6, 7, 7, 8, 9, 10, 10, 11, 4, 5, 5, 6, 7, 8,
                                           8, 9, 10, 11, 11, 12, 13, 14, 14, 15);
    __m128i low = _mm_loadu_si128((const __m128i *)(const void *)in);
    __m128i high = _mm_loadu_si128((const __m128i *)(const void *)(in + 8));
    __m256i x = _mm256_shuffle_epi8(_mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1), bytes);
    return _mm256_blend_epi16(_mm256_and_si256(x, _mm256_set1_epi16(4095)), _mm256_srli_epi16(x, 4), 0xaa);
}

RF_AVX2 static uint32_t rf_mlkem_decode_avx2(int16_t a[256], const uint8_t in[384])
{
    __m256i large = _mm256_setzero_si256();
    int i;
    for (i = 0; i < 16; i++) {
        __m256i x = rf_mlkem_words12(in + 24 * i);
        large = _mm256_or_si256(large, _mm256_cmpgt_epi16(x, _mm256_set1_epi16(RF_MLKEM_Q - 1)));
        _mm256_storeu_si256((__m256i *)(void *)(a + 16 * i), x);
    }
    return (uint32_t)!_mm256_testz_si256(large, large);
}

RF_AVX2 static void rf_mlkem_encode_avx2(uint8_t out[384], const int16_t a[256])
{
    const __m256i bytes = _mm256_setr_epi8(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1, 0, 1, 2, 4, 5,
                                           6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1);
    uint8_t last[32];
    int i;
    for (i = 0; i < 16; i++) {
        uint8_t *to = i < 15 ? out + 24 * i : last; /* four bytes too many are written */
        __m256i x = _mm256_loadu_si256((const __m256i *)(const void *)(a + 16 * i));
        x = _mm256_shuffle_epi8(_mm256_madd_epi16(x, _mm256_set1_epi32(4096 << 16 | 1)), bytes);
        _mm_storeu_si128((__m128i *)(void *)to, _mm256_castsi256_si128(x));
        _mm_storeu_si128((__m128i *)(void *)(to + 12), _mm256_extracti128_si256(x, 1));
    }
    memcpy(out + 360, last, 24);
}

/*
 * The words below 3329 among the 16 of 12 bits at `in`, moved together, to a, where 16 are written; their number. The input
 * is public. The words that stay are found by pext on their numbers.
 */
RF_AVX2_BMI2 static inline int rf_mlkem_accept16(int16_t *a, const uint8_t *in)
{
    __m256i x = rf_mlkem_words12(in);
    __m256i good = _mm256_cmpgt_epi16(_mm256_set1_epi16(RF_MLKEM_Q), x);
    __m256i mask = _mm256_packs_epi16(good, good); /* a byte for each word: 0 or 255 */
    uint64_t keep[2];
    __m128i half[2];
    int have = 0, j;
    keep[0] = (uint64_t)_mm256_extract_epi64(mask, 0);
    keep[1] = (uint64_t)_mm256_extract_epi64(mask, 2);
    half[0] = _mm256_castsi256_si128(x);
    half[1] = _mm256_extracti128_si256(x, 1);
    for (j = 0; j < 2; j++) {
        __m128i index = _mm_cvtsi64_si128((long long)_pext_u64(0x0e0c0a0806040200u, keep[j]));
        index = _mm_unpacklo_epi8(index, _mm_add_epi8(index, _mm_set1_epi8(1)));
        _mm_storeu_si128((__m128i *)(void *)(a + have), _mm_shuffle_epi8(half[j], index));
        have += (int)_mm_popcnt_u64(keep[j]) / 8;
    }
    return have;
}

/* The first 256 words below 3329 among those of 12 bits in len bytes, a multiple of 24; their number. */
RF_AVX2_BMI2 static int rf_mlkem_accept_bmi2(int16_t a[256], const uint8_t *in, size_t len)
{
    int16_t last[16];
    size_t i;
    int have = 0;
    for (i = 0; i < len && have <= 240; i += 24)
        have += rf_mlkem_accept16(a + have, in + i);
    for (; i < len && have < 256; i += 24) {
        int found = rf_mlkem_accept16(last, in + i);
        found = found < 256 - have ? found : 256 - have;
        memcpy(a + have, last, (size_t)found * sizeof *a);
        have += found;
    }
    return have;
}

/* eta = 2: 32 bytes at a time are 64 coefficients. */
RF_AVX2 static void rf_mlkem_binomial2_avx2(int16_t a[256], const uint8_t *in)
{
    const __m256i m55 = _mm256_set1_epi8(0x55), m33 = _mm256_set1_epi8(0x33), m0f = _mm256_set1_epi8(0x0f);
    const __m256i three = _mm256_set1_epi8(3);
    int i;
    for (i = 0; i < 4; i++) {
        __m256i x = _mm256_loadu_si256((const __m256i *)(const void *)(in + 32 * i)), even, odd, low, high;
        x = _mm256_add_epi8(_mm256_and_si256(x, m55), _mm256_and_si256(_mm256_srli_epi16(x, 1), m55));
        /* differences + 3 in four bits each */
        x = _mm256_sub_epi8(_mm256_add_epi8(_mm256_and_si256(x, m33), m33),
                            _mm256_and_si256(_mm256_srli_epi16(x, 2), m33));
        even = _mm256_sub_epi8(_mm256_and_si256(x, m0f), three);
        odd = _mm256_sub_epi8(_mm256_and_si256(_mm256_srli_epi16(x, 4), m0f), three);
        low = _mm256_unpacklo_epi8(even, odd); /* coefficients 0 to 15 and 32 to 47 */
        high = _mm256_unpackhi_epi8(even, odd);
        _mm256_storeu_si256((__m256i *)(void *)(a + 64 * i), _mm256_cvtepi8_epi16(_mm256_castsi256_si128(low)));
        _mm256_storeu_si256((__m256i *)(void *)(a + 64 * i + 16), _mm256_cvtepi8_epi16(_mm256_castsi256_si128(high)));
        _mm256_storeu_si256((__m256i *)(void *)(a + 64 * i + 32), _mm256_cvtepi8_epi16(_mm256_extracti128_si256(low, 1)));
        _mm256_storeu_si256((__m256i *)(void *)(a + 64 * i + 48), _mm256_cvtepi8_epi16(_mm256_extracti128_si256(high, 1)));
    }
}

/* eta = 3: 24 bytes at a time are 32 coefficients, four in each 24 bits. */
RF_AVX2 static void rf_mlkem_binomial3_avx2(int16_t a[256], const uint8_t in[192])
{
    const __m256i bytes = _mm256_setr_epi8(0, 1, 2, -1, 3, 4, 5, -1, 6, 7, 8, -1, 9, 10, 11, -1, 4, 5, 6, -1, 7, 8, 9,
                                           -1, 10, 11, 12, -1, 13, 14, 15, -1);
    const __m256i ones = _mm256_set1_epi32(0x249249), sevens = _mm256_set1_epi32(0x1c71c7);
    const __m256i threes = _mm256_set1_epi32(0x0c30c3), low = _mm256_set1_epi32(7), high = _mm256_set1_epi32(7 << 16);
    int i;
    for (i = 0; i < 8; i++) {
        __m128i first = _mm_loadu_si128((const __m128i *)(const void *)(in + 24 * i));
        __m128i second = _mm_loadu_si128((const __m128i *)(const void *)(in + 24 * i + 8));
        __m256i x = _mm256_shuffle_epi8(_mm256_set_m128i(second, first), bytes), y, even, odd;
        x = _mm256_add_epi32(_mm256_add_epi32(_mm256_and_si256(x, ones), _mm256_and_si256(_mm256_srli_epi32(x, 1), ones)),
                             _mm256_and_si256(_mm256_srli_epi32(x, 2), ones));
        /* differences + 3, in bits 0, 6, 12 and 18 on */
        x = _mm256_sub_epi32(_mm256_add_epi32(_mm256_and_si256(x, sevens), threes),
                             _mm256_and_si256(_mm256_srli_epi32(x, 3), sevens));
        y = _mm256_srli_epi32(x, 12);
        even = _mm256_or_si256(_mm256_and_si256(x, low), _mm256_and_si256(_mm256_slli_epi32(x, 10), high));
        odd = _mm256_or_si256(_mm256_and_si256(y, low), _mm256_and_si256(_mm256_slli_epi32(y, 10), high));
        even = _mm256_sub_epi16(even, _mm256_set1_epi16(3));
        odd = _mm256_sub_epi16(odd, _mm256_set1_epi16(3));
        x = _mm256_unpacklo_epi32(even, odd); /* coefficients 0 to 7 and 16 to 23 */
        y = _mm256_unpackhi_epi32(even, odd);
        rf_mlkem_store(a + 32 * i, _mm256_permute2x128_si256(x, y, 0x20));
        rf_mlkem_store(a + 32 * i + 16, _mm256_permute2x128_si256(x, y, 0x31));
    }
}

#endif /* RINGFORGE_MLKEM_POLY_AVX2_H */
