/* SPDX-License-Identifier: Apache-2.0 OR MIT OR ISC OR CC0-1.0 */
/* sntrup953 and ntrulpr953. */
#include "prime.h"

#if RF_NEED_SNTRUP953
#define RF_P 953
#define RF_Q 6343
#define RF_QINV 10487 /* 1/q mod 2^16, as a word with sign */
#define RF_W 396
#define RF_MUL_C RF_NS(sntrup953_mul_c)
#define RF_MUL_AVX2 RF_NS(sntrup953_mul_avx2)
#define RF_MUL_NEON RF_NS(sntrup953_mul_neon)
#define RF_MUL_BIG_C RF_NS(sntrup953_big_mul_c)
#define RF_MUL_BIG_AVX2 RF_MUL_AVX2 /* for any operands */
#define RF_S(name) RF_CAT(rf_prime953_, name)
#include "ring.inc"

#if RINGFORGE_ENABLE_SNTRUP953
#define RF_PK RINGFORGE_SNTRUP953_PUBLICKEYBYTES
#define RF_SK RINGFORGE_SNTRUP953_SECRETKEYBYTES
#define RF_CT RINGFORGE_SNTRUP953_CIPHERTEXTBYTES
#define RF_PREPARED RF_NS(sntrup953_prepared)
#define RF_KEM(what) RF_NS(RF_CAT(crypto_kem_sntrup953_, what))
#define RF_DEAD 51200 /* bytes of stack that an operation uses at most, see wipe.h */
#define RF_FACTORS {5, 1, 0, 2, 1, 0} /* of x^953 - x - 1 mod 3 */
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

#if RINGFORGE_ENABLE_NTRULPR953
#define RF_L(name) RF_CAT(rf_lpr953_, name)
#define RF_LPR_W 345
#define RF_TAU0 2997
#define RF_TAU1 82
#define RF_TAU2 2798
#define RF_TAU3 400
#define RF_PK RINGFORGE_NTRULPR953_PUBLICKEYBYTES
#define RF_SK RINGFORGE_NTRULPR953_SECRETKEYBYTES
#define RF_CT RINGFORGE_NTRULPR953_CIPHERTEXTBYTES
#define RF_PREPARED RF_NS(ntrulpr953_prepared)
#define RF_KEM(what) RF_NS(RF_CAT(crypto_kem_ntrulpr953_, what))
#define RF_DEAD 50688
#include "ntrulpr.inc"
#endif

#include "end.inc"
#endif
