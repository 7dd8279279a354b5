/* SPDX-License-Identifier: Apache-2.0 OR MIT OR ISC OR CC0-1.0 */
/* Streamlined NTRU Prime 761 for Dropbear 2025.87 and later. It replaces Dropbear's file of this name; nothing else changes. */
#include "includes.h"

#if DROPBEAR_SNTRUP761

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "dbrandom.h"
#include "sntrup761.h"

/* @hooks */
/* What Dropbear has for it. */
RF_PLACED int RINGFORGE_NS(randombytes)(uint8_t *out, size_t len)
{
    genrandom(out, (unsigned int)len); /* which cannot fail */
    return 0;
}
/* @functions */

/* As sntrup761.h declares them. 0, or a negative number with every output set to zero: random bytes are such that no key
 * can be made of them. */
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

#endif /* DROPBEAR_SNTRUP761 */
