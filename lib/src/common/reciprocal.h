/* SPDX-License-Identifier: Apache-2.0 OR MIT OR ISC OR CC0-1.0 */
/* reciprocal.h: inverses of polynomials modulo 2 and 3 on registers of 512 bits, as NTRU Prime and NTRU take them. Internal. */
#ifndef RINGFORGE_RECIPROCAL_H
#define RINGFORGE_RECIPROCAL_H

#include "common.h"

/*
 * out = 1 / a modulo f and 3, coefficients -1, 0 and 1: f has degree + 1 of them, a and out have `degree`. Returns 0, or all
 * ones if there is no inverse (out is then meaningless). f[0] and f[degree] are not 0; degree is at least 255, at most 1535.
 */
uint32_t RF_NS(reciprocal3_avx512)(int16_t *out, const int16_t *f, const int16_t *a, int degree);
/* The same modulo 2, of the lowest bits of f and a, if there is an inverse. */
void RF_NS(reciprocal2_avx512)(int16_t *out, const int16_t *f, const int16_t *a, int degree);

#endif /* RINGFORGE_RECIPROCAL_H */
