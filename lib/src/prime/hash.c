/* SPDX-License-Identifier: Apache-2.0 OR MIT OR ISC OR CC0-1.0 */
/*
 * The hashes of NTRU Prime [NTRUPrime20 §3.3]: SHA-512 of a byte that tells them apart and of strings, cut to 32 bytes.
 * Where hashing is built in, two that do not wait for each other go side by side.
 */
#include "../common/sha512.h"
#include "prime.h"

#if RF_NEED_PRIME

#if RINGFORGE_HASH == 0 && RINGFORGE_SMALL
int RF_NS(prime_hash)(uint8_t out[32], uint8_t b, const uint8_t *x, size_t x_len, const uint8_t *y, size_t y_len)
{
    uint64_t state[8];
    uint8_t block[2 * RF_SHA512_BLOCK]; /* the message comes by, a block at a time; the last may be two */
    size_t have = 1, i;
    block[0] = b;
    RF_NS(sha512_begin)(state);
    for (i = 0; i < x_len + y_len; i++) {
        if (have == RF_SHA512_BLOCK) {
            RF_NS(sha512_blocks)(state, block, 1);
            have = 0;
        }
        block[have++] = i < x_len ? x[i] : y[i - x_len];
    }
    RF_NS(sha512_blocks)(state, block, RF_NS(sha512_pad)(block, have, 1 + x_len + y_len));
    RF_NS(sha512_end)(block, state);
    memcpy(out, block, 32);
    return 0;
}
#else
int RF_NS(prime_hash)(uint8_t out[32], uint8_t b, const uint8_t *x, size_t x_len, const uint8_t *y, size_t y_len)
{
    uint8_t in[1 + RF_HASH_MAX], digest[64];
    in[0] = b;
    memcpy(in + 1, x, x_len);
    if (y_len > 0)
        memcpy(in + 1 + x_len, y, y_len);
    if (RF_HASH(sha512)(digest, in, 1 + x_len + y_len) != 0)
        return RINGFORGE_ERR_HASH; /* the digest may not have been written */
    memcpy(out, digest, 32);
    return 0;
}
#endif

int RF_NS(prime_hash_session)(uint8_t ss[32], uint8_t *ct, size_t ct_len, const uint8_t *r, size_t r_len,
                              const uint8_t pk_hash[32])
{
    uint8_t r_hash[32];
    int error = RF_NS(prime_hash)(r_hash, 3, r, r_len, NULL, 0);
    if (!error)
        error = RF_NS(prime_hash)(ct + ct_len - 32, 2, r_hash, 32, pk_hash, 32);
    if (!error)
        error = RF_NS(prime_hash)(ss, 1, r_hash, 32, ct, ct_len);
    return error;
}

#if RINGFORGE_HASH == 0 && !RINGFORGE_SMALL
/* A message with what fills its last block. */
struct rf_padded {
    uint8_t bytes[RF_SHA512_BLOCK * RF_SHA512_BLOCKS(1 + RF_HASH_MAX)];
    size_t blocks;
};

static void rf_pad(struct rf_padded *message, uint8_t b, const uint8_t *x, size_t x_len, const uint8_t *y, size_t y_len)
{
    message->bytes[0] = b;
    memcpy(message->bytes + 1, x, x_len);
    if (y_len > 0)
        memcpy(message->bytes + 1 + x_len, y, y_len);
    message->blocks = RF_NS(sha512_pad)(message->bytes, 1 + x_len + y_len, 1 + x_len + y_len);
}

/* A hash from the state behind its last block. */
static void rf_cut(uint8_t out[32], uint64_t state[8])
{
    uint8_t digest[64];
    RF_NS(sha512_end)(digest, state);
    memcpy(out, digest, 32);
}

int RF_NS(prime_hash_two)(uint8_t first[32], uint8_t second[32], uint8_t b, const uint8_t *x, const uint8_t *y, size_t len)
{
    struct rf_padded one, two;
    uint64_t state_one[8], state_two[8];
    rf_pad(&one, b, x, len, NULL, 0);
    rf_pad(&two, b, y, len, NULL, 0);
    RF_NS(sha512_begin)(state_one);
    RF_NS(sha512_begin)(state_two);
    RF_NS(sha512_blocks_two)(state_one, one.bytes, state_two, two.bytes, one.blocks);
    rf_cut(first, state_one);
    rf_cut(second, state_two);
    return 0;
}

