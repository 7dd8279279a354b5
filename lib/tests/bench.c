/* Cycles of every KEM: bench [portable]. Random bytes come from a fast generator that is not random. */
#include "test.h"

#include "cycles.h"

extern int NS(test_portable);
#define BATCH 32

int NS(randombytes)(uint8_t *out, size_t len)
{
    static uint64_t x = 88172645463325252u;
    for (; len >= 8; len -= 8, out += 8) {
        x ^= x << 13, x ^= x >> 7, x ^= x << 17;
        memcpy(out, &x, 8);
    }
    for (; len > 0; len--)
        *out++ = (uint8_t)(x >> (8 * len));
    return 0;
}

int main(int argc, char **argv)
{
    static uint8_t pk[MAX_PK * BATCH], sk[MAX_SK * BATCH], ct[MAX_CT], ss[64];
    static uint64_t prepared[MAX_PREPARED / 8];
    size_t i;
    NS(test_portable) = argc > 1 && strcmp(argv[1], "portable") == 0;
    printf("%-16s %17s %17s %17s %17s %17s\n", "min/median", "keygen", "encaps", "decaps", "batch key", "prepared encaps");
    for (i = 0; i < kem_count; i++) {
        const struct kem *kem = kems + i;
        double min[5] = {0}, median[5] = {0};
        int k;
        if (argc > 2 && strcmp(argv[2], kem->name) != 0)
            continue;
        CYCLES(min[0], median[0], kem->keypair(pk, sk));
        CYCLES(min[1], median[1], kem->enc(ct, ss, pk));
        CYCLES(min[2], median[2], kem->dec(ss, ct, sk));
        if (kem->prepare) {
            kem->prepare(prepared, pk);
            CYCLES(min[4], median[4], kem->enc_prepared(ct, ss, prepared));
        }
        if (kem->keypair_batch)
            CYCLES(min[3], median[3], kem->keypair_batch(pk, sk, BATCH));
        min[3] /= BATCH, median[3] /= BATCH;
        printf("%-16s", kem->name);
        for (k = 0; k < 5; k++)
            printf(" %8.0f/%8.0f", min[k], median[k]);
        printf("\n");
    }
    return 0;
}
