/* SPDX-License-Identifier: Apache-2.0 OR MIT OR ISC OR CC0-1.0 */
/* SHA-512 [FIPS180-4], built in (RINGFORGE_HASH 0). Portable; its time depends on the length alone. */
#include "sha512.h"

#if RINGFORGE_HASH == 0 && RF_NEED_SHA2

/* The first 64 bits of the fractions of the cube roots of the first 80 primes. */
static const uint64_t rf_sha512_k[80] = {
    0x428a2f98d728ae22ULL, 0x7137449123ef65cdULL,
    0xb5c0fbcfec4d3b2fULL, 0xe9b5dba58189dbbcULL,
    0x3956c25bf348b538ULL, 0x59f111f1b605d019ULL,
    0x923f82a4af194f9bULL, 0xab1c5ed5da6d8118ULL,
    0xd807aa98a3030242ULL, 0x12835b0145706fbeULL,
    0x243185be4ee4b28cULL, 0x550c7dc3d5ffb4e2ULL,
    0x72be5d74f27b896fULL, 0x80deb1fe3b1696b1ULL,
    0x9bdc06a725c71235ULL, 0xc19bf174cf692694ULL,
    0xe49b69c19ef14ad2ULL, 0xefbe4786384f25e3ULL,
    0x0fc19dc68b8cd5b5ULL, 0x240ca1cc77ac9c65ULL,
    0x2de92c6f592b0275ULL, 0x4a7484aa6ea6e483ULL,
    0x5cb0a9dcbd41fbd4ULL, 0x76f988da831153b5ULL,
    0x983e5152ee66dfabULL, 0xa831c66d2db43210ULL,
    0xb00327c898fb213fULL, 0xbf597fc7beef0ee4ULL,
    0xc6e00bf33da88fc2ULL, 0xd5a79147930aa725ULL,
    0x06ca6351e003826fULL, 0x142929670a0e6e70ULL,
    0x27b70a8546d22ffcULL, 0x2e1b21385c26c926ULL,
    0x4d2c6dfc5ac42aedULL, 0x53380d139d95b3dfULL,
    0x650a73548baf63deULL, 0x766a0abb3c77b2a8ULL,
    0x81c2c92e47edaee6ULL, 0x92722c851482353bULL,
    0xa2bfe8a14cf10364ULL, 0xa81a664bbc423001ULL,
    0xc24b8b70d0f89791ULL, 0xc76c51a30654be30ULL,
    0xd192e819d6ef5218ULL, 0xd69906245565a910ULL,
    0xf40e35855771202aULL, 0x106aa07032bbd1b8ULL,
    0x19a4c116b8d2d0c8ULL, 0x1e376c085141ab53ULL,
    0x2748774cdf8eeb99ULL, 0x34b0bcb5e19b48a8ULL,
    0x391c0cb3c5c95a63ULL, 0x4ed8aa4ae3418acbULL,
    0x5b9cca4f7763e373ULL, 0x682e6ff3d6b2b8a3ULL,
    0x748f82ee5defb2fcULL, 0x78a5636f43172f60ULL,
    0x84c87814a1f0ab72ULL, 0x8cc702081a6439ecULL,
    0x90befffa23631e28ULL, 0xa4506cebde82bde9ULL,
    0xbef9a3f7b2c67915ULL, 0xc67178f2e372532bULL,
    0xca273eceea26619cULL, 0xd186b8c721c0c207ULL,
    0xeada7dd6cde0eb1eULL, 0xf57d4f7fee6ed178ULL,
    0x06f067aa72176fbaULL, 0x0a637dc5a2c898a6ULL,
    0x113f9804bef90daeULL, 0x1b710b35131c471bULL,
    0x28db77f523047d84ULL, 0x32caab7b40c72493ULL,
    0x3c9ebe0a15c9bebcULL, 0x431d67c49c100d4cULL,
    0x4cc5d4becb3e42b6ULL, 0x597f299cfc657e2aULL,
    0x5fcb6fab3ad6faecULL, 0x6c44198c4a475817ULL,
};

