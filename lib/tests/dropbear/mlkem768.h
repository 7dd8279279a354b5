/* SPDX-License-Identifier: Apache-2.0 OR MIT OR ISC OR CC0-1.0 */
/* mlkem768.h: a stand-in for Dropbear's, written from the interface alone. For tests. */
#ifndef STAND_IN_MLKEM768_H
#define STAND_IN_MLKEM768_H

#define crypto_kem_mlkem768_PUBLICKEYBYTES 1184
#define crypto_kem_mlkem768_SECRETKEYBYTES 2400
#define crypto_kem_mlkem768_CIPHERTEXTBYTES 1088
#define crypto_kem_mlkem768_BYTES 32
int crypto_kem_mlkem768_keypair(unsigned char *pk, unsigned char *sk);
int crypto_kem_mlkem768_enc(unsigned char *c, unsigned char *k, const unsigned char *pk);
int crypto_kem_mlkem768_dec(unsigned char *k, const unsigned char *c, const unsigned char *sk);

#endif /* STAND_IN_MLKEM768_H */
