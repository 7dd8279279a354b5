/* SPDX-License-Identifier: Apache-2.0 OR MIT OR ISC OR CC0-1.0 */
/*
 * Polynomials of ML-KEM beside their definitions, on portable code and AVX2: rounding, packing and reduction of every
 * word. mlkem_poly
 */
#include "../src/mlkem/poly.h"
#include "test.h"

static int32_t residue(int32_t x)
{
    return (x % RF_MLKEM_Q + RF_MLKEM_Q) % RF_MLKEM_Q;
}

/* Field i of d bits. */
static uint32_t field(const uint8_t *in, int i, int d)
{
    uint32_t x = 0;
    int k;
    for (k = 0; k < d; k++)
        x |= (uint32_t)(in[(i * d + k) / 8] >> ((i * d + k) % 8) & 1) << k;
    return x;
}

static void rounds(const int16_t a[256], int d)
{
    uint8_t packed[353];
    int16_t c[256];
    int i;
    packed[32 * d] = 0x5a;
    RF_NS(mlkem_compress)(packed, a, d);
    CHECK(packed[32 * d] == 0x5a); /* nothing is written behind the output */
    RF_NS(mlkem_decompress)(c, packed, d);
    for (i = 0; i < 256; i++) {
        int32_t wanted = ((residue(a[i]) << d) + RF_MLKEM_Q / 2) / RF_MLKEM_Q % (1 << d);
        CHECK((int32_t)field(packed, i, d) == wanted);
        CHECK(c[i] == (wanted * RF_MLKEM_Q + (1 << (d - 1))) >> d);
    }
}

int main(void)
{
    static const int widths[] = {1, 4, 5, 10, 11};
    int16_t a[256], b[256], c[256];
    uint8_t packed[384];
    int target, x, i;
    size_t k;
    for (target = 0; target < 2; target++) {
        NS(test_portable) = target;
        for (x = -32768; x < 32768; x += 256) {
            for (i = 0; i < 256; i++) {
                a[i] = (int16_t)(x + i);
                b[i] = (int16_t)((x / 256 * 4093 + i * 257) % 30001);
            }
            for (k = 0; k < sizeof widths / sizeof *widths; k++)
                rounds(a, widths[k]);
            memcpy(c, a, sizeof c);
            RF_NS(mlkem_scale_add)(c, b);
            for (i = 0; i < 256; i++)
                CHECK(c[i] == residue(residue(a[i]) * 2285 + b[i])); /* 2^16 = 2285 */
            RF_NS(mlkem_freeze)(a);
            for (i = 0; i < 256; i++)
                CHECK(a[i] == residue(x + i));
            RF_NS(mlkem_encode)(packed, a);
            CHECK(RF_NS(mlkem_decode)(c, packed) == 0 && memcmp(a, c, sizeof a) == 0);
            a[(x & 0xff00) >> 8] = RF_MLKEM_Q;
            RF_NS(mlkem_encode)(packed, a);
            CHECK(RF_NS(mlkem_decode)(c, packed) != 0);
        }
    }
    printf("polynomials of ML-KEM ok\n");
    return 0;
}
