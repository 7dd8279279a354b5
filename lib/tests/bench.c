/* Cycles of every KEM, as lines of JSON: bench avx2|portable [NAME…]. Random bytes cost next to
 * nothing. */
#include "test.h"

#include "cycles.h"
#include "fast_random.h"

extern int NS(test_portable);
#define BATCH 32

int NS(randombytes)(uint8_t *out, size_t len)
{
    fast_random(out, len);
    return 0;
}

int main(int argc, char **argv)
{
    static uint8_t pk[MAX_PK * BATCH], sk[MAX_SK * BATCH], ct[MAX_CT], ss[64];
    static uint64_t prepared[MAX_PREPARED / 8];
    size_t i;
    static const char *const columns[5] = {"keygen", "enc", "dec", "batch", "prepared"};
    NS(test_portable) = argc > 1 && strcmp(argv[1], "portable") == 0;
    for (i = 0; i < kem_count; i++) {
        const struct kem *kem = kems + i;
        double min[5] = {0}, median[5] = {0};
        int k, wanted = argc <= 2;
        for (k = 2; k < argc; k++)
            wanted |= strcmp(argv[k], kem->name) == 0;
        if (!wanted)
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
        printf("{\"kem\":\"%s\"", kem->name);
        for (k = 0; k < 5; k++)
            if (min[k] > 0)
                printf(",\"%s\":[%.0f,%.0f]", columns[k], min[k], median[k]);
        printf("}\n");
        fflush(stdout);
    }
    return 0;
}
