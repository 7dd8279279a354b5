/* SPDX-License-Identifier: Apache-2.0 OR MIT OR ISC OR CC0-1.0 */
/*
 * Dropbear's part beside a source that `ringforge package --as dropbear` wrote: what that source calls, and a table of KEMs
 * with the one, so that kat.c and stack.c test it. Random bytes are NIST's generator's.
 */
#include "dbrandom.h"
#include "mlkem768.h"
#include "sntrup761.h"
#include "test.h"

void genrandom(unsigned char *buf, unsigned int len)
{
    nist_bytes(buf, len);
}

#define FUNCTIONS(name)                                                                            \
    crypto_kem_##name##_keypair, NULL, crypto_kem_##name##_enc, NULL, crypto_kem_##name##_dec
#include "../place.h"
