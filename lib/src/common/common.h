/* SPDX-License-Identifier: Apache-2.0 OR MIT OR ISC OR CC0-1.0 */
/*
 * common.h: what all sources of the library share. Internal.
 */
#ifndef RINGFORGE_COMMON_H
#define RINGFORGE_COMMON_H

#include <stddef.h>
#include <stdint.h>

/* Without a C library, as on wasm32-unknown-unknown, compilers still emit calls of these functions, which something must
 * provide. In Rust, compiler_builtins does. */
#if defined(__has_include)
#if !__has_include(<string.h>)
#define RF_NO_STRING_H
#endif
#endif
#ifdef RF_NO_STRING_H
void *memcpy(void *to, const void *from, size_t len);
void *memmove(void *to, const void *from, size_t len);
void *memset(void *to, int byte, size_t len);
int memcmp(const void *a, const void *b, size_t len);
int strcmp(const char *a, const char *b);
#else
#include <string.h>
#endif

#include "../../include/ringforge_kem.h"

/* Without optimisation compilers copy nearly every value to the stack, far deeper than operations wipe it: up to 189 KB of
 * secrets stay there. */
#if defined(__GNUC__) && !defined(__OPTIMIZE__) && !defined(RINGFORGE_UNOPTIMIZED)
#error "without optimization, secrets stay on the stack and 512 KB of stack overflow: compile with -O1 or more, or define RINGFORGE_UNOPTIMIZED to accept that"
#endif

/* External names get the user's prefix; static names of parametrised sources the instance's. */
#define RF_CAT_(a, b) a##b
#define RF_CAT(a, b) RF_CAT_(a, b)
#define RF_NS(name) RINGFORGE_NS(name)

/* Which multipliers are needed: those of the rings of the KEMs that are compiled. */
#define RF_NEED_SNTRUP653 (RINGFORGE_ENABLE_SNTRUP653 || RINGFORGE_ENABLE_NTRULPR653)
#define RF_NEED_SNTRUP761 (RINGFORGE_ENABLE_SNTRUP761 || RINGFORGE_ENABLE_NTRULPR761)
#define RF_NEED_SNTRUP857 (RINGFORGE_ENABLE_SNTRUP857 || RINGFORGE_ENABLE_NTRULPR857)
#define RF_NEED_SNTRUP953 (RINGFORGE_ENABLE_SNTRUP953 || RINGFORGE_ENABLE_NTRULPR953)
#define RF_NEED_SNTRUP1013 (RINGFORGE_ENABLE_SNTRUP1013 || RINGFORGE_ENABLE_NTRULPR1013)
#define RF_NEED_SNTRUP1277 (RINGFORGE_ENABLE_SNTRUP1277 || RINGFORGE_ENABLE_NTRULPR1277)
#define RF_NEED_MLKEM (RINGFORGE_ENABLE_MLKEM512 || RINGFORGE_ENABLE_MLKEM768 || RINGFORGE_ENABLE_MLKEM1024)
#define RF_NEED_NTRUHPS2048509 RINGFORGE_ENABLE_NTRUHPS2048509
#define RF_NEED_NTRUHPS2048677 RINGFORGE_ENABLE_NTRUHPS2048677
#define RF_NEED_NTRUHPS4096821 RINGFORGE_ENABLE_NTRUHPS4096821
#define RF_NEED_NTRUHPS40961229 RINGFORGE_ENABLE_NTRUHPS40961229
#define RF_NEED_NTRUHRSS701 RINGFORGE_ENABLE_NTRUHRSS701
#define RF_NEED_NTRUHRSS1373 RINGFORGE_ENABLE_NTRUHRSS1373

/* And which common parts. */
#define RF_NEED_NTRULPR                                                                            \
    (RINGFORGE_ENABLE_NTRULPR653 || RINGFORGE_ENABLE_NTRULPR761 || RINGFORGE_ENABLE_NTRULPR857 ||  \
     RINGFORGE_ENABLE_NTRULPR953 || RINGFORGE_ENABLE_NTRULPR1013 || RINGFORGE_ENABLE_NTRULPR1277)
#define RF_NEED_PRIME                                                                              \
    (RF_NEED_SNTRUP653 || RF_NEED_SNTRUP761 || RF_NEED_SNTRUP857 || RF_NEED_SNTRUP953 ||           \
     RF_NEED_SNTRUP1013 || RF_NEED_SNTRUP1277)
#define RF_NEED_NTRU                                                                               \
    (RF_NEED_NTRUHPS2048509 || RF_NEED_NTRUHPS2048677 || RF_NEED_NTRUHPS4096821 || RF_NEED_NTRUHPS40961229 ||   \
     RF_NEED_NTRUHRSS701 || RF_NEED_NTRUHRSS1373)
#define RF_NEED_SORT (RF_NEED_PRIME || RF_NEED_NTRU)
#define RF_NEED_RECIPROCAL                                                                         \
    (RINGFORGE_ENABLE_SNTRUP653 || RINGFORGE_ENABLE_SNTRUP761 || RINGFORGE_ENABLE_SNTRUP857 ||     \
     RINGFORGE_ENABLE_SNTRUP953 || RINGFORGE_ENABLE_SNTRUP1013 || RINGFORGE_ENABLE_SNTRUP1277 || RF_NEED_NTRU)
