/* SPDX-License-Identifier: Apache-2.0 OR MIT OR ISC OR CC0-1.0 */
/*
 * keccak_avx512vl.h: the permutation on one state and on four, with AVX-512 on registers of 128 and 256 bits: the state is
 * in 25 of 32 registers, a turn is one instruction, and so is logic of three operands. Part of hash_builtin_sha3.c.
 */
#ifndef RINGFORGE_KECCAK_AVX512VL_H
#define RINGFORGE_KECCAK_AVX512VL_H

#include <immintrin.h>

/*
 * A statement for each word, written out, and words that the compiler must take as they are: else clang moves many of them
 * together, with instructions on 512 bits.
 */
#define RF_KECCAK_EACH(each)                                                                       \
    each(0) each(1) each(2) each(3) each(4) each(5) each(6) each(7) each(8) each(9) each(10)       \
    each(11) each(12) each(13) each(14) each(15) each(16) each(17) each(18) each(19) each(20)      \
    each(21) each(22) each(23) each(24)

#define RF_KECCAK_ROUNDS                                                                           \
    for (i = 0; i < 24; i += 2) {                                                                  \
        RF_KECCAK_ROUND(e, a, EVERY((long long)rf_keccak_constants[i]));                           \
        RF_KECCAK_ROUND(a, e, EVERY((long long)rf_keccak_constants[i + 1]));                       \
    }

#define WORD __m128i
#define EVERY(x) _mm_set1_epi64x(x)
#define XOR(a, b) _mm_xor_si128(a, b)
#define XOR3(a, b, c) _mm_ternarylogic_epi64(a, b, c, 0x96)
#define CHI(a, b, c) _mm_ternarylogic_epi64(a, b, c, 0xd2)
#define TURN(a, t) _mm_rol_epi64(a, t)

/* One state, a word in each register's lower half: on processors that have it, less than with scalar instructions. */
RF_AVX512VL static void rf_keccak_avx512vl(uint64_t state[25])
{
    __m128i a[25], e[25];
    uint64_t word;
    int i;
#define LOAD(i)                                                                                    \
    a[i] = _mm_loadl_epi64((const __m128i *)(const void *)(state + i));                            \
    __asm__("" : "+v"(a[i]));
#define STORE(i)                                                                                   \
    word = (uint64_t)_mm_cvtsi128_si64(a[i]);                                                      \
    __asm__("" : "+r"(word));                                                                      \
    state[i] = word;
    RF_KECCAK_EACH(LOAD)
    RF_KECCAK_ROUNDS
    RF_KECCAK_EACH(STORE)
#undef LOAD
#undef STORE
}

#undef WORD
#undef EVERY
#undef XOR
#undef XOR3
#undef CHI
#undef TURN

#define WORD __m256i
#define EVERY(x) _mm256_set1_epi64x(x)
#define XOR(a, b) _mm256_xor_si256(a, b)
#define XOR3(a, b, c) _mm256_ternarylogic_epi64(a, b, c, 0x96)
#define CHI(a, b, c) _mm256_ternarylogic_epi64(a, b, c, 0xd2)
#define TURN(a, t) _mm256_rol_epi64(a, t)

/* Four states: lane i of state s is word s of state[i]. */
RF_AVX512VL static void rf_keccak_four_avx512vl(uint64_t state[25][4])
{
    __m256i a[25], e[25];
    int i;
#define LOAD(i) a[i] = _mm256_loadu_si256((const __m256i *)(const void *)state[i]);
#define STORE(i) _mm256_storeu_si256((__m256i *)(void *)state[i], a[i]);
    RF_KECCAK_EACH(LOAD)
    RF_KECCAK_ROUNDS
    RF_KECCAK_EACH(STORE)
#undef LOAD
#undef STORE
}

#undef WORD
#undef EVERY
#undef XOR
#undef XOR3
#undef CHI
#undef TURN
#undef RF_KECCAK_ROUNDS
#undef RF_KECCAK_EACH

#endif /* RINGFORGE_KECCAK_AVX512VL_H */
