/* SPDX-License-Identifier: Apache-2.0 OR MIT OR ISC OR CC0-1.0 */
/* table.c: the KEMs by name. */
#include "common.h"

#if RF_NEED_MORE
#define RF_ROW(name, size)                                                                         \
    {#name,                                                                                        \
     size##_PUBLICKEYBYTES,                                                                        \
     size##_SECRETKEYBYTES,                                                                        \
     size##_CIPHERTEXTBYTES,                                                                       \
     size##_BYTES,                                                                                 \
     size##_KEYPAIRCOINS,                                                                          \
     size##_ENCCOINS,                                                                              \
     RF_NS(crypto_kem_##name##_keypair),                                                           \
     RF_NS(crypto_kem_##name##_keypair_derand),                                                    \
     RF_NS(crypto_kem_##name##_enc),                                                               \
     RF_NS(crypto_kem_##name##_enc_derand),                                                        \
     RF_NS(crypto_kem_##name##_dec),                                                               \
     RF_NS(crypto_kem_##name##_check_pk),                                                          \
     RF_NS(crypto_kem_##name##_check_sk),                                                          \
     RF_NS(crypto_kem_##name##_check_pair)}

#if !RF_NEED_PRIME && !RF_NEED_NTRU && !RF_NEED_MLKEM
#error "no KEM is compiled: define one RINGFORGE_ENABLE_..., by a name of ringforge_config.h, as 1"
#endif

static const RF_NS(kem) rf_kems[] = {
#if RINGFORGE_ENABLE_SNTRUP653
    RF_ROW(sntrup653, RINGFORGE_SNTRUP653),
#endif
#if RINGFORGE_ENABLE_SNTRUP761
    RF_ROW(sntrup761, RINGFORGE_SNTRUP761),
#endif
#if RINGFORGE_ENABLE_SNTRUP857
    RF_ROW(sntrup857, RINGFORGE_SNTRUP857),
#endif
#if RINGFORGE_ENABLE_SNTRUP953
    RF_ROW(sntrup953, RINGFORGE_SNTRUP953),
#endif
#if RINGFORGE_ENABLE_SNTRUP1013
    RF_ROW(sntrup1013, RINGFORGE_SNTRUP1013),
#endif
#if RINGFORGE_ENABLE_SNTRUP1277
    RF_ROW(sntrup1277, RINGFORGE_SNTRUP1277),
#endif
#if RINGFORGE_ENABLE_NTRULPR653
    RF_ROW(ntrulpr653, RINGFORGE_NTRULPR653),
#endif
#if RINGFORGE_ENABLE_NTRULPR761
    RF_ROW(ntrulpr761, RINGFORGE_NTRULPR761),
#endif
#if RINGFORGE_ENABLE_NTRULPR857
    RF_ROW(ntrulpr857, RINGFORGE_NTRULPR857),
#endif
#if RINGFORGE_ENABLE_NTRULPR953
    RF_ROW(ntrulpr953, RINGFORGE_NTRULPR953),
#endif
#if RINGFORGE_ENABLE_NTRULPR1013
    RF_ROW(ntrulpr1013, RINGFORGE_NTRULPR1013),
#endif
#if RINGFORGE_ENABLE_NTRULPR1277
    RF_ROW(ntrulpr1277, RINGFORGE_NTRULPR1277),
#endif
#if RINGFORGE_ENABLE_MLKEM512
    RF_ROW(mlkem512, RINGFORGE_MLKEM512),
#endif
#if RINGFORGE_ENABLE_MLKEM768
    RF_ROW(mlkem768, RINGFORGE_MLKEM768),
#endif
#if RINGFORGE_ENABLE_MLKEM1024
    RF_ROW(mlkem1024, RINGFORGE_MLKEM1024),
#endif
#if RINGFORGE_ENABLE_NTRUHPS2048509
    RF_ROW(ntruhps2048509, RINGFORGE_NTRUHPS2048509),
#endif
#if RINGFORGE_ENABLE_NTRUHPS2048677
    RF_ROW(ntruhps2048677, RINGFORGE_NTRUHPS2048677),
#endif
#if RINGFORGE_ENABLE_NTRUHPS4096821
    RF_ROW(ntruhps4096821, RINGFORGE_NTRUHPS4096821),
#endif
#if RINGFORGE_ENABLE_NTRUHPS40961229
    RF_ROW(ntruhps40961229, RINGFORGE_NTRUHPS40961229),
#endif
#if RINGFORGE_ENABLE_NTRUHRSS701
    RF_ROW(ntruhrss701, RINGFORGE_NTRUHRSS701),
#endif
#if RINGFORGE_ENABLE_NTRUHRSS1373
    RF_ROW(ntruhrss1373, RINGFORGE_NTRUHRSS1373),
#endif
    {NULL, 0, 0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL},
};

const RF_NS(kem) * RF_NS(kem_at)(size_t index)
{
    return index < sizeof rf_kems / sizeof *rf_kems - 1 ? &rf_kems[index] : NULL;
}

const RF_NS(kem) * RF_NS(kem_find)(const char *name)
{
    const RF_NS(kem) *kem = rf_kems;
    while (kem->name != NULL && strcmp(kem->name, name) != 0)
        kem++;
    return kem->name != NULL ? kem : NULL;
}

const char *RF_NS(version)(void)
{
    return RINGFORGE_VERSION;
}

long RF_NS(version_number)(void)
{
    return RINGFORGE_VERSION_NUMBER;
}

#undef RF_ROW
#else
typedef int rf_no_table; /* C has no empty sources */
#endif