#define RF_NEED_SHA2 RF_NEED_PRIME
#define RF_NEED_SHA3 (RF_NEED_NTRU || RF_NEED_MLKEM)
#define RF_NEED_MORE 1 /* more than keypair, enc and dec: a source that has these alone leaves the rest out */

/* Whether AVX2 code can be compiled here, and how a function asks for it. */
#if RINGFORGE_TARGET != 1 && !RINGFORGE_SMALL && defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#define RF_HAVE_AVX2_CODE 1
#define RF_AVX2 __attribute__((target("avx2")))
#define RF_AVX2_BMI2 __attribute__((target("avx2,bmi,bmi2,popcnt")))
#define RF_AVX512VL __attribute__((target("avx2,avx512f,avx512vl")))
#else
#define RF_HAVE_AVX2_CODE 0
#endif

/* Whether code for registers of 512 bits can be compiled, and how a function asks for it: Ice Lake, Zen 4 and later run it.
 * A source that has keypair, enc and dec alone leaves it out. */
#if RF_NEED_MORE && RF_HAVE_AVX2_CODE && (__clang_major__ >= 8 || __GNUC__ >= 8)
#define RF_HAVE_AVX512_CODE 1
#define RF_AVX512                                                                                  \
    __attribute__((target("avx2,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2,avx512vnni")))
#else
#define RF_HAVE_AVX512_CODE 0
#endif
/* Values that mean nothing would be taken for others. */
#if RINGFORGE_TARGET != 0 && RINGFORGE_TARGET != 1 && RINGFORGE_TARGET != 2
#error "RINGFORGE_TARGET must be 0, 1 or 2"
#endif
#if RINGFORGE_HASH != 0 && RINGFORGE_HASH != 1 && RINGFORGE_HASH != 2
#error "RINGFORGE_HASH must be 0, 1 or 2"
#endif
#if RINGFORGE_RANDOM != 0 && RINGFORGE_RANDOM != 1 && RINGFORGE_RANDOM != 2
#error "RINGFORGE_RANDOM must be 0, 1 or 2"
#endif
#if RINGFORGE_TARGET == 2 && !RF_HAVE_AVX2_CODE
#error "RINGFORGE_TARGET is 2, but RINGFORGE_SMALL, this compiler or machine has no AVX2: take 0 or 1"
#endif

/* Whether this processor has AVX2 (and the operating system keeps its registers): 0 or 1. */
#if !RF_HAVE_AVX2_CODE
#define rf_avx2() 0
#elif defined(RINGFORGE_TESTING)
extern int RF_NS(test_portable); /* tests set it: 1 forces portable code, 2 leaves AVX-512 alone, 3 registers of 512 bits */
#define rf_avx2() (RF_NS(test_portable) != 1 && __builtin_cpu_supports("avx2"))
#elif RINGFORGE_TARGET == 2
#define rf_avx2() 1
#else
#define rf_avx2() __builtin_cpu_supports("avx2")
#endif

/* Whether it has the scalar instructions BMI2 as well, as nearly all with AVX2 have. */
#if RF_HAVE_AVX2_CODE
#define rf_bmi2() (rf_avx2() && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2"))
#else
#define rf_bmi2() 0
#endif

/* Whether it has AVX-512 on registers of 256 bits, of which there are 32 (and the operating system keeps them). */
#if !RF_HAVE_AVX2_CODE
#define rf_avx512vl() 0
#elif defined(RINGFORGE_TESTING)
#define rf_avx512vl() (RF_NS(test_portable) != 2 && rf_avx2() && __builtin_cpu_supports("avx512vl"))
#else
#define rf_avx512vl() (rf_avx2() && __builtin_cpu_supports("avx512vl"))
#endif

/* Whether it has AVX-512 with registers of 512 bits, and all that RF_AVX512 names. */
#if RF_HAVE_AVX512_CODE
#define rf_has_avx512()                                                                            \
    (rf_avx512vl() && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&  \
     __builtin_cpu_supports("avx512vbmi2") && __builtin_cpu_supports("avx512vnni"))
#ifdef RINGFORGE_TESTING
#define rf_avx512() (RF_NS(test_portable) != 3 && rf_has_avx512())
#else
#define rf_avx512() rf_has_avx512()
#endif
#else
#define rf_avx512() 0
#endif

/* Whether Neon code can be compiled here: all of AArch64 has it, so that nothing is asked when code runs. */
#if RINGFORGE_TARGET != 1 && !RINGFORGE_SMALL && defined(__ARM_NEON) && defined(__aarch64__) && !defined(__AARCH64EB__) && \
    (defined(__GNUC__) || defined(__clang__))
