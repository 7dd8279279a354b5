/* SPDX-License-Identifier: Apache-2.0 OR MIT OR ISC OR CC0-1.0 */
/*
 * crypto_api.h: a stand-in for the header that OpenSSH's KEMs are compiled with, written from the interface alone: names,
 * types, sizes, and that randombytes is a macro. For tests; the bytes come from openssh.c.
 */
#ifndef STAND_IN_CRYPTO_API_H
#define STAND_IN_CRYPTO_API_H

#include "includes.h"

#include <stddef.h>
#include <stdint.h>

typedef int8_t crypto_int8;
typedef uint8_t crypto_uint8;
typedef int16_t crypto_int16;
typedef uint16_t crypto_uint16;
typedef int32_t crypto_int32;
typedef uint32_t crypto_uint32;
typedef int64_t crypto_int64;
typedef uint64_t crypto_uint64;

void arc4random_buf(void *out, size_t len);
uint32_t arc4random(void);
#define randombytes(buf, buf_len) arc4random_buf((buf), (buf_len))
#define small_random32() arc4random()

#define crypto_hash_sha512_BYTES 64U
int crypto_hash_sha512(unsigned char *out, const unsigned char *in, unsigned long long len);

#define crypto_kem_sntrup761_PUBLICKEYBYTES 1158
#define crypto_kem_sntrup761_SECRETKEYBYTES 1763
#define crypto_kem_sntrup761_CIPHERTEXTBYTES 1039
#define crypto_kem_sntrup761_BYTES 32
int crypto_kem_sntrup761_keypair(unsigned char *pk, unsigned char *sk);
int crypto_kem_sntrup761_enc(unsigned char *c, unsigned char *k, const unsigned char *pk);
int crypto_kem_sntrup761_dec(unsigned char *k, const unsigned char *c, const unsigned char *sk);

#define crypto_kem_mlkem768_PUBLICKEYBYTES 1184
#define crypto_kem_mlkem768_SECRETKEYBYTES 2400
#define crypto_kem_mlkem768_CIPHERTEXTBYTES 1088
#define crypto_kem_mlkem768_BYTES 32
#define crypto_kem_mlkem768_ENCSEEDBYTES 32
#define crypto_kem_mlkem768_KEYPAIRSEEDBYTES 64
int crypto_kem_mlkem768_keypair(uint8_t pk[1184], uint8_t sk[2400]);
int crypto_kem_mlkem768_keypair_seeded(uint8_t pk[1184], uint8_t sk[2400], const uint8_t seed[64]);
int crypto_kem_mlkem768_enc(uint8_t ct[1088], uint8_t shared_secret[32], const uint8_t pk[1184]);
int crypto_kem_mlkem768_enc_seeded(uint8_t ct[1088], uint8_t shared_secret[32], const uint8_t pk[1184],
                                   const uint8_t seed[32]);
int crypto_kem_mlkem768_dec(uint8_t shared_secret[32], const uint8_t ct[1088], const uint8_t sk[2400]);

#endif /* STAND_IN_CRYPTO_API_H */
