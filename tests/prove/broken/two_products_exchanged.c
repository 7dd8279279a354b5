/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The two products change places.
 *
 * flags: -O2
 * contract: z17_batch.toml
 * expect:
 *   refuted
 *   function (disjoint)
 */
#include <stdint.h>

static int16_t reduced(int x) {
    return (int16_t)(x - 17 * ((x * 241 + 2048) >> 12));
}

void mul(int16_t *c, const int16_t *a, const int16_t *b) {
    int16_t r[4];
    for (int k = 0; k < 4; k += 2) {
        int top = a[k + 1] * b[k + 1];
        r[k] = reduced(a[k] * b[k] + top);
        r[k + 1] = reduced(a[k] * b[k + 1] + a[k + 1] * b[k] + top);
    }
    for (int i = 0; i < 4; i++)
        c[i] = r[i ^ 2];
}
