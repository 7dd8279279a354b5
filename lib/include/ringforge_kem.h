/* SPDX-License-Identifier: Apache-2.0 OR MIT OR ISC OR CC0-1.0 */
/*
 * ringforge_kem.h: key encapsulation with lattices; Streamlined NTRU Prime, NTRU LPRime, NTRU, ML-KEM.
 *
 * Every KEM has the same functions, RINGFORGE_NS(crypto_kem_NAME_WHAT), with the default prefix
 * ringforge_crypto_kem_sntrup761_keypair and so on. All return 0, or one of the errors below with
 * every output set to zero; only RINGFORGE_ERR_LENGTH leaves outputs as they are. Nothing allocates memory; what depends on
 * secrets takes constant time, and is set to zero on the stack before an operation returns (prepare has no secrets). Buffers
 * must not overlap, but ss and ct of one call may lie anywhere else. Functions may run in several threads; the library has
 * no writable state. Passing NULL crashes, also to the checked forms and kem_find.
 *
 *   keypair(pk, sk)              makes a key pair
 *   enc(ct, ss, pk)              makes a ciphertext, and the session key that is in it
 *   dec(ss, ct, sk)              opens a ciphertext. A forged or damaged one gives, as the schemes
 *                                say, a session key that nobody knows, and not an error
 *   keypair_derand, enc_derand   the same from given coins: the bytes that the calls of randombytes
 *                                would have delivered, one after the other
 *   check_pk(pk), check_sk(sk)   RINGFORGE_ERR_KEY if no key pair has such a key: an encoding that is not canonical,
 *                                coefficients outside -1, 0, 1, a hash or (Streamlined NTRU Prime) a quotient that is
 *                                not that of the other parts. A public key of zeros passes. ML-KEM's enc and dec make
 *                                the checks of FIPS 203 themselves (below); those of the others take any bytes as a
 *                                key, and what they do with such a key is not said
 *   check_pair(pk, sk)           pairwise consistency: RINGFORGE_ERR_KEY if what is encapsulated to pk is not opened
 *                                by sk. Draws random bytes
 *   keypair_with, enc_with       keypair and enc with random bytes of a function of yours, which gets a context of yours:
 *                                they are the coins. What your function leaves on the stack is wiped as far down as
 *                                coins reach
 *   keypair_checked, enc_checked, dec_checked
 *                                the same with the length of each buffer behind it; another
 *                                length than the KEM's is RINGFORGE_ERR_LENGTH, and nothing is
 *                                written
 */
#ifndef RINGFORGE_KEM_H
#define RINGFORGE_KEM_H

#include <stddef.h>
#include <stdint.h>

#include "ringforge_config.h"

/* The version of this header and of the library that it came with. */
#define RINGFORGE_VERSION_MAJOR 0
#define RINGFORGE_VERSION_MINOR 1
#define RINGFORGE_VERSION_PATCH 0
#define RINGFORGE_VERSION "0.1.0"
#define RINGFORGE_VERSION_NUMBER                                                                   \
    (RINGFORGE_VERSION_MAJOR * 65536L + RINGFORGE_VERSION_MINOR * 256L + RINGFORGE_VERSION_PATCH)

#define RINGFORGE_CONCAT_(a, b) a##b
#define RINGFORGE_CONCAT(a, b) RINGFORGE_CONCAT_(a, b)
#define RINGFORGE_NS(name) RINGFORGE_CONCAT(RINGFORGE_PREFIX, name)

