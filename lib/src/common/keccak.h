/* SPDX-License-Identifier: Apache-2.0 OR MIT OR ISC OR CC0-1.0 */
/*
 * keccak.h: the parts of SHA-3 that only the built-in provider has: four sponges side by side. Internal.
 */
#ifndef RINGFORGE_KECCAK_H
#define RINGFORGE_KECCAK_H

#include "common.h"

/* Bytes of a block [FIPS202 §6]. */
#define RF_SHA3_512_RATE 72
#define RF_SHA3_256_RATE 136
#define RF_SHAKE256_RATE 136
#define RF_SHAKE128_RATE 168

/*
 * Whether four are worth calling now. They exist only with the built-in hash functions: a user who
 * brings his own gets nothing else.
 */
#if RINGFORGE_HASH == 0 && RF_HAVE_AVX2_CODE
#define RF_HAVE_FOUR 1
#define rf_has_four() rf_avx2()
#else
#define RF_HAVE_FOUR 0
#define rf_has_four() 0
#endif

#if RF_HAVE_FOUR
#define RF_FOUR_OUT 504 /* three blocks of SHAKE128 */

/* A message, and how many bytes to make of it: a multiple of 8, at most RF_FOUR_OUT. */
typedef struct {
    const uint8_t *in;
    size_t len, out_len;
    uint8_t rate, suffix; /* 0x06 for SHA-3, 0x1f for SHAKE */
    const size_t *ready;  /* how much of the message is there, a number that grows between calls; NULL: all of it */
} rf_sponge;

/* Four of them under way. */
typedef struct {
    uint64_t state[25][4] __attribute__((aligned(32)));
    uint64_t out[4][RF_FOUR_OUT / 8 + 3]; /* 24 words are written for 21 */
    const uint8_t *in[4];
    size_t left[4], squeezed[4];
    int busy[4], padded[4]; /* the number of a lane's sponge, or -1; whether its message is absorbed */
    const rf_sponge *sponges;
    int count, next;
    /* The sponge that waits for more of its message, or -1, and its state. */
    int waits;
    const uint8_t *kept_in;
    size_t kept_left;
    uint64_t kept[25];
} rf_four;

/*
 * All the sponges, in this order as lanes become free: the longest first is best. next() goes on until one ends, and
 * returns its number, with its bytes, which stay until the next call; -1 if all have ended. Needs AVX2. With `late`,
 * sponges[count] is one whose message grows: it takes a lane, before others, whenever it can go on.
 */
void RF_NS(four_begin)(rf_four *four, const rf_sponge *sponges, int count, int late);
int RF_NS(four_next)(rf_four *four, const uint8_t **out);
#endif

#endif /* RINGFORGE_KECCAK_H */
