/* Times calls of one function in core cycles, on request. Shared by ringforge's own
 * candidates (the toolchain room appends a `candidate` that it generates) and by the peers
 * in bench/ (which link their own `candidate`).
 *
 * Protocol: a line "B W" on stdin asks for one sample: W warm-up calls, then a chain of
 * dependent additions, B timed calls, the chain again. The answer is one line,
 * "chain_ticks call_ticks chain_ticks"; a request with B = 0 answers with the length of the
 * chain in cycles instead. End of file ends the process.
 *
 * Why a chain: the time-stamp counter does not run at the core's clock. A dependent addition
 * takes one core cycle on every processor that we know, so the chain is the yardstick. */
#include <stdint.h>
#include <stdio.h>

void candidate_setup(void);
void candidate(void);
int timing_main(void);

#define CHAIN 8192

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
#else
#error "no clock and no chain for this processor yet: add both here"
#endif

int timing_main(void) {
    unsigned batch, warm;
    candidate_setup();
    while (scanf("%u %u", &batch, &warm) == 2) {
        unsigned i;
        uint64_t t0, t1, t2, t3;
        if (batch == 0) {
            printf("%u\n", (unsigned)CHAIN);
            fflush(stdout);
            continue;
        }
        for (i = 0; i < warm; i++) candidate();
        chain();
        t0 = ticks();
        chain();
        t1 = ticks();
        for (i = 0; i < batch; i++) candidate();
        t2 = ticks();
        chain();
        t3 = ticks();
        printf("%llu %llu %llu\n", (unsigned long long)(t1 - t0), (unsigned long long)(t2 - t1),
               (unsigned long long)(t3 - t2));
        fflush(stdout);
    }
    return 0;
}
