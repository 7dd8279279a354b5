/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* mldsa-native's Neon transforms take their tables as arguments: here they get the library's own. */
#define MLD_CONFIG_FILE <stdint.h>
#define MLD_CONFIG_PARAMETER_SET 65
#define MLD_CONFIG_NAMESPACE_PREFIX mldsa
#define MLD_CONFIG_USE_NATIVE_BACKEND_ARITH
#define MLD_CONFIG_ARITH_BACKEND_FILE "native/aarch64/meta.h"
#include "native/aarch64/src/aarch64_zetas.c"

void zoo_mldsa_ntt(int32_t r[256]) {
    mld_ntt_aarch64_asm(r, mld_aarch64_ntt_zetas_layer123456, mld_aarch64_ntt_zetas_layer78);
}

void zoo_mldsa_intt(int32_t r[256]) {
    mld_intt_aarch64_asm(r, mld_aarch64_intt_zetas_layer78, mld_aarch64_intt_zetas_layer123456);
}
