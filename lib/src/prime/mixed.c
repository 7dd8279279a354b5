/* SPDX-License-Identifier: Apache-2.0 OR MIT OR ISC OR CC0-1.0 */
/*
 * Strings of residues to bytes and back, as NTRU Prime says [NTRUPrime20 §3.1]: neighbours with
 * moduli m0, m1 become one residue with modulus m0 m1, which gives bytes while it is at least
 * 2^14, level by level. All residues of a level have one modulus, but for the last one.
 */
#include "prime.h"

#if RF_NEED_PRIME

#if RF_HAVE_AVX2_CODE
#include "mixed_avx2.h"
#endif
#if RF_HAVE_NEON_CODE
#include "mixed_neon.h"
#endif

/* What becomes of a pair: how many bytes it gives, and the modulus that is left. */
static int rf_mixed_pair(uint32_t *m)
{
    int bytes = 0;
    while (*m >= 16384) {
        *m = (*m + 255) >> 8;
        bytes++;
    }
    return bytes;
}

/* r = x mod m and x / m for x < 2^30, m < 2^14. With v = floor(2^32 / m) the estimate is at most one
 * too small. */
static inline uint32_t rf_mixed_divide(uint32_t *r, uint32_t x, uint32_t m, uint32_t v)
{
    uint32_t d = (uint32_t)(((uint64_t)x * v) >> 32), over;
    x -= d * m;
    over = 0u - (((m - 1) - x) >> 31); /* all ones if x >= m */
    *r = x - (m & over);
    return d - over;
}

/* A pair that becomes one residue of the next level, and the bytes that it gives. */
static inline uint8_t *rf_mixed_join_pair(uint16_t *to, uint8_t *out, const uint16_t *from, uint32_t m, int bytes)
{
    uint32_t x = from[0] + from[1] * m;
    int k;
    for (k = 0; k < bytes; k++) {
        *out++ = (uint8_t)x;
        x >>= 8;
    }
    *to = (uint16_t)x;
    return out;
}

/* And back; moduli m and last. */
static inline void rf_mixed_part_pair(uint16_t *to, const uint8_t *in, uint32_t from, uint32_t m, uint32_t v,
                                      uint32_t last, uint32_t v_last, int bytes)
{
    uint32_t x = from << (8 * bytes), low;
    int k;
    for (k = 0; k < bytes; k++)
        x |= (uint32_t)in[k] << (8 * k);
    x = rf_mixed_divide(&low, x, m, v);
    to[0] = (uint16_t)low;
    (void)rf_mixed_divide(&low, x, last, v_last); /* bytes may say more than the moduli */
    to[1] = (uint16_t)low;
}

/* A level's pairs without the last residues. */
static uint8_t *rf_mixed_join(uint16_t *to, uint8_t *out, const uint16_t *from, int pairs, uint32_t m, int bytes)
{
    int i;
#if RF_HAVE_VECTOR_CODE
    if (pairs >= 8 && bytes > 0 && rf_vectors()) {
        RF_V(rf_mixed_join)(to, out, from, pairs, m, bytes);
        return out + pairs * bytes;
    }
#endif
    for (i = 0; i < pairs; i++)
        out = rf_mixed_join_pair(to + i, out, from + 2 * i, m, bytes);
    return out;
}

static void rf_mixed_part(uint16_t *to, const uint8_t *in, const uint16_t *from, int pairs, uint32_t m, uint32_t v,
                          int bytes)
{
    int i;
#if RF_HAVE_VECTOR_CODE
    if (pairs >= 8 && bytes > 0 && rf_vectors()) {
        RF_V(rf_mixed_part)(to, in, from, pairs, m, v, bytes);
        return;
    }
#endif
    for (i = pairs; i-- > 0;) /* from behind: `to` may be `from` */
        rf_mixed_part_pair(to + 2 * i, in + i * bytes, from[i], m, v, m, v, bytes);
}

