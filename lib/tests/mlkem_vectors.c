/* SPDX-License-Identifier: Apache-2.0 OR MIT OR ISC OR CC0-1.0 */
/*
 * mlkem_vectors FILE [portable]: ML-KEM's vectors of the Python package cryptography-vectors (50.0.2, in the files
 * kat_MLKEM_*.rsp), which have ciphertexts that are rejected as well. FILE has the SHA-256 of the first cases of each file,
 * without empty lines, and the seeds of these cases: z, d, the message and the wrong ciphertext come from NIST's generator.
 */
#include "test.h"

extern int NS(test_portable);
#define CASES 100
#define ROOM (CASES * 20000)
static char text[ROOM];
static size_t used;

static void put(const char *name, const uint8_t *bytes, size_t len)
{
    size_t i;
    CHECK(used + strlen(name) + 2 * len + 5 < ROOM);
    used += (size_t)sprintf(text + used, "%s = ", name);
    for (i = 0; i < len; i++)
        used += (size_t)sprintf(text + used, "%02x", bytes[i]);
    text[used++] = '\n';
}

static void put_case(const struct kem *kem, int count, const uint8_t seed[48])
{
    static uint8_t pk[MAX_PK], sk[MAX_SK], ct[MAX_CT], wrong[MAX_CT];
    uint8_t z[32], coins[64], message[32], ss[32], opened[32], rejected[32];
    nist_seed(seed);
    nist_bytes(z, 32);
    nist_bytes(coins, 32);
    memcpy(coins + 32, z, 32);
    nist_bytes(message, 32);
    nist_bytes(wrong, kem->ct);
    CHECK(kem->keypair_derand(pk, sk, coins) == 0);
    CHECK(kem->enc_derand(ct, ss, pk, message) == 0);
    CHECK(kem->dec(opened, ct, sk) == 0);
    CHECK(memcmp(ss, opened, 32) == 0);
    CHECK(kem->dec(rejected, wrong, sk) == 0);
    used += (size_t)sprintf(text + used, "count = %d\n", count);
    put("z", z, 32);
    put("d", coins, 32);
    put("msg", message, 32);
    put("seed", seed, 48);
    put("pk", pk, kem->pk);
    put("sk", sk, kem->sk);
    put("ct_n", wrong, kem->ct);
    put("ss_n", rejected, 32);
    put("ct", ct, kem->ct);
    put("ss", ss, 32);
}

int main(int argc, char **argv)
{
    static uint8_t seeds[CASES][48];
    static char name[3][32], hash[3][65];
    FILE *file;
    int i, k, found = 0;
    CHECK(argc >= 2);
    NS(test_portable) = argc > 2 ? test_target(argv[2]) : 0;
    file = fopen(argv[1], "r");
    CHECK(file != NULL);
    for (i = 0; i < 3; i++)
        CHECK(fscanf(file, "%31s %64s", name[i], hash[i]) == 2);
    for (i = 0; i < CASES * 48; i++) {
        unsigned x;
        CHECK(fscanf(file, "%2x", &x) == 1);
        seeds[i / 48][i % 48] = (uint8_t)x;
    }
    fclose(file);
    for (i = 0; i < 3; i++) {
        uint8_t digest[32];
        char hex[65];
        size_t n = 0;
        while (n < kem_count && strcmp(kems[n].name, name[i]) != 0)
            n++;
        if (n == kem_count)
            continue;
        used = 0;
        for (k = 0; k < CASES; k++)
            put_case(&kems[n], k, seeds[k]);
        sha256(digest, (const uint8_t *)text, used);
        for (k = 0; k < 32; k++)
            sprintf(hex + 2 * k, "%02x", digest[k]);
        if (strcmp(hex, hash[i]) != 0) {
            fprintf(stderr, "%s: %s and not %s\n", name[i], hex, hash[i]);
            return 1;
        }
        printf("%s: %d vectors\n", name[i], CASES);
        found++;
    }
    CHECK(found > 0);
    return 0;
}
