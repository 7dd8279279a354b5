/* SPDX-License-Identifier: Apache-2.0 OR MIT OR ISC OR CC0-1.0 */
/* NTRU-HPS-2048-509 [NTRU20 §1.6]. */
#include "ntru.h"

#if RINGFORGE_ENABLE_NTRUHPS2048509
#define RF_NAME ntruhps2048509
#define RF_N 509
#define RF_LOGQ 11
#define RF_HPS 1
#define RF_WIDE_MUL RF_HAVE_AVX512_CODE /* a product on registers of 512 bits takes less */
#define RF_DEAD 53248 /* bytes of stack that an operation uses at most, see wipe.h */
#include "ntru.inc"
#endif
