/* SPDX-License-Identifier: Apache-2.0 OR MIT OR ISC OR CC0-1.0 */
/* NTRU-HPS-2048-677 [NTRU20 §1.6]. */
#include "ntru.h"

#if RINGFORGE_ENABLE_NTRUHPS2048677
#define RF_NAME ntruhps2048677
#define RF_N 677
#define RF_LOGQ 11
#define RF_HPS 1
#define RF_WIDE_MUL 0
#define RF_DEAD 72704 /* bytes of stack that an operation uses at most, see wipe.h */
#include "ntru.inc"
#endif
