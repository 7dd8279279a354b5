/* SPDX-License-Identifier: Apache-2.0 OR MIT OR ISC OR CC0-1.0 */
/*
 * sha512_avx512vl.h: what sha512_lanes.inc asks for, with AVX-512 on registers of 128 and 256 bits: a turn is one
 * instruction, and so is logic of three operands. Part of hash_builtin_sha2.c.
 *
 * These two instructions are written out, in functions for AVX2: so compilers take no other of AVX-512, nor the
 * registers that it adds: they would move words of the schedule through them, at the cost of units that rounds wait for.
 */
#ifndef RINGFORGE_SHA512_AVX512VL_H
#define RINGFORGE_SHA512_AVX512VL_H

#define RF_LANES(name) RF_CAT(RF_CAT(rf_, name), _avx512vl)

/* x turned right by k, by m, and turned or shifted by n: the exclusive or of the three. */
#define RF_VL_SUM(name, type, k, m, n, third)                                                      \
    RF_AVX2 static inline type name(type x)                                                        \
    {                                                                                              \
        type y, z;                                                                                 \
        __asm__("vprorq $" #k ", %1, %0" : "=x"(y) : "x"(x));                                      \
        __asm__("vprorq $" #m ", %1, %0" : "=x"(z) : "x"(x));                                      \
        __asm__(third " $" #n ", %0, %0" : "+x"(x));                                               \
        __asm__("vpternlogq $0x96, %2, %1, %0" : "+x"(y) : "x"(z), "x"(x));                        \
        return y;                                                                                  \
    }
/* Bit 4x + 2y + z of the table, of each bit of x, y and z. */
#define RF_VL_LOGIC(name, type, table)                                                             \
    RF_AVX2 static inline type name(type x, type y, type z)                                        \
    {                                                                                              \
        __asm__("vpternlogq $" #table ", %2, %1, %0" : "+x"(x) : "x"(y), "x"(z));                  \
        return x;                                                                                  \
    }
RF_VL_LOGIC(rf_vl_ch, __m256i, 0xca)
RF_VL_LOGIC(rf_vl_maj, __m256i, 0xe8)
RF_VL_SUM(rf_vl_sum_e, __m256i, 14, 18, 41, "vprorq")
RF_VL_SUM(rf_vl_sum_a, __m256i, 28, 34, 39, "vprorq")
RF_VL_SUM(rf_vl_next_0, __m256i, 1, 8, 7, "vpsrlq")
RF_VL_SUM(rf_vl_next_1, __m256i, 19, 61, 6, "vpsrlq")
RF_VL_LOGIC(rf_vl_two_ch, __m128i, 0xca)
RF_VL_LOGIC(rf_vl_two_maj, __m128i, 0xe8)
RF_VL_SUM(rf_vl_two_sum_e, __m128i, 14, 18, 41, "vprorq")
RF_VL_SUM(rf_vl_two_sum_a, __m128i, 28, 34, 39, "vprorq")

#define RF_CH rf_vl_ch
#define RF_MAJ rf_vl_maj
#define RF_SUM_E rf_vl_sum_e
#define RF_SUM_A rf_vl_sum_a
#define RF_NEXT_0 rf_vl_next_0
#define RF_NEXT_1 rf_vl_next_1
#define RF_TWO_CH rf_vl_two_ch
#define RF_TWO_MAJ rf_vl_two_maj
#define RF_TWO_SUM_E rf_vl_two_sum_e
#define RF_TWO_SUM_A rf_vl_two_sum_a
#include "sha512_lanes.inc"
#undef RF_VL_SUM
#undef RF_VL_LOGIC

#endif /* RINGFORGE_SHA512_AVX512VL_H */
