/* SPDX-License-Identifier: Apache-2.0 OR MIT OR ISC OR CC0-1.0 */
/* ML-KEM-768 for OpenSSH 9.9 to 10.3. It replaces OpenSSH's file of this name; nothing else changes. */

/* OpenSSH's configure adds -ftrapv. Its checks are branches on secret sums, although none overflows. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC push_options
#pragma GCC optimize("no-trapv")
#endif

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* @hooks */
/* OpenSSH draws all random bytes itself. */
RF_PLACED int RINGFORGE_NS(randombytes)(uint8_t *out, size_t len)
{
    (void)out, (void)len;
    return -1;
}
/* @functions */

/* Types and functions as OpenSSH's kexmlkem768x25519.c uses them. What it keeps in them it sets to zero itself. */
#define LIBCRUX_ML_KEM_KEY_PAIR_PRNG_LEN 64
#define LIBCRUX_ML_KEM_ENC_PRNG_LEN 32

struct libcrux_mlkem768_pk {
    uint8_t value[1184];
};
struct libcrux_mlkem768_sk {
    uint8_t value[2400];
};
struct libcrux_mlkem768_keypair {
    struct libcrux_mlkem768_sk sk;
    struct libcrux_mlkem768_pk pk;
};
struct libcrux_mlkem768_ciphertext {
    uint8_t value[1088];
};
struct libcrux_mlkem768_enc_result {
    struct libcrux_mlkem768_ciphertext fst;
    uint8_t snd[32];
};

static inline struct libcrux_mlkem768_keypair libcrux_ml_kem_mlkem768_portable_generate_key_pair(const uint8_t *seed)
{
    struct libcrux_mlkem768_keypair pair;
    (void)RINGFORGE_NS(crypto_kem_mlkem768_keypair_derand)(pair.pk.value, pair.sk.value, seed); /* which cannot fail */
    return pair;
}

/* Whether all coefficients are below 3329. The key is public. */
static inline bool libcrux_ml_kem_mlkem768_portable_validate_public_key(const struct libcrux_mlkem768_pk *pk)
{
    const uint8_t *v = pk->value;
    size_t i;
    for (i = 0; i < 1152; i += 3)
        if ((v[i] | (v[i + 1] & 15) << 8) >= 3329 || (v[i + 1] >> 4 | v[i + 2] << 4) >= 3329)
            return false;
    return true;
}

/* Of a key that is not valid, everything is zero. */
static inline struct libcrux_mlkem768_enc_result
libcrux_ml_kem_mlkem768_portable_encapsulate(const struct libcrux_mlkem768_pk *pk, const uint8_t *seed)
{
    struct libcrux_mlkem768_enc_result result;
    (void)RINGFORGE_NS(crypto_kem_mlkem768_enc_derand)(result.fst.value, result.snd, pk->value, seed);
    return result;
}

/* Of a secret key that is damaged, zero. */
static inline void libcrux_ml_kem_mlkem768_portable_decapsulate(const struct libcrux_mlkem768_sk *sk,
                                                                const struct libcrux_mlkem768_ciphertext *ct, uint8_t *out)
{
    (void)RINGFORGE_NS(crypto_kem_mlkem768_dec)(out, ct->value, sk->value);
}

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC pop_options
#endif
