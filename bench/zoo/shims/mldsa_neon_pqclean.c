/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Some functions load a few words behind the polynomial, without using them: here they are there. */
#include "ntt.h"
#include "poly.h"

struct padded {
    poly a;
    int32_t behind[32];
};

static void copy(int32_t *to, const int32_t *from) {
    for (int i = 0; i < 256; i++) {
        to[i] = from[i];
    }
}

void zoo_mldsa_ntt(int32_t r[256]) {
    struct padded p;
    copy(p.a.coeffs, r);
    ntt(p.a.coeffs);
    copy(r, p.a.coeffs);
}

void zoo_mldsa_freeze(int32_t r[256]) {
    struct padded p;
    copy(p.a.coeffs, r);
    poly_freeze(&p.a);
    copy(r, p.a.coeffs);
}
