/* SPDX-License-Identifier: Apache-2.0 OR MIT OR ISC OR CC0-1.0 */
/*
 * Known answers: kat NAME COUNT prints the SHA-256 of the first COUNT cases of a KEM in the format of
 * NIST's .rsp files (see kats.txt), on portable code if a third argument follows; kat has NAME succeeds
 * if that KEM was compiled.
 */
#include "test.h"

static char *text;
static size_t used, room;

static void put(const char *s)
{
    size_t n = strlen(s);
    if (used + n + 1 > room) {
        room = 2 * (used + n + 1);
        text = realloc(text, room);
        CHECK(text != NULL);
    }
    memcpy(text + used, s, n + 1);
    used += n;
}

static void put_hex(const char *name, const uint8_t *bytes, size_t len)
{
    char hex[3];
    size_t i;
    put(name);
    for (i = 0; i < len; i++) {
        sprintf(hex, "%02X", bytes[i]);
        put(hex);
    }
    put("\n");
}

int main(int argc, char **argv)
{
    static uint8_t pk[MAX_PK], sk[MAX_SK], ct[MAX_CT], ss[64], opened[64];
    uint8_t seed[48], state[48], digest[32];
    const struct kem *kem = NULL;
    size_t i;
    int k, count;
    int asked;
    CHECK(argc >= 3);
    asked = strcmp(argv[1], "has") == 0;
    for (i = 0; i < kem_count; i++)
        if (strcmp(kems[i].name, argv[asked ? 2 : 1]) == 0)
            kem = &kems[i];
    if (asked)
        return kem == NULL;
    CHECK(kem != NULL);
    count = atoi(argv[2]);
#ifdef RINGFORGE_TESTING
    {
        extern int NS(test_portable);
        NS(test_portable) = argc > 3 ? test_target(argv[3]) : 0;
    }
#endif
    for (i = 0; i < 48; i++)
        seed[i] = (uint8_t)i;
    nist_seed(seed);
    nist_state(state, 0);
    for (k = 0; k < count; k++) {
        char line[32];
        nist_state(state, 1);
        nist_bytes(seed, 48);
        nist_state(state, 0);
        nist_seed(seed);
        CHECK(kem->keypair(pk, sk) == 0);
        CHECK(kem->enc(ct, ss, pk) == 0);
        CHECK(kem->dec(opened, ct, sk) == 0);
        CHECK(memcmp(ss, opened, kem->ss) == 0);
        sprintf(line, "%scount = %d\n", k ? "\n" : "", k);
        put(line);
        put_hex("seed = ", seed, 48);
        put_hex("pk = ", pk, kem->pk);
        put_hex("sk = ", sk, kem->sk);
        put_hex("ct = ", ct, kem->ct);
        put_hex("ss = ", ss, kem->ss);
    }
    sha256(digest, (const uint8_t *)text, used);
    for (i = 0; i < 32; i++)
        printf("%02x", digest[i]);
    printf("\n");
    free(text);
    return 0;
}
