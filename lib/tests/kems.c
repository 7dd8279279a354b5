/* All KEMs of the library in one table, and the hook for random bytes. */
#include "test.h"

#define KEM(name, size)                                                                            \
    #name, size##_PUBLICKEYBYTES, size##_SECRETKEYBYTES, size##_CIPHERTEXTBYTES, size##_BYTES,     \
        size##_KEYPAIRCOINS, size##_ENCCOINS, NS(crypto_kem_##name##_keypair),                     \
        NS(crypto_kem_##name##_keypair_derand), NS(crypto_kem_##name##_enc),                       \
        NS(crypto_kem_##name##_enc_derand), NS(crypto_kem_##name##_dec),                           \
        NS(crypto_kem_##name##_keypair_checked), NS(crypto_kem_##name##_enc_checked),              \
        NS(crypto_kem_##name##_dec_checked)
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
    NULL, sizeof(NS(name##_prepared)), prepare_##name, enc_##name, enc_derand_##name
#define MORE(name)                                                                                 \
    NS(crypto_kem_##name##_keypair_batch), sizeof(NS(name##_prepared)), prepare_##name,            \
        enc_##name, enc_derand_##name

UNTYPED(sntrup653)
UNTYPED(sntrup761)
UNTYPED(sntrup857)
UNTYPED(sntrup953)
UNTYPED(sntrup1013)
UNTYPED(sntrup1277)
UNTYPED(ntrulpr653)
UNTYPED(ntrulpr761)
UNTYPED(ntrulpr857)
UNTYPED(ntrulpr953)
UNTYPED(ntrulpr1013)
UNTYPED(ntrulpr1277)
UNTYPED(mlkem512)
UNTYPED(mlkem768)
UNTYPED(mlkem1024)

const struct kem kems[] = {
    {KEM(sntrup653, RINGFORGE_SNTRUP653), MORE(sntrup653)},
    {KEM(sntrup761, RINGFORGE_SNTRUP761), MORE(sntrup761)},
    {KEM(sntrup857, RINGFORGE_SNTRUP857), MORE(sntrup857)},
    {KEM(sntrup953, RINGFORGE_SNTRUP953), MORE(sntrup953)},
    {KEM(sntrup1013, RINGFORGE_SNTRUP1013), MORE(sntrup1013)},
    {KEM(sntrup1277, RINGFORGE_SNTRUP1277), MORE(sntrup1277)},
    {KEM(ntrulpr653, RINGFORGE_NTRULPR653), MORE(ntrulpr653)},
    {KEM(ntrulpr761, RINGFORGE_NTRULPR761), MORE(ntrulpr761)},
    {KEM(ntrulpr857, RINGFORGE_NTRULPR857), MORE(ntrulpr857)},
    {KEM(ntrulpr953, RINGFORGE_NTRULPR953), MORE(ntrulpr953)},
    {KEM(ntrulpr1013, RINGFORGE_NTRULPR1013), MORE(ntrulpr1013)},
    {KEM(ntrulpr1277, RINGFORGE_NTRULPR1277), MORE(ntrulpr1277)},
    {KEM(mlkem512, RINGFORGE_MLKEM512), PREPARED(mlkem512)},
    {KEM(mlkem768, RINGFORGE_MLKEM768), PREPARED(mlkem768)},
    {KEM(mlkem1024, RINGFORGE_MLKEM1024), PREPARED(mlkem1024)},
    {KEM(ntruhps2048509, RINGFORGE_NTRUHPS2048509), NULL, 0, NULL, NULL, NULL},
    {KEM(ntruhps2048677, RINGFORGE_NTRUHPS2048677), NULL, 0, NULL, NULL, NULL},
    {KEM(ntruhps4096821, RINGFORGE_NTRUHPS4096821), NULL, 0, NULL, NULL, NULL},
    {KEM(ntruhrss701, RINGFORGE_NTRUHRSS701), NULL, 0, NULL, NULL, NULL},
};
const size_t kem_count = sizeof kems / sizeof *kems;
