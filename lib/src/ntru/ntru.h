/* SPDX-License-Identifier: Apache-2.0 OR MIT OR ISC OR CC0-1.0 */
/* ntru.h: what the sizes of NTRU share. Internal. */
#ifndef RINGFORGE_NTRU_H
#define RINGFORGE_NTRU_H

#include "../common/bits.h"
#include "../common/published.h"
#include "../common/sort.h"
#include "../common/wipe.h"
#if RF_HAVE_AVX512_CODE
#include "../common/reciprocal.h"
#endif

#if RF_HAVE_AVX2_CODE
#include <immintrin.h>
#endif
#endif /* RINGFORGE_NTRU_H */
