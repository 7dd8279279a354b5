/* SPDX-License-Identifier: Apache-2.0 OR MIT OR ISC OR CC0-1.0 */
/* prime.h: what the sizes of NTRU Prime share. Internal. */
#ifndef RINGFORGE_PRIME_H
#define RINGFORGE_PRIME_H

#include "../common/sort.h"
#include "../common/wipe.h"
#if RF_HAVE_AVX512_CODE
#include "../common/reciprocal.h"
#endif

/* n <= RF_MIXED_MAX residues modulo m < 2^14 to bytes; r is used up. */
void RF_NS(mixed_encode)(uint8_t *out, uint16_t *r, int n, uint32_t m);
/* And back, whatever the bytes are: residues are always less than m. */
void RF_NS(mixed_decode)(uint16_t *r, const uint8_t *in, int n, uint32_t m);
#define RF_MIXED_MAX 1277 /* residues */
#define RF_MIXED_LEVELS 12

#if RF_NEED_NTRULPR
/* `len` bytes of the key stream of AES-256 in counter mode, from counter 0. */
void RF_NS(aes256_stream)(uint8_t *out, size_t len, const uint8_t key[32]);
#endif

/* SHA-512, cut to 32 bytes, of the byte b and two strings of at most RF_HASH_MAX bytes together. Hashes return 0 or
 * RINGFORGE_ERR_HASH. */
#define RF_HASH_MAX 2200
int RF_NS(prime_hash)(uint8_t out[32], uint8_t b, const uint8_t *x, size_t x_len, const uint8_t *y, size_t y_len);
#if !RINGFORGE_SMALL
/* Of the byte b and x, and of the byte b and y. */
int RF_NS(prime_hash_two)(uint8_t first[32], uint8_t second[32], uint8_t b, const uint8_t *x, const uint8_t *y, size_t len);
#endif
#if RF_NEED_MORE
/* Of the byte 4 and each of `count` keys; keys lie one behind the other, hashes so many bytes apart. */
int RF_NS(prime_hash_keys)(uint8_t *out, size_t out_step, const uint8_t *pk, size_t pk_len, size_t count);
#endif
/* The last 32 bytes of ct, which confirm r, and the session's key, from the other bytes of ct, r and the key's hash. */
int RF_NS(prime_hash_session)(uint8_t ss[32], uint8_t *ct, size_t ct_len, const uint8_t *r, size_t r_len,
                              const uint8_t pk_hash[32]);
/* The same from the key itself. */
int RF_NS(prime_hash_all)(uint8_t ss[32], uint8_t *ct, size_t ct_len, const uint8_t *r, size_t r_len, const uint8_t *pk,
                          size_t pk_len);

/* x / 2^k rounded down. C leaves >> of negative words to the compiler; all that we know do this. */
#define rf_sar32(x, k) ((x) >> (k))
typedef char rf_shift_keeps_sign[(-5 >> 1) == -3 ? 1 : -1];

#endif /* RINGFORGE_PRIME_H */
