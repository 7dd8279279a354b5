/* SPDX-License-Identifier: Apache-2.0 OR MIT OR ISC OR CC0-1.0 */
/* ML-KEM-1024 [FIPS203 §8]. */
#include "poly.h"

#if RINGFORGE_ENABLE_MLKEM1024
#define RF_NAME mlkem1024
#define RF_K 4
#define RF_ETA1 2
#define RF_DU 11
#define RF_DV 5
#define RF_DEAD 32768 /* bytes of stack that an operation uses at most, see wipe.h */
#include "mlkem.inc"
#endif
