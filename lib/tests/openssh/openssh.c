/* SPDX-License-Identifier: Apache-2.0 OR MIT OR ISC OR CC0-1.0 */
/*
 * OpenSSH's part beside a sntrup761.c that `ringforge package sntrup761 --as openssh` wrote: what that file calls, and a
 * table of KEMs with the one, so that kat.c and stack.c test it. Random bytes are NIST's generator's, SHA-512 is the
 * library's.
 */
#include "crypto_api.h"
#include "test.h"

int NS(library_sha512)(uint8_t out[64], const uint8_t *in, size_t len);

void arc4random_buf(void *out, size_t len)
{
    nist_bytes((uint8_t *)out, len);
}

int crypto_hash_sha512(unsigned char *out, const unsigned char *in, unsigned long long len)
{
    return NS(library_sha512)(out, in, (size_t)len);
}

/* What this file and the library say of sizes is the same. */
#define SAME(what) typedef char same_##what[crypto_kem_sntrup761_##what == RINGFORGE_SNTRUP761_##what ? 1 : -1]
SAME(PUBLICKEYBYTES);
SAME(SECRETKEYBYTES);
SAME(CIPHERTEXTBYTES);
SAME(BYTES);

const struct kem kems[] = {{"sntrup761", crypto_kem_sntrup761_PUBLICKEYBYTES, crypto_kem_sntrup761_SECRETKEYBYTES,
                            crypto_kem_sntrup761_CIPHERTEXTBYTES, crypto_kem_sntrup761_BYTES, 0, 0,
                            crypto_kem_sntrup761_keypair, NULL, crypto_kem_sntrup761_enc, NULL,
                            crypto_kem_sntrup761_dec, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL,
                            NULL, NULL}};
const size_t kem_count = 1;
