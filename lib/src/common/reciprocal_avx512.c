/* SPDX-License-Identifier: Apache-2.0 OR MIT OR ISC OR CC0-1.0 */
/*
 * reciprocal_avx512.c: inverses modulo 2 and 3 by constant-time division steps [BY19], one by one.
 *
 * With f the modulus and g the element, coefficients reversed, and v = 0, r = 1, a step is
 *   (f, g) <- (f or g, (g - f g0 / f0) / x)      and        (v, r) <- (v or r, (r - v g0 / f0) / x)
 * where g and r are taken if delta > 0 and g0 is not 0. After 2 degree - 1 steps f is a constant, and v / f the inverse,
 * reversed and times a power of x.
 *
 * f and v lie in `regs` registers, and so do g and r: f and g in the lower halves, v and r in the upper ones. Coefficient i is
 * bit i / regs of the half of register i mod regs, so that dividing by x renames registers and moves bits in one of them. What
 * falls out at x^0 comes in at the other end: of g that is 0, and v and r have at most degree + 1 coefficients side by side.
 *
 * Modulo 3 a coefficient is two bits: whether it is not 0, and whether it is negative, which means nothing where it is 0.
 */
#include "reciprocal.h"

#if RF_HAVE_AVX512_CODE && RF_NEED_RECIPROCAL
#include <immintrin.h>

#define RF_MOST_REGS 6
#define RF_CYCLE(regs) (256 * (regs)) /* coefficients that there are places for */

/* The bits of a[last], …, a[0] as coefficients from x^0 on: those at 0, and those at 15. */
RF_AVX512 static void rf_bits_of(uint64_t *low, uint64_t *high, int regs, const int16_t *a, int last)
{
    int16_t words[RF_CYCLE(RF_MOST_REGS)] = {0}; /* a register's coefficients behind those of the one before */
    int reg, i;
    for (reg = 0; reg < regs; reg++) {
        int16_t *to = words + 256 * reg;
        for (i = last - reg; i >= 0; i -= regs)
            *to++ = a[i];
        for (i = 0; i < 4; i++) {
            const __m512i x = _mm512_loadu_si512(words + 256 * reg + 64 * i), y = _mm512_loadu_si512(words + 256 * reg + 64 * i + 32);
            const __m512i one = _mm512_set1_epi16(1);
            low[8 * reg + i] = _mm512_test_epi16_mask(x, one) | (uint64_t)_mm512_test_epi16_mask(y, one) << 32;
            high[8 * reg + i] = _mm512_movepi16_mask(x) | (uint64_t)_mm512_movepi16_mask(y) << 32;
        }
    }
}

/* The inverse from v: coefficients -1, 0 and 1, or 0 and 1 where all of `negative` is 0. */
RF_AVX512 static void rf_bits_out(int16_t *out, const uint64_t *nonzero, const uint64_t *negative, int regs, int degree)
{
    int16_t words[256], all[RF_CYCLE(RF_MOST_REGS)];
    int reg, i;
    for (reg = 0; reg < regs; reg++) {
        int at = RF_CYCLE(regs) + 1 - degree - reg;
        for (i = 0; i < 8; i++) {
            const __mmask32 x = (__mmask32)(nonzero[8 * reg + 4 + i / 2] >> 32 * (i % 2));
            const __mmask32 y = (__mmask32)(negative[8 * reg + 4 + i / 2] >> 32 * (i % 2));
            const __m512i signs = _mm512_or_si512(_mm512_movm_epi16(y), _mm512_set1_epi16(1));
            _mm512_storeu_si512(words + 32 * i, _mm512_maskz_mov_epi16(x, signs));
        }
        for (i = 0; i < 256; i++, at -= regs)
            all[at < 0 ? at + RF_CYCLE(regs) : at] = words[i];
    }
    memcpy(out, all, (size_t)degree * sizeof *out);
}

/* All ones if bit 0 of a register is 1. */
RF_AVX512 static inline __m512i rf_bits_all(__m512i x)
{
    return _mm512_srai_epi64(_mm512_slli_epi64(_mm512_broadcastq_epi64(_mm512_castsi512_si128(x)), 63), 63);
}

/* y / x. */
RF_AVX512 static inline void rf_bits_down(__m512i y[RF_MOST_REGS], const int regs)
{
    const __m512i first = _mm512_shrdi_epi64(y[0], _mm512_permutex_epi64(y[0], 0x39), 1);
    y[0] = y[1]; /* a loop would become a memmove, and the registers memory */
    if (regs > 2)
        y[1] = y[2];
    if (regs > 3)
        y[2] = y[3];
    if (regs > 4)
        y[3] = y[4];
    if (regs > 5)
        y[4] = y[5];
    y[regs - 1] = first;
}

/*
 * What a step does, from g0: all ones where f is subtracted, and where the two swap. delta, whose negative is kept, becomes
 * 1 + delta or 1 - delta.
 */
#define RF_BITS_BEGIN(g)                                                                           \
    const __m512i times = rf_bits_all(g), less = _mm512_sub_epi64(minus_delta, one);               \
    const __m512i swap = _mm512_and_si512(times, _mm512_srai_epi64(minus_delta, 63));              \
    minus_delta = _mm512_ternarylogic_epi64(swap, minus_delta, less, 0x3a)
/* swap ? a : b */
#define RF_BITS_CHOOSE(a, b) _mm512_ternarylogic_epi64(swap, a, b, 0xca)

