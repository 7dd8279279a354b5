/* SPDX-License-Identifier: Apache-2.0 OR MIT OR ISC OR CC0-1.0 */
/* NTRU-HRSS-1373 [NTRU20 §1.6]. */
#include "ntru.h"

#if RINGFORGE_ENABLE_NTRUHRSS1373
#define RF_NAME ntruhrss1373
#define RF_N 1373
#define RF_LOGQ 14
#define RF_HPS 0
#define RF_WIDE_MUL 0
#define RF_DEAD 153600 /* bytes of stack that an operation uses at most, see wipe.h */
#include "ntru.inc"
#endif
