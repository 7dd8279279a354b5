/* SPDX-License-Identifier: Apache-2.0 OR MIT OR ISC OR CC0-1.0 */
/*
 * Cycles of every KEM, as lines of JSON: bench all|avx512vl|avx2|portable [NAME…]. Random bytes cost next to nothing.
 *
 * bench wiping [NAME…]: each operation's minimum, and the same without wiping, in turns of one process.
 *
 * bench targets [NAME…]: each operation's median on all code that runs here, without registers of 512 bits, and without
 * AVX-512, in turns of one process.
 */
#include "test.h"

#include "cycles.h"
#include "fast_random.h"

extern int NS(test_portable);
extern int NS(test_no_wipe);
#define BATCH 32

int NS(randombytes)(uint8_t *out, size_t len)
{
    fast_random(out, len);
    return 0;
}

#define TURNS 5
/* The least of some turns' minima, with wiping and without. */
#define BOTH(least, statement)                                                                     \
    do {                                                                                           \
        int turn_;                                                                                 \
        double min_, median_;                                                                      \
        for (turn_ = 0; turn_ < 2 * TURNS; turn_++) {                                              \
            NS(test_no_wipe) = turn_ % 2;                                                          \
            CYCLES(min_, median_, statement);                                                      \
            (void)median_;                                                                         \
            if (turn_ < 2 || min_ < (least)[turn_ % 2])                                            \
                (least)[turn_ % 2] = min_;                                                         \
        }                                                                                          \
        NS(test_no_wipe) = 0;                                                                      \
    } while (0)

static void wiping(const struct kem *kem, uint8_t *pk, uint8_t *sk, uint8_t *ct, uint8_t *ss)
{
    double keygen[2], enc[2], dec[2];
    BOTH(keygen, kem->keypair(pk, sk));
    BOTH(enc, kem->enc(ct, ss, pk));
    BOTH(dec, kem->dec(ss, ct, sk));
    printf("{\"kem\":\"%s\",\"keygen\":[%.0f,%.0f],\"enc\":[%.0f,%.0f],\"dec\":[%.0f,%.0f]}\n", kem->name, keygen[0],
           keygen[1], enc[0], enc[1], dec[0], dec[1]);
    fflush(stdout);
}

/* The medians of some turns' medians: of all code, avx512vl and avx2. */
#define THREE(statement)                                                                           \
    do {                                                                                           \
        static const int order_[3] = {0, 3, 2};                                                    \
        double turns_[3][TURNS], min_;                                                             \
        int turn_;                                                                                 \
        for (turn_ = 0; turn_ < 3 * TURNS; turn_++) {                                              \
            NS(test_portable) = order_[turn_ % 3];                                                 \
            CYCLES(min_, turns_[turn_ % 3][turn_ / 3], statement);                                 \
            (void)min_;                                                                            \
        }                                                                                          \
        for (turn_ = 0; turn_ < 3; turn_++) {                                                      \
            qsort(turns_[turn_], TURNS, sizeof **turns_, by_size);                                 \
            printf("%s%.0f", turn_ ? "," : "[", turns_[turn_][TURNS / 2]);                         \
        }                                                                                          \
        printf("]");                                                                               \
    } while (0)

static void compared(const struct kem *kem, uint8_t *pk, uint8_t *sk, uint8_t *ct, uint8_t *ss)
{
    printf("{\"kem\":\"%s\",\"keygen\":", kem->name);
    THREE(kem->keypair(pk, sk));
    printf(",\"enc\":");
    THREE(kem->enc(ct, ss, pk));
    printf(",\"dec\":");
    THREE(kem->dec(ss, ct, sk));
    if (kem->keypair_batch) {
        printf(",\"batch of %d\":", BATCH);
        THREE(kem->keypair_batch(pk, sk, BATCH));
    }
    printf("}\n");
    fflush(stdout);
}

int main(int argc, char **argv)
{
    static uint8_t pk[MAX_PK * BATCH], sk[MAX_SK * BATCH], ct[MAX_CT], ss[64];
    static uint64_t prepared[MAX_PREPARED / 8];
    size_t i;
    static const char *const columns[5] = {"keygen", "enc", "dec", "batch", "prepared"};
    const int wipes = argc > 1 && strcmp(argv[1], "wiping") == 0, compares = argc > 1 && strcmp(argv[1], "targets") == 0;
    NS(test_portable) = argc > 1 && !wipes && !compares ? test_target(argv[1]) : 0;
    for (i = 0; i < kem_count; i++) {
        const struct kem *kem = kems + i;
        double min[5] = {0}, median[5] = {0};
        int k, wanted = argc <= 2;
        for (k = 2; k < argc; k++)
            wanted |= strcmp(argv[k], kem->name) == 0;
        if (!wanted)
            continue;
        if (wipes || compares) {
            (wipes ? wiping : compared)(kem, pk, sk, ct, ss);
            continue;
        }
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
