/* SPDX-License-Identifier: Apache-2.0 OR MIT OR ISC OR CC0-1.0 */
/* Hooks by OpenSSL's libcrypto, 1.1.1 or later (RINGFORGE_HASH 1, RINGFORGE_RANDOM 1). */
#include "common.h"

#if RINGFORGE_HASH == 1
#include <openssl/evp.h>
#include <openssl/sha.h>

#if RF_NEED_SHA2
int RF_HASH(sha512)(uint8_t out[64], const uint8_t *in, size_t len)
{
    return SHA512(in, len, out) == NULL; /* not the EVP form, whose look-ups cost as much as five blocks */
}
#endif

#if RF_NEED_SHA3
int RF_HASH(sha3_256)(uint8_t out[32], const uint8_t *in, size_t len)
{
    return EVP_Digest(in, len, out, NULL, EVP_sha3_256(), NULL) != 1;
}

int RF_HASH(sha3_512)(uint8_t out[64], const uint8_t *in, size_t len)
{
    return EVP_Digest(in, len, out, NULL, EVP_sha3_512(), NULL) != 1;
}

static int rf_openssl_shake(const EVP_MD *md, uint8_t *out, size_t out_len, const uint8_t *in,
                            size_t len)
{
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    int ok = ctx != NULL && EVP_DigestInit_ex(ctx, md, NULL) == 1 &&
             EVP_DigestUpdate(ctx, in, len) == 1 && EVP_DigestFinalXOF(ctx, out, out_len) == 1;
    EVP_MD_CTX_free(ctx);
    return !ok;
}

int RF_HASH(shake128)(uint8_t *out, size_t out_len, const uint8_t *in, size_t len)
{
    return rf_openssl_shake(EVP_shake128(), out, out_len, in, len);
}

int RF_HASH(shake256)(uint8_t *out, size_t out_len, const uint8_t *in, size_t len)
{
    return rf_openssl_shake(EVP_shake256(), out, out_len, in, len);
}
#endif
#endif

#if RINGFORGE_RANDOM == 1
#include <limits.h>
#include <openssl/rand.h>

int RF_RANDOM(randombytes)(uint8_t *out, size_t len)
{
    while (len > 0) {
        int part = len < INT_MAX ? (int)len : INT_MAX;
        if (RAND_bytes(out, part) != 1)
            return -1;
        out += part;
        len -= (size_t)part;
    }
    return 0;
}
#endif

#if RINGFORGE_HASH != 1 && RINGFORGE_RANDOM != 1
typedef int rf_no_openssl; /* C has no empty sources */
#endif
