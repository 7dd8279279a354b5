/* SPDX-License-Identifier: Apache-2.0 OR MIT OR ISC OR CC0-1.0 */
/* pack_avx2.h: Compress_d and Decompress_d of FIPS 203 with their packing, with AVX2. Part of poly.c. */
#ifndef RINGFORGE_MLKEM_PACK_AVX2_H
#define RINGFORGE_MLKEM_PACK_AVX2_H

#include <immintrin.h>

RF_AVX2 static inline __m256i rf_mlkem_load(const void *p)
{
    return _mm256_loadu_si256((const __m256i *)p);
}

RF_AVX2 static inline void rf_mlkem_store(void *p, __m256i x)
{
    _mm256_storeu_si256((__m256i *)p, x);
}

/*
 * x mod 3329 in [0, 3328] for any x. 10 x / 2^15 is x / 3329 up to 0.16, so x minus that multiple lies in
 * [-2187, 2187], and negative ones need 3329 once.
 */
RF_AVX2 static inline __m256i rf_mlkem_residue_avx2(__m256i x)
{
    const __m256i q = _mm256_set1_epi16(RF_MLKEM_Q);
    x = _mm256_sub_epi16(x, _mm256_mullo_epi16(_mm256_mulhrs_epi16(x, _mm256_set1_epi16(10)), q));
    return _mm256_add_epi16(x, _mm256_and_si256(q, _mm256_srai_epi16(x, 15)));
}

/*
 * A function of a width that is a constant in each call: code of its own for each of 1, 4, 5, 10, 11. The number is hidden
 * anew each time, which keeps compilers from a table of jumps: the prover reads none.
 */
#define RF_INLINE inline __attribute__((always_inline))
#define RF_MLKEM_BY_WIDTH(f, to, from, d)                                                          \
    do {                                                                                           \
        uint32_t width_ = (uint32_t)(d);                                                           \
        if ((width_ = rf_hide(width_)) == 1)                                                       \
            f(to, from, 1);                                                                        \
        else if ((width_ = rf_hide(width_)) == 4)                                                  \
            f(to, from, 4);                                                                        \
        else if ((width_ = rf_hide(width_)) == 5)                                                  \
            f(to, from, 5);                                                                        \
        else if ((width_ = rf_hide(width_)) == 10)                                                 \
            f(to, from, 10);                                                                       \
        else                                                                                       \
            f(to, from, 11);                                                                       \
    } while (0)

/*
 * Compress_d of any x, d <= 11. With y = x mod 3329 the first quotient, 8 y b / 2^15 rounded for b = 2^(d+12) / 3329
 * rounded up, exceeds 2^d y / 3329 by less than 0.6: it is right or one too large, and then the rest is negative.
 * The rest is in [-3329, 3328], so that its lower 16 bits say so.
 */
RF_AVX2 static inline __m256i rf_mlkem_compressed_avx2(__m256i x, int d)
{
    const __m256i b = _mm256_set1_epi16((int16_t)(((1 << (d + 12)) + RF_MLKEM_Q - 1) / RF_MLKEM_Q));
    const __m256i half = _mm256_set1_epi16(RF_MLKEM_Q / 2), q = _mm256_set1_epi16(RF_MLKEM_Q);
    __m256i y = rf_mlkem_residue_avx2(x), quotient, rest;
    quotient = _mm256_mulhrs_epi16(_mm256_slli_epi16(y, 3), b);
    rest = _mm256_add_epi16(_mm256_sll_epi16(y, _mm_cvtsi32_si128(d)), half);
    rest = _mm256_sub_epi16(rest, _mm256_mullo_epi16(quotient, q));
    quotient = _mm256_add_epi16(quotient, _mm256_srai_epi16(rest, 15));
    return _mm256_and_si256(quotient, _mm256_set1_epi16((int16_t)((1 << d) - 1)));
}

/* 64 words of at most 8 bits to bytes, of two times 32 words in order. */
RF_AVX2 static inline __m256i rf_mlkem_bytes(__m256i low, __m256i high)
{
    return _mm256_permute4x64_epi64(_mm256_packus_epi16(low, high), 0xd8);
}

/* Fields of 20 bits in words of 32 to fields of 40 in words of 64. */
RF_AVX2 static inline __m256i rf_mlkem_join20(__m256i x)
{
    return _mm256_srli_epi64(_mm256_sllv_epi32(x, _mm256_set1_epi64x(12)), 12);
}

