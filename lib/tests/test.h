/* SPDX-License-Identifier: Apache-2.0 OR MIT OR ISC OR CC0-1.0 */
/* test.h: what the tests of the library share. */
#ifndef RINGFORGE_TEST_H
#define RINGFORGE_TEST_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ringforge_kem.h"

#define NS RINGFORGE_NS

/* One KEM, whatever its sizes. */
struct kem {
    const char *name;
    size_t pk, sk, ct, ss, keypair_coins, enc_coins;
    int (*keypair)(uint8_t *, uint8_t *);
    int (*keypair_derand)(uint8_t *, uint8_t *, const uint8_t *);
    int (*enc)(uint8_t *, uint8_t *, const uint8_t *);
    int (*enc_derand)(uint8_t *, uint8_t *, const uint8_t *, const uint8_t *);
    int (*dec)(uint8_t *, const uint8_t *, const uint8_t *);
    int (*keypair_checked)(uint8_t *, size_t, uint8_t *, size_t);
    int (*enc_checked)(uint8_t *, size_t, uint8_t *, size_t, const uint8_t *, size_t);
    int (*dec_checked)(uint8_t *, size_t, const uint8_t *, size_t, const uint8_t *, size_t);
    int (*check_pk)(const uint8_t *);
    int (*check_sk)(const uint8_t *);
    int (*check_pair)(const uint8_t *, const uint8_t *);
    int (*keypair_with)(uint8_t *, uint8_t *, NS(random_source) *, void *);
    int (*enc_with)(uint8_t *, uint8_t *, const uint8_t *, NS(random_source) *, void *);
    /* Those of NTRU Prime, the last three of ML-KEM as well; NULL elsewhere. The prepared key is passed untyped. */
    int (*keypair_batch)(uint8_t *, uint8_t *, size_t);
    size_t prepared;
    int (*prepare)(void *, const uint8_t *);
    int (*enc_prepared)(uint8_t *, uint8_t *, const void *);
    int (*enc_prepared_derand)(uint8_t *, uint8_t *, const void *, const uint8_t *);
    int (*dec_seed)(uint8_t *, const uint8_t *, const uint8_t *); /* of ML-KEM */
};
extern const struct kem kems[];
extern const size_t kem_count;
#define MAX_PK 4096
#define MAX_SK 8192
#define MAX_CT 4096
#define MAX_COINS 16384
#define MAX_PREPARED 16384

/* Stops the test with a message. */
#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                        \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

/* The code that a test leaves alone, as test_portable says it: none, all but portable code, AVX-512, or AVX-512 with registers
 * of 512 bits. */
static const char *const test_targets[] = {"all", "portable", "avx2", "avx512vl"};
#define TEST_TARGETS 4
static inline int test_target(const char *name)
{
    int target;
    for (target = 0; target < TEST_TARGETS; target++)
        if (strcmp(name, test_targets[target]) == 0)
            return target;
    fprintf(stderr, "target %s: all, portable, avx2 or avx512vl is expected\n", name);
    exit(2);
}

/* NIST's generator. */
void nist_seed(const uint8_t seed[48]);
void nist_bytes(uint8_t *out, size_t len);
void nist_state(uint8_t state[48], int restore);

/* Random bytes of the library come from NIST's generator; the call after `random_calls_left` calls
 * fails, unless that is negative. What is drawn is copied to `random_record`, which moves on, unless it
 * is NULL. The next `random_draws_of_zero` calls give what Streamlined NTRU Prime reads as zeros. */
extern int random_calls_left;
extern uint8_t *random_record;
extern int random_draws_of_zero;

/* SHA-256, for the known answers. */
void sha256(uint8_t out[32], const uint8_t *in, size_t len);

#endif /* RINGFORGE_TEST_H */