#if RF_NEED_MORE
int RF_NS(prime_hash_keys)(uint8_t *out, size_t out_step, const uint8_t *pk, size_t pk_len, size_t count)
{
    struct rf_padded keys[4];
    uint64_t states[4][8];
    const uint8_t *in[4];
    size_t k;
    int i;
    for (k = 0; k < count; k += 4) {
        int some = count - k < 4 ? (int)(count - k) : 4;
        for (i = 0; i < 4; i++) { /* what lacks to four is the first once more */
            rf_pad(keys + i, 4, pk + (k + (size_t)(i < some ? i : 0)) * pk_len, pk_len, NULL, 0);
            RF_NS(sha512_begin)(states[i]);
            in[i] = keys[i].bytes;
        }
        RF_NS(sha512_blocks_four)(states, in, keys[0].blocks);
        for (i = 0; i < some; i++)
            rf_cut(out + (k + (size_t)i) * out_step, states[i]);
    }
    return 0;
}
#endif

/*
 * Beside the public key's blocks go those of r, and then those of the session that hold no byte of what confirms, since
 * that waits for both.
 */
int RF_NS(prime_hash_all)(uint8_t ss[32], uint8_t *ct, size_t ct_len, const uint8_t *r, size_t r_len, const uint8_t *pk,
                          size_t pk_len)
{
    const size_t confirm = ct_len - 32;
    struct rf_padded key, session; /* session.bytes hold r before */
    uint8_t *const in = session.bytes;
    uint8_t pk_hash[32], r_hash[32];
    uint64_t of_key[8], of_r[8], of_session[8];
    size_t at, beside, before = (33 + confirm) / RF_SHA512_BLOCK;
    RF_NS(sha512_begin)(of_key);
    RF_NS(sha512_begin)(of_r);
    RF_NS(sha512_begin)(of_session);
    rf_pad(&key, 4, pk, pk_len, NULL, 0);
    rf_pad(&session, 3, r, r_len, NULL, 0);
    at = session.blocks; /* fewer than the key's, for every size */
    RF_NS(sha512_blocks_two)(of_key, key.bytes, of_r, in, at);
    rf_cut(r_hash, of_r);
    rf_pad(&session, 1, r_hash, 32, ct, ct_len);
    beside = key.blocks - at < before ? key.blocks - at : before;
    RF_NS(sha512_blocks_two)(of_key, key.bytes + RF_SHA512_BLOCK * at, of_session, in, beside);
    if (at + beside < key.blocks)
        RF_NS(sha512_blocks)(of_key, key.bytes + RF_SHA512_BLOCK * (at + beside), key.blocks - at - beside);
    rf_cut(pk_hash, of_key);
    rf_pad(&key, 2, r_hash, 32, pk_hash, 32);
    RF_NS(sha512_begin)(of_key);
    RF_NS(sha512_blocks)(of_key, key.bytes, key.blocks);
    rf_cut(ct + confirm, of_key);
    memcpy(in + 33 + confirm, ct + confirm, 32);
    RF_NS(sha512_blocks)(of_session, in + RF_SHA512_BLOCK * beside, session.blocks - beside);
    rf_cut(ss, of_session);
    return 0;
}
#else
#if RF_NEED_MORE
int RF_NS(prime_hash_keys)(uint8_t *out, size_t out_step, const uint8_t *pk, size_t pk_len, size_t count)
{
    int error = 0;
    size_t k;
    for (k = 0; k < count && !error; k++)
        error = RF_NS(prime_hash)(out + k * out_step, 4, pk + k * pk_len, pk_len, NULL, 0);
    return error;
}
#endif

#if !RINGFORGE_SMALL
int RF_NS(prime_hash_two)(uint8_t first[32], uint8_t second[32], uint8_t b, const uint8_t *x, const uint8_t *y, size_t len)
{
    int error = RF_NS(prime_hash)(first, b, x, len, NULL, 0);
    return error ? error : RF_NS(prime_hash)(second, b, y, len, NULL, 0);
}
#endif

int RF_NS(prime_hash_all)(uint8_t ss[32], uint8_t *ct, size_t ct_len, const uint8_t *r, size_t r_len, const uint8_t *pk,
                          size_t pk_len)
{
    uint8_t pk_hash[32];
    int error = RF_NS(prime_hash)(pk_hash, 4, pk, pk_len, NULL, 0);
    return error ? error : RF_NS(prime_hash_session)(ss, ct, ct_len, r, r_len, pk_hash);
}
#endif

#else
typedef int rf_no_prime_hash; /* C has no empty sources */
#endif
