/* SPDX-License-Identifier: Apache-2.0 OR MIT OR ISC OR CC0-1.0 */
/*
 * Constant time, under valgrind: with RINGFORGE_CT_TEST, what randombytes gives and secret keys count as
 * undefined, and valgrind reports every branch and address that depends on them. ct [NAME…]
 */
#include "test.h"

#include <valgrind/memcheck.h>

extern int NS(test_portable);

int NS(randombytes)(uint8_t *out, size_t len)
{
    nist_bytes(out, len);
    (void)VALGRIND_MAKE_MEM_UNDEFINED(out, len);
    return 0;
}

static void reveal(void *p, size_t len)
{
    (void)VALGRIND_MAKE_MEM_DEFINED(p, len);
}

#define KEYS 2

int main(int argc, char **argv)
{
    static uint8_t pk[KEYS * MAX_PK], sk[KEYS * MAX_SK], ct[MAX_CT], ss[64], opened[64], seed[48];
    static uint64_t prepared[MAX_PREPARED / 8];
    size_t i;
    int k, target;
    CHECK(RUNNING_ON_VALGRIND);
    nist_seed(seed);
    for (i = 0; i < kem_count; i++) {
        const struct kem *kem = kems + i;
        int wanted = argc == 1;
        for (k = 1; k < argc; k++)
            wanted |= strcmp(argv[k], kem->name) == 0;
        for (target = 0; wanted && target < 2; target++) {
            NS(test_portable) = target;
            CHECK(kem->keypair(pk, sk) == 0);
            reveal(pk, kem->pk);
            CHECK(kem->enc(ct, ss, pk) == 0);
            reveal(ct, kem->ct);
            for (k = 0; k < 2; k++) { /* the right ciphertext, and a wrong one */
                ct[0] = (uint8_t)(ct[0] ^ k);
                (void)VALGRIND_MAKE_MEM_UNDEFINED(sk, kem->sk);
                CHECK(kem->dec(opened, ct, sk) == 0);
                reveal(ss, kem->ss);
                reveal(opened, kem->ss);
                CHECK((memcmp(ss, opened, kem->ss) == 0) == (k == 0));
            }
            if (kem->prepare) {
                CHECK(kem->prepare(prepared, pk) == 0);
                CHECK(kem->enc_prepared(ct, ss, prepared) == 0);
            }
            if (kem->keypair_batch)
                CHECK(kem->keypair_batch(pk, sk, KEYS) == 0);
            printf("%s %s ok\n", kem->name, target ? "portable" : "avx2");
        }
    }
    return 0;
}
