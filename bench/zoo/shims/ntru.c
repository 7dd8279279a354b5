/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The vector product reads and writes whole vectors: operands are padded with zeros. FUNCTION is
 * the library's, N the degree, PADDED its next multiple of 32. */
#include <stdint.h>
#include <string.h>

void FUNCTION(uint16_t r[PADDED], const uint16_t a[PADDED], const uint16_t b[PADDED]);

void zoo_ntru_mul(uint16_t r[N], const uint16_t a[N], const uint16_t b[N]) {
    _Alignas(32) uint16_t x[PADDED] = {0}, y[PADDED] = {0}, z[PADDED];
    memcpy(x, a, 2 * N);
    memcpy(y, b, 2 * N);
    FUNCTION(z, x, y);
    memcpy(r, z, 2 * N);
}
