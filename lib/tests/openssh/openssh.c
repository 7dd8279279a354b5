/* SPDX-License-Identifier: Apache-2.0 OR MIT OR ISC OR CC0-1.0 */
/*
 * OpenSSH's part beside a source that `ringforge package --as openssh` wrote: what that source calls, and a table of KEMs
 * with the one, so that kat.c and stack.c test it. Random bytes are NIST's generator's, SHA-512 is the library's.
 */
#include "crypto_api.h"
#include "test.h"

void arc4random_buf(void *out, size_t len)
{
    nist_bytes((uint8_t *)out, len);
}

#if RINGFORGE_ENABLE_SNTRUP761
int NS(library_sha512)(uint8_t out[64], const uint8_t *in, size_t len);

int crypto_hash_sha512(unsigned char *out, const unsigned char *in, unsigned long long len)
{
    return NS(library_sha512)(out, in, (size_t)len);
}

#define FUNCTIONS(name)                                                                            \
    crypto_kem_##name##_keypair, NULL, crypto_kem_##name##_enc, NULL, crypto_kem_##name##_dec
#else
#define FUNCTIONS(name)                                                                            \
    crypto_kem_##name##_keypair, crypto_kem_##name##_keypair_seeded, crypto_kem_##name##_enc,      \
        crypto_kem_##name##_enc_seeded, crypto_kem_##name##_dec
#endif
#include "../place.h"
