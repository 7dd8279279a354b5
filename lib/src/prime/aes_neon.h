/* SPDX-License-Identifier: Apache-2.0 OR MIT OR ISC OR CC0-1.0 */
/*
 * aes_neon.h: the key stream of aes.c with Neon, in slices of bits of eight blocks: bit k of byte i of register b is bit b of
 * byte i of block k [KS09]. So bytes are moved by tables, which are no secret. Part of aes.c.
 */
#ifndef RINGFORGE_PRIME_AES_NEON_H
#define RINGFORGE_PRIME_AES_NEON_H

#include <arm_neon.h>

#define RF_SLICE uint8x16_t
#define RF_SBOX rf_aes_sbox_neon
#include "aes_sbox.inc"

/* Bits `mask` of x, n further up, and bits `mask` of y change places. */
#define RF_AES_SWAP(x, y, n, mask)                                                                 \
    do {                                                                                           \
        const uint8x16_t t_ = vandq_u8(veorq_u8(vshrq_n_u8(x, n), y), vdupq_n_u8(mask));           \
        y = veorq_u8(y, t_);                                                                       \
        x = veorq_u8(x, vshlq_n_u8(t_, n));                                                        \
    } while (0)

/* Bit k of register b and bit b of register k change places: from blocks to slices, and back. */
static void rf_aes_turn(uint8x16_t x[8])
{
    int i;
    for (i = 0; i < 8; i += 2)
        RF_AES_SWAP(x[i], x[i + 1], 1, 0x55);
    for (i = 0; i < 8; i += i % 4 ? 3 : 1)
        RF_AES_SWAP(x[i], x[i + 2], 2, 0x33);
    for (i = 0; i < 4; i++)
        RF_AES_SWAP(x[i], x[i + 4], 4, 0x0f);
}

/* The rows of each column, byte r from the column r further on; and the rows one further on in each column of that. */
static const uint8_t rf_aes_rows[2][16] = {
    {0, 5, 10, 15, 4, 9, 14, 3, 8, 13, 2, 7, 12, 1, 6, 11},
    {5, 10, 15, 0, 9, 14, 3, 4, 13, 2, 7, 8, 1, 6, 11, 12},
};

/* 2 a + 3 b + c + d of each byte a of a column and the next ones b, c, d, after rows were moved; plus the key. */
static void rf_aes_mix_neon(uint8x16_t x[8], const uint8x16_t key[8])
{
    const uint8x16_t rows = vld1q_u8(rf_aes_rows[0]), further = vld1q_u8(rf_aes_rows[1]);
    uint8x16_t next[8], both[8];
    int b;
    for (b = 0; b < 8; b++) {
        next[b] = vqtbl1q_u8(x[b], further);
        both[b] = veorq_u8(vqtbl1q_u8(x[b], rows), next[b]);
    }
    for (b = 0; b < 8; b++) {
        const uint8x16_t two = vreinterpretq_u8_u16(vrev32q_u16(vreinterpretq_u16_u8(both[b])));
        uint8x16_t twice = b == 0 ? both[7] : both[b - 1];
        if (b == 1 || b == 3 || b == 4)
            twice = veorq_u8(twice, both[7]); /* modulo x^8 + x^4 + x^3 + x + 1 */
        x[b] = veorq_u8(veorq_u8(next[b], key[b]), veorq_u8(twice, two));
    }
}

static void rf_aes256_stream_neon(uint8_t *out, size_t len, const uint8_t key[32])
{
    const uint8x16_t rows = vld1q_u8(rf_aes_rows[0]);
    uint8x16_t keys[15][8], x[8];
    uint8_t w[240], last[128];
    uint32_t block = 0;
    int k, b, round;
    rf_aes256_keys(w, key);
    for (round = 0; round < 15; round++)
        for (b = 0; b < 8; b++) /* the same in all eight blocks */
            keys[round][b] = vtstq_u8(vld1q_u8(w + 16 * round), vdupq_n_u8((uint8_t)(1 << b)));
    for (; len > 0; block += 8) {
        uint8_t *to = len < 128 ? last : out;
        for (k = 0; k < 8; k++) { /* the counter, big-endian, ends the block */
            const uint32x4_t counter = vsetq_lane_u32(block + (uint32_t)k, vdupq_n_u32(0), 3);
            x[k] = vrev32q_u8(vreinterpretq_u8_u32(counter));
        }
        rf_aes_turn(x);
        for (b = 0; b < 8; b++)
            x[b] = veorq_u8(x[b], keys[0][b]);
        for (round = 1; round < 14; round++) {
            rf_aes_sbox_neon(x);
            rf_aes_mix_neon(x, keys[round]);
        }
        rf_aes_sbox_neon(x);
        for (b = 0; b < 8; b++)
            x[b] = veorq_u8(vqtbl1q_u8(x[b], rows), keys[14][b]);
        rf_aes_turn(x);
        for (k = 0; k < 8; k++)
            vst1q_u8(to + 16 * k, x[k]);
        if (to == last) {
            memcpy(out, last, len);
            break;
        }
        out += 128;
        len -= 128;
    }
}

#undef RF_AES_SWAP
#endif /* RINGFORGE_PRIME_AES_NEON_H */
