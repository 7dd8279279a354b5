/* SPDX-License-Identifier: Apache-2.0 OR MIT OR ISC OR CC0-1.0 */
/* Curves by OpenSSL's libcrypto, 1.1.1 or later (RINGFORGE_ECDH 1). */
#include "hybrid.h"

#if RINGFORGE_ECDH == 1
#include <openssl/bn.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/obj_mac.h>

static int rf_x25519_point(uint8_t *point, const uint8_t *scalar)
{
    EVP_PKEY *key = EVP_PKEY_new_raw_private_key(EVP_PKEY_X25519, NULL, scalar, 32);
    size_t len = 32;
    int ok = key != NULL && EVP_PKEY_get_raw_public_key(key, point, &len) == 1;
    EVP_PKEY_free(key);
    return ok ? 0 : RINGFORGE_ERR_CURVE;
}

/* The only point of 32 bytes that is refused is one whose shared secret is zero. */
static int rf_x25519_agree(uint8_t *shared, const uint8_t *scalar, const uint8_t *point)
{
    EVP_PKEY *key = EVP_PKEY_new_raw_private_key(EVP_PKEY_X25519, NULL, scalar, 32);
    EVP_PKEY *peer = EVP_PKEY_new_raw_public_key(EVP_PKEY_X25519, NULL, point, 32);
    EVP_PKEY_CTX *ctx = key != NULL ? EVP_PKEY_CTX_new(key, NULL) : NULL;
    size_t len = 32;
    int error = RINGFORGE_ERR_CURVE;
    if (ctx != NULL && peer != NULL && EVP_PKEY_derive_init(ctx) == 1 && EVP_PKEY_derive_set_peer(ctx, peer) == 1)
        error = EVP_PKEY_derive(ctx, shared, &len) == 1 ? 0 : RINGFORGE_ERR_KEY;
    EVP_PKEY_CTX_free(ctx);
    EVP_PKEY_free(peer);
    EVP_PKEY_free(key);
    return error;
}

/* The scalar times a point, or where that is NULL the generator: x, or with `whole` the uncompressed point. */
static int rf_nist(int curve, uint8_t *out, int whole, const uint8_t *scalar, const uint8_t *point)
{
    const int bytes = curve / 8;
    const size_t len = 1 + 2 * (size_t)bytes;
    EC_GROUP *group = EC_GROUP_new_by_curve_name(curve == 256 ? NID_X9_62_prime256v1 : NID_secp384r1);
    BN_CTX *ctx = BN_CTX_new();
    BIGNUM *k = BN_bin2bn(scalar, bytes, NULL), *x = BN_new();
    EC_POINT *from = group != NULL ? EC_POINT_new(group) : NULL, *to = group != NULL ? EC_POINT_new(group) : NULL;
    int error = RINGFORGE_ERR_CURVE, ok;
    if (ctx == NULL || k == NULL || x == NULL || from == NULL || to == NULL)
        goto end;
    if (BN_is_zero(k) || BN_cmp(k, EC_GROUP_get0_order(group)) >= 0) {
        error = RINGFORGE_ERR_COINS;
        goto end;
    }
    BN_set_flags(k, BN_FLG_CONSTTIME);
    if (point != NULL && (point[0] != 4 || EC_POINT_oct2point(group, from, point, len, ctx) != 1)) {
        error = RINGFORGE_ERR_KEY; /* OpenSSL compares it with the curve's equation */
        goto end;
    }
    if (point == NULL)
        ok = EC_POINT_mul(group, to, k, NULL, NULL, ctx);
    else
        ok = EC_POINT_mul(group, to, NULL, from, k, ctx);
    if (ok == 1 && whole)
        ok = EC_POINT_point2oct(group, to, POINT_CONVERSION_UNCOMPRESSED, out, len, ctx) == len;
    else if (ok == 1)
        ok = EC_POINT_get_affine_coordinates(group, to, x, NULL, ctx) == 1 && BN_bn2binpad(x, out, bytes) == bytes;
    error = ok == 1 ? 0 : RINGFORGE_ERR_CURVE;
end:
    EC_POINT_clear_free(to);
    EC_POINT_free(from);
    BN_clear_free(x);
    BN_clear_free(k);
    BN_CTX_free(ctx);
    EC_GROUP_free(group);
    return error;
}

int RF_ECDH(point)(int curve, uint8_t *point, const uint8_t *scalar)
{
    return curve == 25519 ? rf_x25519_point(point, scalar) : rf_nist(curve, point, 1, scalar, NULL);
}

int RF_ECDH(agree)(int curve, uint8_t *shared, const uint8_t *scalar, const uint8_t *point)
{
    return curve == 25519 ? rf_x25519_agree(shared, scalar, point) : rf_nist(curve, shared, 0, scalar, point);
}
#else
typedef int rf_no_openssl_ecdh; /* C has no empty sources */
#endif