/* The first `bytes` bytes of both halves, one behind the other; 16 bytes are written at the second place. */
RF_AVX2 static inline void rf_mlkem_halves(uint8_t *out, __m256i x, int bytes)
{
    _mm_storeu_si128((__m128i *)(void *)out, _mm256_castsi256_si128(x));
    _mm_storeu_si128((__m128i *)(void *)(out + bytes), _mm256_extracti128_si256(x, 1));
}

/* ByteEncode_d of Compress_d; d = 1, 4, 5, 10, 11. */
RF_AVX2 RF_INLINE static void rf_mlkem_compress_width(uint8_t *out, const int16_t a[256], int d)
{
    const __m256i fives = _mm256_setr_epi8(0, 1, 2, 3, 4, 8, 9, 10, 11, 12, -1, -1, -1, -1, -1, -1, 0, 1, 2, 3, 4, 8,
                                           9, 10, 11, 12, -1, -1, -1, -1, -1, -1);
    uint8_t room[352 + 16]; /* more is written than belongs to the output */
    int i;
    for (i = 0; i < 16; i += 2) {
        __m256i x = rf_mlkem_compressed_avx2(rf_mlkem_load(a + 16 * i), d);
        __m256i y = rf_mlkem_compressed_avx2(rf_mlkem_load(a + 16 * i + 16), d);
        if (d == 1) { /* bit 0 of each byte to bit 7 */
            uint32_t bits = (uint32_t)_mm256_movemask_epi8(_mm256_slli_epi16(rf_mlkem_bytes(x, y), 7));
            memcpy(room + 2 * i, &bits, 4);
        } else if (d == 4) {
            x = _mm256_maddubs_epi16(rf_mlkem_bytes(x, y), _mm256_set1_epi16(16 << 8 | 1));
            x = rf_mlkem_bytes(x, x);
            _mm_storeu_si128((__m128i *)(void *)(room + 8 * i), _mm256_castsi256_si128(x));
        } else if (d == 5) {
            x = _mm256_maddubs_epi16(rf_mlkem_bytes(x, y), _mm256_set1_epi16(32 << 8 | 1));
            x = rf_mlkem_join20(_mm256_madd_epi16(x, _mm256_set1_epi32(1024 << 16 | 1)));
            rf_mlkem_halves(room + 10 * i, _mm256_shuffle_epi8(x, fives), 10);
        } else if (d == 10) {
            x = rf_mlkem_join20(_mm256_madd_epi16(x, _mm256_set1_epi32(1024 << 16 | 1)));
            y = rf_mlkem_join20(_mm256_madd_epi16(y, _mm256_set1_epi32(1024 << 16 | 1)));
            rf_mlkem_halves(room + 20 * i, _mm256_shuffle_epi8(x, fives), 10);
            rf_mlkem_halves(room + 20 * i + 20, _mm256_shuffle_epi8(y, fives), 10);
        } else {
            __m256i two[2];
            int j;
            two[0] = x;
            two[1] = y;
            for (j = 0; j < 2; j++) { /* fields of 22, of 44, of 88 bits */
                __m256i z = _mm256_madd_epi16(two[j], _mm256_set1_epi32(2048 << 16 | 1));
                z = _mm256_srli_epi64(_mm256_sllv_epi32(z, _mm256_set1_epi64x(10)), 10);
                z = _mm256_blend_epi32(_mm256_or_si256(z, _mm256_slli_epi64(_mm256_bsrli_epi128(z, 8), 44)),
                                       _mm256_srli_epi64(z, 20), 0xcc);
                rf_mlkem_halves(room + 22 * i + 22 * j, z, 11);
            }
        }
    }
    memcpy(out, room, (size_t)(32 * d));
}

RF_AVX2 static void rf_mlkem_compress_avx2(uint8_t *out, const int16_t a[256], int d)
{
    RF_MLKEM_BY_WIDTH(rf_mlkem_compress_width, out, a, d);
}

/*
 * Decompress_d(x) = (3329 x + 2^(d-1)) / 2^d rounded down, of fields that are the d upper bits of words, whatever lies
 * below them: the product of 2^(15-d) x by 3329 over 2^15, rounded.
 */
RF_AVX2 static inline __m256i rf_mlkem_decompressed_avx2(__m256i top, int d)
{
    const __m256i mask = _mm256_set1_epi16((int16_t)(0x8000 - (0x8000 >> d)));
    return _mm256_mulhrs_epi16(_mm256_and_si256(_mm256_srli_epi16(top, 1), mask), _mm256_set1_epi16(RF_MLKEM_Q));
}

