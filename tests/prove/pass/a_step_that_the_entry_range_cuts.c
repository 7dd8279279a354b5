/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The output leaves its interval of whole steps of the quotient; it does not where the entry range ends within one.
 *
 * flags: -O2
 * contract: z7340033_scale.toml
 * expect:
 *   proved
 */
#include <stdint.h>

void reduce(int32_t *r) {
    for (int i = 0; i < 4; i++) {
        int32_t t = (r[i] + (1 << 22)) >> 23;
        r[i] -= t * 7340033;
    }
}
