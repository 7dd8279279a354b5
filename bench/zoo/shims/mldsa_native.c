/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* A file of mldsa-native's portable C for all levels, with every function visible: aws-lc compiles it as a part of one
 * large file, where they are static. */
#define MLD_CONFIG_FILE <stdint.h>
#define MLD_CONFIG_PARAMETER_SET 65
#define MLD_CONFIG_MULTILEVEL_WITH_SHARED
#define MLD_CONFIG_NAMESPACE_PREFIX mldsa
#define MLD_CONFIG_FIPS202_CUSTOM_HEADER "../fips202_glue.h"
#define MLD_CONFIG_FIPS202X4_CUSTOM_HEADER "../fips202x4_glue.h"
#define MLD_STATIC_TESTABLE
#include SOURCE
