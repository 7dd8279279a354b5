/* SPDX-License-Identifier: Apache-2.0 OR MIT OR ISC OR CC0-1.0 */
/*
 * own_hash.c: the library with hash functions and random bytes that its user brings, here from
 * libcrypto. Whoever takes another library, or a chip, writes these few lines for it.
 *
 *   make KEMS=sntrup761 HASH=2 RANDOM=2
 *   cc own_hash.c -DRINGFORGE_HASH=2 -DRINGFORGE_RANDOM=2 -Iinclude build/libringforge.a -lcrypto
 */
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <stdio.h>
#include <string.h>

#include <ringforge_kem.h>

static unsigned hashed, drawn;

/* NTRU Prime hashes with SHA-512 alone. NTRU wants sha3_256, and ML-KEM all others. */
int ringforge_sha512(uint8_t out[64], const uint8_t *in, size_t len)
{
    hashed++;
    return EVP_Digest(in, len, out, NULL, EVP_sha512(), NULL) != 1;
}

int ringforge_randombytes(uint8_t *out, size_t len)
{
    drawn += (unsigned)len;
    return RAND_bytes(out, (int)len) != 1; /* draws are of a few kilobytes at most */
}

int main(void)
{
    static uint8_t pk[RINGFORGE_SNTRUP761_PUBLICKEYBYTES], sk[RINGFORGE_SNTRUP761_SECRETKEYBYTES];
    static uint8_t ct[RINGFORGE_SNTRUP761_CIPHERTEXTBYTES];
    uint8_t ours[RINGFORGE_SNTRUP761_BYTES], theirs[RINGFORGE_SNTRUP761_BYTES];
    if (ringforge_crypto_kem_sntrup761_keypair(pk, sk) != 0 ||
        ringforge_crypto_kem_sntrup761_enc(ct, theirs, pk) != 0 ||
        ringforge_crypto_kem_sntrup761_dec(ours, ct, sk) != 0)
        return 1;
    printf("%u hashes and %u random bytes of our own, %s\n", hashed, drawn,
           memcmp(ours, theirs, sizeof ours) == 0 ? "one session key" : "two session keys");
    return memcmp(ours, theirs, sizeof ours) != 0;
}