/* And of the square roots of the first 8. */
static const uint64_t rf_sha512_start[8] = {
    0x6a09e667f3bcc908ULL, 0xbb67ae8584caa73bULL,
    0x3c6ef372fe94f82bULL, 0xa54ff53a5f1d36f1ULL,
    0x510e527fade682d1ULL, 0x9b05688c2b3e6c1fULL,
    0x1f83d9abfb41bd6bULL, 0x5be0cd19137e2179ULL,
};

#define RF_ROR(x, n) ((x) >> (n) | (x) << (64 - (n)))
/*
 * One round, `word` being the schedule's plus the constant; the names of the state's words turn instead of
 * the words. The majority is b where a = b, else c: `both` holds b ^ c of this round and becomes a ^ b, which
 * is the next one's.
 */
#define RF_SHA512_ROUND(a, b, c, d, e, f, g, h, word)                                              \
    do {                                                                                           \
        uint64_t t_ = (a) ^ (b);                                                                   \
        (h) += (word) + (((e) & (f)) + (~(e) & (g))) + (RF_ROR(e, 14) ^ RF_ROR(e, 18) ^ RF_ROR(e, 41)); \
        (d) += (h);                                                                                \
        both &= t_;                                                                                \
        (h) += (both ^ (b)) + (RF_ROR(a, 28) ^ RF_ROR(a, 34) ^ RF_ROR(a, 39));                     \
        both = t_;                                                                                 \
    } while (0)
/* Eight rounds, after which the names are where they were. */
#define RF_SHA512_EIGHT(WORD)                                                                      \
    RF_SHA512_ROUND(a, b, c, d, e, f, g, h, WORD(0));                                              \
    RF_SHA512_ROUND(h, a, b, c, d, e, f, g, WORD(1));                                              \
    RF_SHA512_ROUND(g, h, a, b, c, d, e, f, WORD(2));                                              \
    RF_SHA512_ROUND(f, g, h, a, b, c, d, e, WORD(3));                                              \
    RF_SHA512_ROUND(e, f, g, h, a, b, c, d, WORD(4));                                              \
    RF_SHA512_ROUND(d, e, f, g, h, a, b, c, WORD(5));                                              \
    RF_SHA512_ROUND(c, d, e, f, g, h, a, b, WORD(6));                                              \
    RF_SHA512_ROUND(b, c, d, e, f, g, h, a, WORD(7))
#define RF_SHA512_BEGIN                                                                            \
    uint64_t a = state[0], b = state[1], c = state[2], d = state[3];                               \
    uint64_t e = state[4], f = state[5], g = state[6], h = state[7], both = b ^ c;
#define RF_SHA512_END                                                                              \
    state[0] += a;                                                                                 \
    state[1] += b;                                                                                 \
    state[2] += c;                                                                                 \
    state[3] += d;                                                                                 \
    state[4] += e;                                                                                 \
    state[5] += f;                                                                                 \
    state[6] += g;                                                                                 \
    state[7] += h;

static uint64_t rf_sha512_load(const uint8_t *p)
{
    return (uint64_t)p[0] << 56 | (uint64_t)p[1] << 48 | (uint64_t)p[2] << 40 | (uint64_t)p[3] << 32 |
           (uint64_t)p[4] << 24 | (uint64_t)p[5] << 16 | (uint64_t)p[6] << 8 | (uint64_t)p[7];
}

static void rf_sha512_store(uint8_t *p, uint64_t x)
{
    p[0] = (uint8_t)(x >> 56);
    p[1] = (uint8_t)(x >> 48);
    p[2] = (uint8_t)(x >> 40);
    p[3] = (uint8_t)(x >> 32);
    p[4] = (uint8_t)(x >> 24);
    p[5] = (uint8_t)(x >> 16);
    p[6] = (uint8_t)(x >> 8);
    p[7] = (uint8_t)x;
}

