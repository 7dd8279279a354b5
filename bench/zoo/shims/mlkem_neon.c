/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* mlkem-native's Neon functions take their tables as arguments: here they get the library's own. The inner product takes
 * products of the second operand's odd coefficients with the weights, which a function of the same library makes. */
#define MLK_CONFIG_FILE <stdint.h>
#define MLK_CONFIG_PARAMETER_SET 768
#define MLK_CONFIG_NAMESPACE_PREFIX mlkem
#define MLK_CONFIG_USE_NATIVE_BACKEND_ARITH
#define MLK_CONFIG_ARITH_BACKEND_FILE "native/aarch64/meta.h"
#include "native/aarch64/src/aarch64_zetas.c"

void zoo_mlkem_ntt(int16_t r[256]) {
    mlk_ntt_aarch64_asm(r, mlk_aarch64_ntt_zetas_layer12345, mlk_aarch64_ntt_zetas_layer67);
}

void zoo_mlkem_intt(int16_t r[256]) {
    mlk_intt_aarch64_asm(r, mlk_aarch64_invntt_zetas_layer12345, mlk_aarch64_invntt_zetas_layer67);
}

static void caches(int16_t *cache, const int16_t *b, int k) {
    for (int i = 0; i < k; i++) {
        mlk_poly_mulcache_compute_aarch64_asm(cache + 128 * i, b + 256 * i, mlk_aarch64_zetas_mulcache_native,
                                              mlk_aarch64_zetas_mulcache_twisted_native);
    }
}

void zoo_mlkem_basemul_acc2(int16_t r[256], const int16_t a[512], const int16_t b[512]) {
    int16_t cache[2 * 128];
    caches(cache, b, 2);
    mlk_polyvec_basemul_acc_montgomery_cached_k2_aarch64_asm(r, a, b, cache);
}

void zoo_mlkem_basemul_acc3(int16_t r[256], const int16_t a[768], const int16_t b[768]) {
    int16_t cache[3 * 128];
    caches(cache, b, 3);
    mlk_polyvec_basemul_acc_montgomery_cached_k3_aarch64_asm(r, a, b, cache);
}

void zoo_mlkem_basemul_acc4(int16_t r[256], const int16_t a[1024], const int16_t b[1024]) {
    int16_t cache[4 * 128];
    caches(cache, b, 4);
    mlk_polyvec_basemul_acc_montgomery_cached_k4_aarch64_asm(r, a, b, cache);
}
