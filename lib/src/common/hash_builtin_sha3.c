/* SPDX-License-Identifier: Apache-2.0 OR MIT OR ISC OR CC0-1.0 */
/*
 * hash_builtin_sha3.c: SHA3-256, SHA3-512, SHAKE128 and SHAKE256 [FIPS202], one at a time in
 * portable C and four side by side with AVX2, both with AVX-512 where there is. Nothing here depends on data but
 * lengths.
 */
#include "keccak.h"

#if RINGFORGE_HASH == 0 && RF_NEED_SHA3

static const uint64_t rf_keccak_constants[24] = {
    0x0000000000000001u, 0x0000000000008082u, 0x800000000000808au, 0x8000000080008000u,
    0x000000000000808bu, 0x0000000080000001u, 0x8000000080008081u, 0x8000000000008009u,
    0x000000000000008au, 0x0000000000000088u, 0x0000000080008009u, 0x000000008000000au,
    0x000000008000808bu, 0x800000000000008bu, 0x8000000000008089u, 0x8000000000008003u,
    0x8000000000008002u, 0x8000000000000080u, 0x000000000000800au, 0x800000008000000au,
    0x8000000080008081u, 0x8000000000008080u, 0x0000000080000001u, 0x8000000080008008u,
};

#if RINGFORGE_SMALL
/* A round in place, step by step [FIPS202 §3.2]: where a lane goes, and how far it turns on the way. */
static void rf_keccak_c(uint64_t a[25])
{
    static const uint8_t to[24] = {10, 7, 11, 17, 18, 3, 5, 16, 8, 21, 24, 4, 15, 23, 19, 13, 12, 2, 20, 14, 22, 9, 6, 1};
    static const uint8_t turn[24] = {1, 3, 6, 10, 15, 21, 28, 36, 45, 55, 2, 14, 27, 41, 56, 8, 25, 43, 62, 18, 39, 61, 20, 44};
    uint64_t c[7], t; /* five lanes, and the first two again behind them */
    int round, x, y;
    for (round = 0; round < 24; round++) {
        for (x = 0; x < 5; x++)
            c[x + 1] = a[x] ^ a[x + 5] ^ a[x + 10] ^ a[x + 15] ^ a[x + 20];
        c[0] = c[5];
        c[6] = c[1];
        for (x = 0; x < 5; x++) {
            t = c[x] ^ (c[x + 2] << 1 | c[x + 2] >> 63);
            for (y = 0; y < 25; y += 5)
                a[y + x] ^= t;
        }
        t = a[1];
        for (x = 0; x < 24; x++) {
            c[0] = a[to[x]];
            a[to[x]] = t << turn[x] | t >> (64 - turn[x]);
            t = c[0];
        }
        for (y = 0; y < 25; y += 5) {
            memcpy(c, a + y, 5 * sizeof *c);
            c[5] = c[0];
            c[6] = c[1];
            for (x = 0; x < 5; x++)
                a[y + x] = c[x] ^ (~c[x + 1] & c[x + 2]);
        }
        a[0] ^= rf_keccak_constants[round];
    }
}
#else
/*
 * One round from state a to state e, lane (x, y) at 5y + x. Rows of e: lane x of row y comes from
 * lane (x + 3y, x) of a, turned by its own offset; WORD, XOR, XOR3, CHI(a, b, c) = a ^ (~b & c) and TURN
 * say what a lane is.
 */
#define RF_KECCAK_ROW(e, y, a, d, s0, t0, s1, t1, s2, t2, s3, t3, s4, t4)                          \
    b0 = TURN(XOR(a[s0], d[s0 % 5]), t0);                                                          \
    b1 = TURN(XOR(a[s1], d[s1 % 5]), t1);                                                          \
    b2 = TURN(XOR(a[s2], d[s2 % 5]), t2);                                                          \
    b3 = TURN(XOR(a[s3], d[s3 % 5]), t3);                                                          \
    b4 = TURN(XOR(a[s4], d[s4 % 5]), t4);                                                          \
    e[5 * y] = CHI(b0, b1, b2);                                                                    \
    e[5 * y + 1] = CHI(b1, b2, b3);                                                                \
    e[5 * y + 2] = CHI(b2, b3, b4);                                                                \
    e[5 * y + 3] = CHI(b3, b4, b0);                                                                \
    e[5 * y + 4] = CHI(b4, b0, b1);

#define RF_KECCAK_SUM(a, x) XOR3(XOR3(a[x], a[x + 5], a[x + 10]), a[x + 15], a[x + 20])

#define RF_KECCAK_ROUND(e, a, constant)                                                            \
    do {                                                                                           \
        WORD b0 = RF_KECCAK_SUM(a, 0), b1 = RF_KECCAK_SUM(a, 1), b2 = RF_KECCAK_SUM(a, 2);         \
        WORD b3 = RF_KECCAK_SUM(a, 3), b4 = RF_KECCAK_SUM(a, 4), d[5];                             \
        d[0] = XOR(b4, TURN(b1, 1));                                                               \
        d[1] = XOR(b0, TURN(b2, 1));                                                               \
        d[2] = XOR(b1, TURN(b3, 1));                                                               \
        d[3] = XOR(b2, TURN(b4, 1));                                                               \
        d[4] = XOR(b3, TURN(b0, 1));                                                               \
        RF_KECCAK_ROW(e, 0, a, d, 0, 0, 6, 44, 12, 43, 18, 21, 24, 14)                             \
        e[0] = XOR(e[0], constant);                                                                \
        RF_KECCAK_ROW(e, 1, a, d, 3, 28, 9, 20, 10, 3, 16, 45, 22, 61)                             \
        RF_KECCAK_ROW(e, 2, a, d, 1, 1, 7, 6, 13, 25, 19, 8, 20, 18)                               \
        RF_KECCAK_ROW(e, 3, a, d, 4, 27, 5, 36, 11, 10, 17, 15, 23, 56)                            \
        RF_KECCAK_ROW(e, 4, a, d, 2, 62, 8, 55, 14, 39, 15, 41, 21, 2)                             \
    } while (0)