#if RINGFORGE_SMALL
/* All rounds and all of the schedule in one loop; the names of the state's words turn. */
#define RF_TURNED(i) s[((i) - (unsigned)n) & 7]
static void rf_sha512_blocks_c(uint64_t state[8], const uint8_t *in, size_t blocks)
{
    uint64_t w[16], s[8];
    int n;
    for (; blocks > 0; blocks--, in += 128) {
        memcpy(s, state, sizeof s);
        for (n = 0; n < 80; n++) {
            uint64_t x, y;
            if (n < 16) {
                x = rf_sha512_load(in + 8 * n);
            } else {
                x = w[(n + 1) & 15];
                y = w[(n + 14) & 15];
                x = w[n & 15] + (RF_ROR(x, 1) ^ RF_ROR(x, 8) ^ x >> 7) + w[(n + 9) & 15] +
                    (RF_ROR(y, 19) ^ RF_ROR(y, 61) ^ y >> 6);
            }
            w[n & 15] = x;
            y = RF_TURNED(4);
            x += rf_sha512_k[n] + RF_TURNED(7) + ((y & RF_TURNED(5)) + (~y & RF_TURNED(6))) +
                 (RF_ROR(y, 14) ^ RF_ROR(y, 18) ^ RF_ROR(y, 41));
            RF_TURNED(3) += x;
            y = RF_TURNED(0);
            RF_TURNED(7) = x + ((y & RF_TURNED(1)) ^ (RF_TURNED(2) & (y ^ RF_TURNED(1)))) +
                           (RF_ROR(y, 28) ^ RF_ROR(y, 34) ^ RF_ROR(y, 39));
        }
        for (n = 0; n < 8; n++)
            state[n] += s[n];
    }
}
#undef RF_TURNED
#else
/* The schedule's word 16 later takes a word's place as soon as that is used. */
#define RF_SHA512_NEXT(i)                                                                          \
    (w[i] += (RF_ROR(w[(i + 1) & 15], 1) ^ RF_ROR(w[(i + 1) & 15], 8) ^ w[(i + 1) & 15] >> 7) +    \
             w[(i + 9) & 15] +                                                                     \
             (RF_ROR(w[(i + 14) & 15], 19) ^ RF_ROR(w[(i + 14) & 15], 61) ^ w[(i + 14) & 15] >> 6))
#define RF_LOADED(i) (w[i] = rf_sha512_load(in + 8 * (i))) + rf_sha512_k[i]
#define RF_LOADED8(i) (w[8 + (i)] = rf_sha512_load(in + 64 + 8 * (i))) + rf_sha512_k[8 + (i)]
#define RF_MADE(i) RF_SHA512_NEXT(i) + rf_sha512_k[n + (i)]
#define RF_MADE8(i) RF_SHA512_NEXT((8 + (i))) + rf_sha512_k[n + 8 + (i)]

static void rf_sha512_blocks_c(uint64_t state[8], const uint8_t *in, size_t blocks)
{
    uint64_t w[16];
    for (; blocks > 0; blocks--, in += 128) {
        RF_SHA512_BEGIN
        int n;
        RF_SHA512_EIGHT(RF_LOADED);
        RF_SHA512_EIGHT(RF_LOADED8);
        for (n = 16; n < 80; n += 16) {
            RF_SHA512_EIGHT(RF_MADE);
            RF_SHA512_EIGHT(RF_MADE8);
        }
        RF_SHA512_END
    }
}
#endif

#if RF_HAVE_AVX2_CODE
#include <immintrin.h>

#define RF_TURN(x, n) _mm256_or_si256(_mm256_srli_epi64(x, n), _mm256_slli_epi64(x, 64 - (n)))
#define RF_XOR3(x, y, z) _mm256_xor_si256(_mm256_xor_si256(x, y), z)
/* Words i and i + 1 of both blocks, plus constants: where rounds take them from. */
#define RF_PUT(i, x)                                                                               \
    _mm256_storeu_si256((__m256i *)(void *)(words + 2 * (i)),                                      \
                        _mm256_add_epi64(x, _mm256_broadcastsi128_si256(_mm_loadu_si128(           \
                                                (const __m128i *)(const void *)(rf_sha512_k + (i))))))
/* The words 16 later than 2 j and 2 j + 1. */
#define RF_NEXT_PAIR(j)                                                                            \
    do {                                                                                           \
        __m256i x_ = _mm256_alignr_epi8(x[((j) + 1) % 8], x[j], 8), y_ = x[((j) + 7) % 8];         \
        x[j] = _mm256_add_epi64(x[j], _mm256_alignr_epi8(x[((j) + 5) % 8], x[((j) + 4) % 8], 8));  \
        x_ = RF_XOR3(RF_TURN(x_, 1), RF_TURN(x_, 8), _mm256_srli_epi64(x_, 7));                    \
        y_ = RF_XOR3(RF_TURN(y_, 19), RF_TURN(y_, 61), _mm256_srli_epi64(y_, 6));                  \
        x[j] = _mm256_add_epi64(x[j], _mm256_add_epi64(x_, y_));                                   \
        RF_PUT(n + 16 + 2 * (j), x[j]);                                                            \
    } while (0)
