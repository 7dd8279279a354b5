/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* A file of mlkem-native's portable C for all levels, with every function visible: aws-lc compiles it as a part of one
 * large file, where they are static. */
#define MLK_CONFIG_FILE <stdint.h>
#define MLK_CONFIG_PARAMETER_SET 768
#define MLK_CONFIG_MULTILEVEL_WITH_SHARED
#define MLK_CONFIG_NAMESPACE_PREFIX mlkem
#define MLK_CONFIG_FIPS202_CUSTOM_HEADER "../fips202_glue.h"
#define MLK_CONFIG_FIPS202X4_CUSTOM_HEADER "../fips202x4_glue.h"
#define MLK_STATIC_TESTABLE
#include SOURCE
