/* SPDX-License-Identifier: Apache-2.0 OR MIT OR ISC OR CC0-1.0 */
/*
 * amalgamated.c: a KEM as part of one's own source, without a library.
 *
 *   ringforge package mlkem512 --prefix app_ --amalgamated -o kem
 *   cc -O2 -Ikem amalgamated.c
 */
#include "app_kem.c"

#include <stdio.h>

int main(void)
{
    static uint8_t pk[APP_MLKEM512_PUBLICKEYBYTES], sk[APP_MLKEM512_SECRETKEYBYTES];
    static uint8_t ct[APP_MLKEM512_CIPHERTEXTBYTES];
    static app_mlkem512_prepared prepared;
    uint8_t ours[APP_MLKEM512_BYTES], theirs[APP_MLKEM512_BYTES];
    int k;
    if (app_crypto_kem_mlkem512_keypair(pk, sk) != 0)
        return 1;
    /* Whoever encapsulates to one key often checks and decodes it once. */
    if (app_crypto_kem_mlkem512_prepare(&prepared, pk) != 0)
        return 1;
    for (k = 0; k < 3; k++) {
        if (app_crypto_kem_mlkem512_enc_prepared(ct, theirs, &prepared) != 0 ||
            app_crypto_kem_mlkem512_dec(ours, ct, sk) != 0 || memcmp(ours, theirs, sizeof ours) != 0)
            return 1;
    }
    printf("three session keys\n");
    return 0;
}
