/* SPDX-License-Identifier: Apache-2.0 OR MIT OR ISC OR CC0-1.0 */
/*
 * Cycles of single phases of sntrup761, as lines of JSON: phases [all|avx512vl|avx2|portable]. Includes the sources, since the phases are
 * static.
 */
#include "../src/prime/prime761.c"

#include "cycles.h"
#include "test.h"

int main(int argc, char **argv)
{
    static int16_t a[761], b[761], c[761];
    static uint8_t bytes[4 * 761], out[2048], pk[1158], ct[1039];
    static uint32_t list[761];
    double min, median;
    int i;
    NS(test_portable) = argc > 1 ? test_target(argv[1]) : 0;
    for (i = 0; i < 4 * 761; i++)
        bytes[i] = (uint8_t)(i * i * 37 >> 3 ^ i);
    /* What a key generation, an encapsulation with a prepared key or without, and a decapsulation do of each. */
#define PHASE(name, keygen, enc, prepared, dec, statement)                                         \
    do {                                                                                           \
        CYCLES(min, median, statement);                                                            \
        printf("{\"phase\":\"%s\",\"min\":%.0f,\"median\":%.0f,\"uses\":[%d,%d,%d,%d]}\n", name, min, median, \
               keygen, enc, prepared, dec);                                                        \
    } while (0)
    memcpy(list, bytes, sizeof list);
    rf_prime761_short_of(a, list, 286 /* the weight of f */);
    rf_prime761_small_of(b, bytes);
    PHASE("inversion of 3f mod q", 1, 0, 0, 0, rf_prime761_recip3(c, a));
    PHASE("inversion mod 3", 1, 0, 0, 0, rf_prime761_recip_mod3(b, b));
    rf_prime761_recip3(c, a);
    PHASE("product mod q", 1, 1, 1, 2, rf_prime761_mul(c, c, a));
    PHASE("product mod 3", 0, 0, 0, 1, rf_prime761_mul3(b, b, a));
    PHASE("sort of 761 words", 1, 1, 1, 0, memcpy(list, bytes, sizeof list); RF_NS(sort_u32)(list, 761));
    PHASE("random bytes to a small element", 1, 0, 0, 0, rf_prime761_small_of(b, bytes));
    PHASE("encode mod q", 1, 0, 0, 0, rf_prime761_rq_encode(pk, c));
    PHASE("decode mod q", 0, 1, 0, 1, rf_prime761_rq_decode(c, pk));
    PHASE("round and encode", 0, 1, 1, 1, rf_prime761_rounded_encode(out, c));
    PHASE("decode rounded", 0, 0, 0, 1, rf_prime761_rounded_decode(b, out));
    PHASE("encode small", 2, 1, 1, 1, rf_prime761_small_encode(out, a));
    PHASE("decode small", 0, 0, 0, 2, rf_prime761_small_decode(b, out));
    PHASE("hash of a public key", 1, 0, 0, 0, NS(prime_hash)(out, 4, pk, sizeof pk, NULL, 0));
    PHASE("hashes of r, key, confirmation and session, the key's beside others", 0, 1, 0, 0,
          NS(prime_hash_all)(out, ct, sizeof ct, bytes, 191, pk, sizeof pk));
    PHASE("hashes of r, confirmation and session", 0, 0, 1, 0,
          NS(prime_hash_session)(out, ct, sizeof ct, bytes, 191, bytes));
    PHASE("hashes of r and rho, side by side", 0, 0, 0, 1, NS(prime_hash_two)(out, out + 32, 3, pk, bytes, 191));
    PHASE("hash that confirms", 0, 0, 0, 1, NS(prime_hash)(out, 2, pk, 32, pk, 32));
    PHASE("hash of a session", 0, 0, 0, 1, NS(prime_hash)(out, 1, pk, 32, ct, sizeof ct));
    return 0;
}

int NS(randombytes)(uint8_t *out, size_t len)
{
    memset(out, 1, len);
    return 0;
}
