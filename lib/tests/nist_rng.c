/* SPDX-License-Identifier: Apache-2.0 OR MIT OR ISC OR CC0-1.0 */
/* The AES-256-CTR-DRBG of NIST's known-answer tests, for tests only: its AES looks up tables. */
#include "test.h"

static uint8_t sbox[256], key[32], counter[16];

static uint8_t gf_mul(uint8_t a, uint8_t b)
{
    uint8_t r = 0;
    for (; b; b = (uint8_t)(b >> 1), a = (uint8_t)(a << 1 ^ (a & 0x80 ? 0x1b : 0)))
        if (b & 1)
            r ^= a;
    return r;
}

static void make_sbox(void)
{
    int x, y, k;
    for (x = 0; x < 256; x++) {
        uint8_t inverse = 0, s = 0x63;
        for (y = 1; y < 256; y++)
            if (gf_mul((uint8_t)x, (uint8_t)y) == 1)
                inverse = (uint8_t)y;
        for (k = 0; k < 5; k++)
            s ^= (uint8_t)(inverse << k | inverse >> (8 - k));
        sbox[x] = s;
    }
}

static void aes256(uint8_t out[16], const uint8_t k[32], const uint8_t in[16])
{
    uint8_t w[240], s[16], t[16], rcon = 1;
    int i, j, round;
    if (sbox[0] == 0)
        make_sbox();
    memcpy(w, k, 32);
    for (i = 32; i < 240; i += 4) {
        uint8_t x[4];
        memcpy(x, w + i - 4, 4);
        if (i % 32 == 0) {
            uint8_t first = x[0];
            for (j = 0; j < 3; j++)
                x[j] = sbox[x[j + 1]];
            x[3] = sbox[first];
            x[0] ^= rcon;
            rcon = (uint8_t)(rcon << 1);
        } else if (i % 32 == 16) {
            for (j = 0; j < 4; j++)
                x[j] = sbox[x[j]];
        }
        for (j = 0; j < 4; j++)
            w[i + j] = w[i + j - 32] ^ x[j];
    }
    for (i = 0; i < 16; i++)
        s[i] = in[i] ^ w[i];
    for (round = 1; round <= 14; round++) {
        for (i = 0; i < 16; i++)
            t[i] = sbox[s[(i + 4 * (i % 4)) % 16]];
        for (i = 0; i < 16; i++) {
            const uint8_t *c = t + i / 4 * 4;
            s[i] = t[i];
            if (round < 14)
                s[i] = gf_mul(c[i % 4], 2) ^ gf_mul(c[(i + 1) % 4], 3) ^ c[(i + 2) % 4] ^ c[(i + 3) % 4];
            s[i] ^= w[16 * round + i];
        }
    }
    memcpy(out, s, 16);
}

static void next_block(uint8_t out[16])
{
    int i;
    for (i = 15; i >= 0 && ++counter[i] == 0; i--)
        ;
    aes256(out, key, counter);
}

static void update(const uint8_t *seed)
{
    uint8_t t[48];
    int i;
    for (i = 0; i < 3; i++)
        next_block(t + 16 * i);
    for (i = 0; i < 48 && seed; i++)
        t[i] ^= seed[i];
    memcpy(key, t, 32);
    memcpy(counter, t + 32, 16);
}

void nist_seed(const uint8_t seed[48])
{
    memset(key, 0, sizeof key);
    memset(counter, 0, sizeof counter);
    update(seed);
}

void nist_bytes(uint8_t *out, size_t len)
{
    uint8_t block[16];
    size_t i;
    for (i = 0; i < len; i++) {
        if (i % 16 == 0)
            next_block(block);
        out[i] = block[i % 16];
    }
    update(NULL);
}

void nist_state(uint8_t state[48], int restore)
{
    if (restore) {
        memcpy(key, state, 32);
        memcpy(counter, state + 32, 16);
    } else {
        memcpy(state, key, 32);
        memcpy(state + 32, counter, 16);
    }
}
