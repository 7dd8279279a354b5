/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * One input, an end of the entry range, leads below the bound, by 1.
 *
 * flags: -O2
 * contract: z7340033_scale.toml
 * with: argument.r.exit = [-253072145, 253072147]
 * expect:
 *   refuted
 *   range (disjoint)
 */
#include <stdint.h>

void reduce(int32_t *r) {
    for (int i = 0; i < 4; i++) {
        int32_t t = (r[i] + (1 << 22)) >> 23;
        r[i] -= t * 7340033;
    }
}
