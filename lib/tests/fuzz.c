/* SPDX-License-Identifier: Apache-2.0 OR MIT OR ISC OR CC0-1.0 */
/*
 * fuzz.c: what others can send to a KEM, and damaged keys of one's own, made up by libFuzzer:
 *
 *   clang -fsanitize=fuzzer,address,undefined -DRINGFORGE_TESTING -DRINGFORGE_RANDOM=2 ... && ./fuzz -max_len=512
 *
 * An input is a KEM, an operation (of 32 one makes a key pair, which takes longest by far), a place (two bytes), and bytes
 * that are added bit by bit to an honest key, ciphertext, seed or coins from that place on (or replace it, where the
 * operation's byte says so). Buffers end where the header says,
 * so that the sanitizer sees every byte too far. Of every operation: the result is one that the header lists, the same
 * again and on portable code; outputs are zero with an error; honest ciphertexts are opened, and no other gives their key.
 */
#include "test.h"

extern int NS(test_portable);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MOST 19

/* 1 has buffers end a byte early: what shows that the sanitizer would see that. */
#ifndef FUZZ_SHORT
#define FUZZ_SHORT 0
#endif

/* An honest exchange of a KEM. */
struct honest {
    uint8_t *keypair_coins, *enc_coins, *pk, *sk, *ct, *ss;
};

static uint8_t *bytes(size_t len)
{
    uint8_t *p = malloc(len > 0 ? len : 1);
    CHECK(p != NULL);
    memset(p, 0xa5, len);
    return p;
}

static const struct honest *honest(size_t at)
{
    static struct honest all[MOST];
    struct honest *h = &all[at];
    const struct kem *kem = &kems[at];
    uint8_t seed[48] = {0};
    CHECK(kem_count <= MOST);
    if (h->pk != NULL)
        return h;
    h->keypair_coins = bytes(kem->keypair_coins);
    h->enc_coins = bytes(kem->enc_coins);
    h->pk = bytes(kem->pk);
    h->sk = bytes(kem->sk);
    h->ct = bytes(kem->ct);
    h->ss = bytes(kem->ss);
    nist_seed(seed);
    NS(test_portable) = 0;
    do {
        nist_bytes(h->keypair_coins, kem->keypair_coins);
    } while (kem->keypair_derand(h->pk, h->sk, h->keypair_coins) != 0);
    do {
        nist_bytes(h->enc_coins, kem->enc_coins);
    } while (kem->enc_derand(h->ct, h->ss, h->pk, h->enc_coins) != 0);
    return h;
}

/* A copy of honest bytes with the input's damage; freed by the caller. */
static uint8_t *damaged(const uint8_t *from, size_t len, const uint8_t *data, size_t size)
{
    const size_t room = len - FUZZ_SHORT;
    uint8_t *copy = bytes(room);
    size_t at = (data[2] | (size_t)data[3] << 8) % len, i;
    memcpy(copy, from, room);
    for (i = 0; i + 4 < size && at + i < room; i++)
        copy[at + i] = (uint8_t)(data[4 + i] ^ (data[1] & 0x80 ? 0 : from[at + i]));
    return copy;
}

static int zero(const uint8_t *p, size_t len)
{
    uint8_t sum = 0;
    while (len-- > 0)
        sum |= *p++;
    return sum == 0;
}

/* Two outputs and a result of an operation, three times: the processor's best code twice, then portable code. */
struct outcome {
    int error;
    uint8_t *a, *b;
};

static void begin(struct outcome *o, size_t a, size_t b)
{
    o->a = bytes(a);
    o->b = bytes(b);
}

/* Compares with the first time, `portable` too if it must be the same there. */
static void compare(const struct outcome o[3], size_t a, size_t b, int portable, int allowed)
{
    int k;
    for (k = 0; k < 3; k++) {
        CHECK(o[k].error == 0 || o[k].error == allowed);
        if (o[k].error != 0)
            CHECK(zero(o[k].a, a) && zero(o[k].b, b));
        if (k < 2 || portable)
            CHECK(o[k].error == o[0].error && memcmp(o[k].a, o[0].a, a) == 0 && memcmp(o[k].b, o[0].b, b) == 0);
    }
}

static void end(struct outcome o[3])
{
    int k;
    for (k = 0; k < 3; k++) {
        free(o[k].a);
        free(o[k].b);
    }
}

