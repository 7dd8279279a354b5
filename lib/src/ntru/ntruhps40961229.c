/* SPDX-License-Identifier: Apache-2.0 OR MIT OR ISC OR CC0-1.0 */
/* NTRU-HPS-4096-1229 [NTRU20 §1.6]. */
#include "ntru.h"

#if RINGFORGE_ENABLE_NTRUHPS40961229
#define RF_NAME ntruhps40961229
#define RF_N 1229
#define RF_LOGQ 12
#define RF_HPS 1
#define RF_WIDE_MUL 0
#define RF_DEAD 122880 /* bytes of stack that an operation uses at most, see wipe.h */
#include "ntru.inc"
#endif
