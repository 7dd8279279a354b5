/* SPDX-License-Identifier: Apache-2.0 OR MIT OR ISC OR CC0-1.0 */
/* External declarations that all KEMs share. */
#include "common.h"

#ifdef RINGFORGE_TESTING
int RF_NS(test_portable) = 0;
int RF_NS(test_no_wipe) = 0;
#endif

void rf_zeroize(void *p, size_t len)
{
#if defined(__GNUC__) || defined(__clang__)
    memset(p, 0, len);
    __asm__ __volatile__("" : : "r"(p) : "memory");
#else
    volatile uint8_t *v = (volatile uint8_t *)p;
    while (len-- > 0)
        *v++ = 0;
#endif
}
