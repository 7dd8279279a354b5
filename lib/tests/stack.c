/* SPDX-License-Identifier: Apache-2.0 OR MIT OR ISC OR CC0-1.0 */
/*
 * Stack use: stack prints, for each KEM and operation, the bytes of stack that a call touches. Calls run on a
 * painted stack of their own, and a call that does nothing is subtracted. On Arm's microcontrollers, where there are no
 * threads, the hints 48 and 49 stand before a call and behind it, and `stack OPERATION` calls that one alone, with given
 * coins in place of the tests' slow generator.
 */
#if !defined(__thumb__)
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#endif
#include <stdint.h>

#include "test.h"

#if defined(__thumb__)
#define SIZE ((size_t)256 << 10)
#else
#define SIZE ((size_t)4 << 20)
#endif
#define PAINT 0xa5

static uint8_t pk[MAX_PK], sk[MAX_SK], ct[MAX_CT], ss[64];
static const struct kem *kem;
static int operation;
static int given; /* whether coins are */
static uint8_t coins[MAX_COINS];

static void *call(void *unused)
{
    int error = 0;
    switch (operation) {
    case 1:
        error = given ? kem->keypair_derand(pk, sk, coins) : kem->keypair(pk, sk);
        break;
    case 2:
        error = given ? kem->enc_derand(ct, ss, pk, coins) : kem->enc(ct, ss, pk);
        break;
    case 3:
        error = kem->dec(ss, ct, sk);
        break;
    }
    CHECK(error == 0);
    return unused;
}

#if defined(__thumb__)
/* Calls `what` on the stack that ends at `end`. */
void call_on(void *(*what)(void *), void *end);
__asm__(".text\n\t.thumb_func\n\t.type call_on, %function\ncall_on:\n\tpush {r4, lr}\n\tmov r4, sp\n\tmov sp, r1\n\t"
        ".inst.w 0xf3af8030\n\tblx r0\n\t.inst.w 0xf3af8031\n\tmov sp, r4\n\tpop {r4, pc}\n");
#endif

static size_t touched(void *stack)
{
    const uint8_t *bytes = stack;
    size_t clean = 0;
#if defined(__thumb__)
    memset(stack, PAINT, SIZE);
    call_on(call, (uint8_t *)stack + SIZE);
#else
    pthread_attr_t attributes;
    pthread_t thread;
    memset(stack, PAINT, SIZE);
    CHECK(pthread_attr_init(&attributes) == 0);
    CHECK(pthread_attr_setstack(&attributes, stack, SIZE) == 0);
    CHECK(pthread_create(&thread, &attributes, call, NULL) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(pthread_attr_destroy(&attributes) == 0);
#endif
    while (clean < SIZE && bytes[clean] == PAINT)
        clean++;
    return SIZE - clean;
}

int main(int argc, char **argv)
{
    static const char *const names[] = {"nothing", "keypair", "enc", "dec"};
    static const uint8_t seed[48] = {1};
    size_t i, idle;
#if defined(__thumb__)
    static uint64_t stack[SIZE / 8];
#else
    void *stack;
    CHECK(posix_memalign(&stack, 4096, SIZE) == 0);
#endif
    nist_seed(seed);
    given = argc > 1;
    for (i = 0; i < kem_count; i++) {
        kem = &kems[i];
        do /* until these are coins of a key */
            nist_bytes(coins, sizeof coins);
        while (given && kem->keypair_derand(pk, sk, coins) != 0);
        for (operation = 1; operation < 4; operation++)
            call(NULL); /* what is done once, such as linking, is done */
        operation = 0;
        idle = touched(stack);
        for (operation = 1; operation < 4; operation++)
            if (argc < 2 || strcmp(argv[1], names[operation]) == 0)
                printf("%s %s %lu\n", kem->name, names[operation], (unsigned long)(touched(stack) - idle));
    }
#if !defined(__thumb__)
    free(stack);
#endif
    return 0;
}
