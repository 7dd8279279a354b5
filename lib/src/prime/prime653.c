/* SPDX-License-Identifier: Apache-2.0 OR MIT OR ISC OR CC0-1.0 */
/* sntrup653 and ntrulpr653. */
#include "prime.h"

#if RF_NEED_SNTRUP653
#define RF_P 653
#define RF_Q 4621
#define RF_QINV (-29499) /* 1/q mod 2^16, as a word with sign */
#define RF_W 288
#define RF_MUL_C RF_NS(sntrup653_mul_c)
#define RF_MUL_AVX2 RF_NS(sntrup653_mul_avx2)
#define RF_MUL_NEON RF_NS(sntrup653_mul_neon)
#define RF_S(name) RF_CAT(rf_prime653_, name)
#include "ring.inc"

#if RINGFORGE_ENABLE_SNTRUP653
#define RF_PK RINGFORGE_SNTRUP653_PUBLICKEYBYTES
#define RF_SK RINGFORGE_SNTRUP653_SECRETKEYBYTES
#define RF_CT RINGFORGE_SNTRUP653_CIPHERTEXTBYTES
#define RF_PREPARED RF_NS(sntrup653_prepared)
#define RF_KEM(what) RF_NS(RF_CAT(crypto_kem_sntrup653_, what))
#define RF_DEAD 31744 /* bytes of stack that an operation uses at most, see wipe.h */
#define RF_FACTORS {3, 2, 2, 0} /* of x^653 - x - 1 mod 3 */
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

#if RINGFORGE_ENABLE_NTRULPR653
#define RF_L(name) RF_CAT(rf_lpr653_, name)
#define RF_LPR_W 252
#define RF_TAU0 2175
#define RF_TAU1 113
#define RF_TAU2 2031
#define RF_TAU3 290
#define RF_PK RINGFORGE_NTRULPR653_PUBLICKEYBYTES
#define RF_SK RINGFORGE_NTRULPR653_SECRETKEYBYTES
#define RF_CT RINGFORGE_NTRULPR653_CIPHERTEXTBYTES
#define RF_PREPARED RF_NS(ntrulpr653_prepared)
#define RF_KEM(what) RF_NS(RF_CAT(crypto_kem_ntrulpr653_, what))
#define RF_DEAD 33792
#include "ntrulpr.inc"
#endif

#include "end.inc"
#endif
