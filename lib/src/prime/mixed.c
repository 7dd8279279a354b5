/*
 * Strings of residues to bytes and back, as NTRU Prime says [NTRUPrime20 §3.1]: neighbours with
 * moduli m0, m1 become one residue with modulus m0 m1, which gives bytes while it is at least
 * 2^14, level by level. All residues of a level have one modulus, but for the last one.
 */
#include "prime.h"

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

void RF_NS(mixed_encode)(uint8_t *out, uint16_t *r, int n, uint32_t m)
{
    uint32_t last = m; /* the modulus of the last residue */
    int i, k, bytes;
    while (n > 1) {
        uint32_t pair = m * m;
        int pairs = (n - 1) / 2; /* without the last residues, one or two */
        bytes = rf_mixed_pair(&pair);
        for (i = 0; i < pairs; i++) {
            uint32_t x = r[2 * i] + r[2 * i + 1] * m;
            for (k = 0; k < bytes; k++) {
                *out++ = (uint8_t)x;
                x >>= 8;
            }
            r[i] = (uint16_t)x;
        }
        if (n % 2 == 0) {
            uint32_t x = r[2 * i] + r[2 * i + 1] * m;
            last *= m;
            bytes = rf_mixed_pair(&last);
            for (k = 0; k < bytes; k++) {
                *out++ = (uint8_t)x;
                x >>= 8;
            }
            r[i] = (uint16_t)x;
        } else {
            r[i] = r[2 * i];
        }
        n = pairs + 1;
        m = pair;
    }
    while (last > 1) {
        *out++ = (uint8_t)r[0];
        r[0] = (uint16_t)(r[0] >> 8);
        last = (last + 255) >> 8;
    }
}

void RF_NS(mixed_decode)(uint16_t *r, const uint8_t *in, int n, uint32_t m)
{
    /* The levels, and where the bytes of each start. */
    uint32_t moduli[RF_MIXED_LEVELS], lasts[RF_MIXED_LEVELS];
    int counts[RF_MIXED_LEVELS], starts[RF_MIXED_LEVELS];
    uint32_t last = m, x = 0, rest;
    int level = 0, at = 0, i, k, bytes;
    for (; n > 1; level++) {
        uint32_t pair = m * m;
        int pairs = (n - 1) / 2;
        moduli[level] = m;
        lasts[level] = last;
        counts[level] = n;
        starts[level] = at;
        at += pairs * rf_mixed_pair(&pair);
        if (n % 2 == 0) {
            last *= m;
            at += rf_mixed_pair(&last);
        }
        n = pairs + 1;
        m = pair;
    }
    for (rest = last, k = 0; rest > 1; k++, rest = (rest + 255) >> 8)
        x |= (uint32_t)in[at++] << (8 * k);
    /* Bytes may say more than the modulus: taken modulo it. */
    (void)rf_mixed_divide(&x, x, last, (uint32_t)(4294967295u / last));
    r[0] = (uint16_t)x;
    while (level-- > 0) {
        uint32_t pair, v, low;
        int pairs;
        n = counts[level];
        m = moduli[level];
        last = lasts[level];
        pair = m * m;
        pairs = (n - 1) / 2;
        bytes = rf_mixed_pair(&pair);
        v = 4294967295u / m;
        /* From behind, so that nothing is overwritten before it is read. */
        if (n % 2 == 0) {
            uint32_t both = last * m, shift;
            int more = rf_mixed_pair(&both);
            const uint8_t *p = in + starts[level] + pairs * bytes;
            for (x = 0, shift = 0, k = 0; k < more; k++, shift += 8)
                x |= (uint32_t)p[k] << shift;
            x |= (uint32_t)r[pairs] << shift;
            x = rf_mixed_divide(&low, x, m, v);
            r[2 * pairs] = (uint16_t)low;
            (void)rf_mixed_divide(&low, x, last, (uint32_t)(4294967295u / last));
            r[2 * pairs + 1] = (uint16_t)low;
        } else {
            r[2 * pairs] = r[pairs];
        }
        for (i = pairs; i-- > 0;) {
            const uint8_t *p = in + starts[level] + i * bytes;
            if (bytes == 2)
                x = (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)r[i] << 16;
            else if (bytes == 1)
                x = (uint32_t)p[0] | (uint32_t)r[i] << 8;
            else
                x = r[i];
            x = rf_mixed_divide(&low, x, m, v);
            r[2 * i] = (uint16_t)low;
            (void)rf_mixed_divide(&low, x, m, v);
            r[2 * i + 1] = (uint16_t)low;
        }
    }
}
