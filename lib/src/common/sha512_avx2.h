/* SPDX-License-Identifier: Apache-2.0 OR MIT OR ISC OR CC0-1.0 */
/* sha512_avx2.h: what sha512_lanes.inc asks for, with AVX2. Part of hash_builtin_sha2.c. */
#ifndef RINGFORGE_SHA512_AVX2_H
#define RINGFORGE_SHA512_AVX2_H

#define RF_LANES(name) RF_CAT(RF_CAT(rf_, name), _avx2)

#define RF_CH(e, f, g) _mm256_xor_si256(g, _mm256_and_si256(e, _mm256_xor_si256(f, g)))
/* a ^ b is b ^ c of the next round, and compilers see it. */
#define RF_MAJ(a, b, c) _mm256_xor_si256(b, _mm256_and_si256(_mm256_xor_si256(a, b), _mm256_xor_si256(b, c)))
#define RF_SUM_E(x) RF_XOR3(RF_TURN(x, 14), RF_TURN(x, 18), RF_TURN(x, 41))
#define RF_SUM_A(x) RF_XOR3(RF_TURN(x, 28), RF_TURN(x, 34), RF_TURN(x, 39))
#define RF_NEXT_0(x) RF_XOR3(RF_TURN(x, 1), RF_TURN(x, 8), _mm256_srli_epi64(x, 7))
#define RF_NEXT_1(x) RF_XOR3(RF_TURN(x, 19), RF_TURN(x, 61), _mm256_srli_epi64(x, 6))

#define RF_TWO_TURN(x, n) _mm_xor_si128(_mm_srli_epi64(x, n), _mm_slli_epi64(x, 64 - (n)))
#define RF_TWO_XOR3(x, y, z) _mm_xor_si128(_mm_xor_si128(x, y), z)
#define RF_TWO_CH(e, f, g) _mm_xor_si128(g, _mm_and_si128(e, _mm_xor_si128(f, g)))
#define RF_TWO_MAJ(a, b, c) _mm_xor_si128(b, _mm_and_si128(_mm_xor_si128(a, b), _mm_xor_si128(b, c)))
#define RF_TWO_SUM_E(x) RF_TWO_XOR3(RF_TWO_TURN(x, 14), RF_TWO_TURN(x, 18), RF_TWO_TURN(x, 41))
#define RF_TWO_SUM_A(x) RF_TWO_XOR3(RF_TWO_TURN(x, 28), RF_TWO_TURN(x, 34), RF_TWO_TURN(x, 39))
#include "sha512_lanes.inc"
#undef RF_TWO_TURN
#undef RF_TWO_XOR3

#endif /* RINGFORGE_SHA512_AVX2_H */
