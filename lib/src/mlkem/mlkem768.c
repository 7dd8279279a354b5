/* SPDX-License-Identifier: Apache-2.0 OR MIT OR ISC OR CC0-1.0 */
/* ML-KEM-768 [FIPS203 §8]. */
#include "poly.h"

#if RINGFORGE_ENABLE_MLKEM768
#define RF_NAME mlkem768
#define RF_K 3
#define RF_ETA1 2
#define RF_DU 10
#define RF_DV 4
#define RF_DEAD 26112 /* bytes of stack that an operation uses at most, see wipe.h */
#include "mlkem.inc"
#endif
