/* SPDX-License-Identifier: Apache-2.0 OR MIT OR ISC OR CC0-1.0 */
/*
 * place.h: a table of KEMs with the one that stands in for another project's, so that kat.c and stack.c test it. Before,
 * FUNCTIONS(name) says which functions it has: keypair, its seeded form, enc, its seeded form, dec.
 */
#include "test.h"

/* What the project and the library say of sizes is the same. */
#define SAME(name, NAME, what)                                                                     \
    typedef char same_##what[crypto_kem_##name##_##what == RINGFORGE_##NAME##_##what ? 1 : -1]
#define TABLE(name, NAME)                                                                          \
    SAME(name, NAME, PUBLICKEYBYTES);                                                              \
    SAME(name, NAME, SECRETKEYBYTES);                                                              \
    SAME(name, NAME, CIPHERTEXTBYTES);                                                             \
    SAME(name, NAME, BYTES);                                                                       \
    const struct kem kems[] = {                                                                    \
        {#name, crypto_kem_##name##_PUBLICKEYBYTES, crypto_kem_##name##_SECRETKEYBYTES,            \
         crypto_kem_##name##_CIPHERTEXTBYTES, crypto_kem_##name##_BYTES, RINGFORGE_##NAME##_KEYPAIRCOINS, \
         RINGFORGE_##NAME##_ENCCOINS, FUNCTIONS(name), NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, NULL, \
         NULL, NULL, NULL}};                                                                       \
    const size_t kem_count = 1

#if RINGFORGE_ENABLE_SNTRUP761
TABLE(sntrup761, SNTRUP761);
#else
TABLE(mlkem768, MLKEM768);
#endif
