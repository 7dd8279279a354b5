/* SPDX-License-Identifier: Apache-2.0 OR MIT OR ISC OR CC0-1.0 */
/* sntrup1277 and ntrulpr1277. */
#include "prime.h"

#if RF_NEED_SNTRUP1277
#define RF_P 1277
#define RF_Q 7879
#define RF_QINV 17143 /* 1/q mod 2^16, as a word with sign */
#define RF_W 492
#define RF_MUL_C RF_NS(sntrup1277_mul_c)
#define RF_MUL_AVX2 RF_NS(sntrup1277_mul_avx2)
#define RF_MUL_NEON RF_NS(sntrup1277_mul_neon)
#define RF_MUL_BIG_C RF_NS(sntrup1277_big_mul_c)
#define RF_MUL_BIG_AVX2 RF_MUL_AVX2 /* for any operands */
#define RF_S(name) RF_CAT(rf_prime1277_, name)
#include "ring.inc"

#if RINGFORGE_ENABLE_SNTRUP1277
#define RF_PK RINGFORGE_SNTRUP1277_PUBLICKEYBYTES
#define RF_SK RINGFORGE_SNTRUP1277_SECRETKEYBYTES
#define RF_CT RINGFORGE_SNTRUP1277_CIPHERTEXTBYTES
#define RF_PREPARED RF_NS(sntrup1277_prepared)
#define RF_KEM(what) RF_NS(RF_CAT(crypto_kem_sntrup1277_, what))
#define RF_DEAD 70144 /* bytes of stack that an operation uses at most, see wipe.h */
#define RF_FACTORS {3, 2, 2, 0}, {4, 2, 0, 0, 1}, {7, 2, 1, 2, 2, 2, 0, 0} /* of x^1277 - x - 1 mod 3 */
#include "ring3.inc"
#include "recip.inc"
#include "recip_avx2.inc"
#include "recip3_avx2.inc"
#include "recip_avx512.inc"
#include "recip3_avx512.inc"
#include "recip_neon.inc"
#include "recip3_neon.inc"
#include "choose.inc"
#include "sntrup.inc"
#endif

#if RINGFORGE_ENABLE_NTRULPR1277
#define RF_L(name) RF_CAT(rf_lpr1277_, name)
#define RF_LPR_W 429
#define RF_TAU0 3724
#define RF_TAU1 66
#define RF_TAU2 3469
#define RF_TAU3 496
#define RF_PK RINGFORGE_NTRULPR1277_PUBLICKEYBYTES
#define RF_SK RINGFORGE_NTRULPR1277_SECRETKEYBYTES
#define RF_CT RINGFORGE_NTRULPR1277_CIPHERTEXTBYTES
#define RF_PREPARED RF_NS(ntrulpr1277_prepared)
#define RF_KEM(what) RF_NS(RF_CAT(crypto_kem_ntrulpr1277_, what))
#define RF_DEAD 70144
#include "ntrulpr.inc"
#endif

#include "end.inc"
#endif
