/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Times calls of one function in core cycles, on request. Shared by ringforge's own
 * candidates (the toolchain room appends a `candidate` that it generates) and by the peers
 * in bench/ (which link their own `candidate`).
 *
 * Protocol: a line "B W" on stdin asks for one sample: W warm-up calls, then a chain of
 * dependent additions, a loop that fills the core, B timed calls, the loop and the chain again. The
 * answer is one line of ticks, "chain fill calls fill chain"; a request with B = 0 answers with the
 * length of the chain in cycles instead. End of file ends the process.
 *
 * Why a chain: the time-stamp counter does not run at the core's clock. A dependent addition
 * takes one core cycle on every processor that we know, so the chain is the yardstick.
 *
 * Why a loop that fills the core: who shares a core leaves a chain its one operation a cycle, and takes
 * from code that wants six. Samples beside which the loop runs slow say nothing of the function.
 *
 * Why one processor: a process that the system moves comes back in another state of the core, which calls
 * do not change. A product of 3,200 cycles took 3,450 for dozens of samples after a move (Intel, family 6
 * model 167), and the samples of most copies were too far apart to count. */
#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* for sched_getcpu, before the first header */
#endif
#include <stdint.h>
#include <stdio.h>
#if defined(__linux__)
#include <sched.h>
#endif

void candidate_setup(void);
void candidate(void);
int timing_main(void);

#define CHAIN 8192
/* Rounds of six operations that do not wait for each other, some one cycle each. */
#define FILL 4096

#if defined(__x86_64__)
static uint64_t ticks(void) {
    uint32_t lo, hi;
    __asm__ volatile("lfence\n\trdtsc\n\tlfence" : "=a"(lo), "=d"(hi) : : "memory");
    return ((uint64_t)hi << 32) | lo;
}
/* 32 additions of a register, each waiting for the one before. Register operands: Intel's
 * rename stage folds additions of small immediates and would make the chain too short. */
static void chain(void) {
    uint64_t n = CHAIN / 32, x = 1, y = 3;
    __asm__ volatile(
        "1:\n\t"
        ".rept 32\n\t"
        "addq %2, %1\n\t"
        ".endr\n\t"
        "decq %0\n\t"
        "jnz 1b"
        : "+r"(n), "+r"(x)
        : "r"(y)
        : "cc");
}
/* Four additions of whole registers and two of vectors a round: other ports, one front. */
static void fill(void) {
    uint64_t n = FILL / 16, a = 1, b = 2, c = 3, d = 4, y = 5;
    __asm__ volatile(
        "pxor %%xmm0, %%xmm0\n\t"
        "pxor %%xmm1, %%xmm1\n\t"
        "pxor %%xmm2, %%xmm2\n\t"
        "1:\n\t"
        ".rept 16\n\t"
        "addq %5, %1\n\t"
        "addq %5, %2\n\t"
        "paddd %%xmm2, %%xmm0\n\t"
        "addq %5, %3\n\t"
        "addq %5, %4\n\t"
        "paddd %%xmm2, %%xmm1\n\t"
        ".endr\n\t"
        "decq %0\n\t"
        "jnz 1b"
        : "+r"(n), "+r"(a), "+r"(b), "+r"(c), "+r"(d)
        : "r"(y)
        : "cc", "xmm0", "xmm1", "xmm2");
}
#elif defined(__aarch64__)
static uint64_t ticks(void) {
    uint64_t t;
    __asm__ volatile("isb\n\tmrs %0, cntvct_el0\n\tisb" : "=r"(t) : : "memory");
    return t;
}
static void chain(void) {
    uint64_t n = CHAIN / 32, x = 1, y = 3;
    __asm__ volatile(
        "1:\n\t"
        ".rept 32\n\t"
        "add %1, %1, %2\n\t"
        ".endr\n\t"
        "subs %0, %0, #1\n\t"
        "b.ne 1b"
        : "+r"(n), "+r"(x)
        : "r"(y)
        : "cc");
}
static void fill(void) {
    uint64_t n = FILL / 16, a = 1, b = 2, c = 3, d = 4, y = 5;
    __asm__ volatile(
        "movi v0.4s, #0\n\t"
        "movi v1.4s, #0\n\t"
        "movi v2.4s, #0\n\t"
        "1:\n\t"
        ".rept 16\n\t"
        "add %1, %1, %5\n\t"
        "add %2, %2, %5\n\t"
        "add v0.4s, v0.4s, v2.4s\n\t"
        "add %3, %3, %5\n\t"
        "add %4, %4, %5\n\t"
        "add v1.4s, v1.4s, v2.4s\n\t"
        ".endr\n\t"
        "subs %0, %0, #1\n\t"
        "b.ne 1b"
        : "+r"(n), "+r"(a), "+r"(b), "+r"(c), "+r"(d)
        : "r"(y)
        : "cc", "v0", "v1", "v2");
}
#else
#error "no clock and no chain for this processor yet: add both here"
#endif

/* Stays on the processor that it runs on. Where that cannot be had, samples are only less steady. */
static void stay(void) {
#if defined(__linux__)
    int here = sched_getcpu();
    cpu_set_t set;
    CPU_ZERO(&set);
    if (here >= 0 && here < CPU_SETSIZE) {
        CPU_SET(here, &set);
        (void)sched_setaffinity(0, sizeof set, &set);
    }
#endif
}

int timing_main(void) {
    unsigned batch, warm;
    candidate_setup();
    stay();
    while (scanf("%u %u", &batch, &warm) == 2) {
        unsigned i;
        uint64_t t[6];
        if (batch == 0) {
            printf("%u\n", (unsigned)CHAIN);
            fflush(stdout);
            continue;
        }
        for (i = 0; i < warm; i++) candidate();
        chain();
        t[0] = ticks();
        chain();
        t[1] = ticks();
        fill();
        t[2] = ticks();
        for (i = 0; i < batch; i++) candidate();
        t[3] = ticks();
        fill();
        t[4] = ticks();
        chain();
        t[5] = ticks();
        for (i = 0; i < 5; i++)
            printf("%llu%c", (unsigned long long)(t[i + 1] - t[i]), i < 4 ? ' ' : '\n');
        fflush(stdout);
    }
    return 0;
}
