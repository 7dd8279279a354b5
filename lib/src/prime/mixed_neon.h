/* SPDX-License-Identifier: Apache-2.0 OR MIT OR ISC OR CC0-1.0 */
/* mixed_neon.h: levels of mixed.c with Neon, eight pairs at a time. Part of mixed.c. */
#ifndef RINGFORGE_PRIME_MIXED_NEON_H
#define RINGFORGE_PRIME_MIXED_NEON_H

#include <arm_neon.h>

/* Where eights of `pairs` start: the last overlaps the one before, so nothing outside is touched. */
#define RF_MIXED_EIGHTS(i, pairs) for (i = 0; i < (pairs); i = i + 8 < (pairs) && i + 16 > (pairs) ? (pairs) - 8 : i + 8)

/* to[i] and 1 or 2 bytes of out from from[2 i] + m from[2 i + 1], at least eight pairs; to is not from. */
static void rf_mixed_join_neon(uint16_t *to, uint8_t *out, const uint16_t *from, int pairs, uint32_t m, int bytes)
{
    const uint16_t factor = (uint16_t)m;
    int i;
    RF_MIXED_EIGHTS(i, pairs)
    {
        const uint16x8x2_t x = vld2q_u16(from + 2 * i);
        const uint32x4_t a = vmlal_n_u16(vmovl_u16(vget_low_u16(x.val[0])), vget_low_u16(x.val[1]), factor);
        const uint32x4_t b = vmlal_n_u16(vmovl_u16(vget_high_u16(x.val[0])), vget_high_u16(x.val[1]), factor);
        const uint16x8_t low = vuzp1q_u16(vreinterpretq_u16_u32(a), vreinterpretq_u16_u32(b));
        if (bytes == 2) {
            vst1q_u8(out + 2 * i, vreinterpretq_u8_u16(low));
            vst1q_u16(to + i, vuzp2q_u16(vreinterpretq_u16_u32(a), vreinterpretq_u16_u32(b)));
        } else {
            vst1_u8(out + i, vmovn_u16(low));
            vst1q_u16(to + i, vcombine_u16(vshrn_n_u32(a, 8), vshrn_n_u32(b, 8)));
        }
    }
}

/* r = x mod m and x / m, as rf_mixed_divide, of four words; and the quotient modulo m. */
static inline void rf_mixed_divide_neon(uint16x4_t *r, uint16x4_t *quotient, uint32x4_t x, uint32_t m, uint32_t v)
{
    const uint32x4_t modulus = vdupq_n_u32(m);
    const uint64x2_t low = vmull_n_u32(vget_low_u32(x), v), high = vmull_n_u32(vget_high_u32(x), v);
    uint32x4_t d = vuzp2q_u32(vreinterpretq_u32_u64(low), vreinterpretq_u32_u64(high));
    x = vmlsq_u32(x, d, modulus); /* below 2 m */
    d = vsubq_u32(d, vcgeq_u32(x, modulus));
    *r = vmovn_u32(vminq_u32(x, vsubq_u32(x, modulus)));
    *quotient = vmovn_u32(vminq_u32(d, vsubq_u32(d, modulus)));
}

/* And back: to[2 i], to[2 i + 1] from from[i] and the bytes; v = floor(2^32 / m), as for rf_mixed_divide. */
static void rf_mixed_part_neon(uint16_t *to, const uint8_t *in, const uint16_t *from, int pairs, uint32_t m, uint32_t v,
                               int bytes)
{
    int i;
    RF_MIXED_EIGHTS(i, pairs)
    {
        const uint16x8_t high = vld1q_u16(from + i);
        uint16x4_t r[2], d[2];
        uint16x8x2_t pair;
        uint32x4_t a, b;
        if (bytes == 2) {
            const uint16x8_t low = vreinterpretq_u16_u8(vld1q_u8(in + 2 * i));
            a = vreinterpretq_u32_u16(vzip1q_u16(low, high));
            b = vreinterpretq_u32_u16(vzip2q_u16(low, high));
        } else {
            const uint16x8_t low = vmovl_u8(vld1_u8(in + i));
            a = vaddw_u16(vshll_n_u16(vget_low_u16(high), 8), vget_low_u16(low));
            b = vaddw_u16(vshll_n_u16(vget_high_u16(high), 8), vget_high_u16(low));
        }
        rf_mixed_divide_neon(r, d, a, m, v);
        rf_mixed_divide_neon(r + 1, d + 1, b, m, v);
        pair.val[0] = vcombine_u16(r[0], r[1]);
        pair.val[1] = vcombine_u16(d[0], d[1]);
        vst2q_u16(to + 2 * i, pair);
    }
}

#undef RF_MIXED_EIGHTS
#endif /* RINGFORGE_PRIME_MIXED_NEON_H */
