/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The second transform takes one coefficient of the first operand.
 *
 * flags: -O2
 * contract: z17_batch_forward.toml
 * expect:
 *   refuted
 *   function (disjoint)
 */
#include <stdint.h>

void forward(int16_t *c, const int16_t *a) {
    int16_t r[8];
    for (int k = 0; k < 8; k += 4)
        for (int i = k; i < k + 2; i++) {
            int t = 4 * a[i == 5 ? 3 : i + 2];
            r[i] = (int16_t)(a[i] + t);
            r[i + 2] = (int16_t)(a[i] - t);
        }
    for (int i = 0; i < 8; i++)
        c[i] = r[i];
}