#ifdef __cplusplus
extern "C" {
#endif

/* What is declared here is all that a shared library shows. */
#if RINGFORGE_DLL == 1
#define RINGFORGE_API __declspec(dllexport)
#elif RINGFORGE_DLL == 2
#define RINGFORGE_API __declspec(dllimport)
#elif defined(__GNUC__) && !defined(_WIN32)
#define RINGFORGE_API __attribute__((visibility("default")))
#else
#define RINGFORGE_API
#endif

/* A result that must be looked at: after a failed call keys and session keys are zeros. */
#if defined(__GNUC__)
#define RINGFORGE_CALL RINGFORGE_API __attribute__((warn_unused_result)) int
#else
#define RINGFORGE_CALL RINGFORGE_API int
#endif

/* Errors. */
#define RINGFORGE_ERR_RANDOM (-1) /* randombytes failed, or yielded only unusable values */
#define RINGFORGE_ERR_HASH (-2)   /* a hash function failed */
#define RINGFORGE_ERR_LENGTH (-3) /* a buffer has another length than the KEM's */
#define RINGFORGE_ERR_KEY (-4)    /* the public or secret key is malformed */
#define RINGFORGE_ERR_COINS (-5)  /* unusable coins; retry with new ones */
#define RINGFORGE_ERR_PAIR (-6)   /* RINGFORGE_CHECK_PAIRS: the new keys are no pair; a fault of the machine */

/*
 * Hooks. Which of them the library brings along is chosen in ringforge_config.h when it is compiled; a
 * program that defines a hook which the library brings replaces nothing. Those that it does not bring are
 * declared here, and the user links them. Each returns 0, or anything else when it failed; `out` overlaps
 * no `in`. NTRU Prime needs sha512 alone, NTRU sha3_256 alone; ML-KEM needs all but sha512.
 */
#if RINGFORGE_RANDOM == 2
int RINGFORGE_NS(randombytes)(uint8_t *out, size_t len);
#endif
#if RINGFORGE_HASH == 2
int RINGFORGE_NS(sha512)(uint8_t out[64], const uint8_t *in, size_t len);
int RINGFORGE_NS(sha3_256)(uint8_t out[32], const uint8_t *in, size_t len);
int RINGFORGE_NS(sha3_512)(uint8_t out[64], const uint8_t *in, size_t len);
int RINGFORGE_NS(shake128)(uint8_t *out, size_t out_len, const uint8_t *in, size_t len);
int RINGFORGE_NS(shake256)(uint8_t *out, size_t out_len, const uint8_t *in, size_t len);
#endif

/* A source of random bytes with a context of its own: fills `out`, and returns 0, or anything else when it failed. */
typedef int RINGFORGE_NS(random_source)(void *context, uint8_t *out, size_t len);

/* The functions of one KEM; `size` is the start of its macros. */
#define RINGFORGE_DECLARE_KEM(name, size)                                                          \
    RINGFORGE_CALL RINGFORGE_NS(crypto_kem_##name##_keypair)(uint8_t pk[size##_PUBLICKEYBYTES],               \
                                                  uint8_t sk[size##_SECRETKEYBYTES]);              \
    RINGFORGE_CALL RINGFORGE_NS(crypto_kem_##name##_keypair_derand)(uint8_t pk[size##_PUBLICKEYBYTES],        \
                                                         uint8_t sk[size##_SECRETKEYBYTES],        \
                                                         const uint8_t coins[size##_KEYPAIRCOINS]); \
    RINGFORGE_CALL RINGFORGE_NS(crypto_kem_##name##_enc)(uint8_t ct[size##_CIPHERTEXTBYTES],                  \
                                              uint8_t ss[size##_BYTES],                            \
                                              const uint8_t pk[size##_PUBLICKEYBYTES]);            \
    RINGFORGE_CALL RINGFORGE_NS(crypto_kem_##name##_enc_derand)(uint8_t ct[size##_CIPHERTEXTBYTES],           \
                                                     uint8_t ss[size##_BYTES],                     \
                                                     const uint8_t pk[size##_PUBLICKEYBYTES],      \
                                                     const uint8_t coins[size##_ENCCOINS]);        \
    RINGFORGE_CALL RINGFORGE_NS(crypto_kem_##name##_dec)(uint8_t ss[size##_BYTES],                            \
                                              const uint8_t ct[size##_CIPHERTEXTBYTES],            \
                                              const uint8_t sk[size##_SECRETKEYBYTES]);            \
    RINGFORGE_CALL RINGFORGE_NS(crypto_kem_##name##_check_pk)(const uint8_t pk[size##_PUBLICKEYBYTES]);       \
    RINGFORGE_CALL RINGFORGE_NS(crypto_kem_##name##_check_sk)(const uint8_t sk[size##_SECRETKEYBYTES]);       \
    RINGFORGE_CALL RINGFORGE_NS(crypto_kem_##name##_check_pair)(const uint8_t pk[size##_PUBLICKEYBYTES],      \
                                                     const uint8_t sk[size##_SECRETKEYBYTES]);     \
    RINGFORGE_CALL RINGFORGE_NS(crypto_kem_##name##_keypair_with)(                                 \
        uint8_t pk[size##_PUBLICKEYBYTES], uint8_t sk[size##_SECRETKEYBYTES],                      \
        RINGFORGE_NS(random_source) * random, void *context);                                      \
    RINGFORGE_CALL RINGFORGE_NS(crypto_kem_##name##_enc_with)(                                     \
        uint8_t ct[size##_CIPHERTEXTBYTES], uint8_t ss[size##_BYTES],                              \
        const uint8_t pk[size##_PUBLICKEYBYTES], RINGFORGE_NS(random_source) * random,             \
        void *context);                                                                            \
    RINGFORGE_CALL RINGFORGE_NS(crypto_kem_##name##_keypair_checked)(uint8_t *pk, size_t pk_len, uint8_t *sk, \
                                                          size_t sk_len);                          \
    RINGFORGE_CALL RINGFORGE_NS(crypto_kem_##name##_enc_checked)(uint8_t *ct, size_t ct_len, uint8_t *ss,     \
                                                      size_t ss_len, const uint8_t *pk,            \
                                                      size_t pk_len);                              \
    RINGFORGE_CALL RINGFORGE_NS(crypto_kem_##name##_dec_checked)(uint8_t *ss, size_t ss_len,                  \
                                                      const uint8_t *ct, size_t ct_len,            \
                                                      const uint8_t *sk, size_t sk_len);

/* NTRU-HPS-2048-509. */
#if RINGFORGE_ENABLE_NTRUHPS2048509
#define RINGFORGE_NTRUHPS2048509_PUBLICKEYBYTES 699
#define RINGFORGE_NTRUHPS2048509_SECRETKEYBYTES 935
#define RINGFORGE_NTRUHPS2048509_CIPHERTEXTBYTES 699
#define RINGFORGE_NTRUHPS2048509_BYTES 32
#define RINGFORGE_NTRUHPS2048509_KEYPAIRCOINS 2445
#define RINGFORGE_NTRUHPS2048509_ENCCOINS 2413
RINGFORGE_DECLARE_KEM(ntruhps2048509, RINGFORGE_NTRUHPS2048509)
#endif

/* NTRU-HPS-2048-677. */
#if RINGFORGE_ENABLE_NTRUHPS2048677
#define RINGFORGE_NTRUHPS2048677_PUBLICKEYBYTES 930
#define RINGFORGE_NTRUHPS2048677_SECRETKEYBYTES 1234
#define RINGFORGE_NTRUHPS2048677_CIPHERTEXTBYTES 930
#define RINGFORGE_NTRUHPS2048677_BYTES 32
#define RINGFORGE_NTRUHPS2048677_KEYPAIRCOINS 3243
#define RINGFORGE_NTRUHPS2048677_ENCCOINS 3211
RINGFORGE_DECLARE_KEM(ntruhps2048677, RINGFORGE_NTRUHPS2048677)
#endif

/* NTRU-HPS-4096-821. */
#if RINGFORGE_ENABLE_NTRUHPS4096821
#define RINGFORGE_NTRUHPS4096821_PUBLICKEYBYTES 1230
#define RINGFORGE_NTRUHPS4096821_SECRETKEYBYTES 1590
#define RINGFORGE_NTRUHPS4096821_CIPHERTEXTBYTES 1230
#define RINGFORGE_NTRUHPS4096821_BYTES 32
#define RINGFORGE_NTRUHPS4096821_KEYPAIRCOINS 3927
#define RINGFORGE_NTRUHPS4096821_ENCCOINS 3895
RINGFORGE_DECLARE_KEM(ntruhps4096821, RINGFORGE_NTRUHPS4096821)
#endif

/* NTRU-HPS-4096-1229. */
#if RINGFORGE_ENABLE_NTRUHPS40961229
#define RINGFORGE_NTRUHPS40961229_PUBLICKEYBYTES 1842
#define RINGFORGE_NTRUHPS40961229_SECRETKEYBYTES 2366
#define RINGFORGE_NTRUHPS40961229_CIPHERTEXTBYTES 1842
#define RINGFORGE_NTRUHPS40961229_BYTES 32
#define RINGFORGE_NTRUHPS40961229_KEYPAIRCOINS 5865
#define RINGFORGE_NTRUHPS40961229_ENCCOINS 5833
RINGFORGE_DECLARE_KEM(ntruhps40961229, RINGFORGE_NTRUHPS40961229)
#endif

/* NTRU-HRSS-701. */
#if RINGFORGE_ENABLE_NTRUHRSS701
#define RINGFORGE_NTRUHRSS701_PUBLICKEYBYTES 1138
#define RINGFORGE_NTRUHRSS701_SECRETKEYBYTES 1450
#define RINGFORGE_NTRUHRSS701_CIPHERTEXTBYTES 1138
#define RINGFORGE_NTRUHRSS701_BYTES 32
#define RINGFORGE_NTRUHRSS701_KEYPAIRCOINS 1432
#define RINGFORGE_NTRUHRSS701_ENCCOINS 1400
RINGFORGE_DECLARE_KEM(ntruhrss701, RINGFORGE_NTRUHRSS701)
#endif

/* NTRU-HRSS-1373. */
#if RINGFORGE_ENABLE_NTRUHRSS1373
#define RINGFORGE_NTRUHRSS1373_PUBLICKEYBYTES 2401
#define RINGFORGE_NTRUHRSS1373_SECRETKEYBYTES 2983
#define RINGFORGE_NTRUHRSS1373_CIPHERTEXTBYTES 2401
#define RINGFORGE_NTRUHRSS1373_BYTES 32
#define RINGFORGE_NTRUHRSS1373_KEYPAIRCOINS 2776
#define RINGFORGE_NTRUHRSS1373_ENCCOINS 2744
RINGFORGE_DECLARE_KEM(ntruhrss1373, RINGFORGE_NTRUHRSS1373)
#endif

/*
 * More of ML-KEM. A malformed encapsulation key (a coefficient of 3329 or more) and a decapsulation
 * key whose hash is wrong are RINGFORGE_ERR_KEY, the checks of FIPS 203, sections 7.2 and 7.3.
 *
 *   prepare(prepared, pk)   a public key in the form that encapsulation works with (checked, hashed,
 *                           matrix made), for those who encapsulate to one key often. It is good for
 *                           this process only: processors differ in how they keep it
 *   enc_prepared, enc_prepared_derand   encapsulation with it: the same bytes as enc and enc_derand
 *   dec_seed(ss, ct, seed)  decapsulation with the 64 bytes (d, z) that keypair_derand took as coins, in place of
 *                           the secret key: a key pair can be kept as these
 */
#define RINGFORGE_DECLARE_MLKEM(name, size, k)                                                     \
    typedef struct {                                                                               \
        int16_t matrix[(k) * (k)][256];                                                            \
        int16_t t[k][256];                                                                         \
        uint8_t hash[32];                                                                          \
    } RINGFORGE_NS(name##_prepared);                                                               \
    RINGFORGE_DECLARE_KEM(name, size)                                                              \
    RINGFORGE_CALL RINGFORGE_NS(crypto_kem_##name##_prepare)(RINGFORGE_NS(name##_prepared) * prepared,        \
                                                  const uint8_t pk[size##_PUBLICKEYBYTES]);        \
    RINGFORGE_CALL RINGFORGE_NS(crypto_kem_##name##_enc_prepared)(                                            \
        uint8_t ct[size##_CIPHERTEXTBYTES], uint8_t ss[size##_BYTES],                              \
        const RINGFORGE_NS(name##_prepared) * prepared);                                           \
    RINGFORGE_CALL RINGFORGE_NS(crypto_kem_##name##_enc_prepared_derand)(                                     \
        uint8_t ct[size##_CIPHERTEXTBYTES], uint8_t ss[size##_BYTES],                              \
        const RINGFORGE_NS(name##_prepared) * prepared, const uint8_t coins[size##_ENCCOINS]);     \
    RINGFORGE_CALL RINGFORGE_NS(crypto_kem_##name##_dec_seed)(uint8_t ss[size##_BYTES],                       \
                                                   const uint8_t ct[size##_CIPHERTEXTBYTES],       \
                                                   const uint8_t seed[size##_KEYPAIRCOINS]);

/* ML-KEM-512. */
#if RINGFORGE_ENABLE_MLKEM512
#define RINGFORGE_MLKEM512_PUBLICKEYBYTES 800
#define RINGFORGE_MLKEM512_SECRETKEYBYTES 1632
#define RINGFORGE_MLKEM512_CIPHERTEXTBYTES 768
#define RINGFORGE_MLKEM512_BYTES 32
#define RINGFORGE_MLKEM512_KEYPAIRCOINS 64
#define RINGFORGE_MLKEM512_ENCCOINS 32
RINGFORGE_DECLARE_MLKEM(mlkem512, RINGFORGE_MLKEM512, 2)
#endif

/* ML-KEM-768. */
#if RINGFORGE_ENABLE_MLKEM768
#define RINGFORGE_MLKEM768_PUBLICKEYBYTES 1184
#define RINGFORGE_MLKEM768_SECRETKEYBYTES 2400
#define RINGFORGE_MLKEM768_CIPHERTEXTBYTES 1088
#define RINGFORGE_MLKEM768_BYTES 32
#define RINGFORGE_MLKEM768_KEYPAIRCOINS 64
#define RINGFORGE_MLKEM768_ENCCOINS 32
RINGFORGE_DECLARE_MLKEM(mlkem768, RINGFORGE_MLKEM768, 3)
#endif

/* ML-KEM-1024. */
#if RINGFORGE_ENABLE_MLKEM1024
#define RINGFORGE_MLKEM1024_PUBLICKEYBYTES 1568
#define RINGFORGE_MLKEM1024_SECRETKEYBYTES 3168
#define RINGFORGE_MLKEM1024_CIPHERTEXTBYTES 1568
#define RINGFORGE_MLKEM1024_BYTES 32
#define RINGFORGE_MLKEM1024_KEYPAIRCOINS 64
#define RINGFORGE_MLKEM1024_ENCCOINS 32
RINGFORGE_DECLARE_MLKEM(mlkem1024, RINGFORGE_MLKEM1024, 4)
#endif

/*
 * More of each of the NTRU Prime KEMs.
 *
 *   keypair_batch(pks, sks, count)  `count` key pairs, one behind the other in both arrays, much
 *                                   faster than one by one for Streamlined NTRU Prime; any count,
 *                                   and no more stack for a larger one
 *   prepare(prepared, pk)           a public key in the form that encapsulation works with (decoded
 *                                   and hashed), for those who encapsulate to one key often
 *   enc_prepared, enc_prepared_derand   encapsulation with it: the same bytes as enc and enc_derand
 */
#define RINGFORGE_DECLARE_PRIME(name, size)                                                        \
    RINGFORGE_DECLARE_KEM(name, size)                                                              \
    RINGFORGE_CALL RINGFORGE_NS(crypto_kem_##name##_keypair_batch)(uint8_t *pks, uint8_t *sks, size_t count); \
    RINGFORGE_CALL RINGFORGE_NS(crypto_kem_##name##_prepare)(RINGFORGE_NS(name##_prepared) * prepared,        \
                                                  const uint8_t pk[size##_PUBLICKEYBYTES]);        \
    RINGFORGE_CALL RINGFORGE_NS(crypto_kem_##name##_enc_prepared)(                                            \
        uint8_t ct[size##_CIPHERTEXTBYTES], uint8_t ss[size##_BYTES],                              \
        const RINGFORGE_NS(name##_prepared) * prepared);                                           \
    RINGFORGE_CALL RINGFORGE_NS(crypto_kem_##name##_enc_prepared_derand)(                                     \
        uint8_t ct[size##_CIPHERTEXTBYTES], uint8_t ss[size##_BYTES],                              \
        const RINGFORGE_NS(name##_prepared) * prepared, const uint8_t coins[size##_ENCCOINS]);

/* Streamlined NTRU Prime 653. */
#if RINGFORGE_ENABLE_SNTRUP653
#define RINGFORGE_SNTRUP653_PUBLICKEYBYTES 994
#define RINGFORGE_SNTRUP653_SECRETKEYBYTES 1518
#define RINGFORGE_SNTRUP653_CIPHERTEXTBYTES 897
#define RINGFORGE_SNTRUP653_BYTES 32
#define RINGFORGE_SNTRUP653_KEYPAIRCOINS 5388
#define RINGFORGE_SNTRUP653_ENCCOINS 2612
typedef struct {
    int16_t h[653];
    uint8_t hash[32];
} RINGFORGE_NS(sntrup653_prepared);
RINGFORGE_DECLARE_PRIME(sntrup653, RINGFORGE_SNTRUP653)
#endif

/* Streamlined NTRU Prime 761 (OpenSSH's sntrup761x25519). */
#if RINGFORGE_ENABLE_SNTRUP761
#define RINGFORGE_SNTRUP761_PUBLICKEYBYTES 1158
#define RINGFORGE_SNTRUP761_SECRETKEYBYTES 1763
#define RINGFORGE_SNTRUP761_CIPHERTEXTBYTES 1039
#define RINGFORGE_SNTRUP761_BYTES 32
#define RINGFORGE_SNTRUP761_KEYPAIRCOINS 6279
#define RINGFORGE_SNTRUP761_ENCCOINS 3044
typedef struct {
    int16_t h[761];
    uint8_t hash[32];
} RINGFORGE_NS(sntrup761_prepared);
RINGFORGE_DECLARE_PRIME(sntrup761, RINGFORGE_SNTRUP761)
#endif

/* Streamlined NTRU Prime 857. */
#if RINGFORGE_ENABLE_SNTRUP857
#define RINGFORGE_SNTRUP857_PUBLICKEYBYTES 1322
#define RINGFORGE_SNTRUP857_SECRETKEYBYTES 1999
#define RINGFORGE_SNTRUP857_CIPHERTEXTBYTES 1184
#define RINGFORGE_SNTRUP857_BYTES 32
#define RINGFORGE_SNTRUP857_KEYPAIRCOINS 7071
#define RINGFORGE_SNTRUP857_ENCCOINS 3428
typedef struct {
    int16_t h[857];
    uint8_t hash[32];
} RINGFORGE_NS(sntrup857_prepared);
RINGFORGE_DECLARE_PRIME(sntrup857, RINGFORGE_SNTRUP857)
#endif

/* Streamlined NTRU Prime 953. */
#if RINGFORGE_ENABLE_SNTRUP953
#define RINGFORGE_SNTRUP953_PUBLICKEYBYTES 1505
#define RINGFORGE_SNTRUP953_SECRETKEYBYTES 2254
#define RINGFORGE_SNTRUP953_CIPHERTEXTBYTES 1349
#define RINGFORGE_SNTRUP953_BYTES 32
#define RINGFORGE_SNTRUP953_KEYPAIRCOINS 7863
#define RINGFORGE_SNTRUP953_ENCCOINS 3812
typedef struct {
    int16_t h[953];
    uint8_t hash[32];
} RINGFORGE_NS(sntrup953_prepared);
RINGFORGE_DECLARE_PRIME(sntrup953, RINGFORGE_SNTRUP953)
#endif

/* Streamlined NTRU Prime 1013. */
#if RINGFORGE_ENABLE_SNTRUP1013
#define RINGFORGE_SNTRUP1013_PUBLICKEYBYTES 1623
#define RINGFORGE_SNTRUP1013_SECRETKEYBYTES 2417
#define RINGFORGE_SNTRUP1013_CIPHERTEXTBYTES 1455
#define RINGFORGE_SNTRUP1013_BYTES 32
#define RINGFORGE_SNTRUP1013_KEYPAIRCOINS 8358
#define RINGFORGE_SNTRUP1013_ENCCOINS 4052
typedef struct {
    int16_t h[1013];
    uint8_t hash[32];
} RINGFORGE_NS(sntrup1013_prepared);
RINGFORGE_DECLARE_PRIME(sntrup1013, RINGFORGE_SNTRUP1013)
#endif

/* Streamlined NTRU Prime 1277. */
#if RINGFORGE_ENABLE_SNTRUP1277
#define RINGFORGE_SNTRUP1277_PUBLICKEYBYTES 2067
#define RINGFORGE_SNTRUP1277_SECRETKEYBYTES 3059
#define RINGFORGE_SNTRUP1277_CIPHERTEXTBYTES 1847
#define RINGFORGE_SNTRUP1277_BYTES 32
#define RINGFORGE_SNTRUP1277_KEYPAIRCOINS 10536
#define RINGFORGE_SNTRUP1277_ENCCOINS 5108
typedef struct {
    int16_t h[1277];
    uint8_t hash[32];
} RINGFORGE_NS(sntrup1277_prepared);
RINGFORGE_DECLARE_PRIME(sntrup1277, RINGFORGE_SNTRUP1277)
#endif

/* NTRU LPRime 653. */
#if RINGFORGE_ENABLE_NTRULPR653
#define RINGFORGE_NTRULPR653_PUBLICKEYBYTES 897
#define RINGFORGE_NTRULPR653_SECRETKEYBYTES 1125
#define RINGFORGE_NTRULPR653_CIPHERTEXTBYTES 1025
#define RINGFORGE_NTRULPR653_BYTES 32
#define RINGFORGE_NTRULPR653_KEYPAIRCOINS 2676
#define RINGFORGE_NTRULPR653_ENCCOINS 32
typedef struct {
    int16_t g[653];
    int16_t a[653];
    uint8_t hash[32];
} RINGFORGE_NS(ntrulpr653_prepared);
RINGFORGE_DECLARE_PRIME(ntrulpr653, RINGFORGE_NTRULPR653)
#endif

/* NTRU LPRime 761. */
#if RINGFORGE_ENABLE_NTRULPR761
#define RINGFORGE_NTRULPR761_PUBLICKEYBYTES 1039
#define RINGFORGE_NTRULPR761_SECRETKEYBYTES 1294
#define RINGFORGE_NTRULPR761_CIPHERTEXTBYTES 1167
#define RINGFORGE_NTRULPR761_BYTES 32
#define RINGFORGE_NTRULPR761_KEYPAIRCOINS 3108
#define RINGFORGE_NTRULPR761_ENCCOINS 32
typedef struct {
    int16_t g[761];
    int16_t a[761];
    uint8_t hash[32];
} RINGFORGE_NS(ntrulpr761_prepared);
RINGFORGE_DECLARE_PRIME(ntrulpr761, RINGFORGE_NTRULPR761)
#endif

/* NTRU LPRime 857. */
#if RINGFORGE_ENABLE_NTRULPR857
#define RINGFORGE_NTRULPR857_PUBLICKEYBYTES 1184
#define RINGFORGE_NTRULPR857_SECRETKEYBYTES 1463
#define RINGFORGE_NTRULPR857_CIPHERTEXTBYTES 1312
#define RINGFORGE_NTRULPR857_BYTES 32
#define RINGFORGE_NTRULPR857_KEYPAIRCOINS 3492
#define RINGFORGE_NTRULPR857_ENCCOINS 32
typedef struct {
    int16_t g[857];
    int16_t a[857];
    uint8_t hash[32];
} RINGFORGE_NS(ntrulpr857_prepared);
RINGFORGE_DECLARE_PRIME(ntrulpr857, RINGFORGE_NTRULPR857)
#endif

/* NTRU LPRime 953. */
#if RINGFORGE_ENABLE_NTRULPR953
#define RINGFORGE_NTRULPR953_PUBLICKEYBYTES 1349
#define RINGFORGE_NTRULPR953_SECRETKEYBYTES 1652
#define RINGFORGE_NTRULPR953_CIPHERTEXTBYTES 1477
#define RINGFORGE_NTRULPR953_BYTES 32
#define RINGFORGE_NTRULPR953_KEYPAIRCOINS 3876
#define RINGFORGE_NTRULPR953_ENCCOINS 32
typedef struct {
    int16_t g[953];
    int16_t a[953];
    uint8_t hash[32];
} RINGFORGE_NS(ntrulpr953_prepared);
RINGFORGE_DECLARE_PRIME(ntrulpr953, RINGFORGE_NTRULPR953)
#endif

/* NTRU LPRime 1013. */
#if RINGFORGE_ENABLE_NTRULPR1013
#define RINGFORGE_NTRULPR1013_PUBLICKEYBYTES 1455
#define RINGFORGE_NTRULPR1013_SECRETKEYBYTES 1773
#define RINGFORGE_NTRULPR1013_CIPHERTEXTBYTES 1583
#define RINGFORGE_NTRULPR1013_BYTES 32
#define RINGFORGE_NTRULPR1013_KEYPAIRCOINS 4116
#define RINGFORGE_NTRULPR1013_ENCCOINS 32
typedef struct {
    int16_t g[1013];
    int16_t a[1013];
    uint8_t hash[32];
} RINGFORGE_NS(ntrulpr1013_prepared);
RINGFORGE_DECLARE_PRIME(ntrulpr1013, RINGFORGE_NTRULPR1013)
#endif

/* NTRU LPRime 1277. */
#if RINGFORGE_ENABLE_NTRULPR1277
#define RINGFORGE_NTRULPR1277_PUBLICKEYBYTES 1847
#define RINGFORGE_NTRULPR1277_SECRETKEYBYTES 2231
#define RINGFORGE_NTRULPR1277_CIPHERTEXTBYTES 1975
#define RINGFORGE_NTRULPR1277_BYTES 32
#define RINGFORGE_NTRULPR1277_KEYPAIRCOINS 5172
#define RINGFORGE_NTRULPR1277_ENCCOINS 32
typedef struct {
    int16_t g[1277];
    int16_t a[1277];
    uint8_t hash[32];
} RINGFORGE_NS(ntrulpr1277_prepared);
RINGFORGE_DECLARE_PRIME(ntrulpr1277, RINGFORGE_NTRULPR1277)
#endif

/*
 * The KEMs that were compiled, for programs that choose one when they run. kem_find() gives NULL if no KEM has
 * that name; kem_at() gives them one after the other from 0 on, and then NULL. Sizes are in bytes.
 */
typedef struct {
    const char *name;
    size_t pk, sk, ct, ss, keypair_coins, enc_coins;
    int (*keypair)(uint8_t *pk, uint8_t *sk);
    int (*keypair_derand)(uint8_t *pk, uint8_t *sk, const uint8_t *coins);
    int (*enc)(uint8_t *ct, uint8_t *ss, const uint8_t *pk);
    int (*enc_derand)(uint8_t *ct, uint8_t *ss, const uint8_t *pk, const uint8_t *coins);
    int (*dec)(uint8_t *ss, const uint8_t *ct, const uint8_t *sk);
    int (*check_pk)(const uint8_t *pk);
    int (*check_sk)(const uint8_t *sk);
    int (*check_pair)(const uint8_t *pk, const uint8_t *sk);
} RINGFORGE_NS(kem);
RINGFORGE_API const RINGFORGE_NS(kem) * RINGFORGE_NS(kem_find)(const char *name);
RINGFORGE_API const RINGFORGE_NS(kem) * RINGFORGE_NS(kem_at)(size_t index);

/* The version of the library that is linked, which may be another than the header's: RINGFORGE_VERSION and
 * RINGFORGE_VERSION_NUMBER as they were when it was compiled. */
RINGFORGE_API const char *RINGFORGE_NS(version)(void);
RINGFORGE_API long RINGFORGE_NS(version_number)(void);

#ifdef __cplusplus
}
#endif

#endif /* RINGFORGE_KEM_H */