/* Two rounds of the first block, and the schedule 16 later of both. */
#define RF_TWO(a, b, c, d, e, f, g, h, j)                                                          \
    RF_NEXT_PAIR(j);                                                                               \
    RF_SHA512_ROUND(a, b, c, d, e, f, g, h, words[2 * n + 4 * (j)]);                               \
    RF_SHA512_ROUND(h, a, b, c, d, e, f, g, words[2 * n + 4 * (j) + 1])
/* Word i after word n of the first and of the second block; n is a multiple of 8. */
#define RF_FIRST(i) words[2 * n + (i) / 2 * 4 + (i) % 2]
#define RF_SECOND(i) words[2 * n + (i) / 2 * 4 + (i) % 2 + 2]

/*
 * One or two blocks, `second` being NULL or not: schedules lie side by side in registers of four words,
 * and are made beside the rounds of the first block. Needs BMI2 for turns without flags.
 */
RF_AVX2_BMI2 static void rf_sha512_two(uint64_t state[8], uint64_t words[160], const uint8_t *first, const uint8_t *second)
{
    const __m256i swap = _mm256_setr_epi8(7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2,
                                          1, 0, 15, 14, 13, 12, 11, 10, 9, 8);
    const uint8_t *other = second ? second : first;
    __m256i x[8];
    int n;
    for (n = 0; n < 8; n++) {
        __m128i low = _mm_loadu_si128((const __m128i *)(const void *)(first + 16 * n));
        __m128i high = _mm_loadu_si128((const __m128i *)(const void *)(other + 16 * n));
        x[n] = _mm256_shuffle_epi8(_mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1), swap);
        RF_PUT(2 * n, x[n]);
    }
    {
        RF_SHA512_BEGIN
        for (n = 0; n < 64; n += 16) {
            RF_TWO(a, b, c, d, e, f, g, h, 0);
            RF_TWO(g, h, a, b, c, d, e, f, 1);
            RF_TWO(e, f, g, h, a, b, c, d, 2);
            RF_TWO(c, d, e, f, g, h, a, b, 3);
            RF_TWO(a, b, c, d, e, f, g, h, 4);
            RF_TWO(g, h, a, b, c, d, e, f, 5);
            RF_TWO(e, f, g, h, a, b, c, d, 6);
            RF_TWO(c, d, e, f, g, h, a, b, 7);
        }
        for (; n < 80; n += 8) {
            RF_SHA512_EIGHT(RF_FIRST);
        }
        RF_SHA512_END
    }
    if (second) {
        RF_SHA512_BEGIN
        for (n = 0; n < 80; n += 8) {
            RF_SHA512_EIGHT(RF_SECOND);
        }
        RF_SHA512_END
    }
}

RF_AVX2_BMI2 static void rf_sha512_blocks_avx2(uint64_t state[8], const uint8_t *in, size_t blocks)
{
    uint64_t words[160];
    for (; blocks >= 2; blocks -= 2, in += 256)
        rf_sha512_two(state, words, in, in + 128);
    if (blocks > 0)
        rf_sha512_two(state, words, in, NULL);
}

/* Eight rounds again, of those that take the number of their word, from `o` on. */
#define RF_SHA512_ROUNDS(ROUND, o)                                                                 \
    ROUND(a, b, c, d, e, f, g, h, (o) + 0);                                                        \
    ROUND(h, a, b, c, d, e, f, g, (o) + 1);                                                        \
    ROUND(g, h, a, b, c, d, e, f, (o) + 2);                                                        \
    ROUND(f, g, h, a, b, c, d, e, (o) + 3);                                                        \
    ROUND(e, f, g, h, a, b, c, d, (o) + 4);                                                        \
    ROUND(d, e, f, g, h, a, b, c, (o) + 5);                                                        \
    ROUND(c, d, e, f, g, h, a, b, (o) + 6);                                                        \
    ROUND(b, c, d, e, f, g, h, a, (o) + 7)
