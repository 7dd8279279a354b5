/*
 * The key stream of AES-256 in counter mode [FIPS197], counter from zero, in constant time: portable in
 * slices of bits, four blocks at a time, or by the processor's instructions.
 */
#include "prime.h"

#if RF_NEED_NTRULPR

/*
 * Eight words, one for each bit of a byte; in each, byte i of block k is bit 4 i + k. So columns are 16
 * bits apart and rows 4.
 */

/* The S-box of all 64 bytes. Inversion goes through GF(((2^2)^2)^2) with the polynomials u^2 + u + 1,
 * z^2 + z + u, y^2 + y + n; the linear maps at both ends hold the change of basis and the affine map. */
static void rf_aes_sbox(uint64_t x[8])
{
    const uint64_t t1 = x[1] ^ x[6], t2 = x[7] ^ t1, t3 = x[2] ^ x[5], t4 = x[5] ^ x[7],
        t5 = x[4] ^ t1, t6 = x[0] ^ x[2], t7 = x[3] ^ t2, t8 = x[1] ^ t4, t9 = x[5] ^ t5,
        t10 = x[3] ^ t3, t11 = t5 ^ t10, t12 = t11 ^ t4, t13 = t9 ^ t12, t14 = t8 ^ t4,
        t15 = t4 & t7, t16 = t11 & t3, t17 = t4 ^ t11, t18 = t7 ^ t3, t19 = t17 & t18,
        t20 = t19 ^ t16, t21 = t16 ^ t15, t22 = t9 & t2, t23 = t8 & t6, t24 = t9 ^ t8,
        t25 = t2 ^ t6, t26 = t24 & t25, t27 = t26 ^ t23, t28 = t23 ^ t22, t29 = t4 ^ t9,
        t30 = t11 ^ t8, t31 = t7 ^ t2, t32 = t3 ^ t6, t33 = t29 & t31, t34 = t30 & t32,
        t35 = t29 ^ t30, t36 = t31 ^ t32, t37 = t35 & t36, t38 = t37 ^ t34, t39 = t34 ^ t33,
        t40 = t38 ^ t27, t41 = t39 ^ t28, t42 = t20 ^ t21, t43 = t27 ^ t42, t44 = t28 ^ t20,
        t45 = t14 ^ t40, t46 = t13 ^ t41, t47 = t12 ^ t43, t48 = t11 ^ t44, t49 = t6 ^ t2,
        t50 = t7 ^ t49, t51 = t2 ^ t3, t52 = t3 ^ t7, t53 = t45 ^ t7, t54 = t46 ^ t52,
        t55 = t47 ^ t51, t56 = t48 ^ t50, t57 = t53 ^ t54, t58 = t53 ^ t57, t59 = t53 & t55,
        t60 = t54 & t56, t61 = t53 ^ t54, t62 = t55 ^ t56, t63 = t61 & t62, t64 = t63 ^ t60,
        t65 = t60 ^ t59, t66 = t58 ^ t64, t67 = t53 ^ t65, t68 = t55 ^ t56, t69 = t66 ^ t55,
        t70 = t67 ^ t68, t71 = t69 ^ t70, t72 = t53 & t69, t73 = t54 & t71, t74 = t53 ^ t54,
        t75 = t69 ^ t71, t76 = t74 & t75, t77 = t76 ^ t73, t78 = t73 ^ t72, t79 = t55 ^ t53,
        t80 = t56 ^ t54, t81 = t79 & t69, t82 = t80 & t71, t83 = t79 ^ t80, t84 = t69 ^ t71,
        t85 = t83 & t84, t86 = t85 ^ t82, t87 = t82 ^ t81, t88 = t4 & t77, t89 = t11 & t78,
        t90 = t4 ^ t11, t91 = t77 ^ t78, t92 = t90 & t91, t93 = t92 ^ t89, t94 = t89 ^ t88,
        t95 = t9 & t86, t96 = t8 & t87, t97 = t9 ^ t8, t98 = t86 ^ t87, t99 = t97 & t98,
        t100 = t99 ^ t96, t101 = t96 ^ t95, t102 = t4 ^ t9, t103 = t11 ^ t8, t104 = t77 ^ t86,
        t105 = t78 ^ t87, t106 = t102 & t104, t107 = t103 & t105, t108 = t102 ^ t103,
        t109 = t104 ^ t105, t110 = t108 & t109, t111 = t110 ^ t107, t112 = t107 ^ t106,
        t113 = t111 ^ t100, t114 = t112 ^ t101, t115 = t93 ^ t94, t116 = t100 ^ t115,
        t117 = t101 ^ t93, t118 = t4 ^ t7, t119 = t11 ^ t3, t120 = t9 ^ t2, t121 = t8 ^ t6,
        t122 = t118 & t77, t123 = t119 & t78, t124 = t118 ^ t119, t125 = t77 ^ t78,
        t126 = t124 & t125, t127 = t126 ^ t123, t128 = t123 ^ t122, t129 = t120 & t86,
        t130 = t121 & t87, t131 = t120 ^ t121, t132 = t86 ^ t87, t133 = t131 & t132,
        t134 = t133 ^ t130, t135 = t130 ^ t129, t136 = t118 ^ t120, t137 = t119 ^ t121,
        t138 = t77 ^ t86, t139 = t78 ^ t87, t140 = t136 & t138, t141 = t137 & t139,
        t142 = t136 ^ t137, t143 = t138 ^ t139, t144 = t142 & t143, t145 = t144 ^ t141,
        t146 = t141 ^ t140, t147 = t145 ^ t134, t148 = t146 ^ t135, t149 = t127 ^ t128,
        t150 = t134 ^ t149, t151 = t135 ^ t127, t152 = t148 ^ t117, t153 = t151 ^ t116,
        t154 = t152 ^ t153, t155 = t151 ^ t150, t156 = t148 ^ t155, t157 = t114 ^ t154,
        t158 = t147 ^ t117, t159 = t153 ^ t158, t160 = t147 ^ t116, t161 = t152 ^ t160,
        t162 = t117 ^ t114, t163 = t113 ^ t162, t164 = t114 ^ t152;
    x[0] = ~t154;
    x[1] = ~t156;
    x[2] = t155;
    x[3] = t157;
    x[4] = t159;
    x[5] = ~t161;
    x[6] = ~t163;
    x[7] = t164;
}

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

void RF_NS(aes256_stream)(uint8_t *out, size_t len, const uint8_t key[32])
{
#if RF_HAVE_AVX2_CODE
    if (rf_avx2() && __builtin_cpu_supports("aes")) {
        rf_aes256_stream_ni(out, len, key);
        return;
    }
#endif
    rf_aes256_stream_c(out, len, key);
}

#else
typedef int rf_no_aes; /* C has no empty sources */
#endif /* RF_NEED_NTRULPR */
