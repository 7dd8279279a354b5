/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The vector product in its three parts: evaluate one operand, multiply the other by it, interpolate. */
#include <stdint.h>

void PQCLEAN_SABER_AVX2_toom4_eval(uint16_t *b_eval, const uint16_t *b);
void PQCLEAN_SABER_AVX2_toom4_mul_A_by_B_eval(uint16_t *c_eval, const uint16_t *a,
                                              const uint16_t *b_eval, int accumulate);
void PQCLEAN_SABER_AVX2_toom4_interp(uint16_t *c, const uint16_t *c_eval);

void zoo_saber_mul(uint16_t c[256], const uint16_t a[256], const uint16_t b[256]) {
    _Alignas(32) uint16_t values[4 * 256], products[8 * 256];
    PQCLEAN_SABER_AVX2_toom4_eval(values, b);
    PQCLEAN_SABER_AVX2_toom4_mul_A_by_B_eval(products, a, values, 0);
    PQCLEAN_SABER_AVX2_toom4_interp(c, products);
}
