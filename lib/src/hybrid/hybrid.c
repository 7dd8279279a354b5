/* SPDX-License-Identifier: Apache-2.0 OR MIT OR ISC OR CC0-1.0 */
/* Hybrids of a KEM and a curve: the curve's part of a message, and each hybrid. */
#include "hybrid.h"

#if RINGFORGE_ECDH && (RINGFORGE_ENABLE_SNTRUP761 || RINGFORGE_ENABLE_MLKEM768 || RINGFORGE_ENABLE_MLKEM1024)

/* What a hook says, as an error of ours. */
static int rf_hybrid_error(int said)
{
    return said == 0 || said == RINGFORGE_ERR_KEY ? said : RINGFORGE_ERR_CURVE;
}

/* Draws a scalar of so many bytes until the curve takes it: nearly always the first time. */
static int rf_hybrid_draw(int curve, uint8_t *scalar, size_t len, uint8_t *point)
{
    int tries, said = RINGFORGE_ERR_COINS;
    for (tries = 0; tries < 100 && said == RINGFORGE_ERR_COINS; tries++) {
        if (RF_RANDOM(randombytes)(scalar, len) != 0)
            return RINGFORGE_ERR_RANDOM;
        said = RF_ECDH(point)(curve, point, scalar);
    }
    return said == RINGFORGE_ERR_COINS ? RINGFORGE_ERR_RANDOM : rf_hybrid_error(said);
}

#if RINGFORGE_ENABLE_SNTRUP761
#define RF_NAME sntrup761x25519
#define RF_OF sntrup761
#define RF_PK RINGFORGE_SNTRUP761_PUBLICKEYBYTES
#define RF_SK RINGFORGE_SNTRUP761_SECRETKEYBYTES
#define RF_CT RINGFORGE_SNTRUP761_CIPHERTEXTBYTES
#define RF_CURVE 25519
#define RF_POINT 32
#define RF_SHARED 32
#define RF_KEM_FIRST 1
#include "hybrid.inc"
#endif

#if RINGFORGE_ENABLE_MLKEM768
#define RF_NAME x25519mlkem768
#define RF_OF mlkem768
#define RF_PK RINGFORGE_MLKEM768_PUBLICKEYBYTES
#define RF_SK RINGFORGE_MLKEM768_SECRETKEYBYTES
#define RF_CT RINGFORGE_MLKEM768_CIPHERTEXTBYTES
#define RF_CURVE 25519
#define RF_POINT 32
#define RF_SHARED 32
#define RF_KEM_FIRST 1
#include "hybrid.inc"

#define RF_NAME mlkem768nistp256
#define RF_OF mlkem768
#define RF_PK RINGFORGE_MLKEM768_PUBLICKEYBYTES
#define RF_SK RINGFORGE_MLKEM768_SECRETKEYBYTES
#define RF_CT RINGFORGE_MLKEM768_CIPHERTEXTBYTES
#define RF_CURVE 256
#define RF_POINT 65
#define RF_SHARED 32
#define RF_KEM_FIRST 1
#include "hybrid.inc"

#define RF_NAME secp256r1mlkem768
#define RF_OF mlkem768
#define RF_PK RINGFORGE_MLKEM768_PUBLICKEYBYTES
#define RF_SK RINGFORGE_MLKEM768_SECRETKEYBYTES
#define RF_CT RINGFORGE_MLKEM768_CIPHERTEXTBYTES
#define RF_CURVE 256
#define RF_POINT 65
#define RF_SHARED 32
#define RF_KEM_FIRST 0
#include "hybrid.inc"
#endif

#if RINGFORGE_ENABLE_MLKEM1024
#define RF_NAME secp384r1mlkem1024
#define RF_OF mlkem1024
#define RF_PK RINGFORGE_MLKEM1024_PUBLICKEYBYTES
#define RF_SK RINGFORGE_MLKEM1024_SECRETKEYBYTES
#define RF_CT RINGFORGE_MLKEM1024_CIPHERTEXTBYTES
#define RF_CURVE 384
#define RF_POINT 97
#define RF_SHARED 48
#define RF_KEM_FIRST 0
#include "hybrid.inc"
#endif

#else
typedef int rf_no_hybrids; /* C has no empty sources */
#endif
