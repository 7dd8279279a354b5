/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* A product as `indcpa_kem_enc` computes it: modulo a prime of 25 bits, which holds the integers; the inner product is of
 * three polynomials, of which two are zero here. */
#include "NTT.h"

void zoo_saber_mul(uint16_t c[256], const uint16_t a[256], const int16_t b[256]) {
    uint32_t x[3][256] = {0}, y[3][256] = {0}, weighted[3][256] = {0};
    for (int i = 0; i < 256; i++) {
        x[0][i] = a[i];
        y[0][i] = (uint32_t)b[i];
    }
    NTT_heavy(weighted[0], y[0]);
    NTT(x[0]);
    PQCLEAN_SABER_AARCH64_asm_asymmetric_mul(x[0], y[0], weighted[0], constants);
    iNTT(x[0]);
    for (int i = 0; i < 256; i++) {
        c[i] = (uint16_t)x[0][i];
    }
}
