/* SPDX-License-Identifier: Apache-2.0 OR MIT OR ISC OR CC0-1.0 */
/* sntrup857 and ntrulpr857. */
#include "prime.h"

#if RF_NEED_SNTRUP857
#define RF_P 857
#define RF_Q 5167
#define RF_QINV (-19761) /* 1/q mod 2^16, as a word with sign */
#define RF_W 322
#define RF_MUL_C RF_NS(sntrup857_mul_c)
#define RF_MUL_AVX2 RF_NS(sntrup857_mul_avx2)
#define RF_MUL_NEON RF_NS(sntrup857_mul_neon)
#define RF_S(name) RF_CAT(rf_prime857_, name)
#include "ring.inc"

#if RINGFORGE_ENABLE_SNTRUP857
#define RF_PK RINGFORGE_SNTRUP857_PUBLICKEYBYTES
#define RF_SK RINGFORGE_SNTRUP857_SECRETKEYBYTES
#define RF_CT RINGFORGE_SNTRUP857_CIPHERTEXTBYTES
#define RF_PREPARED RF_NS(sntrup857_prepared)
#define RF_KEM(what) RF_NS(RF_CAT(crypto_kem_sntrup857_, what))
#define RF_DEAD 43008 /* bytes of stack that an operation uses at most, see wipe.h */
#define RF_FACTORS {0} /* x^857 - x - 1 mod 3 has no small factors */
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

#if RINGFORGE_ENABLE_NTRULPR857
#define RF_L(name) RF_CAT(rf_lpr857_, name)
#define RF_LPR_W 281
#define RF_TAU0 2433
#define RF_TAU1 101
#define RF_TAU2 2265
#define RF_TAU3 324
#define RF_PK RINGFORGE_NTRULPR857_PUBLICKEYBYTES
#define RF_SK RINGFORGE_NTRULPR857_SECRETKEYBYTES
#define RF_CT RINGFORGE_NTRULPR857_CIPHERTEXTBYTES
#define RF_PREPARED RF_NS(ntrulpr857_prepared)
#define RF_KEM(what) RF_NS(RF_CAT(crypto_kem_ntrulpr857_, what))
#define RF_DEAD 46080
#include "ntrulpr.inc"
#endif

#include "end.inc"
#endif
