/* SPDX-License-Identifier: Apache-2.0 OR MIT OR ISC OR CC0-1.0 */
/* sha512.h: SHA-512 block by block, of one message or of several side by side; of the hashing that is built in. Internal. */
#ifndef RINGFORGE_SHA512_H
#define RINGFORGE_SHA512_H

#include "common.h"

#define RF_SHA512_BLOCK 128 /* bytes */
/* Blocks of a message of n bytes: one bit and its length in 128 bits come behind it [FIPS180-4 §5.1.2]. */
#define RF_SHA512_BLOCKS(n) (((n) + 16) / RF_SHA512_BLOCK + 1)

#if RINGFORGE_HASH == 0
/* The state before the first block. */
void RF_NS(sha512_begin)(uint64_t state[8]);
/* Goes on by so many blocks, and writes what is left from it: big-endian words. */
void RF_NS(sha512_blocks)(uint64_t state[8], const uint8_t *in, size_t blocks);
void RF_NS(sha512_end)(uint8_t out[64], const uint64_t state[8]);
/* Two messages go on by as many blocks each: with AVX2 that takes a little less time than one after the other, with
 * AVX-512VL little more than half. */
void RF_NS(sha512_blocks_two)(uint64_t first[8], const uint8_t *in_first, uint64_t second[8], const uint8_t *in_second,
                              size_t blocks);
/* And four, in less time for each still. */
void RF_NS(sha512_blocks_four)(uint64_t states[4][8], const uint8_t *const in[4], size_t blocks);
/* Behind the last `rest` bytes of a message of `len`, whose other bytes are whole blocks: what fills the last block. Returns
 * how many blocks the tail has. */
size_t RF_NS(sha512_pad)(uint8_t *tail, size_t rest, size_t len);
#endif

#endif /* RINGFORGE_SHA512_H */
