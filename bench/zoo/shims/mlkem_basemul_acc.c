/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The inner product takes products of the second operand's odd coefficients with the weights, which
 * a function of the same library makes: that the cache fits the operand is no matter of ranges. */
#include <stdint.h>

void mlkem_poly_mulcache_compute_avx2_asm(int16_t *out, const int16_t *in, const int16_t *qdata);
void mlkem_polyvec_basemul_acc_montgomery_cached_k3_avx2_asm(int16_t *r, const int16_t *a,
                                                             const int16_t *b, const int16_t *cache);

void zoo_mlkem_basemul_acc(int16_t r[256], const int16_t a[768], const int16_t b[768],
                           const int16_t qdata[624]) {
    _Alignas(32) int16_t cache[3 * 128];
    for (int i = 0; i < 3; i++) {
        mlkem_poly_mulcache_compute_avx2_asm(cache + 128 * i, b + 256 * i, qdata);
    }
    mlkem_polyvec_basemul_acc_montgomery_cached_k3_avx2_asm(r, a, b, cache);
}
