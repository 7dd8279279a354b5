/* SPDX-License-Identifier: Apache-2.0 OR MIT OR ISC OR CC0-1.0 */
/*
 * poly.h: polynomials of ML-KEM, 256 coefficients modulo 3329 [FIPS203]. Internal.
 *
 * Transformed polynomials are in the order of the multiplier in use, which only this process knows;
 * to_standard and from_standard go to the order of FIPS 203 and back.
 */
#ifndef RINGFORGE_MLKEM_POLY_H
#define RINGFORGE_MLKEM_POLY_H

#include "../common/keccak.h"
#include "../common/published.h"
#include "../common/wipe.h"

#define RF_MLKEM_Q 3329

/* c = T(a), |c| <= 16584, for |a| <= 2218. c may be a. */
void RF_NS(mlkem_forward)(int16_t c[256], const int16_t a[256]);
/* c = 2^16 T^-1(a), |c| <= 2490, for |a| <= 10080. c may be a. */
void RF_NS(mlkem_inverse)(int16_t c[256], const int16_t a[256]);
#if RINGFORGE_SMALL
/* c = c + 2^-16 a b, product by product, |c| <= 1847 before and after, |a|, |b| <= 17709. */
void RF_NS(mlkem_accumulate)(int16_t c[256], const int16_t a[256], const int16_t b[256]);
#else
/*
 * c = 2^-16 (a[0] b[0] + ... + a[k - 1] b[k - 1]), product by product, |c| <= 2108, for 2 <= k <= 4 and a, b as forward leaves
 * them, or |a|, |b| <= 15198.
 */
void RF_NS(mlkem_inner)(int16_t c[256], const int16_t a[][256], const int16_t b[][256], int k);
#endif
#if !RINGFORGE_SMALL || RF_NEED_MORE
void RF_NS(mlkem_to_standard)(int16_t a[256]);
void RF_NS(mlkem_from_standard)(int16_t a[256]);
#endif

/* a mod 3329 in [0, 3328], for any a. */
void RF_NS(mlkem_freeze)(int16_t a[256]);
/* a - 3329 for a > 1664: [0, 3328] becomes [-1664, 1664]. */
void RF_NS(mlkem_center)(int16_t a[256]);
/* a = 2^16 a + b mod 3329 in [0, 3328], for any a and |b| <= 30000. */
void RF_NS(mlkem_scale_add)(int16_t a[256], const int16_t b[256]);
/* a = a + b, without reduction. */
void RF_NS(mlkem_add)(int16_t a[256], const int16_t b[256]);
void RF_NS(mlkem_sub)(int16_t a[256], const int16_t b[256]);

/* ByteEncode_12 of a in [0, 3328], and ByteDecode_12: 0 if all coefficients were below 3329. */
void RF_NS(mlkem_encode)(uint8_t out[384], const int16_t a[256]);
uint32_t RF_NS(mlkem_decode)(int16_t a[256], const uint8_t in[384]);
/* ByteEncode_d of Compress_d of a (any a), 32d bytes, and back to [0, 3328]; d = 1, 4, 5, 10, 11. */
void RF_NS(mlkem_compress)(uint8_t *out, const int16_t a[256], int d);
void RF_NS(mlkem_decompress)(int16_t a[256], const uint8_t *in, int d);

#if RINGFORGE_SMALL
/* An entry of A, of a public seed and two numbers: its column and its row. */
int RF_NS(mlkem_entry)(int16_t a[256], const uint8_t seed[32], int first, int second);
/* Noise of a seed and a number: |a| <= 3 where `wide` is not 0, else 2. Both return 0 or RINGFORGE_ERR_HASH. */
int RF_NS(mlkem_noise)(int16_t a[256], const uint8_t seed[32], int number, int wide);
#else
/* A message and its digest of 32 bytes, by SHAKE256 or else SHA3-256. */
typedef struct {
    const uint8_t *in;
    size_t len;
    int is_shake;
    uint8_t out[32];
} rf_digest;

/* Polynomials of noise from a seed and the bytes 0, 1, …: |a| <= eta, 3 for the first `wide` and 2 for the others. */
typedef struct {
    int16_t (*a)[256];
    const uint8_t *seed; /* 32 bytes */
    int count, wide;
} rf_noise;

/*
 * All hashing that does not wait for other hashing, side by side where it can be: `digests` (at most 2), the k x k
 * uniform transformed polynomials of a public seed in the order in use (row by row of A, or of A transposed; none if
 * `matrix` is NULL), and the noise (none if NULL; at most 2 k + 1). 0 or RINGFORGE_ERR_HASH.
 */
int RF_NS(mlkem_hash)(rf_digest *digests, int digest_count, int16_t (*matrix)[256], int k, int transposed,
                      const uint8_t *seed, const rf_noise *noise);

/*
 * The same for key generation, row by row: next() gives a row's number when that row of A, s and the row's e are there,
 * and -1 after the last, or when `error` is not 0. The key's digest, SHA3-256, is made beside it: after each row the caller
 * says in `ready` how many bytes of the key are written, and after the last all; key.out has it at the end.
 */
#define RF_MLKEM_STRINGS 24 /* at most four secrets, and four rows of four entries and an error */
typedef struct {
    rf_digest key;
    int16_t (*matrix)[256];
    rf_noise noise;
    size_t ready;
    int k, row, error;
    struct rf_mlkem_messages {
        uint8_t entry[16][34], noise[9][33];
    } messages;
#if RF_HAVE_FOUR
    uint8_t what[RF_MLKEM_STRINGS]; /* entry, or 16 and number of a noise */
    uint32_t ended;   /* a bit for each */
    rf_sponge sponges[RF_MLKEM_STRINGS + 1];
    rf_four four;
#endif
} rf_mlkem_rows;
void RF_NS(mlkem_rows_begin)(rf_mlkem_rows *rows, const rf_digest *key, int16_t (*matrix)[256], int k, const uint8_t *seed,
                             const rf_noise *noise);
int RF_NS(mlkem_rows_next)(rf_mlkem_rows *rows);
#endif

#endif /* RINGFORGE_MLKEM_POLY_H */
