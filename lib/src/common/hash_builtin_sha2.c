/* SHA-512 [FIPS180-4], built in (RINGFORGE_HASH 0). Portable; its time depends on the length alone. */
#include "common.h"

#if RINGFORGE_HASH == 0

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
#define RF_W(i) w[(i) & 15]
/* One round; the names of the state's words turn instead of the words. The schedule's next word is
 * made as soon as its last use is over. */
#define RF_SHA512_ROUND(a, b, c, d, e, f, g, h, i)                                                 \
    do {                                                                                           \
        uint64_t t = (h) + (RF_ROR(e, 14) ^ RF_ROR(e, 18) ^ RF_ROR(e, 41)) +                       \
                     ((g) ^ ((e) & ((f) ^ (g)))) + rf_sha512_k[i] + RF_W(i);                       \
        (d) += t;                                                                                  \
        (h) = t + (RF_ROR(a, 28) ^ RF_ROR(a, 34) ^ RF_ROR(a, 39)) +                                \
              (((a) & (b)) | ((c) & ((a) | (b))));                                                 \
    } while (0)
#define RF_SHA512_NEXT(i)                                                                          \
    (RF_W(i) += (RF_ROR(RF_W((i) + 1), 1) ^ RF_ROR(RF_W((i) + 1), 8) ^ RF_W((i) + 1) >> 7) +       \
                RF_W((i) + 9) +                                                                    \
                (RF_ROR(RF_W((i) + 14), 19) ^ RF_ROR(RF_W((i) + 14), 61) ^ RF_W((i) + 14) >> 6))

static uint64_t rf_sha512_load(const uint8_t *p)
{
    uint64_t x = 0;
    int i;
    for (i = 0; i < 8; i++)
        x = x << 8 | p[i];
    return x;
}

static void rf_sha512_block(uint64_t state[8], const uint8_t *in)
{
    uint64_t w[16];
    uint64_t a = state[0], b = state[1], c = state[2], d = state[3];
    uint64_t e = state[4], f = state[5], g = state[6], h = state[7];
    int i;
    for (i = 0; i < 16; i++)
        w[i] = rf_sha512_load(in + 8 * i);
    for (i = 0; i < 80; i += 8) {
        RF_SHA512_ROUND(a, b, c, d, e, f, g, h, i);
        RF_SHA512_ROUND(h, a, b, c, d, e, f, g, i + 1);
        RF_SHA512_ROUND(g, h, a, b, c, d, e, f, i + 2);
        RF_SHA512_ROUND(f, g, h, a, b, c, d, e, i + 3);
        RF_SHA512_ROUND(e, f, g, h, a, b, c, d, i + 4);
        RF_SHA512_ROUND(d, e, f, g, h, a, b, c, i + 5);
        RF_SHA512_ROUND(c, d, e, f, g, h, a, b, i + 6);
        RF_SHA512_ROUND(b, c, d, e, f, g, h, a, i + 7);
        if (i < 64) {
            int j;
            for (j = i; j < i + 8; j++)
                RF_SHA512_NEXT(j);
        }
    }
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
    state[4] += e;
    state[5] += f;
    state[6] += g;
    state[7] += h;
    rf_zeroize(w, sizeof w);
}

int RF_NS(sha512)(uint8_t out[64], const uint8_t *in, size_t len)
{
    uint64_t state[8];
    uint8_t last[256] = {0}; /* what does not fill a block, with the padding */
    size_t rest = len % 128, blocks = rest < 112 ? 1 : 2, i;
    memcpy(state, rf_sha512_start, sizeof state);
    for (i = 0; i + 128 <= len; i += 128)
        rf_sha512_block(state, in + i);
    if (rest > 0)
        memcpy(last, in + i, rest);
    last[rest] = 0x80;
    for (i = 0; i < sizeof len; i++)
        last[128 * blocks - 1 - i] = (uint8_t)(len << 3 >> (8 * i));
    last[128 * blocks - 1 - sizeof len] = (uint8_t)(len >> (8 * sizeof len - 3));
    rf_sha512_block(state, last);
    if (blocks == 2)
        rf_sha512_block(state, last + 128);
    for (i = 0; i < 64; i++)
        out[i] = (uint8_t)(state[i / 8] >> (56 - 8 * (i % 8)));
    rf_zeroize(last, sizeof last);
    rf_zeroize(state, sizeof state);
    return 0;
}

#undef RF_ROR
#undef RF_W
#undef RF_SHA512_ROUND
#undef RF_SHA512_NEXT

#else
typedef int rf_no_builtin_sha2; /* C has no empty sources */
#endif
