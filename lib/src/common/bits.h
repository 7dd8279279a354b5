/* SPDX-License-Identifier: Apache-2.0 OR MIT OR ISC OR CC0-1.0 */
/* bits.h: fields of fewer than 32 bits in little-endian streams of bytes. Internal. */
#ifndef RINGFORGE_BITS_H
#define RINGFORGE_BITS_H

#include "common.h"

typedef struct {
    uint64_t bits;
    int have;
    uint8_t *at;
} rf_bit_writer;

typedef struct {
    uint64_t bits;
    int have;
    const uint8_t *at, *end;
} rf_bit_reader;

/* Appends x < 2^width. */
static inline void rf_put(rf_bit_writer *w, uint32_t x, int width)
{
    w->bits |= (uint64_t)x << w->have;
    w->have += width;
    if (w->have >= 32) {
        uint32_t low = (uint32_t)w->bits;
        w->at[0] = (uint8_t)low;
        w->at[1] = (uint8_t)(low >> 8);
        w->at[2] = (uint8_t)(low >> 16);
        w->at[3] = (uint8_t)(low >> 24);
        w->at += 4;
        w->bits >>= 32;
        w->have -= 32;
    }
}

/* Writes what is left, the last byte filled up with zeros. */
static inline void rf_put_end(rf_bit_writer *w)
{
    for (; w->have > 0; w->have -= 8) {
        *w->at++ = (uint8_t)w->bits;
        w->bits >>= 8;
    }
}

/* The next `width` bits; the stream has them. */
static inline uint32_t rf_get(rf_bit_reader *r, int width)
{
    uint32_t x;
    if (r->have < width) {
        if (r->end - r->at >= 4) {
            r->bits |= (uint64_t)rf_load32(r->at) << r->have;
            r->at += 4;
            r->have += 32;
        } else {
            for (; r->have < width; r->have += 8)
                r->bits |= (uint64_t)*r->at++ << r->have;
        }
    }
    x = (uint32_t)r->bits & (((uint32_t)1 << width) - 1);
    r->bits >>= width;
    r->have -= width;
    return x;
}

#endif /* RINGFORGE_BITS_H */
