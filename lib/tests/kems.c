/* SPDX-License-Identifier: Apache-2.0 OR MIT OR ISC OR CC0-1.0 */
/* All KEMs of the library in one table, and the hook for random bytes. */
#include "test.h"

#define KEM(name, size)                                                                            \
    #name, size##_PUBLICKEYBYTES, size##_SECRETKEYBYTES, size##_CIPHERTEXTBYTES, size##_BYTES,     \
        size##_KEYPAIRCOINS, size##_ENCCOINS, NS(crypto_kem_##name##_keypair),                     \
        NS(crypto_kem_##name##_keypair_derand), NS(crypto_kem_##name##_enc),                       \
        NS(crypto_kem_##name##_enc_derand), NS(crypto_kem_##name##_dec),                           \
        NS(crypto_kem_##name##_keypair_checked), NS(crypto_kem_##name##_enc_checked),              \
        NS(crypto_kem_##name##_dec_checked), NS(crypto_kem_##name##_check_pk),                     \
        NS(crypto_kem_##name##_check_sk), NS(crypto_kem_##name##_check_pair),                    \
        NS(crypto_kem_##name##_keypair_with), NS(crypto_kem_##name##_enc_with)
#define UNTYPED(name)                                                                              \
    static int prepare_##name(void *prepared, const uint8_t *pk)                                   \
    {                                                                                              \
        return NS(crypto_kem_##name##_prepare)((NS(name##_prepared) *)prepared, pk);               \
    }                                                                                              \
    static int enc_##name(uint8_t *ct, uint8_t *ss, const void *prepared)                          \
    {                                                                                              \
        return NS(crypto_kem_##name##_enc_prepared)(ct, ss,                                        \
                                                    (const NS(name##_prepared) *)prepared);        \
    }                                                                                              \
    static int enc_derand_##name(uint8_t *ct, uint8_t *ss, const void *prepared,                   \
                                 const uint8_t *coins)                                             \
    {                                                                                              \
        return NS(crypto_kem_##name##_enc_prepared_derand)(                                        \
            ct, ss, (const NS(name##_prepared) *)prepared, coins);                                 \
    }
#define PREPARED(name)                                                                             \
    NULL, sizeof(NS(name##_prepared)), prepare_##name, enc_##name, enc_derand_##name,              \
        NS(crypto_kem_##name##_dec_seed)
#define NONE NULL, 0, NULL, NULL, NULL, NULL
#define MORE(name)                                                                                 \
    NS(crypto_kem_##name##_keypair_batch), sizeof(NS(name##_prepared)), prepare_##name,            \
        enc_##name, enc_derand_##name, NULL

#if RINGFORGE_ENABLE_SNTRUP653
UNTYPED(sntrup653)
#endif
#if RINGFORGE_ENABLE_SNTRUP761
UNTYPED(sntrup761)
#endif
#if RINGFORGE_ENABLE_SNTRUP857
UNTYPED(sntrup857)
#endif
#if RINGFORGE_ENABLE_SNTRUP953
UNTYPED(sntrup953)
#endif
#if RINGFORGE_ENABLE_SNTRUP1013
UNTYPED(sntrup1013)
#endif
#if RINGFORGE_ENABLE_SNTRUP1277
UNTYPED(sntrup1277)
#endif
#if RINGFORGE_ENABLE_NTRULPR653
UNTYPED(ntrulpr653)
#endif
#if RINGFORGE_ENABLE_NTRULPR761
UNTYPED(ntrulpr761)
#endif
#if RINGFORGE_ENABLE_NTRULPR857
UNTYPED(ntrulpr857)
#endif
#if RINGFORGE_ENABLE_NTRULPR953
UNTYPED(ntrulpr953)
#endif
#if RINGFORGE_ENABLE_NTRULPR1013
UNTYPED(ntrulpr1013)
#endif
#if RINGFORGE_ENABLE_NTRULPR1277
UNTYPED(ntrulpr1277)
#endif
#if RINGFORGE_ENABLE_MLKEM512
UNTYPED(mlkem512)
#endif
#if RINGFORGE_ENABLE_MLKEM768
UNTYPED(mlkem768)
#endif
#if RINGFORGE_ENABLE_MLKEM1024
UNTYPED(mlkem1024)
#endif

const struct kem kems[] = {
#if RINGFORGE_ENABLE_SNTRUP653
    {KEM(sntrup653, RINGFORGE_SNTRUP653), MORE(sntrup653)},
#endif
#if RINGFORGE_ENABLE_SNTRUP761
    {KEM(sntrup761, RINGFORGE_SNTRUP761), MORE(sntrup761)},
#endif
#if RINGFORGE_ENABLE_SNTRUP857
    {KEM(sntrup857, RINGFORGE_SNTRUP857), MORE(sntrup857)},
#endif
#if RINGFORGE_ENABLE_SNTRUP953
    {KEM(sntrup953, RINGFORGE_SNTRUP953), MORE(sntrup953)},
#endif
#if RINGFORGE_ENABLE_SNTRUP1013
    {KEM(sntrup1013, RINGFORGE_SNTRUP1013), MORE(sntrup1013)},
#endif
#if RINGFORGE_ENABLE_SNTRUP1277
    {KEM(sntrup1277, RINGFORGE_SNTRUP1277), MORE(sntrup1277)},
#endif
#if RINGFORGE_ENABLE_NTRULPR653
    {KEM(ntrulpr653, RINGFORGE_NTRULPR653), MORE(ntrulpr653)},
#endif
#if RINGFORGE_ENABLE_NTRULPR761
    {KEM(ntrulpr761, RINGFORGE_NTRULPR761), MORE(ntrulpr761)},
#endif
#if RINGFORGE_ENABLE_NTRULPR857
    {KEM(ntrulpr857, RINGFORGE_NTRULPR857), MORE(ntrulpr857)},
#endif
#if RINGFORGE_ENABLE_NTRULPR953
    {KEM(ntrulpr953, RINGFORGE_NTRULPR953), MORE(ntrulpr953)},
#endif
#if RINGFORGE_ENABLE_NTRULPR1013
    {KEM(ntrulpr1013, RINGFORGE_NTRULPR1013), MORE(ntrulpr1013)},
#endif
#if RINGFORGE_ENABLE_NTRULPR1277
    {KEM(ntrulpr1277, RINGFORGE_NTRULPR1277), MORE(ntrulpr1277)},
#endif
#if RINGFORGE_ENABLE_MLKEM512
    {KEM(mlkem512, RINGFORGE_MLKEM512), PREPARED(mlkem512)},
#endif
#if RINGFORGE_ENABLE_MLKEM768
    {KEM(mlkem768, RINGFORGE_MLKEM768), PREPARED(mlkem768)},
#endif
#if RINGFORGE_ENABLE_MLKEM1024
    {KEM(mlkem1024, RINGFORGE_MLKEM1024), PREPARED(mlkem1024)},
#endif
#if RINGFORGE_ENABLE_NTRUHPS2048509
    {KEM(ntruhps2048509, RINGFORGE_NTRUHPS2048509), NONE},
#endif
#if RINGFORGE_ENABLE_NTRUHPS2048677
    {KEM(ntruhps2048677, RINGFORGE_NTRUHPS2048677), NONE},
#endif
#if RINGFORGE_ENABLE_NTRUHPS4096821
    {KEM(ntruhps4096821, RINGFORGE_NTRUHPS4096821), NONE},
#endif
#if RINGFORGE_ENABLE_NTRUHPS40961229
    {KEM(ntruhps40961229, RINGFORGE_NTRUHPS40961229), NONE},
#endif
#if RINGFORGE_ENABLE_NTRUHRSS701
    {KEM(ntruhrss701, RINGFORGE_NTRUHRSS701), NONE},
#endif
#if RINGFORGE_ENABLE_NTRUHRSS1373
    {KEM(ntruhrss1373, RINGFORGE_NTRUHRSS1373), NONE},
#endif
};
const size_t kem_count = sizeof kems / sizeof *kems;
