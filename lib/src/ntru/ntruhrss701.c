/* NTRU-HRSS-701 [NTRU20 §1.6]. */
#include "ntru.h"

#if RINGFORGE_ENABLE_NTRUHRSS701
#define RF_NAME ntruhrss701
#define RF_N 701
#define RF_LOGQ 13
#define RF_HPS 0
#include "ntru.inc"
#endif
