/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* PQClean's AVX2 code loads and stores whole vectors, past the end of packed bytes: its callers have longer arrays. */
#include <stdint.h>
#include <string.h>

#ifdef PACKS
void FUNCTION(uint8_t *r, const void *a);

void zoo_padded(uint8_t r[BYTES], const void *a) {
    uint8_t padded[BYTES + 32];
    FUNCTION(padded, a);
    memcpy(r, padded, BYTES);
}
#else
void FUNCTION(void *r, const uint8_t *a);

void zoo_padded(void *r, const uint8_t a[BYTES]) {
    uint8_t padded[BYTES + 32] = {0};
    memcpy(padded, a, BYTES);
    FUNCTION(r, padded);
}
#endif