#define WORD uint64_t
#define XOR(a, b) ((a) ^ (b))
#define XOR3(a, b, c) ((a) ^ (b) ^ (c))
#define CHI(a, b, c) ((a) ^ (~(b) & (c)))
#define TURN(a, t) ((a) << (t) | (a) >> ((64 - (t)) & 63))

#define RF_KECCAK_ALL                                                                              \
    uint64_t a[25], e[25];                                                                         \
    int i;                                                                                         \
    for (i = 0; i < 25; i++)                                                                       \
        a[i] = state[i];                                                                           \
    for (i = 0; i < 24; i += 2) {                                                                  \
        RF_KECCAK_ROUND(e, a, rf_keccak_constants[i]);                                             \
        RF_KECCAK_ROUND(a, e, rf_keccak_constants[i + 1]);                                         \
    }                                                                                              \
    for (i = 0; i < 25; i++)                                                                       \
        state[i] = a[i];

static void rf_keccak_c(uint64_t state[25])
{
    RF_KECCAK_ALL
}

#if RF_HAVE_AVX2_CODE
/* The same text; the compiler has rorx and andn for it. */
RF_AVX2_BMI2 static void rf_keccak_bmi2(uint64_t state[25])
{
    RF_KECCAK_ALL
}
#endif

#undef WORD
#undef XOR
#undef XOR3
#undef CHI
#undef TURN
#endif

#if RF_HAVE_AVX2_CODE
#include "keccak_avx512vl.h"
#endif

static void rf_keccak(uint64_t state[25])
{
#if RF_HAVE_AVX2_CODE
    if (rf_avx512vl()) {
        rf_keccak_avx512vl(state);
        return;
    }
    if (rf_bmi2()) {
        rf_keccak_bmi2(state);
        return;
    }
#endif
    rf_keccak_c(state);
}

#undef RF_KECCAK_ALL

static uint64_t rf_keccak_load(const uint8_t *p)
{
    return (uint64_t)rf_load32(p) | (uint64_t)rf_load32(p + 4) << 32;
}

/* The sponge: out_len bytes out of len bytes, with the suffix (and first bit of padding) given. */
static void rf_sponge_one(uint8_t *out, size_t out_len, const uint8_t *in, size_t len, size_t rate,
                      uint8_t suffix)
{
    uint64_t state[25];
    size_t i;
    memset(state, 0, sizeof state);
    while (len >= rate) {
        for (i = 0; i < rate / 8; i++)
            state[i] ^= rf_keccak_load(in + 8 * i);
        rf_keccak(state);
        in += rate;
        len -= rate;
    }
    for (i = 0; i + 8 <= len; i += 8)
        state[i / 8] ^= rf_keccak_load(in + i);
    for (; i < len; i++)
        state[i / 8] ^= (uint64_t)in[i] << (8 * (i % 8));
    state[len / 8] ^= (uint64_t)suffix << (8 * (len % 8));
    state[rate / 8 - 1] ^= (uint64_t)1 << 63;
    while (out_len > 0) {
        size_t now = out_len < rate ? out_len : rate;
        rf_keccak(state);
        for (i = 0; i < now; i++)
            out[i] = (uint8_t)(state[i / 8] >> (8 * (i % 8)));
        out += now;
        out_len -= now;
    }
}

int RF_HASH(sha3_256)(uint8_t out[32], const uint8_t *in, size_t len)
{
    rf_sponge_one(out, 32, in, len, RF_SHA3_256_RATE, 0x06);
    return 0;
}

int RF_HASH(sha3_512)(uint8_t out[64], const uint8_t *in, size_t len)
{
    rf_sponge_one(out, 64, in, len, RF_SHA3_512_RATE, 0x06);
    return 0;
}

int RF_HASH(shake128)(uint8_t *out, size_t out_len, const uint8_t *in, size_t len)
{
    rf_sponge_one(out, out_len, in, len, RF_SHAKE128_RATE, 0x1f);
    return 0;
}

int RF_HASH(shake256)(uint8_t *out, size_t out_len, const uint8_t *in, size_t len)
{
    rf_sponge_one(out, out_len, in, len, RF_SHAKE256_RATE, 0x1f);
    return 0;
}

#if RF_HAVE_FOUR
#include "keccak_four_avx2.h"
#endif

#undef RF_KECCAK_ROW
#undef RF_KECCAK_SUM
#undef RF_KECCAK_ROUND

#else
typedef int rf_no_builtin_sha3; /* C has no empty sources */
#endif /* RINGFORGE_HASH == 0 && RF_NEED_SHA3 */
