/* SPDX-License-Identifier: Apache-2.0 OR MIT OR ISC OR CC0-1.0 */
/* Streamlined NTRU Prime 761 for OpenSSH 8.5 and later. It replaces OpenSSH's file of this name; nothing else changes. */
#include "includes.h"

#ifdef USE_SNTRUP761X25519

/* OpenSSH's configure adds -ftrapv. Its checks are branches on secret sums, although none overflows. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("no-trapv")
#endif

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "crypto_api.h"

/* @hooks */
/* What OpenSSH has for these. */
RF_PLACED int RINGFORGE_NS(randombytes)(uint8_t *out, size_t len)
{
    randombytes(out, len); /* which cannot fail */
    return 0;
}

RF_PLACED int RINGFORGE_NS(sha512)(uint8_t out[64], const uint8_t *in, size_t len)
{
    return crypto_hash_sha512(out, in, len);
}
/* @functions */

/* As crypto_api.h declares them. 0, or a negative number with every output set to zero: hashing failed, or random bytes
 * are such that no key can be made of them. */
int crypto_kem_sntrup761_keypair(unsigned char *pk, unsigned char *sk)
{
    return RINGFORGE_NS(crypto_kem_sntrup761_keypair)(pk, sk);
}

int crypto_kem_sntrup761_enc(unsigned char *c, unsigned char *k, const unsigned char *pk)
{
    return RINGFORGE_NS(crypto_kem_sntrup761_enc)(c, k, pk);
}

int crypto_kem_sntrup761_dec(unsigned char *k, const unsigned char *c, const unsigned char *sk)
{
    return RINGFORGE_NS(crypto_kem_sntrup761_dec)(k, c, sk);
}

#endif /* USE_SNTRUP761X25519 */
