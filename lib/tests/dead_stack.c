/* SPDX-License-Identifier: Apache-2.0 OR MIT OR ISC OR CC0-1.0 */
/*
 * What operations leave on the stack: dead_stack [bytes] [NAME…]. Each KEM's operations run on a painted stack of
 * their own with one key and coins, then with others; below the frame that called them both must leave the same
 * bytes, on portable code, on AVX2 and on AVX-512. And without wiping they do not, so that it would be seen. Where there
 * is AVX-512, registers for vectors and masks must hold the same as well. With `bytes`, prints how many bytes of secrets
 * would stay, and how deep.
 */
#define _XOPEN_SOURCE 600
#include <ucontext.h>

#include "test.h"

extern int NS(test_portable);
extern int NS(test_no_wipe);

#define SIZE ((size_t)1 << 19)
#define BATCH 3
#define KEYS 4

/* The stack, aligned as pages are, and what it held after the first key. */
static uint8_t stack[SIZE + 4096], first[SIZE];
static uint8_t *base, *frame;
static ucontext_t main_context, own_context;
static const struct kem *kem;
static int operation, error;
static uint8_t pk[BATCH * MAX_PK], sk[BATCH * MAX_SK], ct[MAX_CT], ss[64], coins[MAX_COINS];
static uint64_t prepared[MAX_PREPARED / 8];

/* Keys that operations begin with, and the seed of what random bytes come after. */
static struct {
    uint8_t seed[48], pk[MAX_PK], sk[MAX_SK], ct[MAX_CT], coins[MAX_COINS];
    uint64_t prepared[MAX_PREPARED / 8];
} keys[KEYS];

/* Operations, those that some KEMs lack last. */
enum { KEYPAIR, KEYPAIR_DERAND, ENC, ENC_DERAND, DEC, CHECK_SK, CHECK_PAIR, KEYPAIR_WITH, ENC_WITH, ENC_PREPARED,
       ENC_PREPARED_DERAND, KEYPAIR_BATCH, DEC_SEED, OPERATIONS };
static const char *const names[OPERATIONS] = {"keypair", "keypair_derand", "enc", "enc_derand", "dec", "check_sk",
                                              "check_pair", "keypair_with", "enc_with", "enc_prepared",
                                              "enc_prepared_derand", "keypair_batch", "dec_seed"};

/* What an operation leaves in registers for vectors and masks, where they are read. */
#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#define REGISTERS (32 * 64 + 8 * 8)
static uint8_t registers[REGISTERS], first_registers[REGISTERS];
#define ZMM(n) "vmovdqu64 %%zmm" #n ", 64*" #n "(%0)\n\t"
#define MASK(n) "kmovq %%k" #n ", 2048+8*" #n "(%0)\n\t"
__attribute__((target("avx512f,avx512bw"), noinline)) static void read_registers(void)
{
    __asm__ __volatile__(ZMM(0) ZMM(1) ZMM(2) ZMM(3) ZMM(4) ZMM(5) ZMM(6) ZMM(7) ZMM(8) ZMM(9) ZMM(10) ZMM(11)
                         ZMM(12) ZMM(13) ZMM(14) ZMM(15) ZMM(16) ZMM(17) ZMM(18) ZMM(19) ZMM(20) ZMM(21) ZMM(22)
                         ZMM(23) ZMM(24) ZMM(25) ZMM(26) ZMM(27) ZMM(28) ZMM(29) ZMM(30) ZMM(31)
                         MASK(0) MASK(1) MASK(2) MASK(3) MASK(4) MASK(5) MASK(6) MASK(7)
                         :
                         : "r"(registers)
                         : "memory");
}
#define HAVE_REGISTERS __builtin_cpu_supports("avx512bw")
#else
#define REGISTERS 1
static uint8_t registers[REGISTERS], first_registers[REGISTERS];
static void read_registers(void)
{
}
#define HAVE_REGISTERS 0
#endif

static int source(void *context, uint8_t *out, size_t len)
{
    memcpy(out, context, len);
    return 0;
}

static __attribute__((noinline)) void call_operation(void)
{
    volatile uint8_t here;
    frame = (uint8_t *)(uintptr_t)&here;
    switch (operation) {
    case KEYPAIR:
        error = kem->keypair(pk, sk);
        break;
    case KEYPAIR_DERAND:
        error = kem->keypair_derand(pk, sk, coins);
        break;
    case ENC:
        error = kem->enc(ct, ss, pk);
        break;
    case ENC_DERAND:
        error = kem->enc_derand(ct, ss, pk, coins);
        break;
    case DEC:
        error = kem->dec(ss, ct, sk);
        break;
    case CHECK_SK:
        error = kem->check_sk(sk);
        break;
    case CHECK_PAIR:
        error = kem->check_pair(pk, sk);
        break;
    case KEYPAIR_WITH:
        error = kem->keypair_with(pk, sk, source, coins);
        break;
    case ENC_WITH:
        error = kem->enc_with(ct, ss, pk, source, coins);
        break;
    case ENC_PREPARED:
        error = kem->enc_prepared(ct, ss, prepared);
        break;
    case ENC_PREPARED_DERAND:
        error = kem->enc_prepared_derand(ct, ss, prepared, coins);
        break;
    case KEYPAIR_BATCH:
        error = kem->keypair_batch(pk, sk, BATCH);
        break;
    default: /* ML-KEM's coins are its seed */
        error = kem->dec_seed(ss, ct, coins);
    }
    if (HAVE_REGISTERS)
        read_registers();
}

