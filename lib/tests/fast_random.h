/* SPDX-License-Identifier: Apache-2.0 OR MIT OR ISC OR CC0-1.0 */
/* fast_random.h: bytes that look random and cost no more than copying them, for timings. */
#ifndef RINGFORGE_FAST_RANDOM_H
#define RINGFORGE_FAST_RANDOM_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define FAST_POOL 32768
#define FAST_PIECE 4096

/* Pieces of a fixed pool, each from another place on. */
static void fast_random(uint8_t *out, size_t len)
{
    static uint64_t pool[(FAST_POOL + FAST_PIECE) / 8];
    static size_t at = 0;
    if (pool[0] == 0) {
        uint64_t x = 88172645463325252u;
        size_t i;
        for (i = 0; i < sizeof pool / sizeof *pool; i++) {
            x ^= x << 13, x ^= x >> 7, x ^= x << 17;
            pool[i] = x;
        }
    }
    while (len > 0) {
        size_t piece = len < FAST_PIECE ? len : FAST_PIECE;
        memcpy(out, (const uint8_t *)pool + at, piece);
        at = (at + 1049) % FAST_POOL;
        out += piece;
        len -= piece;
    }
}

#endif /* RINGFORGE_FAST_RANDOM_H */
