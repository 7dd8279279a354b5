/* SPDX-License-Identifier: Apache-2.0 OR MIT OR ISC OR CC0-1.0 */
/* ML-KEM-768 for OpenSSH 10.4 and later, in place of the five functions of libcrux-mlkem-mldsa.c that have these names. */
#include "includes.h"

#ifdef USE_MLKEM768X25519

/* OpenSSH's configure adds -ftrapv. Its checks are branches on secret sums, although none overflows. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("no-trapv")
#endif

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "crypto_api.h"

/* @hooks */
/* What OpenSSH has for it. */
RF_PLACED int RINGFORGE_NS(randombytes)(uint8_t *out, size_t len)
{
    randombytes(out, len); /* which cannot fail */
    return 0;
}
/* @functions */

/* As crypto_api.h declares them. 0, or a negative number with every output set to zero: a coefficient of the public key is
 * 3329 or more, or the secret key is damaged. */
int crypto_kem_mlkem768_keypair(uint8_t pk[1184], uint8_t sk[2400])
{
    return RINGFORGE_NS(crypto_kem_mlkem768_keypair)(pk, sk);
}

int crypto_kem_mlkem768_keypair_seeded(uint8_t pk[1184], uint8_t sk[2400], const uint8_t seed[64])
{
    return RINGFORGE_NS(crypto_kem_mlkem768_keypair_derand)(pk, sk, seed);
}

int crypto_kem_mlkem768_enc(uint8_t ct[1088], uint8_t shared_secret[32], const uint8_t pk[1184])
{
    return RINGFORGE_NS(crypto_kem_mlkem768_enc)(ct, shared_secret, pk);
}

int crypto_kem_mlkem768_enc_seeded(uint8_t ct[1088], uint8_t shared_secret[32], const uint8_t pk[1184],
                                   const uint8_t seed[32])
{
    return RINGFORGE_NS(crypto_kem_mlkem768_enc_derand)(ct, shared_secret, pk, seed);
}

int crypto_kem_mlkem768_dec(uint8_t shared_secret[32], const uint8_t ct[1088], const uint8_t sk[2400])
{
    return RINGFORGE_NS(crypto_kem_mlkem768_dec)(shared_secret, ct, sk);
}

#endif /* USE_MLKEM768X25519 */
