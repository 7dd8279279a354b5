/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* ML-KEM's number-theoretic transform (FIPS 203, algorithm 9), as docs/prove.md proves it. */
#include <stdint.h>

/* 17^brv(i) * 2^16 modulo 3329, brv reverses 7 bits. */
static const int16_t twiddles[128] = {
    -1044, -758, -359, -1517, 1493, 1422, 287, 202, -171, 622, 1577, 182, 962, -1202, -1474, 1468,
    573, -1325, 264, 383, -829, 1458, -1602, -130, -681, 1017, 732, 608, -1542, 411, -205, -1571,
    1223, 652, -552, 1015, -1293, 1491, -282, -1544, 516, -8, -320, -666, -1618, -1162, 126, 1469,
    -853, -90, -271, 830, 107, -1421, -247, -951, -398, 961, -1508, -725, 448, -1065, 677, -1275,
    -1103, 430, 555, 843, -1251, 871, 1550, 105, 422, 587, 177, -235, -291, -460, 1574, 1653, -246,
    778, 1159, -147, -777, 1483, -602, 1119, -1590, 644, -872, 349, 418, 329, -156, -75, 817, 1097,
    603, 610, 1322, -1285, -1465, 384, -1215, -136, 1218, -1335, -874, 220, -1187, -1659, -1185,
    -1530, -1278, 794, -1510, -854, -870, 478, -108, -308, 996, 991, 958, -1460, 1522, 1628,
};

/* a * b / 2^16 modulo 3329, within +-3328 if |a * b| < 3329 * 2^15 [Montgomery85]. */
static int16_t multiply(int16_t a, int16_t b)
{
    const int32_t product = (int32_t)a * b;
    const int16_t quotient = (int16_t)((uint32_t)product * 62209); /* 1/3329 modulo 2^16 */
    return (int16_t)((product - quotient * 3329) >> 16);
}

/* Coefficients within +-1664 become coefficients of the 128 remainders, within +-14206. */
void ntt(int16_t r[256])
{
    int half, start, i, k = 1;
    for (half = 128; half >= 2; half /= 2)
        for (start = 0; start < 256; start += 2 * half, k++)
            for (i = start; i < start + half; i++) {
                const int16_t t = multiply(twiddles[k], r[i + half]);
                r[i + half] = (int16_t)(r[i] - t);
                r[i] = (int16_t)(r[i] + t);
            }
}
