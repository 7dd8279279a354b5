/*
 * Stack use: stack prints, for each KEM and operation, the bytes of stack that a call touches. Calls run on a
 * painted stack of their own, and a call that does nothing is subtracted.
 */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stdint.h>

#include "test.h"

#define SIZE ((size_t)4 << 20)
#define PAINT 0xa5

static uint8_t pk[MAX_PK], sk[MAX_SK], ct[MAX_CT], ss[64];
static const struct kem *kem;
static int operation;

static void *call(void *unused)
{
    int error = 0;
    switch (operation) {
    case 1:
        error = kem->keypair(pk, sk);
        break;
    case 2:
        error = kem->enc(ct, ss, pk);
        break;
    case 3:
        error = kem->dec(ss, ct, sk);
        break;
    }
    CHECK(error == 0);
    return unused;
}

static size_t touched(void *stack)
{
    const uint8_t *bytes = stack;
    pthread_attr_t attributes;
    pthread_t thread;
    size_t clean = 0;
    memset(stack, PAINT, SIZE);
    CHECK(pthread_attr_init(&attributes) == 0);
    CHECK(pthread_attr_setstack(&attributes, stack, SIZE) == 0);
    CHECK(pthread_create(&thread, &attributes, call, NULL) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(pthread_attr_destroy(&attributes) == 0);
    while (clean < SIZE && bytes[clean] == PAINT)
        clean++;
    return SIZE - clean;
}

int main(void)
{
    static const char *const names[] = {"nothing", "keypair", "enc", "dec"};
    static const uint8_t seed[48] = {1};
    void *stack;
    size_t i, idle;
    CHECK(posix_memalign(&stack, 4096, SIZE) == 0);
    nist_seed(seed);
    for (i = 0; i < kem_count; i++) {
        kem = &kems[i];
        for (operation = 1; operation < 4; operation++)
            call(NULL); /* what is done once, such as linking, is done */
        operation = 0;
        idle = touched(stack);
        for (operation = 1; operation < 4; operation++)
            printf("%s %s %lu\n", kem->name, names[operation], (unsigned long)(touched(stack) - idle));
    }
    free(stack);
    return 0;
}