/* Where every second level lies: small code makes a level in the place of the one before. */
#if RINGFORGE_SMALL
#define RF_HALF(half, r) uint16_t *const half = r
#else
#define RF_HALF(half, r) uint16_t half[(RF_MIXED_MAX + 1) / 2]
#endif

void RF_NS(mixed_encode)(uint8_t *out, uint16_t *r, int n, uint32_t m)
{
    RF_HALF(half, r);
    uint16_t *from = r, *to = half, *other;
    uint32_t last = m; /* the modulus of the last residue */
    while (n > 1) {
        uint32_t pair = m * m;
        int pairs = (n - 1) / 2; /* without the last residues, one or two */
        int bytes = rf_mixed_pair(&pair);
        out = rf_mixed_join(to, out, from, pairs, m, bytes);
        if (n % 2 == 0) {
            last *= m;
            bytes = rf_mixed_pair(&last);
            out = rf_mixed_join_pair(to + pairs, out, from + 2 * pairs, m, bytes);
        } else {
            to[pairs] = from[2 * pairs];
        }
        n = pairs + 1;
        m = pair;
        other = from;
        from = to;
        to = other;
    }
    while (last > 1) {
        *out++ = (uint8_t)from[0];
        from[0] = (uint16_t)(from[0] >> 8);
        last = (last + 255) >> 8;
    }
}

/* One level of the decoder: n residues below m, the last one below `last`, whose bytes start at `start`. */
struct rf_level {
    uint32_t m, last, inverse, inverse_last; /* floor(2^32 / m) and floor(2^32 / last) */
    int n, start, bytes, bytes_last;
};

void RF_NS(mixed_decode)(uint16_t *r, const uint8_t *in, int n, uint32_t m)
{
    /* What divides stands in the first loop, so that divisions do not wait for residues. */
    struct rf_level levels[RF_MIXED_LEVELS], *level = levels;
    RF_HALF(half, r);
    uint16_t *from, *to, *other;
    uint32_t last = m, x = 0, rest, inverse_last;
    int at = 0, k;
    inverse_last = 4294967295u / m;
    for (; n > 1; level++) {
        uint32_t pair = m * m;
        int pairs = (n - 1) / 2;
        level->m = m;
        level->last = last;
        level->inverse = 4294967295u / m;
        level->inverse_last = inverse_last;
        level->n = n;
        level->start = at;
        level->bytes = rf_mixed_pair(&pair);
        at += pairs * level->bytes;
        if (n % 2 == 0) {
            last *= m;
            level->bytes_last = rf_mixed_pair(&last);
            at += level->bytes_last;
            inverse_last = 4294967295u / last;
        }
        n = pairs + 1;
        m = pair;
    }
    for (rest = last, k = 0; rest > 1; k++, rest = (rest + 255) >> 8)
        x |= (uint32_t)in[at++] << (8 * k);
    /* Bytes may say more than the modulus: taken modulo it. */
    (void)rf_mixed_divide(&x, x, last, inverse_last);
    from = (level - levels) % 2 ? half : r; /* so that the first level ends in r */
    to = from == half ? r : half;
    from[0] = (uint16_t)x;
    while (level-- > levels) {
        int pairs = (level->n - 1) / 2;
        const uint8_t *bytes = in + level->start;
        if (level->n % 2 == 0)
            rf_mixed_part_pair(to + 2 * pairs, bytes + pairs * level->bytes, from[pairs], level->m, level->inverse,
                               level->last, level->inverse_last, level->bytes_last);
        else
            to[2 * pairs] = from[pairs];
        rf_mixed_part(to, bytes, from, pairs, level->m, level->inverse, level->bytes);
        other = from;
        from = to;
        to = other;
    }
}
#undef RF_HALF

#else
typedef int rf_no_mixed; /* C has no empty sources */
#endif /* RF_NEED_PRIME */
