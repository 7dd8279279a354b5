/* SPDX-License-Identifier: Apache-2.0 OR MIT OR ISC OR CC0-1.0 */
/* ML-KEM-768 for Dropbear 2025.87 and later. It replaces Dropbear's file of this name, which alone included the header of libcrux. */
#include "includes.h"

#if DROPBEAR_MLKEM768

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "dbrandom.h"
#include "mlkem768.h"

/* @hooks */
/* What Dropbear has for it. */
RF_PLACED int RINGFORGE_NS(randombytes)(uint8_t *out, size_t len)
{
    genrandom(out, (unsigned int)len); /* which cannot fail */
    return 0;
}
/* @functions */

/* As mlkem768.h declares them. 0, or a negative number with every output set to zero: a coefficient of the public key is
 * 3329 or more, or the secret key is damaged. */
int crypto_kem_mlkem768_keypair(unsigned char *pk, unsigned char *sk)
{
    return RINGFORGE_NS(crypto_kem_mlkem768_keypair)(pk, sk);
}

int crypto_kem_mlkem768_enc(unsigned char *c, unsigned char *k, const unsigned char *pk)
{
    return RINGFORGE_NS(crypto_kem_mlkem768_enc)(c, k, pk);
}

int crypto_kem_mlkem768_dec(unsigned char *k, const unsigned char *c, const unsigned char *sk)
{
    return RINGFORGE_NS(crypto_kem_mlkem768_dec)(k, c, sk);
}

#endif /* DROPBEAR_MLKEM768 */
