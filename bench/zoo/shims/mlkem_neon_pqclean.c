/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The inner product takes products of the second operand with the weights, which another function makes, as
 * `indcpa_keypair` and `indcpa_enc` do. */
#include "ntt.h"

static void weighted(int16_t *to, const int16_t *b) {
    for (int i = 0; i < 3; i++) {
        PQCLEAN_MLKEM768_AARCH64__asm_point_mul_extended(to + 128 * i, b + 256 * i, pre_asymmetric_table_Q1_extended,
                                                         asymmetric_const);
    }
}

void zoo_mlkem_basemul_acc(int16_t r[256], const int16_t a[768], const int16_t b[768]) {
    int16_t asymmetric[384];
    weighted(asymmetric, b);
    PQCLEAN_MLKEM768_AARCH64__asm_asymmetric_mul(a, b, asymmetric, asymmetric_const, r);
}

void zoo_mlkem_basemul_acc_montgomery(int16_t r[256], const int16_t a[768], const int16_t b[768]) {
    int16_t asymmetric[384];
    weighted(asymmetric, b);
    PQCLEAN_MLKEM768_AARCH64__asm_asymmetric_mul_montgomery(a, b, asymmetric, asymmetric_const, r);
}