static void try_enc(const struct kem *kem, const uint8_t *pk, const uint8_t *coins, int allowed, const uint8_t *sk)
{
    struct outcome o[3];
    int k;
    for (k = 0; k < 3; k++) {
        begin(&o[k], kem->ct, kem->ss);
        NS(test_portable) = k == 2;
        o[k].error = kem->enc_derand(o[k].a, o[k].b, pk, coins);
    }
    compare(o, kem->ct, kem->ss, 1, allowed);
    NS(test_portable) = 0;
    if (sk != NULL && o[0].error == 0) { /* the honest key opens it */
        uint8_t *ss = bytes(kem->ss);
        CHECK(kem->dec(ss, o[0].a, sk) == 0 && memcmp(ss, o[0].b, kem->ss) == 0);
        free(ss);
    }
    if (kem->prepare != NULL) {
        uint8_t *ct = bytes(kem->ct), *ss = bytes(kem->ss);
        void *prepared = bytes(kem->prepared);
        int error = kem->prepare(prepared, pk);
        CHECK(error == 0 || (error == RINGFORGE_ERR_KEY && zero(prepared, kem->prepared)));
        if (error == 0)
            error = kem->enc_prepared_derand(ct, ss, prepared, coins);
        CHECK(error == o[0].error);
        if (error == 0)
            CHECK(memcmp(ct, o[0].a, kem->ct) == 0 && memcmp(ss, o[0].b, kem->ss) == 0);
        free(prepared);
        free(ct);
        free(ss);
    }
    end(o);
}

static void try_dec(const struct kem *kem, const uint8_t *ct, const uint8_t *sk, const struct honest *h)
{
    struct outcome o[3];
    int k, sound = sk == h->sk || kem->check_sk(sk) == 0;
    for (k = 0; k < 3; k++) {
        begin(&o[k], kem->ss, 0);
        NS(test_portable) = k == 2;
        o[k].error = kem->dec(o[k].a, ct, sk);
    }
    compare(o, kem->ss, 0, sound, RINGFORGE_ERR_KEY);
    if (sk == h->sk)
        CHECK(o[0].error == 0 && (memcmp(o[0].a, h->ss, kem->ss) == 0) == (memcmp(ct, h->ct, kem->ct) == 0));
    end(o);
}

static void try_keypair(const struct kem *kem, const uint8_t *coins, const struct honest *h)
{
    struct outcome o[3];
    int k;
    for (k = 0; k < 3; k++) {
        begin(&o[k], kem->pk, kem->sk);
        NS(test_portable) = k == 2;
        o[k].error = kem->keypair_derand(o[k].a, o[k].b, coins);
    }
    compare(o, kem->pk, kem->sk, 1, RINGFORGE_ERR_COINS);
    NS(test_portable) = 0;
    if (o[0].error == 0) {
        CHECK(kem->check_pk(o[0].a) == 0 && kem->check_sk(o[0].b) == 0);
        try_enc(kem, o[0].a, h->enc_coins, 0, o[0].b);
        if (kem->dec_seed != NULL) {
            uint8_t *ours = bytes(kem->ss), *theirs = bytes(kem->ss);
            CHECK(kem->dec_seed(ours, h->ct, coins) == 0 && kem->dec(theirs, h->ct, o[0].b) == 0);
            CHECK(memcmp(ours, theirs, kem->ss) == 0);
            free(ours);
            free(theirs);
        }
    }
    end(o);
}

static void try_checks(const struct kem *kem, const uint8_t *pk, const uint8_t *sk)
{
    int error[2][3], k;
    uint8_t seed[48] = {1};
    for (k = 0; k < 2; k++) {
        NS(test_portable) = k;
        nist_seed(seed);
        error[k][0] = kem->check_pk(pk);
        error[k][1] = kem->check_sk(sk);
        error[k][2] = kem->check_pair(pk, sk);
    }
    for (k = 0; k < 3; k++)
        CHECK(error[0][k] == error[1][k] && (error[0][k] == 0 || error[0][k] == RINGFORGE_ERR_KEY));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct kem *kem;
    const struct honest *h;
    uint8_t *p;
    if (size < 4)
        return -1;
    kem = &kems[data[0] % kem_count];
    h = honest(data[0] % kem_count);
    NS(test_portable) = 0;
    if ((data[1] & 0x1f) == 0) {
        p = damaged(h->keypair_coins, kem->keypair_coins, data, size);
        try_keypair(kem, p, h);
        free(p);
        return 0;
    }
    switch ((data[1] & 0x1f) % 5) {
    case 0:
        p = damaged(h->pk, kem->pk, data, size);
        try_enc(kem, p, h->enc_coins, RINGFORGE_ERR_KEY, memcmp(p, h->pk, kem->pk) == 0 ? h->sk : NULL);
        break;
    case 1:
        p = damaged(h->ct, kem->ct, data, size);
        try_dec(kem, p, h->sk, h);
        break;
    case 2:
        p = damaged(h->sk, kem->sk, data, size);
        try_dec(kem, h->ct, p, h);
        break;
    case 3:
        p = damaged(h->sk, kem->sk, data, size);
        try_checks(kem, h->pk, p);
        free(p);
        p = damaged(h->pk, kem->pk, data, size);
        try_checks(kem, p, h->sk);
        break;
    default:
        p = damaged(h->enc_coins, kem->enc_coins, data, size);
        try_enc(kem, h->pk, p, RINGFORGE_ERR_COINS, h->sk);
        break;
    }
    free(p);
    return 0;
}