/* Operations save their caller's registers: on AArch64 these held what this test had in them, which differs. */
static void call(void)
{
#ifdef __aarch64__
    __asm__ __volatile__("mov x19, xzr\n\tmov x20, xzr\n\tmov x21, xzr\n\tmov x22, xzr\n\tmov x23, xzr\n\t"
                         "mov x24, xzr\n\tmov x25, xzr\n\tmov x26, xzr\n\tmov x27, xzr\n\tmov x28, xzr"
                         :
                         :
                         : "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28");
    __asm__ __volatile__("movi v8.2d, #0\n\tmovi v9.2d, #0\n\tmovi v10.2d, #0\n\tmovi v11.2d, #0\n\t"
                         "movi v12.2d, #0\n\tmovi v13.2d, #0\n\tmovi v14.2d, #0\n\tmovi v15.2d, #0"
                         :
                         :
                         : "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15");
#endif
    call_operation();
    __asm__ __volatile__("" : : : "memory"); /* no jump there with the registers of before */
}

static void make_keys(void)
{
    int k;
    for (k = 0; k < KEYS; k++) {
        memset(keys[k].seed, 7 + k, sizeof keys[k].seed);
        nist_seed(keys[k].seed);
        do /* until these are coins of a key: others are to be rejected */
            nist_bytes(keys[k].coins, sizeof keys[k].coins);
        while (kem->keypair_derand(keys[k].pk, keys[k].sk, keys[k].coins) != 0);
        CHECK(kem->enc(keys[k].ct, ss, keys[k].pk) == 0);
        if (kem->prepare)
            CHECK(kem->prepare(keys[k].prepared, keys[k].pk) == 0);
    }
}

/* The operation on the painted stack, with the k-th key and coins, as lies in `base` then. */
static void run(int k)
{
    nist_seed(keys[k].seed);
    memcpy(pk, keys[k].pk, sizeof keys[k].pk);
    memcpy(sk, keys[k].sk, sizeof keys[k].sk);
    memcpy(ct, keys[k].ct, sizeof keys[k].ct);
    memcpy(coins, keys[k].coins, sizeof keys[k].coins);
    memcpy(prepared, keys[k].prepared, sizeof keys[k].prepared);
    if ((operation == DEC || operation == DEC_SEED) && k > 1)
        ct[k] ^= 1; /* a forged ciphertext leaves nothing else */
    memset(base, 0xa5, SIZE);
    CHECK(getcontext(&own_context) == 0);
    own_context.uc_stack.ss_sp = base;
    own_context.uc_stack.ss_size = SIZE;
    own_context.uc_link = &main_context;
    makecontext(&own_context, call, 0);
    CHECK(swapcontext(&main_context, &own_context) == 0);
    CHECK(error == 0);
}

/* Bytes below the caller's frame in which the first key and `others` of the others differ; *depth is how far below the
 * deepest lies. And bytes of registers. */
static size_t left_in_registers;
static size_t left(int others, size_t *depth)
{
    size_t count = 0, i, end;
    int k;
    *depth = 0;
    left_in_registers = 0;
    run(0);
    memcpy(first, base, SIZE);
    memcpy(first_registers, registers, REGISTERS);
    for (k = 1; k <= others; k++) {
        run(k);
        for (i = 0; i < REGISTERS; i++)
            left_in_registers += registers[i] != first_registers[i];
        end = (size_t)(frame - base);
        for (i = end; i-- > 0;) {
            if (base[i] != first[i]) {
                count++;
                *depth = end - i > *depth ? end - i : *depth;
            }
        }
    }
    return count;
}

static int exists(void)
{
    switch (operation) {
    case ENC_PREPARED:
    case ENC_PREPARED_DERAND:
        return kem->prepare != NULL;
    case KEYPAIR_BATCH:
        return kem->keypair_batch != NULL;
    case DEC_SEED:
        return kem->dec_seed != NULL;
    default:
        return 1;
    }
}

int main(int argc, char **argv)
{
    const int shown = argc > 1 && strcmp(argv[1], "bytes") == 0;
    size_t i, depth, unused, in_registers;
    int k, target, whole;
    base = stack + (4096 - (uintptr_t)stack % 4096) % 4096;
    for (i = 0; i < kem_count; i++) {
        int wanted = argc == 1 + shown;
        kem = kems + i;
        for (k = 1 + shown; k < argc; k++)
            wanted |= strcmp(argv[k], kem->name) == 0;
        for (target = 0; wanted && target < TEST_TARGETS; target++) {
            NS(test_portable) = target;
            /* Portable code and AVX2 know nothing of AVX-512's registers, which copies by the C library still take. */
            whole = HAVE_REGISTERS && !RINGFORGE_SMALL && RINGFORGE_TARGET != 1 && (target == 0 || target == 3);
            in_registers = 0;
            make_keys();
            for (operation = 0; operation < OPERATIONS; operation++) {
                if (!exists())
                    continue;
                NS(test_no_wipe) = 1;
                k = (int)left(shown ? KEYS - 1 : 1, &depth);
                in_registers += left_in_registers;
                NS(test_no_wipe) = 0;
                if (shown)
                    printf("%s %s %s %d %lu\n", kem->name, test_targets[target], names[operation], k, (unsigned long)depth);
                if (k < 100 || left(KEYS - 1, &unused) != 0 || (whole && left_in_registers != 0)) {
                    fprintf(stderr, "%s %s %s: %d bytes, as deep as %lu, without wiping; and %lu with it, %lu of registers\n",
                            kem->name, test_targets[target], names[operation], k, (unsigned long)depth,
                            (unsigned long)left(KEYS - 1, &unused), (unsigned long)left_in_registers);
                    return 1;
                }
            }
            CHECK(!whole || in_registers > 0);
        }
        if (wanted)
            printf("%s ok\n", kem->name);
    }
    return 0;
}
