/* SPDX-License-Identifier: Apache-2.0 OR MIT OR ISC OR CC0-1.0 */
/* cycles.h: core cycles of a call: time-stamp ticks, scaled by a chain of dependent additions timed beside them. x86-64. */
#ifndef RINGFORGE_CYCLES_H
#define RINGFORGE_CYCLES_H

static inline int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

#ifdef __aarch64__
#include "counted.h"
#else

#include <stdint.h>
#include <stdlib.h>

static uint64_t ticks(void)
{
    uint32_t low, high;
    __asm__ __volatile__("lfence; rdtsc; lfence" : "=a"(low), "=d"(high) : : "memory");
    return (uint64_t)high << 32 | low;
}

/* Ticks of 4096 core cycles. */
static uint64_t chain(void)
{
    uint64_t x = 1, start = ticks();
    int i;
    for (i = 0; i < 256; i++)
        __asm__ __volatile__("add %0, %0; add %0, %0; add %0, %0; add %0, %0;"
                             "add %0, %0; add %0, %0; add %0, %0; add %0, %0;"
                             "add %0, %0; add %0, %0; add %0, %0; add %0, %0;"
                             "add %0, %0; add %0, %0; add %0, %0; add %0, %0"
                             : "+r"(x));
    return ticks() - start;
}

#define CYCLES_SAMPLES 100
/* Minimum and median of CYCLES_SAMPLES samples of a statement. */
#define CYCLES(min, median, statement)                                                             \
    do {                                                                                           \
        static double sample_[CYCLES_SAMPLES];                                                     \
        int i_;                                                                                    \
        for (i_ = 0; i_ < CYCLES_SAMPLES; i_++) {                                                  \
            uint64_t before_ = chain(), start_ = ticks(), took_;                                   \
            statement;                                                                             \
            took_ = ticks() - start_;                                                              \
            sample_[i_] = (double)took_ * 4096.0 * 2 / (double)(before_ + chain());                \
        }                                                                                          \
        qsort(sample_, CYCLES_SAMPLES, sizeof *sample_, by_size);                                  \
        (min) = sample_[CYCLES_SAMPLES / 50];                                                      \
        (median) = sample_[CYCLES_SAMPLES / 2];                                                    \
    } while (0)

#endif

#endif /* RINGFORGE_CYCLES_H */
