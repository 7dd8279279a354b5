/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include <stdio.h>

#include "own.h"

int main(void) {
    int16_t a[64] = {0}, b[64] = {0}, c[64];
    a[63] = 1; /* x^63 */
    b[1] = 2;  /* 2x */
    own_mul(c, a, b);
    printf("%d + %dx\n", c[0], c[1]); /* 2x^64 = 2 + 2x */
    return 0;
}
