/* SPDX-License-Identifier: Apache-2.0 OR MIT OR ISC OR CC0-1.0 */
/*
 * published.h: errors that come of public values, for the KEMs that have such. Internal.
 */
#ifndef RINGFORGE_PUBLISHED_H
#define RINGFORGE_PUBLISHED_H

#include "common.h"

/*
 * Whether a public value is not 0, by a branch that compilers keep: errors that come of it are numbers on each way, and
 * no secret's for whoever follows them through registers.
 */
static inline int rf_published(uint32_t x)
{
    uint32_t way = 1; /* not 0: where x is 0 compilers take the register of x for it */
    RF_PUBLIC(&x, sizeof x);
    if (x != 0) {
#if defined(__GNUC__) || defined(__clang__)
        __asm__ __volatile__("" : : : "memory");
#endif
        way = 2;
    }
    return rf_hide(way) == 2;
}

#endif /* RINGFORGE_PUBLISHED_H */
