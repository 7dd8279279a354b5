/* SPDX-License-Identifier: Apache-2.0 OR MIT OR ISC OR CC0-1.0 */
/* sntrup1013 and ntrulpr1013. */
#include "prime.h"

#if RF_NEED_SNTRUP1013
#define RF_P 1013
#define RF_Q 7177
#define RF_QINV 12857 /* 1/q mod 2^16, as a word with sign */
#define RF_W 448
#define RF_MUL_C RF_NS(sntrup1013_mul_c)
#define RF_MUL_AVX2 RF_NS(sntrup1013_mul_avx2)
#define RF_MUL_NEON RF_NS(sntrup1013_mul_neon)
#define RF_S(name) RF_CAT(rf_prime1013_, name)
#include "ring.inc"

#if RINGFORGE_ENABLE_SNTRUP1013
#define RF_PK RINGFORGE_SNTRUP1013_PUBLICKEYBYTES
#define RF_SK RINGFORGE_SNTRUP1013_SECRETKEYBYTES
#define RF_CT RINGFORGE_SNTRUP1013_CIPHERTEXTBYTES
#define RF_PREPARED RF_NS(sntrup1013_prepared)
#define RF_KEM(what) RF_NS(RF_CAT(crypto_kem_sntrup1013_, what))
#define RF_DEAD 66560 /* bytes of stack that an operation uses at most, see wipe.h */
#define RF_FACTORS {4, 2, 1, 0, 0} /* of x^1013 - x - 1 mod 3 */
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

#if RINGFORGE_ENABLE_NTRULPR1013
#define RF_L(name) RF_CAT(rf_lpr1013_, name)
#define RF_LPR_W 392
#define RF_TAU0 3367
#define RF_TAU1 73
#define RF_TAU2 3143
#define RF_TAU3 449
#define RF_PK RINGFORGE_NTRULPR1013_PUBLICKEYBYTES
#define RF_SK RINGFORGE_NTRULPR1013_SECRETKEYBYTES
#define RF_CT RINGFORGE_NTRULPR1013_CIPHERTEXTBYTES
#define RF_PREPARED RF_NS(ntrulpr1013_prepared)
#define RF_KEM(what) RF_NS(RF_CAT(crypto_kem_ntrulpr1013_, what))
#define RF_DEAD 66048
#include "ntrulpr.inc"
#endif

#include "end.inc"
#endif
