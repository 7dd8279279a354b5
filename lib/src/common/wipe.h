/*
 * wipe.h: nothing secret stays on the stack when an operation ends. Internal.
 *
 * An operation and all that it calls leave secrets below their caller's frame: locals, what the compiler
 * spilled, arguments, return values. They are set to zero once, by a function that has that much stack of its own.
 * How much it is, each KEM states; lib/tests/dead_stack.c compares what two keys leave, by compiler and level.
 *
 *     the caller, an external function that holds pointers alone
 *     ├── a frame of RF_WIPE_GAP bytes or more          ├── return address and saved registers of the wiper
 *     └── the operation: secrets                        └── zeros
 *
 * The gap has the zeros begin above the operation's frame, whatever compilers put beside an array.
 *
 * Cost, as measured on a loaded machine (AMD EPYC, Zen 3; clang 19 -O3; AVX2; time-stamp ticks, minima with and without
 * wiping in one process): 930 to 960 of sntrup761's 18,841 (enc) and 20,654 (dec) for 36,864 bytes; 4,700 of
 * ntruhps2048677's 17,224 (enc) for 74,752, which leave the first cache.
 */
#ifndef RINGFORGE_WIPE_H
#define RINGFORGE_WIPE_H

#include "common.h"

#define RF_WIPE_GAP 128

/* A function with a frame of its own: it is neither inlined nor copied. */
#if defined(__clang__)
#define RF_ALONE __attribute__((noinline))
#elif defined(__GNUC__)
#define RF_ALONE __attribute__((noinline, noclone))
#elif defined(_MSC_VER)
#define RF_ALONE __declspec(noinline)
#else
#define RF_ALONE
#endif

/* An array of bytes that the compiler must have in memory at this point. */
#if defined(__GNUC__) || defined(__clang__)
#define rf_keep(p) __asm__ __volatile__("" : : "r"(p) : "memory")
#else
#define rf_keep(p) ((void)(*(volatile uint8_t *)(p) = 0))
#endif

#ifdef RINGFORGE_TESTING
extern int RF_NS(test_no_wipe); /* tests set it to see what would stay */
#define rf_wipes() (!RF_NS(test_no_wipe))
#else
#define rf_wipes() 1
#endif

/* Defines the function that sets so many bytes of dead stack to zero. */
#define RF_WIPER(name, bytes)                                                                      \
    RF_ALONE static void name(void)                                                                \
    {                                                                                              \
        uint8_t dead[bytes];                                                                       \
        rf_zeroize(dead, sizeof dead);                                                             \
    }

/*
 * Defines the frame between: `apart` has the parameters of `operation`, which is RF_ALONE, and passes them on. Both lists
 * stand in parentheses.
 */
#define RF_APART(apart, parameters, operation, arguments)                                          \
    RF_ALONE static int apart parameters                                                           \
    {                                                                                              \
        uint8_t gap[RF_WIPE_GAP];                                                                  \
        int error;                                                                                 \
        rf_keep(gap);                                                                              \
        error = operation arguments;                                                               \
        rf_keep(gap);                                                                              \
        return error;                                                                              \
    }

/* What an external function does: a call of an operation's `apart`, and then the wiper. */
#define RF_THEN_WIPE(call, wiper)                                                                  \
    do {                                                                                           \
        int error_ = call;                                                                         \
        if (rf_wipes())                                                                            \
            wiper();                                                                               \
        return error_;                                                                             \
    } while (0)

#endif /* RINGFORGE_WIPE_H */
