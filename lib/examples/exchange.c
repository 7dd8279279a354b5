/* SPDX-License-Identifier: Apache-2.0 OR MIT OR ISC OR CC0-1.0 */
/*
 * exchange.c: two parties agree on a session key with sntrup761.
 *
 *   cc exchange.c $(pkg-config --cflags --libs ringforge)
 */
#include <stdio.h>
#include <string.h>

#include <ringforge_kem.h>

int main(void)
{
    static uint8_t pk[RINGFORGE_SNTRUP761_PUBLICKEYBYTES], sk[RINGFORGE_SNTRUP761_SECRETKEYBYTES];
    static uint8_t ct[RINGFORGE_SNTRUP761_CIPHERTEXTBYTES];
    uint8_t ours[RINGFORGE_SNTRUP761_BYTES], theirs[RINGFORGE_SNTRUP761_BYTES];
    int error;

    /* We make a key pair and send pk. */
    error = ringforge_crypto_kem_sntrup761_keypair(pk, sk);
    if (error != 0) {
        fprintf(stderr, "no key pair: error %d%s\n", error,
                error == RINGFORGE_ERR_RANDOM ? ", there are no random bytes" : "");
        return 1;
    }
    /* They make a session key and send what it is wrapped in. */
    error = ringforge_crypto_kem_sntrup761_enc(ct, theirs, pk);
    if (error != 0) {
        fprintf(stderr, "no ciphertext: error %d\n", error);
        return 1;
    }
    /* We open it. Data from a network may have any length, so the checked form takes lengths. */
    error = ringforge_crypto_kem_sntrup761_dec_checked(ours, sizeof ours, ct, sizeof ct, sk, sizeof sk);
    if (error != 0) {
        fprintf(stderr, "not opened: error %d\n", error);
        return 1;
    }
    /* A protocol would go on with the key; whether it is the same, its next message would show. */
    printf("%s\n", memcmp(ours, theirs, sizeof ours) == 0 ? "one session key" : "two session keys");
    return memcmp(ours, theirs, sizeof ours) != 0;
}