#include "sha512_avx2.h"
#include "sha512_avx512vl.h"
#endif

void RF_NS(sha512_blocks)(uint64_t state[8], const uint8_t *in, size_t blocks)
{
#if RF_HAVE_AVX2_CODE
    if (rf_bmi2()) {
        rf_sha512_blocks_avx2(state, in, blocks);
        return;
    }
#endif
    rf_sha512_blocks_c(state, in, blocks);
}

void RF_NS(sha512_blocks_two)(uint64_t first[8], const uint8_t *in_first, uint64_t second[8], const uint8_t *in_second,
                              size_t blocks)
{
#if RF_HAVE_AVX2_CODE
    if (rf_avx512vl()) {
        rf_sha512_blocks_two_avx512vl(first, in_first, second, in_second, blocks);
        return;
    }
    if (rf_avx2()) {
        rf_sha512_blocks_two_avx2(first, in_first, second, in_second, blocks);
        return;
    }
#endif
    RF_NS(sha512_blocks)(first, in_first, blocks);
    RF_NS(sha512_blocks)(second, in_second, blocks);
}

void RF_NS(sha512_blocks_four)(uint64_t states[4][8], const uint8_t *const in[4], size_t blocks)
{
    int i;
#if RF_HAVE_AVX2_CODE
    if (rf_avx512vl()) {
        rf_sha512_blocks_four_avx512vl(states, in, blocks);
        return;
    }
    if (rf_avx2()) {
        rf_sha512_blocks_four_avx2(states, in, blocks);
        return;
    }
#endif
    for (i = 0; i < 4; i++)
        RF_NS(sha512_blocks)(states[i], in[i], blocks);
}

void RF_NS(sha512_begin)(uint64_t state[8])
{
    memcpy(state, rf_sha512_start, sizeof rf_sha512_start);
}

void RF_NS(sha512_end)(uint8_t out[64], const uint64_t state[8])
{
    int i;
    for (i = 0; i < 8; i++)
        rf_sha512_store(out + 8 * i, state[i]);
}

size_t RF_NS(sha512_pad)(uint8_t *tail, size_t rest, size_t len)
{
    size_t blocks = RF_SHA512_BLOCKS(rest), all = RF_SHA512_BLOCK * blocks;
    tail[rest] = 0x80;
    memset(tail + rest + 1, 0, all - rest - 9);
    tail[all - 9] = (uint8_t)((uint64_t)len >> 61);
    rf_sha512_store(tail + all - 8, (uint64_t)len << 3);
    return blocks;
}

int RF_HASH(sha512)(uint8_t out[64], const uint8_t *in, size_t len)
{
    uint64_t state[8];
    uint8_t last[3 * RF_SHA512_BLOCK]; /* what does not fill two blocks: two at a time are cheaper than one and one */
    size_t rest = len % (2 * RF_SHA512_BLOCK), whole = len - rest, blocks;
    RF_NS(sha512_begin)(state);
    if (whole > 0)
        RF_NS(sha512_blocks)(state, in, whole / RF_SHA512_BLOCK);
    if (rest > 0)
        memcpy(last, in + whole, rest);
    blocks = RF_NS(sha512_pad)(last, rest, len);
    RF_NS(sha512_blocks)(state, last, blocks);
    RF_NS(sha512_end)(out, state);
    return 0;
}

#undef RF_ROR
#undef RF_SHA512_ROUND
#undef RF_SHA512_EIGHT
#undef RF_SHA512_BEGIN
#undef RF_SHA512_END
#undef RF_SHA512_NEXT
#undef RF_LOADED
#undef RF_LOADED8
#undef RF_MADE
#undef RF_MADE8
#if RF_HAVE_AVX2_CODE
#undef RF_TURN
#undef RF_SHA512_ROUNDS
#undef RF_XOR3
#undef RF_PUT
#undef RF_NEXT_PAIR
#undef RF_TWO
#undef RF_FIRST
#undef RF_SECOND
#endif

#else
typedef int rf_no_builtin_sha2; /* C has no empty sources */
#endif