#define RF_HAVE_NEON_CODE 1
#else
#define RF_HAVE_NEON_CODE 0
#endif
#if !RF_HAVE_NEON_CODE
#define rf_neon() 0
#elif defined(RINGFORGE_TESTING)
extern int RF_NS(test_portable);
#define rf_neon() (RF_NS(test_portable) != 1)
#else
#define rf_neon() 1
#endif

/* What AVX2 and Neon both have: names of functions, and whether these are for this processor. */
#if RF_HAVE_NEON_CODE
#define RF_HAVE_VECTOR_CODE 1
#define RF_V(name) RF_CAT(name, _neon)
#define rf_vectors() rf_neon()
#else
#define RF_HAVE_VECTOR_CODE RF_HAVE_AVX2_CODE
#define RF_V(name) RF_CAT(name, _avx2)
#define rf_vectors() rf_avx2()
#endif

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

/*
 * Hooks: what the library brings has names that no user defines by chance, so that a hook is replaced where
 * ringforge_config.h says so, and nowhere else.
 */
#if RINGFORGE_HASH == 2
#define RF_HASH(name) RF_NS(name)
#else
#define RF_HASH(name) RF_NS(RF_CAT(library_, name))
#if RF_NEED_SHA2
int RF_HASH(sha512)(uint8_t out[64], const uint8_t *in, size_t len);
#endif
#if RF_NEED_SHA3
int RF_HASH(sha3_256)(uint8_t out[32], const uint8_t *in, size_t len);
/* Proofs of key generation put a result of their own in its place, at every call: it must be called. */
int RF_ALONE RF_HASH(sha3_512)(uint8_t out[64], const uint8_t *in, size_t len);
int RF_HASH(shake128)(uint8_t *out, size_t out_len, const uint8_t *in, size_t len);
int RF_HASH(shake256)(uint8_t *out, size_t out_len, const uint8_t *in, size_t len);
#endif
#endif
#if RINGFORGE_RANDOM == 2
#define RF_RANDOM(name) RF_NS(name)
#else
#define RF_RANDOM(name) RF_NS(RF_CAT(library_, name))
int RF_RANDOM(randombytes)(uint8_t *out, size_t len);
#endif

/*
 * Marks for the test of constant time: valgrind treats what is marked secret as undefined, and
 * reports every branch and address that depends on it. They cost nothing otherwise.
 */
#ifdef RINGFORGE_CT_TEST
#include <valgrind/memcheck.h>
#define RF_SECRET(p, n) ((void)VALGRIND_MAKE_MEM_UNDEFINED((p), (n)))
#define RF_PUBLIC(p, n) ((void)VALGRIND_MAKE_MEM_DEFINED((p), (n)))
#else
#define RF_SECRET(p, n) ((void)(p), (void)(n))
#define RF_PUBLIC(p, n) ((void)(p), (void)(n))
#endif

/* Sets bytes to zero in a way that compilers do not leave out. */
void RF_NS(zeroize)(void *p, size_t len);
#define rf_zeroize RF_NS(zeroize)

/*
 * A value that the compiler must take as unknown: masks made from it stay arithmetic, and are not
 * turned into branches.
 */
static inline uint32_t rf_hide(uint32_t x)
{
#if defined(__GNUC__) || defined(__clang__)
    __asm__("" : "+r"(x));
    return x;
#else
    volatile uint32_t v = x;
    return v;
#endif
}

/* Words of 16 bits that loops of portable code take at a time: as many as a vector has where there are vectors. */
#if defined(__SSE2__) || defined(__ARM_NEON) || defined(__wasm_simd128__) || defined(__ALTIVEC__)
#define RF_SIDE 8
#else
#define RF_SIDE 1
#endif

/* Before a loop over them: compilers unroll it else before they look for vectors, and find none or fewer. */
#if defined(__clang__)
#define RF_ROLLED _Pragma("clang loop unroll(disable)")
#elif defined(__GNUC__) && __GNUC__ >= 8
#define RF_ROLLED _Pragma("GCC unroll 1")
#else
#define RF_ROLLED
#endif

/* The same address, of which the compiler must take all that lies there as unknown. */
static inline const int16_t *rf_hide_words(const int16_t *words)
{
#if RF_SIDE > 1 && (defined(__GNUC__) || defined(__clang__))
    __asm__("" : "+r"(words) : : "memory");
#endif
    return words;
}

/* All ones if x is not zero, else zero. */
static inline uint32_t rf_mask_nonzero(uint32_t x)
{
    /* What is hidden is the mask: a compiler that knows it to be 0 or -1 makes a branch of it. */
    return rf_hide(0u - ((x | (0u - x)) >> 31));
}

/* 0 if n bytes are equal, else all ones. */
static inline uint32_t rf_differ(const uint8_t *a, const uint8_t *b, size_t n)
{
    uint32_t sum = 0;
    size_t i;
    for (i = 0; i < n; i++)
        sum |= (uint32_t)(a[i] ^ b[i]);
    return rf_mask_nonzero(sum);
}

/* Little-endian words in memory. */
static inline uint32_t rf_load32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

#endif /* RINGFORGE_COMMON_H */
