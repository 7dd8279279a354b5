/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* mlkem-native's AVX2 functions of compression take their constants as arguments: here they get the library's own. */
#define MLK_CONFIG_FILE <stdint.h>
#define MLK_CONFIG_PARAMETER_SET 768
#define MLK_CONFIG_MULTILEVEL_WITH_SHARED
#define MLK_CONFIG_NAMESPACE_PREFIX mlkem
#define MLK_CONFIG_USE_NATIVE_BACKEND_ARITH
#define MLK_CONFIG_ARITH_BACKEND_FILE "native/x86_64/meta.h"
#include "native/x86_64/src/compress_consts.c"

#define NAMED(before, d, behind) before##d##behind
#define BITS(before, d, behind) NAMED(before, d, behind)

void BITS(zoo_mlkem_compress_d, D, )(uint8_t *r, const int16_t a[256]) {
    BITS(mlk_poly_compress_d, D, _avx2_asm)(r, a, BITS(mlk_compress_d, D, _data));
}

void BITS(zoo_mlkem_decompress_d, D, )(int16_t r[256], const uint8_t *a) {
    BITS(mlk_poly_decompress_d, D, _avx2_asm)(r, a, BITS(mlk_decompress_d, D, _data));
}