/* ByteDecode_d and Decompress_d; d = 1, 4, 5, 10, 11. */
RF_AVX2 RF_INLINE static void rf_mlkem_decompress_width(int16_t a[256], const uint8_t *in, int d)
{
    /* Two bytes for each of eight fields, and what moves each to the top of its word. */
    const __m128i pairs5 = _mm_setr_epi8(0, 1, 0, 1, 1, 2, 1, 2, 2, 3, 3, 4, 3, 4, 4, 5);
    const __m128i pairs10 = _mm_setr_epi8(0, 1, 1, 2, 2, 3, 3, 4, 5, 6, 6, 7, 7, 8, 8, 9);
    const __m256i up5 = _mm256_set_m128i(_mm_setr_epi16(2048, 64, 512, 16, 128, 1024, 32, 256),
                                         _mm_setr_epi16(2048, 64, 512, 16, 128, 1024, 32, 256));
    const __m256i up10 = _mm256_set1_epi64x(0x0001000400100040);
    /* Four bytes for each of four fields of 11 bits, from bytes 0 and 5 on. */
    const __m256i fours = _mm256_setr_epi8(0, 1, 2, 3, 1, 2, 3, 4, 2, 3, 4, 5, 4, 5, 6, 7, 0, 1, 2, 3, 1, 2, 3, 4, 3, 4,
                                           5, 6, 4, 5, 6, 7);
    const __m256i down11 = _mm256_setr_epi32(0, 3, 6, 1, 4, 7, 2, 5);
    const __m256i mask11 = _mm256_set1_epi32(2047);
    uint8_t room[352 + 16]; /* more is read than belongs to the input */
    int i;
    memcpy(room, in, (size_t)(32 * d));
    memset(room + 32 * d, 0, 16);
    for (i = 0; i < 16; i++) {
        __m256i x;
        if (d == 1) {
            const __m256i bits = _mm256_setr_epi16(1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384,
                                                   (int16_t)-32768);
            x = _mm256_set1_epi16((int16_t)(room[2 * i] | room[2 * i + 1] << 8));
            x = _mm256_cmpeq_epi16(_mm256_and_si256(x, bits), bits);
        } else if (d == 4) {
            x = _mm256_cvtepu8_epi16(_mm_loadl_epi64((const __m128i *)(const void *)(room + 8 * i)));
            x = _mm256_permute4x64_epi64(x, 0x10); /* each eight words to a half of sixteen */
            x = _mm256_unpacklo_epi16(_mm256_slli_epi16(x, 12), _mm256_slli_epi16(x, 8));
        } else if (d == 5) {
            __m128i low = _mm_loadl_epi64((const __m128i *)(const void *)(room + 10 * i));
            __m128i high = _mm_loadl_epi64((const __m128i *)(const void *)(room + 10 * i + 5));
            x = _mm256_set_m128i(_mm_shuffle_epi8(high, pairs5), _mm_shuffle_epi8(low, pairs5));
            x = _mm256_mullo_epi16(x, up5);
        } else if (d == 10) {
            __m128i low = _mm_loadu_si128((const __m128i *)(const void *)(room + 20 * i));
            __m128i high = _mm_loadu_si128((const __m128i *)(const void *)(room + 20 * i + 10));
            x = _mm256_set_m128i(_mm_shuffle_epi8(high, pairs10), _mm_shuffle_epi8(low, pairs10));
            x = _mm256_mullo_epi16(x, up10);
        } else {
            __m256i eight[2];
            int j;
            for (j = 0; j < 2; j++) {
                __m128i low = _mm_loadu_si128((const __m128i *)(const void *)(room + 22 * i + 11 * j));
                __m128i high = _mm_loadu_si128((const __m128i *)(const void *)(room + 22 * i + 11 * j + 5));
                eight[j] = _mm256_srlv_epi32(_mm256_shuffle_epi8(_mm256_set_m128i(high, low), fours), down11);
                eight[j] = _mm256_slli_epi32(_mm256_and_si256(eight[j], mask11), 5);
            }
            x = _mm256_permute4x64_epi64(_mm256_packus_epi32(eight[0], eight[1]), 0xd8);
        }
        rf_mlkem_store(a + 16 * i, rf_mlkem_decompressed_avx2(x, d));
    }
}

RF_AVX2 static void rf_mlkem_decompress_avx2(int16_t a[256], const uint8_t *in, int d)
{
    RF_MLKEM_BY_WIDTH(rf_mlkem_decompress_width, a, in, d);
}

#endif /* RINGFORGE_MLKEM_PACK_AVX2_H */
