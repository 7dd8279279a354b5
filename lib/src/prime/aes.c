/* SPDX-License-Identifier: Apache-2.0 OR MIT OR ISC OR CC0-1.0 */
/*
 * The key stream of AES-256 in counter mode [FIPS197], counter from zero, in constant time: portable in
 * slices of bits, four blocks at a time, with Neon eight, or by the processor's instructions.
 */
#include "prime.h"

#if RF_NEED_NTRULPR

/*
 * Eight words, one for each bit of a byte; in each, byte i of block k is bit 4 i + k. So columns are 16
 * bits apart and rows 4.
 */

#define RF_SLICE uint64_t
#define RF_SBOX rf_aes_sbox
#include "aes_sbox.inc"

/* Byte r of each column comes from the column r further on. */
static void rf_aes_shift_rows(uint64_t x[8])
{
    int b;
    for (b = 0; b < 8; b++) {
        uint64_t v = x[b];
        x[b] = (v & 0x000f000f000f000fULL) | ((v >> 16 | v << 48) & 0x00f000f000f000f0ULL) |
               ((v >> 32 | v << 32) & 0x0f000f000f000f00ULL) |
               ((v >> 48 | v << 16) & 0xf000f000f000f000ULL);
    }
}

/* 2 a + 3 b + c + d of each byte a of a column and the next ones b, c, d. */
static void rf_aes_mix_columns(uint64_t x[8])
{
    uint64_t next[8], both[8];
    int b;
    for (b = 0; b < 8; b++) {
        uint64_t v = x[b];
        next[b] = (v >> 4 & 0x0fff0fff0fff0fffULL) | (v << 12 & 0xf000f000f000f000ULL);
        both[b] = v ^ next[b];
    }
    for (b = 0; b < 8; b++) {
        uint64_t v = both[b], twice = b == 0 ? both[7] : both[b - 1];
        if (b == 1 || b == 3 || b == 4)
            twice ^= both[7]; /* modulo x^8 + x^4 + x^3 + x + 1 */
        x[b] = next[b] ^ twice ^
               ((v >> 8 & 0x00ff00ff00ff00ffULL) | (v << 8 & 0xff00ff00ff00ff00ULL));
    }
}

/* The 15 round keys, 16 bytes each. */
static void rf_aes256_keys(uint8_t w[240], const uint8_t key[32])
{
    uint64_t x[8];
    uint8_t rcon = 1;
    int i, j, b;
    memcpy(w, key, 32);
    for (i = 32; i < 240; i += 4) {
        uint8_t t[4];
        memcpy(t, w + i - 4, 4);
        if (i % 16 == 0) { /* the S-box of four bytes */
            memset(x, 0, sizeof x);
            for (j = 0; j < 4; j++)
                for (b = 0; b < 8; b++)
                    x[b] |= (uint64_t)(t[j] >> b & 1) << (4 * j);
            rf_aes_sbox(x);
            for (j = 0; j < 4; j++)
                for (t[j] = 0, b = 0; b < 8; b++)
                    t[j] = (uint8_t)(t[j] | (x[b] >> (4 * j) & 1) << b);
        }
        if (i % 32 == 0) {
            uint8_t first = t[0];
            t[0] = (uint8_t)(t[1] ^ rcon);
            t[1] = t[2];
            t[2] = t[3];
            t[3] = first;
            rcon = (uint8_t)(rcon << 1);
        }
        for (j = 0; j < 4; j++)
            w[i + j] = w[i + j - 32] ^ t[j];
    }
}

