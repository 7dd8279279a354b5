/* SPDX-License-Identifier: Apache-2.0 OR MIT OR ISC OR CC0-1.0 */
/*
 * firmware.c: a program that has one KEM (FIRMWARE_KEM, such as sntrup761) and nothing else, to be linked without what it does
 * not need: what a microcontroller's flash would hold. It is never run.
 */
#include "ringforge_kem.h"

#define KEM(what) RINGFORGE_NS(KEM_(FIRMWARE_KEM, what))
#define KEM_(name, what) KEM__(name, what)
#define KEM__(name, what) crypto_kem_##name##_##what

static uint8_t pk[4096], sk[8192], ct[4096], ss[32];
int RINGFORGE_NS(randombytes)(uint8_t *out, size_t len);
void _start(void);

int RINGFORGE_NS(randombytes)(uint8_t *out, size_t len)
{
    (void)out;
    return len > 0; /* a place holder */
}

void _start(void)
{
    volatile int errors = KEM(keypair)(pk, sk);
    errors += KEM(enc)(ct, ss, pk);
    errors += KEM(dec)(ss, ct, sk);
}
