/* SPDX-License-Identifier: Apache-2.0 OR MIT OR ISC OR CC0-1.0 */
/*
 * The part of OpenSSH 9.9 to 10.3 that includes libcrux_mlkem768_sha3.h, as far as the KEM goes: it draws seeds, checks the
 * client's key, and wipes what it keeps. Written from the interface; the functions are those of later versions.
 */
#include "crypto_api.h"

#include <string.h>

#include "libcrux_mlkem768_sha3.h"

static void burn(void *secret, size_t len)
{
    volatile uint8_t *bytes = (volatile uint8_t *)secret;
    while (len-- > 0)
        *bytes++ = 0;
}

int crypto_kem_mlkem768_keypair_seeded(uint8_t pk[1184], uint8_t sk[2400], const uint8_t seed[64])
{
    uint8_t random[LIBCRUX_ML_KEM_KEY_PAIR_PRNG_LEN];
    struct libcrux_mlkem768_keypair pair;
    memcpy(random, seed, sizeof random);
    pair = libcrux_ml_kem_mlkem768_portable_generate_key_pair(random);
    memcpy(pk, pair.pk.value, sizeof pair.pk.value);
    memcpy(sk, pair.sk.value, sizeof pair.sk.value);
    burn(&pair, sizeof pair);
    burn(random, sizeof random);
    return 0;
}

int crypto_kem_mlkem768_enc_seeded(uint8_t ct[1088], uint8_t shared_secret[32], const uint8_t pk[1184],
                                   const uint8_t seed[32])
{
    uint8_t random[LIBCRUX_ML_KEM_ENC_PRNG_LEN];
    struct libcrux_mlkem768_pk key;
    struct libcrux_mlkem768_enc_result result;
    memcpy(key.value, pk, sizeof key.value);
    if (!libcrux_ml_kem_mlkem768_portable_validate_public_key(&key))
        return -1;
    memcpy(random, seed, sizeof random);
    result = libcrux_ml_kem_mlkem768_portable_encapsulate(&key, random);
    memcpy(ct, result.fst.value, sizeof result.fst.value);
    memcpy(shared_secret, result.snd, sizeof result.snd);
    burn(&result, sizeof result);
    burn(random, sizeof random);
    return 0;
}

int crypto_kem_mlkem768_dec(uint8_t shared_secret[32], const uint8_t ct[1088], const uint8_t sk[2400])
{
    struct libcrux_mlkem768_sk key;
    struct libcrux_mlkem768_ciphertext cipher;
    memcpy(key.value, sk, sizeof key.value);
    memcpy(cipher.value, ct, sizeof cipher.value);
    libcrux_ml_kem_mlkem768_portable_decapsulate(&key, &cipher, shared_secret);
    burn(&key, sizeof key);
    return 0;
}

int crypto_kem_mlkem768_keypair(uint8_t pk[1184], uint8_t sk[2400])
{
    uint8_t seed[64];
    arc4random_buf(seed, sizeof seed);
    return crypto_kem_mlkem768_keypair_seeded(pk, sk, seed);
}

int crypto_kem_mlkem768_enc(uint8_t ct[1088], uint8_t shared_secret[32], const uint8_t pk[1184])
{
    uint8_t seed[32];
    arc4random_buf(seed, sizeof seed);
    return crypto_kem_mlkem768_enc_seeded(ct, shared_secret, pk, seed);
}
