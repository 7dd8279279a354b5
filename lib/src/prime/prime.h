/* prime.h: what the sizes of NTRU Prime share. Internal. */
#ifndef RINGFORGE_PRIME_H
#define RINGFORGE_PRIME_H

#include "../common/sort.h"

/* n <= RF_MIXED_MAX residues modulo m < 2^14 to bytes; r is used up. */
void RF_NS(mixed_encode)(uint8_t *out, uint16_t *r, int n, uint32_t m);
/* And back, whatever the bytes are: residues are always less than m. */
void RF_NS(mixed_decode)(uint16_t *r, const uint8_t *in, int n, uint32_t m);
#define RF_MIXED_MAX 1277 /* residues */
#define RF_MIXED_LEVELS 12

/* `len` bytes of the key stream of AES-256 in counter mode, from counter 0. */
void RF_NS(aes256_stream)(uint8_t *out, size_t len, const uint8_t key[32]);

/* x / 2^k rounded down. C leaves >> of negative words to the compiler; all that we know do this. */
#define rf_sar32(x, k) ((x) >> (k))
typedef char rf_shift_keeps_sign[(-5 >> 1) == -3 ? 1 : -1];

#endif /* RINGFORGE_PRIME_H */
