/* SPDX-License-Identifier: Apache-2.0 OR MIT OR ISC OR CC0-1.0 */
/* dot.h: dot products of two words. Internal. */
#ifndef RINGFORGE_DOT_H
#define RINGFORGE_DOT_H

#include "common.h"

#if defined(__ARM_FEATURE_DSP) && (defined(__GNUC__) || defined(__clang__))
#include <arm_acle.h>
#define RF_HAVE_SMLAD 1
#else
#define RF_HAVE_SMLAD 0
#endif

/* sum + x0 y0 + x1 y1 modulo 2^32, of words with sign in the halves of x and y. */
static inline int32_t rf_dot2(int32_t sum, uint32_t x, uint32_t y)
{
#if RF_HAVE_SMLAD
    return __smlad((int16x2_t)x, (int16x2_t)y, sum);
#else
    const int32_t low = (int16_t)(uint16_t)x * (int16_t)(uint16_t)y, high = (int16_t)(x >> 16) * (int16_t)(y >> 16);
    return (int32_t)((uint32_t)sum + (uint32_t)low + (uint32_t)high);
#endif
}

#endif /* RINGFORGE_DOT_H */
