/* Polynomials of ML-KEM; see poly.h. */
#include "poly.h"

#if RF_NEED_MLKEM

#include "../common/bits.h"
#include "../common/keccak.h"
#if RF_HAVE_AVX2_CODE
#include "poly_avx2.h"
#endif

/* The multipliers, from the forge (lib/generated). */
void RF_NS(mlkem_forward_c)(int16_t c[256], const int16_t a[256]);
void RF_NS(mlkem_inverse_c)(int16_t c[256], const int16_t a[256]);
void RF_NS(mlkem_accumulate_c)(int16_t c[256], const int16_t a[256], const int16_t b[256]);
void RF_NS(mlkem_to_standard_c)(int16_t c[256], const int16_t a[256]);
void RF_NS(mlkem_from_standard_c)(int16_t c[256], const int16_t a[256]);
#if RF_HAVE_AVX2_CODE
void RF_NS(mlkem_forward_avx2)(int16_t c[256], const int16_t a[256]);
void RF_NS(mlkem_inverse_avx2)(int16_t c[256], const int16_t a[256]);
void RF_NS(mlkem_accumulate_avx2)(int16_t c[256], const int16_t a[256], const int16_t b[256]);
void RF_NS(mlkem_to_standard_avx2)(int16_t c[256], const int16_t a[256]);
void RF_NS(mlkem_from_standard_avx2)(int16_t c[256], const int16_t a[256]);
#define RF_MLKEM_CALL(what, arguments)                                                             \
    do {                                                                                           \
        if (rf_avx2())                                                                             \
            RF_NS(mlkem_##what##_avx2) arguments;                                                  \
        else                                                                                       \
            RF_NS(mlkem_##what##_c) arguments;                                                     \
    } while (0)
#else
#define RF_MLKEM_CALL(what, arguments) RF_NS(mlkem_##what##_c) arguments
#endif

void RF_NS(mlkem_forward)(int16_t c[256], const int16_t a[256])
{
    RF_MLKEM_CALL(forward, (c, a));
}

void RF_NS(mlkem_inverse)(int16_t c[256], const int16_t a[256])
{
    RF_MLKEM_CALL(inverse, (c, a));
}

void RF_NS(mlkem_accumulate)(int16_t c[256], const int16_t a[256], const int16_t b[256])
{
    RF_MLKEM_CALL(accumulate, (c, a, b));
}

void RF_NS(mlkem_to_standard)(int16_t a[256])
{
    RF_MLKEM_CALL(to_standard, (a, a));
}

void RF_NS(mlkem_from_standard)(int16_t a[256])
{
    RF_MLKEM_CALL(from_standard, (a, a));
}

/*
 * x mod 3329 in [0, 3328] for any x. 20159 is 2^26 / 3329 rounded, so the quotient is the nearest
 * integer or one beside it for |x| <= 2^15, and x minus it lies in [-1664, 1664] for all of them.
 */
static inline int16_t rf_mlkem_residue(int16_t x)
{
    int32_t quotient = (20159 * (int32_t)x + (1 << 25)) >> 26;
    int32_t rest = x - quotient * RF_MLKEM_Q;
    return (int16_t)(rest + (RF_MLKEM_Q & (rest >> 15)));
}

/* 2^16 x + y mod 3329 in [0, 3328], by Montgomery's reduction of 2^32 x: 1353 = 2^32, 62209 = 1 / 3329. */
static inline int16_t rf_mlkem_scaled(int16_t x, int16_t y)
{
    int32_t product = 1353 * (int32_t)x;
    int16_t low = (int16_t)(uint16_t)((uint32_t)product * 62209u);
    int32_t scaled = (product - (int32_t)low * RF_MLKEM_Q) >> 16;
    return rf_mlkem_residue((int16_t)(scaled + y));
}

/*
 * Compress_d: x 2^d / 3329 rounded, d <= 11. 20159 is more than 2^26 / 3329, by so little that the quotient
 * is right or one too large, and then the rest is negative.
 */
static inline int16_t rf_mlkem_compressed(int16_t x, int d)
{
    int32_t y = rf_mlkem_residue(x), dividend = (y << d) + RF_MLKEM_Q / 2;
    int32_t quotient = (y * 20159 + (1 << (25 - d))) >> (26 - d);
    quotient += (dividend - quotient * RF_MLKEM_Q) >> 31;
    return (int16_t)(quotient & ((1 << d) - 1));
}

static inline int16_t rf_mlkem_decompressed(int16_t x, int d)
{
    return (int16_t)(((uint32_t)x * RF_MLKEM_Q + ((uint32_t)1 << (d - 1))) >> d);
}

/* Loops over all coefficients i, compiled for both machines. */
#if RF_HAVE_AVX2_CODE
#define RF_MLKEM_LOOP(name, declared, arguments, body)                                             \
    static void rf_mlkem_##name##_c declared                                                       \
    {                                                                                              \
        int i;                                                                                     \
        for (i = 0; i < 256; i++)                                                                  \
            body;                                                                                  \
    }                                                                                              \
    RF_AVX2 static void rf_mlkem_##name##_avx2 declared                                            \
    {                                                                                              \
        int i;                                                                                     \
        for (i = 0; i < 256; i++)                                                                  \
            body;                                                                                  \
    }                                                                                              \
    void RF_NS(mlkem_##name) declared                                                              \
    {                                                                                              \
        if (rf_avx2())                                                                             \
            rf_mlkem_##name##_avx2 arguments;                                                      \
        else                                                                                       \
            rf_mlkem_##name##_c arguments;                                                         \
    }
#else
#define RF_MLKEM_LOOP(name, declared, arguments, body)                                             \
    void RF_NS(mlkem_##name) declared                                                              \
    {                                                                                              \
        int i;                                                                                     \
        for (i = 0; i < 256; i++)                                                                  \
            body;                                                                                  \
    }
#endif

RF_MLKEM_LOOP(freeze, (int16_t a[256]), (a), a[i] = rf_mlkem_residue(a[i]))
RF_MLKEM_LOOP(center, (int16_t a[256]), (a),
              a[i] = (int16_t)(a[i] - (RF_MLKEM_Q & ((RF_MLKEM_Q / 2 - a[i]) >> 15))))
RF_MLKEM_LOOP(scale_add, (int16_t a[256], const int16_t b[256]), (a, b), a[i] = rf_mlkem_scaled(a[i], b[i]))
RF_MLKEM_LOOP(add, (int16_t a[256], const int16_t b[256]), (a, b), a[i] = (int16_t)(a[i] + b[i]))
RF_MLKEM_LOOP(round, (int16_t c[256], const int16_t a[256], int d), (c, a, d),
              c[i] = rf_mlkem_compressed(a[i], d))
RF_MLKEM_LOOP(unround, (int16_t a[256], int d), (a, d), a[i] = rf_mlkem_decompressed(a[i], d))

void RF_NS(mlkem_encode)(uint8_t out[384], const int16_t a[256])
{
    int i;
#if RF_HAVE_AVX2_CODE
    if (rf_avx2()) {
        rf_mlkem_encode_avx2(out, a);
        return;
    }
#endif
    for (i = 0; i < 128; i++) {
        uint32_t pair = (uint32_t)a[2 * i] | (uint32_t)a[2 * i + 1] << 12;
        out[3 * i] = (uint8_t)pair;
        out[3 * i + 1] = (uint8_t)(pair >> 8);
        out[3 * i + 2] = (uint8_t)(pair >> 16);
    }
}

uint32_t RF_NS(mlkem_decode)(int16_t a[256], const uint8_t in[384])
{
    uint32_t large = 0;
    int i;
#if RF_HAVE_AVX2_CODE
    if (rf_avx2())
        return rf_mlkem_decode_avx2(a, in);
#endif
    for (i = 0; i < 128; i++) {
        uint32_t pair = (uint32_t)in[3 * i] | (uint32_t)in[3 * i + 1] << 8 | (uint32_t)in[3 * i + 2] << 16;
        uint32_t low = pair & 4095, high = pair >> 12;
        large |= (RF_MLKEM_Q - 1 - low) | (RF_MLKEM_Q - 1 - high);
        a[2 * i] = (int16_t)low;
        a[2 * i + 1] = (int16_t)high;
    }
    return large >> 31;
}

void RF_NS(mlkem_compress)(uint8_t *out, const int16_t a[256], int d)
{
    rf_bit_writer w = {0, 0, out};
    int16_t c[256];
    int i;
    RF_NS(mlkem_round)(c, a, d);
    for (i = 0; i < 256; i++)
        rf_put(&w, (uint32_t)c[i], d);
    rf_zeroize(c, sizeof c);
}

void RF_NS(mlkem_decompress)(int16_t a[256], const uint8_t *in, int d)
{
    rf_bit_reader r = {0, 0, in, in + 32 * d};
    int i;
    for (i = 0; i < 256; i++)
        a[i] = (int16_t)rf_get(&r, d);
    RF_NS(mlkem_unround)(a, d);
}

/* The first 256 words below 3329 among those of 12 bits in len bytes; their number. */
static int rf_mlkem_accept(int16_t a[256], const uint8_t *in, size_t len)
{
    size_t i;
    int have = 0;
#if RF_HAVE_AVX2_CODE
    if (rf_bmi2()) {
        int16_t all[272];
        have = rf_mlkem_accept_bmi2(all, in, len);
        memcpy(a, all, 256 * sizeof *a);
        return have < 256 ? have : 256;
    }
#endif
    for (i = 0; i + 3 <= len && have < 256; i += 3) {
        int low = in[i] | (in[i + 1] & 15) << 8, high = in[i + 1] >> 4 | in[i + 2] << 4;
        a[have] = (int16_t)low;
        have += low < RF_MLKEM_Q;
        if (have < 256) {
            a[have] = (int16_t)high;
            have += high < RF_MLKEM_Q;
        }
    }
    return have;
}

/* Three blocks of SHAKE128 give 256 coefficients in 99 of 100 cases, five in all but 2^-261. */
#define RF_MLKEM_BLOCKS 504
#define RF_MLKEM_MORE_BLOCKS 840

int RF_NS(mlkem_uniform)(int16_t a[4][256], int count, const uint8_t seed[32], uint8_t index[4][2])
{
    uint8_t in[4][34], out[4][RF_MLKEM_BLOCKS], more[RF_MLKEM_MORE_BLOCKS];
    int ready = 0, i;
    for (i = 0; i < 4; i++) {
        memcpy(in[i], seed, 32);
        in[i][32] = index[i < count ? i : 0][0];
        in[i][33] = index[i < count ? i : 0][1];
    }
#if RF_HAVE_SHAKE_X4
    if (count > 1 && rf_shake_x4()) {
        uint8_t *const outs[4] = {out[0], out[1], out[2], out[3]};
        const uint8_t *const ins[4] = {in[0], in[1], in[2], in[3]};
        RF_NS(shake128_x4)(outs, RF_MLKEM_BLOCKS, ins, 34);
        ready = 1;
    }
#endif
    for (i = 0; i < count; i++) {
        if (!ready && RF_NS(shake128)(out[i], RF_MLKEM_BLOCKS, in[i], 34) != 0)
            return RINGFORGE_ERR_HASH;
        if (rf_mlkem_accept(a[i], out[i], RF_MLKEM_BLOCKS) < 256) {
            if (RF_NS(shake128)(more, RF_MLKEM_MORE_BLOCKS, in[i], 34) != 0 ||
                rf_mlkem_accept(a[i], more, RF_MLKEM_MORE_BLOCKS) < 256)
                return RINGFORGE_ERR_HASH;
        }
        RF_NS(mlkem_from_standard)(a[i]);
    }
    return 0;
}

/* Centred binomial noise: the sum of eta bits minus the sum of the next eta. */
static void rf_mlkem_binomial2(int16_t a[256], const uint8_t *in)
{
    int i, j;
#if RF_HAVE_AVX2_CODE
    if (rf_avx2()) {
        rf_mlkem_binomial2_avx2(a, in);
        return;
    }
#endif
    for (i = 0; i < 32; i++) {
        uint32_t word = rf_load32(in + 4 * i);
        uint32_t sums = (word & 0x55555555u) + (word >> 1 & 0x55555555u);
        for (j = 0; j < 8; j++)
            a[8 * i + j] = (int16_t)((int)(sums >> (4 * j) & 3) - (int)(sums >> (4 * j + 2) & 3));
    }
}

static void rf_mlkem_binomial3(int16_t a[256], const uint8_t *in)
{
    int i, j;
    for (i = 0; i < 64; i++) {
        uint32_t word = (uint32_t)in[3 * i] | (uint32_t)in[3 * i + 1] << 8 | (uint32_t)in[3 * i + 2] << 16;
        uint32_t sums = (word & 0x249249u) + (word >> 1 & 0x249249u) + (word >> 2 & 0x249249u);
        for (j = 0; j < 4; j++)
            a[4 * i + j] = (int16_t)((int)(sums >> (6 * j) & 7) - (int)(sums >> (6 * j + 3) & 7));
    }
}

int RF_NS(mlkem_noise)(int16_t (*a)[256], int count, int eta, const uint8_t seed[32], uint8_t nonce)
{
    uint8_t in[4][33], out[4][192];
    size_t len = (size_t)(64 * eta);
    int at, i, error = 0;
    for (at = 0; at < count && error == 0; at += 4) {
        int now = count - at < 4 ? count - at : 4, ready = 0;
        for (i = 0; i < 4; i++) {
            memcpy(in[i], seed, 32);
            in[i][32] = (uint8_t)(nonce + at + i);
        }
#if RF_HAVE_SHAKE_X4
        if (now > 1 && rf_shake_x4()) {
            uint8_t *const outs[4] = {out[0], out[1], out[2], out[3]};
            const uint8_t *const ins[4] = {in[0], in[1], in[2], in[3]};
            RF_NS(shake256_x4)(outs, len, ins, 33);
            ready = 1;
        }
#endif
        for (i = 0; i < now && error == 0; i++) {
            if (!ready && RF_NS(shake256)(out[i], len, in[i], 33) != 0)
                error = RINGFORGE_ERR_HASH;
            else if (eta == 2)
                rf_mlkem_binomial2(a[at + i], out[i]);
            else
                rf_mlkem_binomial3(a[at + i], out[i]);
        }
    }
    rf_zeroize(in, sizeof in);
    rf_zeroize(out, sizeof out);
    return error;
}

#undef RF_MLKEM_CALL
#undef RF_MLKEM_LOOP
#undef RF_MLKEM_BLOCKS
#undef RF_MLKEM_MORE_BLOCKS

#endif /* RF_NEED_MLKEM */
