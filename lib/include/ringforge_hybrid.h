/* SPDX-License-Identifier: Apache-2.0 OR MIT OR ISC OR CC0-1.0 */
/*
 * ringforge_hybrid.h: key agreements of a KEM and a curve, as TLS 1.3 [draft-ietf-tls-ecdhe-mlkem] and SSH
 * [draft-ietf-sshm-mlkem-hybrid-kex, draft-ietf-sshm-ntruprime-ssh] have them. For libraries that were compiled with
 * RINGFORGE_ECDH 1 or 2.
 *
 *   name                protocol   what it is there             first part   key
 *   sntrup761x25519     SSH        sntrup761x25519-sha512       KEM          SHA-512 of it is the string K
 *   x25519mlkem768      TLS        X25519MLKEM768, 0x11ec       KEM          the shared secret
 *                       SSH        mlkem768x25519-sha256        KEM          SHA-256 of it is the string K
 *   mlkem768nistp256    SSH        mlkem768nistp256-sha256      KEM          SHA-256 of it is the string K
 *   secp256r1mlkem768   TLS        SecP256r1MLKEM768, 0x11eb    curve        the shared secret
 *   secp384r1mlkem1024  TLS        SecP384r1MLKEM1024, 0x11ed   curve        the shared secret
 *
 * Every hybrid has the same functions, RINGFORGE_NS(hybrid_NAME_WHAT). All return 0, or an error with every output set to
 * zero.
 *
 *   offer(offer, secret)         begins: makes the first message, and what is kept for the answer
 *   answer(answer, key, offer)   makes the second message and the key. RINGFORGE_ERR_KEY if a part of the offer is malformed
 *   agree(key, answer, secret)   the same key, from the answer. RINGFORGE_ERR_KEY if the answer's point is malformed
 *
 * What the library's part leaves on the stack is set to zero. What a curve's functions leave is not.
 */
#ifndef RINGFORGE_HYBRID_H
#define RINGFORGE_HYBRID_H

#include "ringforge_kem.h"

#ifdef __cplusplus
extern "C" {
#endif

#define RINGFORGE_ERR_CURVE (-7) /* a function of the curve failed */

/*
 * Hooks, which you link where RINGFORGE_ECDH is 2. `curve` is 25519, 256 or 384: X25519, or P-256 and P-384 of NIST.
 * A scalar has 32 bytes, of P-384 48, the greatest first but for X25519. A point is uncompressed, 65 or 97 bytes, and 32
 * for X25519. A shared secret is an x-coordinate of 32 or 48 bytes. They return 0, or
 *   RINGFORGE_ERR_COINS   the scalar is 0 or not below the group's order: another one is drawn
 *   RINGFORGE_ERR_KEY     the point is not uncompressed, or not on the curve; of X25519, the shared secret is zero
 *   anything else         they failed
 */
#if RINGFORGE_ECDH == 2
int RINGFORGE_NS(ecdh_point)(int curve, uint8_t *point, const uint8_t *scalar);
int RINGFORGE_NS(ecdh_agree)(int curve, uint8_t *shared, const uint8_t *scalar, const uint8_t *point);
#endif

/* The functions of one hybrid; `size` is the start of its macros. */
#define RINGFORGE_DECLARE_HYBRID(name, size)                                                       \
    RINGFORGE_CALL RINGFORGE_NS(hybrid_##name##_offer)(uint8_t offer[size##_OFFERBYTES],           \
                                                       uint8_t secret[size##_SECRETBYTES]);        \
    RINGFORGE_CALL RINGFORGE_NS(hybrid_##name##_answer)(uint8_t answer[size##_ANSWERBYTES],        \
                                                        uint8_t key[size##_KEYBYTES],              \
                                                        const uint8_t offer[size##_OFFERBYTES]);   \
    RINGFORGE_CALL RINGFORGE_NS(hybrid_##name##_agree)(uint8_t key[size##_KEYBYTES],               \
                                                       const uint8_t answer[size##_ANSWERBYTES],   \
                                                       const uint8_t secret[size##_SECRETBYTES]);

#if RINGFORGE_ECDH && RINGFORGE_ENABLE_SNTRUP761
#define RINGFORGE_SNTRUP761X25519_OFFERBYTES 1190
#define RINGFORGE_SNTRUP761X25519_ANSWERBYTES 1071
#define RINGFORGE_SNTRUP761X25519_SECRETBYTES 1795
#define RINGFORGE_SNTRUP761X25519_KEYBYTES 64
RINGFORGE_DECLARE_HYBRID(sntrup761x25519, RINGFORGE_SNTRUP761X25519)
#endif

#if RINGFORGE_ECDH && RINGFORGE_ENABLE_MLKEM768
#define RINGFORGE_X25519MLKEM768_OFFERBYTES 1216
#define RINGFORGE_X25519MLKEM768_ANSWERBYTES 1120
#define RINGFORGE_X25519MLKEM768_SECRETBYTES 2432
#define RINGFORGE_X25519MLKEM768_KEYBYTES 64
RINGFORGE_DECLARE_HYBRID(x25519mlkem768, RINGFORGE_X25519MLKEM768)

#define RINGFORGE_MLKEM768NISTP256_OFFERBYTES 1249
#define RINGFORGE_MLKEM768NISTP256_ANSWERBYTES 1153
#define RINGFORGE_MLKEM768NISTP256_SECRETBYTES 2432
#define RINGFORGE_MLKEM768NISTP256_KEYBYTES 64
RINGFORGE_DECLARE_HYBRID(mlkem768nistp256, RINGFORGE_MLKEM768NISTP256)

#define RINGFORGE_SECP256R1MLKEM768_OFFERBYTES 1249
#define RINGFORGE_SECP256R1MLKEM768_ANSWERBYTES 1153
#define RINGFORGE_SECP256R1MLKEM768_SECRETBYTES 2432
#define RINGFORGE_SECP256R1MLKEM768_KEYBYTES 64
RINGFORGE_DECLARE_HYBRID(secp256r1mlkem768, RINGFORGE_SECP256R1MLKEM768)
#endif

#if RINGFORGE_ECDH && RINGFORGE_ENABLE_MLKEM1024
#define RINGFORGE_SECP384R1MLKEM1024_OFFERBYTES 1665
#define RINGFORGE_SECP384R1MLKEM1024_ANSWERBYTES 1665
#define RINGFORGE_SECP384R1MLKEM1024_SECRETBYTES 3216
#define RINGFORGE_SECP384R1MLKEM1024_KEYBYTES 80
RINGFORGE_DECLARE_HYBRID(secp384r1mlkem1024, RINGFORGE_SECP384R1MLKEM1024)
#endif

#ifdef __cplusplus
}
#endif

#endif /* RINGFORGE_HYBRID_H */