static void rf_aes256_stream_c(uint8_t *out, size_t len, const uint8_t key[32])
{
    uint8_t w[240];
    uint64_t keys[15][8], x[8];
    uint32_t block = 0;
    int i, k, b, round;
    rf_aes256_keys(w, key);
    for (round = 0; round < 15; round++)
        for (b = 0; b < 8; b++) {
            uint64_t bits = 0;
            for (i = 0; i < 16; i++)
                bits |= (uint64_t)(w[16 * round + i] >> b & 1) << (4 * i);
            keys[round][b] = bits * 15; /* the same in all four blocks */
        }
    for (; len > 0; block += 4) {
        memset(x, 0, sizeof x);
        for (k = 0; k < 4; k++) /* the counter ends in bytes 12 to 15 */
            for (i = 0; i < 4; i++)
                for (b = 0; b < 8; b++)
                    x[b] |= (uint64_t)((block + (uint32_t)k) >> (8 * i + b) & 1) << (4 * (15 - i) + k);
        for (b = 0; b < 8; b++)
            x[b] ^= keys[0][b];
        for (round = 1; round < 15; round++) {
            rf_aes_sbox(x);
            rf_aes_shift_rows(x);
            if (round < 14)
                rf_aes_mix_columns(x);
            for (b = 0; b < 8; b++)
                x[b] ^= keys[round][b];
        }
        for (k = 0; k < 4; k++)
            for (i = 0; i < 16 && len > 0; i++, len--) {
                uint32_t byte = 0;
                for (b = 0; b < 8; b++)
                    byte |= (uint32_t)(x[b] >> (4 * i + k) & 1) << b;
                *out++ = (uint8_t)byte;
            }
    }
}

#if RF_HAVE_AVX2_CODE
#include <immintrin.h>

#define RF_AES __attribute__((target("aes,sse2")))

/* w[i] from w[i-2] and the S-box of w[i-1]: each word is added to all that come after it. */
RF_AES static inline __m128i rf_aes_key(__m128i before, __m128i sub)
{
    before = _mm_xor_si128(before, _mm_slli_si128(before, 4));
    before = _mm_xor_si128(before, _mm_slli_si128(before, 8));
    return _mm_xor_si128(before, sub);
}

#define RF_AES_KEYS(i, rcon)                                                                       \
    do {                                                                                           \
        w[i] = rf_aes_key(w[(i) - 2],                                                              \
                          _mm_shuffle_epi32(_mm_aeskeygenassist_si128(w[(i) - 1], rcon), 0xff));   \
        if ((i) < 14)                                                                              \
            w[(i) + 1] =                                                                           \
                rf_aes_key(w[(i) - 1],                                                             \
                           _mm_shuffle_epi32(_mm_aeskeygenassist_si128(w[i], 0), 0xaa));           \
    } while (0)

RF_AES static void rf_aes256_stream_ni(uint8_t *out, size_t len, const uint8_t key[32])
{
    __m128i w[16], x[8];
    uint8_t last[128];
    uint32_t block = 0;
    int k, round;
    w[0] = _mm_loadu_si128((const __m128i *)key);
    w[1] = _mm_loadu_si128((const __m128i *)(key + 16));
    RF_AES_KEYS(2, 1);
    RF_AES_KEYS(4, 2);
    RF_AES_KEYS(6, 4);
    RF_AES_KEYS(8, 8);
    RF_AES_KEYS(10, 16);
    RF_AES_KEYS(12, 32);
    RF_AES_KEYS(14, 64);
    for (; len > 0; block += 8) {
        uint8_t *to = len < 128 ? last : out;
        for (k = 0; k < 8; k++) {
            uint32_t c = block + (uint32_t)k; /* big-endian */
            c = (c >> 24) | (c >> 8 & 0xff00u) | (c << 8 & 0xff0000u) | (c << 24);
            x[k] = _mm_xor_si128(_mm_set_epi32((int32_t)c, 0, 0, 0), w[0]);
        }
        for (round = 1; round < 14; round++)
            for (k = 0; k < 8; k++)
                x[k] = _mm_aesenc_si128(x[k], w[round]);
        for (k = 0; k < 8; k++)
            _mm_storeu_si128((__m128i *)(to + 16 * k), _mm_aesenclast_si128(x[k], w[14]));
        if (to == last) {
            memcpy(out, last, len);
            break;
        }
        out += 128;
        len -= 128;
    }
}
#undef RF_AES
#undef RF_AES_KEYS
#endif
#if RF_HAVE_NEON_CODE
#include "aes_neon.h"
#endif

void RF_NS(aes256_stream)(uint8_t *out, size_t len, const uint8_t key[32])
{
#if RF_HAVE_AVX2_CODE
    if (rf_avx2() && __builtin_cpu_supports("aes")) {
        rf_aes256_stream_ni(out, len, key);
        return;
    }
#endif
#if RF_HAVE_NEON_CODE
    if (rf_neon()) {
        rf_aes256_stream_neon(out, len, key);
        return;
    }
#endif
    rf_aes256_stream_c(out, len, key);
}

#else
typedef int rf_no_aes; /* C has no empty sources */
#endif /* RF_NEED_NTRULPR */
