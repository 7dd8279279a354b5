/* SPDX-License-Identifier: Apache-2.0 OR MIT OR ISC OR CC0-1.0 */
/*
 * counted.h: in the place of cycles.h where instructions are counted in an emulator: of all statements, in the order in which
 * they are executed, the one whose number (from 1) is in COUNTED of the environment stands between the marks of
 * crates/toolchain's plugin, and has 1 for its cycles; others have 0. What comes after it is not executed. AArch64.
 */
#ifndef RINGFORGE_COUNTED_H
#define RINGFORGE_COUNTED_H

#include <stdlib.h>

static int counted_number;

#define CYCLES(min, median, statement)                                                             \
    do {                                                                                           \
        const char *wanted_ = getenv("COUNTED");                                                   \
        const int until_ = (wanted_ == NULL ? 0 : atoi(wanted_)) - ++counted_number;               \
        const int counts_ = until_ == 0;                                                           \
        if (counts_)                                                                               \
            __asm__ __volatile__("hint #48" : : : "memory");                                       \
        if (until_ >= 0) {                                                                         \
            statement;                                                                             \
        }                                                                                          \
        if (counts_)                                                                               \
            __asm__ __volatile__("hint #49" : : : "memory");                                       \
        (min) = (median) = counts_;                                                                \
    } while (0)

#endif /* RINGFORGE_COUNTED_H */
