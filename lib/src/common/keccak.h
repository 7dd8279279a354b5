/*
 * keccak.h: the parts of SHA-3 that only the built-in provider has. Internal.
 */
#ifndef RINGFORGE_KECCAK_H
#define RINGFORGE_KECCAK_H

#include "common.h"

/*
 * Whether four SHAKE computations side by side are worth calling now. They exist only with the
 * built-in hash functions: a user who brings his own gets nothing else.
 */
#if RINGFORGE_HASH == 0 && RF_HAVE_AVX2_CODE
#define RF_HAVE_SHAKE_X4 1
#define rf_shake_x4() rf_avx2()

/*
 * out[i] = the first out_len bytes of SHAKE128 (SHAKE256) of in[i], len bytes each, i = 0, …, 3. The
 * inputs must be shorter than one block: len < 168 (136). Needs AVX2.
 */
void RF_NS(shake128_x4)(uint8_t *const out[4], size_t out_len, const uint8_t *const in[4], size_t len);
void RF_NS(shake256_x4)(uint8_t *const out[4], size_t out_len, const uint8_t *const in[4], size_t len);
#else
#define RF_HAVE_SHAKE_X4 0
#define rf_shake_x4() 0
#endif

#endif /* RINGFORGE_KECCAK_H */
