/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The library for main.rs: its KEMs by number, its random bytes, and the clock of its tests. */
#include "test.h"

#include "cycles.h"
#include "fast_random.h"

int ours_find(const char *name);
void ours_sizes(int kem, size_t sizes[3]);
int ours_keypair(int kem, uint8_t *pk, uint8_t *sk);
int ours_enc(int kem, uint8_t *ct, uint8_t *ss, const uint8_t *pk);
int ours_dec(int kem, uint8_t *ss, const uint8_t *ct, const uint8_t *sk);
int ours_keypair_derand(int kem, uint8_t *pk, uint8_t *sk, const uint8_t *coins);
int ours_enc_derand(int kem, uint8_t *ct, uint8_t *ss, const uint8_t *pk, const uint8_t *coins);
void ours_portable(int portable);
void ours_cycles(void (*function)(void *), void *argument, double out[2]);
void ours_stream(void);
void ours_random(uint8_t *out, size_t len);

extern int NS(test_portable);

/* The number of a KEM, or -1. */
int ours_find(const char *name)
{
    size_t i;
    for (i = 0; i < kem_count; i++)
        if (strcmp(kems[i].name, name) == 0)
            return (int)i;
    return -1;
}

void ours_sizes(int kem, size_t sizes[3])
{
    sizes[0] = kems[kem].pk;
    sizes[1] = kems[kem].sk;
    sizes[2] = kems[kem].ct;
}

int ours_keypair(int kem, uint8_t *pk, uint8_t *sk)
{
    return kems[kem].keypair(pk, sk);
}

int ours_enc(int kem, uint8_t *ct, uint8_t *ss, const uint8_t *pk)
{
    return kems[kem].enc(ct, ss, pk);
}

int ours_dec(int kem, uint8_t *ss, const uint8_t *ct, const uint8_t *sk)
{
    return kems[kem].dec(ss, ct, sk);
}

int ours_keypair_derand(int kem, uint8_t *pk, uint8_t *sk, const uint8_t *coins)
{
    return kems[kem].keypair_derand(pk, sk, coins);
}

int ours_enc_derand(int kem, uint8_t *ct, uint8_t *ss, const uint8_t *pk, const uint8_t *coins)
{
    return kems[kem].enc_derand(ct, ss, pk, coins);
}

void ours_portable(int portable)
{
    NS(test_portable) = portable;
}

/* Minimum and median of a call, in core cycles. */
void ours_cycles(void (*function)(void *), void *argument, double out[2])
{
    CYCLES(out[0], out[1], function(argument));
}

static int stream = 0;

/* Random bytes are from now on those of one long stream, for exchanges, instead of pieces of a pool, for timings. */
void ours_stream(void)
{
    stream = 1;
}

void ours_random(uint8_t *out, size_t len)
{
    static uint64_t x = 88172645463325252u;
    if (!stream) {
        fast_random(out, len);
        return;
    }
    while (len-- > 0) {
        x ^= x << 13, x ^= x >> 7, x ^= x << 17;
        *out++ = (uint8_t)(x >> 24);
    }
}

int NS(randombytes)(uint8_t *out, size_t len)
{
    ours_random(out, len);
    return 0;
}
