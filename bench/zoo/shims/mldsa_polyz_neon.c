/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* mldsa-native's Neon functions that unpack z take their table as an argument: here they get the library's own. */
#define MLD_CONFIG_FILE <stdint.h>
#define MLD_CONFIG_PARAMETER_SET 65
#define MLD_CONFIG_MULTILEVEL_WITH_SHARED
#define MLD_CONFIG_NAMESPACE_PREFIX mldsa
#define MLD_CONFIG_USE_NATIVE_BACKEND_ARITH
#define MLD_CONFIG_ARITH_BACKEND_FILE "native/aarch64/meta.h"
#include "native/aarch64/src/polyz_unpack_table.c"

void zoo_mldsa_polyz_unpack_17(int32_t r[256], const uint8_t a[576]) {
    mld_polyz_unpack_17_aarch64_asm(r, a, mld_polyz_unpack_17_indices);
}

void zoo_mldsa_polyz_unpack_19(int32_t r[256], const uint8_t a[640]) {
    mld_polyz_unpack_19_aarch64_asm(r, a, mld_polyz_unpack_19_indices);
}
