/* SPDX-License-Identifier: Apache-2.0 OR MIT OR ISC OR CC0-1.0 */
/*
 * wipe.h: nothing secret stays on the stack or in registers when an operation ends. Internal.
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

/* A step of an operation: where stack is to be spared, with a frame of its own, which the next step takes again. */
#if RINGFORGE_SMALL
#define RF_OWN_FRAME RF_ALONE
#else
#define RF_OWN_FRAME
#endif

/* What the small form's frames hold beyond their arrays grows where compilers optimise for speed: they spill vectors. */
#ifdef __OPTIMIZE_SIZE__
#define RF_SPILLED 768
#else
#define RF_SPILLED 1792
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

/* Sets registers to zero that belong to no one, where the compiler takes such text; elsewhere they stay as they are. */
#if defined(__x86_64__) && defined(__SSE2__) && (defined(__GNUC__) || defined(__clang__))
#define RF_XMM                                                                                     \
    "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10",       \
        "xmm11", "xmm12", "xmm13", "xmm14", "xmm15"
#define rf_clear_registers()                                                                       \
    do {                                                                                           \
        if (rf_avx2())                                                                             \
            __asm__ __volatile__("vzeroall" : : : RF_XMM);                                         \
        else                                                                                       \
            __asm__ __volatile__(                                                                  \
                "pxor %%xmm0, %%xmm0\n\tpxor %%xmm1, %%xmm1\n\tpxor %%xmm2, %%xmm2\n\t"            \
                "pxor %%xmm3, %%xmm3\n\tpxor %%xmm4, %%xmm4\n\tpxor %%xmm5, %%xmm5\n\t"            \
                "pxor %%xmm6, %%xmm6\n\tpxor %%xmm7, %%xmm7\n\tpxor %%xmm8, %%xmm8\n\t"            \
                "pxor %%xmm9, %%xmm9\n\tpxor %%xmm10, %%xmm10\n\tpxor %%xmm11, %%xmm11\n\t"        \
                "pxor %%xmm12, %%xmm12\n\tpxor %%xmm13, %%xmm13\n\tpxor %%xmm14, %%xmm14\n\t"      \
                "pxor %%xmm15, %%xmm15"                                                            \
                :                                                                                  \
                :                                                                                  \
                : RF_XMM);                                                                         \
        __asm__ __volatile__("xor %%ecx, %%ecx\n\txor %%edx, %%edx\n\txor %%esi, %%esi\n\t"        \
                             "xor %%edi, %%edi\n\txor %%r8d, %%r8d\n\txor %%r9d, %%r9d\n\t"        \
                             "xor %%r10d, %%r10d\n\txor %%r11d, %%r11d"                            \
                             :                                                                     \
                             :                                                                     \
                             : "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "cc");        \
    } while (0)
#elif defined(__thumb2__) && (defined(__GNUC__) || defined(__clang__))
#define rf_clear_registers()                                                                       \
    __asm__ __volatile__("movs r1, #0\n\tmovs r2, #0\n\tmovs r3, #0\n\tmov r12, r1\n\tmov lr, r1"                   \
                         :                                                                         \
                         :                                                                         \
                         : "r1", "r2", "r3", "r12", "lr", "cc")
#elif defined(__aarch64__) && (defined(__GNUC__) || defined(__clang__))
/* x18 is the platform's on some systems, and shadow call stacks take it on others. Of v8 to v15 the low halves are the
 * caller's. */
#if defined(__linux__) && !defined(__ANDROID__) && !defined(RINGFORGE_FIXED_X18)
#define rf_clear_x18() __asm__ __volatile__("mov x18, xzr" : : : "x18")
#else
#define rf_clear_x18() ((void)0)
#endif
#define rf_clear_registers()                                                                       \
    do {                                                                                           \
        __asm__ __volatile__(                                                                      \
            "movi v0.2d, #0\n\tmovi v1.2d, #0\n\tmovi v2.2d, #0\n\tmovi v3.2d, #0\n\t"               \
            "movi v4.2d, #0\n\tmovi v5.2d, #0\n\tmovi v6.2d, #0\n\tmovi v7.2d, #0\n\t"               \
            "mov v8.d[1], xzr\n\tmov v9.d[1], xzr\n\tmov v10.d[1], xzr\n\tmov v11.d[1], xzr\n\t"     \
            "mov v12.d[1], xzr\n\tmov v13.d[1], xzr\n\tmov v14.d[1], xzr\n\tmov v15.d[1], xzr\n\t"   \
            "movi v16.2d, #0\n\tmovi v17.2d, #0\n\tmovi v18.2d, #0\n\tmovi v19.2d, #0\n\t"           \
            "movi v20.2d, #0\n\tmovi v21.2d, #0\n\tmovi v22.2d, #0\n\tmovi v23.2d, #0\n\t"           \
            "movi v24.2d, #0\n\tmovi v25.2d, #0\n\tmovi v26.2d, #0\n\tmovi v27.2d, #0\n\t"           \
            "movi v28.2d, #0\n\tmovi v29.2d, #0\n\tmovi v30.2d, #0\n\tmovi v31.2d, #0"               \
            :                                                                                      \
            :                                                                                      \
            : "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v16", "v17", "v18", "v19", "v20",   \
              "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31");        \
        __asm__ __volatile__("mov x1, xzr\n\tmov x2, xzr\n\tmov x3, xzr\n\tmov x4, xzr\n\t"          \
                             "mov x5, xzr\n\tmov x6, xzr\n\tmov x7, xzr\n\tmov x8, xzr\n\t"          \
                             "mov x9, xzr\n\tmov x10, xzr\n\tmov x11, xzr\n\tmov x12, xzr\n\t"       \
                             "mov x13, xzr\n\tmov x14, xzr\n\tmov x15, xzr\n\tmov x16, xzr\n\t"      \
                             "mov x17, xzr"                                                        \
                             :                                                                     \
                             :                                                                     \
                             : "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", \
                               "x12", "x13", "x14", "x15", "x16", "x17");                          \
        rf_clear_x18();                                                                            \
    } while (0)
#else
#define rf_clear_registers() ((void)0)
#endif

#if RF_HAVE_AVX2_CODE
/* The registers that AVX-512 adds, sixteen for vectors and eight for masks: where AVX-512 runs at all, contracts ask for
 * them. Setting the lowest 128 bits sets all others to zero. */
RF_AVX512VL static inline void rf_clear_upper_registers(void)
{
    __asm__ __volatile__(
        "vpxorq %%xmm16, %%xmm16, %%xmm16\n\tvpxorq %%xmm17, %%xmm17, %%xmm17\n\t"
        "vpxorq %%xmm18, %%xmm18, %%xmm18\n\tvpxorq %%xmm19, %%xmm19, %%xmm19\n\t"
        "vpxorq %%xmm20, %%xmm20, %%xmm20\n\tvpxorq %%xmm21, %%xmm21, %%xmm21\n\t"
        "vpxorq %%xmm22, %%xmm22, %%xmm22\n\tvpxorq %%xmm23, %%xmm23, %%xmm23\n\t"
        "vpxorq %%xmm24, %%xmm24, %%xmm24\n\tvpxorq %%xmm25, %%xmm25, %%xmm25\n\t"
        "vpxorq %%xmm26, %%xmm26, %%xmm26\n\tvpxorq %%xmm27, %%xmm27, %%xmm27\n\t"
        "vpxorq %%xmm28, %%xmm28, %%xmm28\n\tvpxorq %%xmm29, %%xmm29, %%xmm29\n\t"
        "vpxorq %%xmm30, %%xmm30, %%xmm30\n\tvpxorq %%xmm31, %%xmm31, %%xmm31"
        :
        :
        : "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm24", "xmm25", "xmm26", "xmm27",
          "xmm28", "xmm29", "xmm30", "xmm31");
    __asm__ __volatile__("kxorw %%k0, %%k0, %%k0\n\tkxorw %%k1, %%k1, %%k1\n\tkxorw %%k2, %%k2, %%k2\n\t"
                         "kxorw %%k3, %%k3, %%k3\n\tkxorw %%k4, %%k4, %%k4\n\tkxorw %%k5, %%k5, %%k5\n\t"
                         "kxorw %%k6, %%k6, %%k6\n\tkxorw %%k7, %%k7, %%k7"
                         :
                         :
                         : "k0", "k1", "k2", "k3", "k4", "k5", "k6", "k7");
}
#define rf_clear_upper()                                                                           \
    do {                                                                                           \
        if (rf_avx512vl())                                                                         \
            rf_clear_upper_registers();                                                            \
    } while (0)
#else
#define rf_clear_upper() ((void)0)
#endif

/* Defines the function that sets so many bytes of dead stack to zero, and then registers, vector registers of AVX-512 first. */
#define RF_WIPER(name, bytes)                                                                      \
    RF_ALONE static void name(void)                                                                \
    {                                                                                              \
        uint8_t dead[bytes];                                                                       \
        rf_zeroize(dead, sizeof dead);                                                             \
        rf_clear_upper();                                                                          \
        rf_clear_registers();                                                                      \
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

/* The same for key generation. Where RINGFORGE_CHECK_PAIRS is 1, RF_KEM(tried) tries pairs before they are given out. */
#if RINGFORGE_CHECK_PAIRS
#define RF_THEN_TRY(call, wiper, pks, sks, count)                                                  \
    do {                                                                                           \
        int error_ = call;                                                                         \
        if (rf_wipes())                                                                            \
            wiper();                                                                               \
        return error_ != 0 ? error_ : RF_KEM(tried)(pks, sks, count);                              \
    } while (0)
#else
#define RF_THEN_TRY(call, wiper, pks, sks, count) RF_THEN_WIPE(call, wiper)
#endif

#endif /* RINGFORGE_WIPE_H */
