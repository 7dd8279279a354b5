/* SPDX-License-Identifier: Apache-2.0 OR MIT OR ISC OR CC0-1.0 */
/* sntrup761 and ntrulpr761. */
#include "prime.h"

#if RF_NEED_SNTRUP761
#define RF_P 761
#define RF_Q 4591
#define RF_QINV 15631 /* 1/q mod 2^16, as a word with sign */
#define RF_W 286
#define RF_MUL_C RF_NS(sntrup761_mul_c)
#define RF_MUL_AVX2 RF_NS(sntrup761_mul_avx2)
#define RF_MUL_NEON RF_NS(sntrup761_mul_neon)
#define RF_S(name) RF_CAT(rf_prime761_, name)
#include "ring.inc"

#if RINGFORGE_ENABLE_SNTRUP761
#define RF_PK RINGFORGE_SNTRUP761_PUBLICKEYBYTES
#define RF_SK RINGFORGE_SNTRUP761_SECRETKEYBYTES
#define RF_CT RINGFORGE_SNTRUP761_CIPHERTEXTBYTES
#define RF_PREPARED RF_NS(sntrup761_prepared)
#define RF_KEM(what) RF_NS(RF_CAT(crypto_kem_sntrup761_, what))
#define RF_DEAD 35328 /* bytes of stack that an operation uses at most, see wipe.h */
#define RF_FACTORS {0} /* x^761 - x - 1 mod 3 has no small factors */
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

#if RINGFORGE_ENABLE_NTRULPR761
#define RF_L(name) RF_CAT(rf_lpr761_, name)
#define RF_LPR_W 250
#define RF_TAU0 2156
#define RF_TAU1 114
#define RF_TAU2 2007
#define RF_TAU3 287
#define RF_PK RINGFORGE_NTRULPR761_PUBLICKEYBYTES
#define RF_SK RINGFORGE_NTRULPR761_SECRETKEYBYTES
#define RF_CT RINGFORGE_NTRULPR761_CIPHERTEXTBYTES
#define RF_PREPARED RF_NS(ntrulpr761_prepared)
#define RF_KEM(what) RF_NS(RF_CAT(crypto_kem_ntrulpr761_, what))
#define RF_DEAD 37888
#include "ntrulpr.inc"
#endif

#include "end.inc"
#endif