RF_AVX512 static inline void rf_steps2(uint64_t *x_words, const uint64_t *y_words, const int regs, int steps)
{
    const __m512i one = _mm512_set1_epi64(1);
    __m512i x[RF_MOST_REGS], y[RF_MOST_REGS], minus_delta = _mm512_set1_epi64(-1);
    int i;
    for (i = 0; i < regs; i++) {
        x[i] = _mm512_loadu_si512(x_words + 8 * i);
        y[i] = _mm512_loadu_si512(y_words + 8 * i);
    }
    while (steps-- > 0) {
        RF_BITS_BEGIN(y[0]);
        for (i = 0; i < regs; i++) {
            const __m512i sum = _mm512_ternarylogic_epi64(y[i], x[i], times, 0x78); /* y ^ x & times */
            x[i] = RF_BITS_CHOOSE(y[i], x[i]);
            y[i] = sum;
        }
        rf_bits_down(y, regs);
    }
    for (i = 0; i < regs; i++)
        _mm512_storeu_si512(x_words + 8 * i, x[i]);
}

/* x as v / f, and 0 if f is a constant. */
RF_AVX512 static inline uint32_t rf_steps3(uint64_t (*x)[8 * RF_MOST_REGS], uint64_t (*y)[8 * RF_MOST_REGS], const int regs,
                                           int steps)
{
    const __m512i one = _mm512_set1_epi64(1);
    __m512i x0[RF_MOST_REGS], x1[RF_MOST_REGS], y0[RF_MOST_REGS], y1[RF_MOST_REGS], minus_delta = _mm512_set1_epi64(-1);
    __m512i sign;
    int i;
    for (i = 0; i < regs; i++) {
        x0[i] = _mm512_loadu_si512(x[0] + 8 * i);
        x1[i] = _mm512_loadu_si512(x[1] + 8 * i);
        y0[i] = _mm512_loadu_si512(y[0] + 8 * i);
        y1[i] = _mm512_loadu_si512(y[1] + 8 * i);
    }
    while (steps-- > 0) {
        const __m512i turn = rf_bits_all(_mm512_xor_si512(x1[0], y1[0]));
        RF_BITS_BEGIN(y0[0]);
        for (i = 0; i < regs; i++) {
            /* y - z, with z = x g0 / f0 */
            const __m512i z0 = _mm512_and_si512(x0[i], times), z1 = _mm512_xor_si512(x1[i], turn);
            const __m512i t = _mm512_ternarylogic_epi64(y0[i], y1[i], z1, 0x60); /* y0 & (y1 ^ z1) */
            x0[i] = RF_BITS_CHOOSE(y0[i], x0[i]);
            x1[i] = RF_BITS_CHOOSE(y1[i], x1[i]);
            y0[i] = _mm512_ternarylogic_epi64(y0[i], z0, t, 0xbe); /* y0 ^ z0 | t */
            y1[i] = _mm512_ternarylogic_epi64(z1, z0, t, 0x96);    /* z1 ^ z0 ^ t */
        }
        rf_bits_down(y0, regs);
        rf_bits_down(y1, regs);
    }
    sign = rf_bits_all(x1[0]);
    for (i = 0; i < regs; i++) {
        _mm512_storeu_si512(x[0] + 8 * i, x0[i]);
        _mm512_storeu_si512(x[1] + 8 * i, _mm512_xor_si512(x1[i], sign));
    }
    return rf_mask_nonzero((uint32_t)_mm_cvtsi128_si32(_mm512_castsi512_si128(minus_delta)));
}

/*
 * The number of registers is a constant to the compiler in each case. Of four equalities clang would make a table of jumps,
 * which the prover does not follow.
 */
RF_AVX512 uint32_t RF_NS(reciprocal3_avx512)(int16_t *out, const int16_t *f, const int16_t *a, int degree)
{
    uint64_t x[2][8 * RF_MOST_REGS] = {{0}}, y[2][8 * RF_MOST_REGS] = {{0}};
    const int regs = (degree + 256) / 256, steps = 2 * degree - 1;
    uint32_t none;
    rf_bits_of(x[0], x[1], regs, f, degree);
    rf_bits_of(y[0], y[1], regs, a, degree - 1);
    y[0][4] = 1; /* r */
    if (regs <= 2)
        none = rf_steps3(x, y, 2, steps);
    else if (regs <= 3)
        none = rf_steps3(x, y, 3, steps);
    else if (regs <= 4)
        none = rf_steps3(x, y, 4, steps);
    else if (regs <= 5)
        none = rf_steps3(x, y, 5, steps);
    else
        none = rf_steps3(x, y, 6, steps);
    rf_bits_out(out, x[0], x[1], regs, degree);
    return none;
}

RF_AVX512 void RF_NS(reciprocal2_avx512)(int16_t *out, const int16_t *f, const int16_t *a, int degree)
{
    uint64_t x[8 * RF_MOST_REGS] = {0}, y[8 * RF_MOST_REGS] = {0}, other[8 * RF_MOST_REGS] = {0};
    const int regs = (degree + 256) / 256, steps = 2 * degree - 1;
    rf_bits_of(x, other, regs, f, degree);
    rf_bits_of(y, other, regs, a, degree - 1);
    y[4] = 1;
    if (regs <= 2)
        rf_steps2(x, y, 2, steps);
    else if (regs <= 3)
        rf_steps2(x, y, 3, steps);
    else if (regs <= 4)
        rf_steps2(x, y, 4, steps);
    else if (regs <= 5)
        rf_steps2(x, y, 5, steps);
    else
        rf_steps2(x, y, 6, steps);
    memset(other, 0, sizeof other);
    rf_bits_out(out, x, other, regs, degree);
}
#else
typedef int rf_no_reciprocal_avx512; /* C has no empty sources */
#endif
