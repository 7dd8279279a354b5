/* SPDX-License-Identifier: Apache-2.0 OR MIT OR ISC OR CC0-1.0 */
/* Polynomials of ML-KEM; see poly.h. */
#include "poly.h"

#if RF_NEED_MLKEM

#include "../common/bits.h"
#include "../common/keccak.h"
#if RF_HAVE_AVX2_CODE
#include "pack_avx2.h"
#include "poly_avx2.h"
#endif

#if RINGFORGE_SMALL
#include "poly_small.inc"
#else
/* The multipliers, from the forge (lib/generated). */
void RF_NS(mlkem_forward_c)(int16_t c[256], const int16_t a[256]);
void RF_NS(mlkem_inverse_c)(int16_t c[256], const int16_t a[256]);
#if RINGFORGE_ENABLE_MLKEM512
void RF_NS(mlkem_inner2_c)(int16_t c[256], const int16_t a[512], const int16_t b[512]);
#endif
#if RINGFORGE_ENABLE_MLKEM768
void RF_NS(mlkem_inner3_c)(int16_t c[256], const int16_t a[768], const int16_t b[768]);
#endif
#if RINGFORGE_ENABLE_MLKEM1024
void RF_NS(mlkem_inner4_c)(int16_t c[256], const int16_t a[1024], const int16_t b[1024]);
#endif
void RF_NS(mlkem_to_standard_c)(int16_t c[256], const int16_t a[256]);
void RF_NS(mlkem_from_standard_c)(int16_t c[256], const int16_t a[256]);
#if RF_HAVE_VECTOR_CODE
void RF_NS(RF_V(mlkem_forward))(int16_t c[256], const int16_t a[256]);
void RF_NS(RF_V(mlkem_inverse))(int16_t c[256], const int16_t a[256]);
#if RINGFORGE_ENABLE_MLKEM512
void RF_NS(RF_V(mlkem_inner2))(int16_t c[256], const int16_t a[512], const int16_t b[512]);
#endif
#if RINGFORGE_ENABLE_MLKEM768
void RF_NS(RF_V(mlkem_inner3))(int16_t c[256], const int16_t a[768], const int16_t b[768]);
#endif
#if RINGFORGE_ENABLE_MLKEM1024
void RF_NS(RF_V(mlkem_inner4))(int16_t c[256], const int16_t a[1024], const int16_t b[1024]);
#endif
void RF_NS(RF_V(mlkem_to_standard))(int16_t c[256], const int16_t a[256]);
void RF_NS(RF_V(mlkem_from_standard))(int16_t c[256], const int16_t a[256]);
#define RF_MLKEM_CALL(what, arguments)                                                             \
    do {                                                                                           \
        if (rf_vectors())                                                                          \
            RF_NS(RF_V(mlkem_##what)) arguments;                                                   \
        else                                                                                       \
            RF_NS(mlkem_##what##_c) arguments;                                                     \
    } while (0)
#else
#define RF_MLKEM_CALL(what, arguments) RF_NS(mlkem_##what##_c) arguments
#endif

void RF_NS(mlkem_forward)(int16_t c[256], const int16_t a[256])
{
    RF_MLKEM_CALL(forward, (c, a));
}

void RF_NS(mlkem_inverse)(int16_t c[256], const int16_t a[256])
{
    RF_MLKEM_CALL(inverse, (c, a));
}

void RF_NS(mlkem_inner)(int16_t c[256], const int16_t a[][256], const int16_t b[][256], int k)
{
#if RINGFORGE_ENABLE_MLKEM512
    if (k == 2)
        RF_MLKEM_CALL(inner2, (c, (const int16_t *)a, (const int16_t *)b));
#endif
#if RINGFORGE_ENABLE_MLKEM768
    if (k == 3)
        RF_MLKEM_CALL(inner3, (c, (const int16_t *)a, (const int16_t *)b));
#endif
#if RINGFORGE_ENABLE_MLKEM1024
    if (k == 4)
        RF_MLKEM_CALL(inner4, (c, (const int16_t *)a, (const int16_t *)b));
#endif
}

void RF_NS(mlkem_to_standard)(int16_t a[256])
{
    RF_MLKEM_CALL(to_standard, (a, a));
}

void RF_NS(mlkem_from_standard)(int16_t a[256])
{
    RF_MLKEM_CALL(from_standard, (a, a));
}
#endif

/*
 * x mod 3329 in [0, 3328] for any x. 20159 is 2^26 / 3329 rounded, so the quotient is the nearest
 * integer or one beside it for |x| <= 2^15, and x minus it lies in [-1664, 1664] for all of them.
 */
static inline int16_t rf_mlkem_residue(int16_t x)
{
    int32_t quotient = (20159 * (int32_t)x + (1 << 25)) >> 26;
    int32_t rest = x - quotient * RF_MLKEM_Q;
    return (int16_t)(rest + (RF_MLKEM_Q & (rest >> 15)));
}

/* 2^16 x + y mod 3329 in [0, 3328], by Montgomery's reduction of 2^32 x: 1353 = 2^32, 62209 = 1 / 3329. */
static inline int16_t rf_mlkem_scaled(int16_t x, int16_t y)
{
    int32_t product = 1353 * (int32_t)x;
    int16_t low = (int16_t)(uint16_t)((uint32_t)product * 62209u);
    int32_t scaled = (product - (int32_t)low * RF_MLKEM_Q) >> 16;
    return rf_mlkem_residue((int16_t)(scaled + y));
}

/*
 * Compress_d: x 2^d / 3329 rounded, d <= 11. 20159 is more than 2^26 / 3329, by so little that the quotient
 * is right or one too large, and then the rest is negative.
 */
static inline int16_t rf_mlkem_compressed(int16_t x, int d)
{
    int32_t y = rf_mlkem_residue(x), dividend = (y << d) + RF_MLKEM_Q / 2;
    int32_t quotient = (y * 20159 + (1 << (25 - d))) >> (26 - d);
    quotient += (dividend - quotient * RF_MLKEM_Q) >> 31;
    return (int16_t)(quotient & ((1 << d) - 1));
}

static inline int16_t rf_mlkem_decompressed(int16_t x, int d)
{
    return (int16_t)(((uint32_t)x * RF_MLKEM_Q + ((uint32_t)1 << (d - 1))) >> d);
}

/* Loops over all coefficients i, compiled for both machines. */
#if RF_HAVE_AVX2_CODE
#define RF_MLKEM_LOOP(name, declared, arguments, body)                                             \
    static void rf_mlkem_##name##_c declared                                                       \
    {                                                                                              \
        int i;                                                                                     \
        for (i = 0; i < 256; i++)                                                                  \
            body;                                                                                  \
    }                                                                                              \
    RF_AVX2 static void rf_mlkem_##name##_avx2 declared                                            \
    {                                                                                              \
        int i;                                                                                     \
        for (i = 0; i < 256; i++)                                                                  \
            body;                                                                                  \
    }                                                                                              \
    void RF_NS(mlkem_##name) declared                                                              \
    {                                                                                              \
        if (rf_avx2())                                                                             \
            rf_mlkem_##name##_avx2 arguments;                                                      \
        else                                                                                       \
            rf_mlkem_##name##_c arguments;                                                         \
    }
#else
#define RF_MLKEM_LOOP(name, declared, arguments, body)                                             \
    void RF_NS(mlkem_##name) declared                                                              \
    {                                                                                              \
        int i;                                                                                     \
        for (i = 0; i < 256; i++)                                                                  \
            body;                                                                                  \
    }
#endif

RF_MLKEM_LOOP(center, (int16_t a[256]), (a),
              a[i] = (int16_t)(a[i] - (RF_MLKEM_Q & ((RF_MLKEM_Q / 2 - a[i]) >> 15))))
RF_MLKEM_LOOP(add, (int16_t a[256], const int16_t b[256]), (a, b), a[i] = (int16_t)(a[i] + b[i]))
RF_MLKEM_LOOP(sub, (int16_t a[256], const int16_t b[256]), (a, b), a[i] = (int16_t)(a[i] - b[i]))

void RF_NS(mlkem_freeze)(int16_t a[256])
{
    int i;
#if RF_HAVE_AVX2_CODE
    if (rf_avx2()) {
        rf_mlkem_freeze_avx2(a);
        return;
    }
#endif
    for (i = 0; i < 256; i++)
        a[i] = rf_mlkem_residue(a[i]);
}

void RF_NS(mlkem_scale_add)(int16_t a[256], const int16_t b[256])
{
    int i;
#if RF_HAVE_AVX2_CODE
    if (rf_avx2()) {
        rf_mlkem_scale_add_avx2(a, b);
        return;
    }
#endif
    for (i = 0; i < 256; i++)
        a[i] = rf_mlkem_scaled(a[i], b[i]);
}

void RF_NS(mlkem_encode)(uint8_t out[384], const int16_t a[256])
{
    int i;
#if RF_HAVE_AVX2_CODE
    if (rf_avx2()) {
        rf_mlkem_encode_avx2(out, a);
        return;
    }
#endif
    for (i = 0; i < 128; i++) {
        uint32_t pair = (uint32_t)a[2 * i] | (uint32_t)a[2 * i + 1] << 12;
        out[3 * i] = (uint8_t)pair;
        out[3 * i + 1] = (uint8_t)(pair >> 8);
        out[3 * i + 2] = (uint8_t)(pair >> 16);
    }
}

uint32_t RF_NS(mlkem_decode)(int16_t a[256], const uint8_t in[384])
{
    uint32_t large = 0;
    int i;
#if RF_HAVE_AVX2_CODE
    if (rf_avx2())
        return rf_mlkem_decode_avx2(a, in);
#endif
    for (i = 0; i < 128; i++) {
        uint32_t pair = (uint32_t)in[3 * i] | (uint32_t)in[3 * i + 1] << 8 | (uint32_t)in[3 * i + 2] << 16;
        uint32_t low = pair & 4095, high = pair >> 12;
        large |= (RF_MLKEM_Q - 1 - low) | (RF_MLKEM_Q - 1 - high);
        a[2 * i] = (int16_t)low;
        a[2 * i + 1] = (int16_t)high;
    }
    return large >> 31;
}

void RF_NS(mlkem_compress)(uint8_t *out, const int16_t a[256], int d)
{
    rf_bit_writer w = {0, 0, out};
    int i;
#if RF_HAVE_AVX2_CODE
    if (rf_avx2()) {
        rf_mlkem_compress_avx2(out, a, d);
        return;
    }
#endif
    for (i = 0; i < 256; i++)
        rf_put(&w, (uint32_t)rf_mlkem_compressed(a[i], d), d);
}

void RF_NS(mlkem_decompress)(int16_t a[256], const uint8_t *in, int d)
{
    rf_bit_reader r = {0, 0, in, in + 32 * d};
    int i;
#if RF_HAVE_AVX2_CODE
    if (rf_avx2()) {
        rf_mlkem_decompress_avx2(a, in, d);
        return;
    }
#endif
    for (i = 0; i < 256; i++)
        a[i] = rf_mlkem_decompressed((int16_t)rf_get(&r, d), d);
}

/* The first 256 words below 3329 among those of 12 bits in len bytes; their number. */
static int rf_mlkem_accept(int16_t a[256], const uint8_t *in, size_t len)
{
    size_t i;
    int have = 0;
#if RF_HAVE_AVX2_CODE
    if (rf_bmi2())
        return rf_mlkem_accept_bmi2(a, in, len);
#endif
    for (i = 0; i + 3 <= len && have < 256; i += 3) {
        int low = in[i] | (in[i + 1] & 15) << 8, high = in[i + 1] >> 4 | in[i + 2] << 4;
        a[have] = (int16_t)low;
        have += low < RF_MLKEM_Q;
        if (have < 256) {
            a[have] = (int16_t)high;
            have += high < RF_MLKEM_Q;
        }
    }
    return have;
}

/* Three blocks of SHAKE128 give 256 coefficients in 99 of 100 cases, five in all but 2^-261. */
#define RF_MLKEM_BLOCKS 504
#define RF_MLKEM_MORE_BLOCKS 840

#if !RINGFORGE_SMALL
/* The polynomial of the message's SHAKE128, of which 504 bytes are there already. */
static int rf_mlkem_uniform(int16_t a[256], const uint8_t in[34], const uint8_t *bytes)
{
    uint8_t more[RF_MLKEM_MORE_BLOCKS];
    if (rf_mlkem_accept(a, bytes, RF_MLKEM_BLOCKS) < 256) {
        if (RF_HASH(shake128)(more, RF_MLKEM_MORE_BLOCKS, in, 34) != 0 ||
            rf_mlkem_accept(a, more, RF_MLKEM_MORE_BLOCKS) < 256)
            return RINGFORGE_ERR_HASH;
    }
    RF_NS(mlkem_from_standard)(a);
    return 0;
}
#endif

/* Centred binomial noise: the sum of eta bits minus the sum of the next eta. */
static void rf_mlkem_binomial2(int16_t a[256], const uint8_t *in)
{
    int i, j;
#if RF_HAVE_AVX2_CODE
    if (rf_avx2()) {
        rf_mlkem_binomial2_avx2(a, in);
        return;
    }
#endif
    for (i = 0; i < 32; i++) {
        uint32_t word = rf_load32(in + 4 * i);
        uint32_t sums = (word & 0x55555555u) + (word >> 1 & 0x55555555u);
        for (j = 0; j < 8; j++)
            a[8 * i + j] = (int16_t)((int)(sums >> (4 * j) & 3) - (int)(sums >> (4 * j + 2) & 3));
    }
}

static void rf_mlkem_binomial3(int16_t a[256], const uint8_t *in)
{
    int i, j;
#if RF_HAVE_AVX2_CODE
    if (rf_avx2()) {
        rf_mlkem_binomial3_avx2(a, in);
        return;
    }
#endif
    for (i = 0; i < 64; i++) {
        uint32_t word = (uint32_t)in[3 * i] | (uint32_t)in[3 * i + 1] << 8 | (uint32_t)in[3 * i + 2] << 16;
        uint32_t sums = (word & 0x249249u) + (word >> 1 & 0x249249u) + (word >> 2 & 0x249249u);
        for (j = 0; j < 4; j++)
            a[4 * i + j] = (int16_t)((int)(sums >> (6 * j) & 7) - (int)(sums >> (6 * j + 3) & 7));
    }
}

#if RINGFORGE_SMALL
int RF_NS(mlkem_entry)(int16_t a[256], const uint8_t seed[32], int first, int second)
{
    uint8_t in[34], bytes[RF_MLKEM_MORE_BLOCKS];
    memcpy(in, seed, 32);
    in[32] = (uint8_t)first;
    in[33] = (uint8_t)second;
    if (RF_HASH(shake128)(bytes, RF_MLKEM_BLOCKS, in, 34) != 0)
        return RINGFORGE_ERR_HASH;
    if (rf_mlkem_accept(a, bytes, RF_MLKEM_BLOCKS) < 256 &&
        (RF_HASH(shake128)(bytes, RF_MLKEM_MORE_BLOCKS, in, 34) != 0 ||
         rf_mlkem_accept(a, bytes, RF_MLKEM_MORE_BLOCKS) < 256))
        return RINGFORGE_ERR_HASH;
    return 0;
}

int RF_NS(mlkem_noise)(int16_t a[256], const uint8_t seed[32], int number, int wide)
{
    uint8_t in[33], bytes[192];
    memcpy(in, seed, 32);
    in[32] = (uint8_t)number;
    if (RF_HASH(shake256)(bytes, wide ? 192 : 128, in, 33) != 0)
        return RINGFORGE_ERR_HASH;
    if (wide)
        rf_mlkem_binomial3(a, bytes);
    else
        rf_mlkem_binomial2(a, bytes);
    return 0;
}
#else
/* The messages of all entries and noise. */
static void rf_mlkem_messages_of(struct rf_mlkem_messages *messages, int entries, int k, int transposed,
                                 const uint8_t *seed, const rf_noise *noise)
{
    int i;
    for (i = 0; i < entries; i++) {
        memcpy(messages->entry[i], seed, 32);
        messages->entry[i][33 - transposed] = (uint8_t)(i / k); /* first the column, then the row of A */
        messages->entry[i][32 + transposed] = (uint8_t)(i % k);
    }
    for (i = 0; noise != NULL && i < noise->count && i < 9; i++) {
        memcpy(messages->noise[i], noise->seed, 32);
        messages->noise[i][32] = (uint8_t)i;
    }
}

static void rf_mlkem_binomial(const rf_noise *noise, int i, const uint8_t *bytes)
{
    if (i < noise->wide)
        rf_mlkem_binomial3(noise->a[i], bytes);
    else
        rf_mlkem_binomial2(noise->a[i], bytes);
}

/* Bytes of SHAKE256 for a polynomial of noise: 64 eta. */
#define RF_MLKEM_NOISE_BYTES(noise, i) ((size_t)((i) < (noise)->wide ? 192 : 128))

#if RF_HAVE_FOUR
static int rf_mlkem_hash_four(rf_digest *digests, int digest_count, int16_t (*matrix)[256], int entries,
                              const rf_noise *noise, const struct rf_mlkem_messages *messages)
{
    rf_sponge sponges[2 + 16 + 9];
    rf_four four;
    const uint8_t *bytes;
    int count = 0, done, error = 0, i;
    for (i = 0; i < digest_count; i++) {
        const rf_sponge sponge = {digests[i].in, digests[i].len, 32, RF_SHA3_256_RATE,
                                  digests[i].is_shake ? 0x1f : 0x06, NULL};
        sponges[count++] = sponge;
    }
    for (i = 0; i < entries; i++) {
        const rf_sponge sponge = {messages->entry[i], 34, RF_MLKEM_BLOCKS, RF_SHAKE128_RATE, 0x1f, NULL};
        sponges[count++] = sponge;
    }
    for (i = 0; noise != NULL && i < noise->count; i++) {
        const rf_sponge sponge = {messages->noise[i], 33, RF_MLKEM_NOISE_BYTES(noise, i), RF_SHAKE256_RATE, 0x1f, NULL};
        sponges[count++] = sponge;
    }
    RF_NS(four_begin)(&four, sponges, count, 0);
    while ((done = RF_NS(four_next)(&four, &bytes)) >= 0) {
        i = done - digest_count;
        if (i < 0)
            memcpy(digests[done].out, bytes, 32);
        else if (i >= entries)
            rf_mlkem_binomial(noise, i - entries, bytes);
        else if (error == 0)
            error = rf_mlkem_uniform(matrix[i], messages->entry[i], bytes);
    }
    return error;
}
#endif

int RF_NS(mlkem_hash)(rf_digest *digests, int digest_count, int16_t (*matrix)[256], int k, int transposed,
                      const uint8_t *seed, const rf_noise *noise)
{
    const int entries = matrix != NULL ? k * k : 0;
    struct rf_mlkem_messages messages;
    uint8_t bytes[RF_MLKEM_BLOCKS];
    int i, failed = 0;
    rf_mlkem_messages_of(&messages, entries, k, transposed, seed, noise);
#if RF_HAVE_FOUR
    if (rf_has_four())
        return rf_mlkem_hash_four(digests, digest_count, matrix, entries, noise, &messages);
#endif
    for (i = 0; i < digest_count && !failed; i++)
        failed = digests[i].is_shake ? RF_HASH(shake256)(digests[i].out, 32, digests[i].in, digests[i].len)
                                     : RF_HASH(sha3_256)(digests[i].out, digests[i].in, digests[i].len);
    for (i = 0; i < entries && !failed; i++) {
        failed = RF_HASH(shake128)(bytes, RF_MLKEM_BLOCKS, messages.entry[i], 34);
        if (!failed)
            failed = rf_mlkem_uniform(matrix[i], messages.entry[i], bytes);
    }
    for (i = 0; noise != NULL && i < noise->count && !failed; i++) {
        failed = RF_HASH(shake256)(bytes, RF_MLKEM_NOISE_BYTES(noise, i), messages.noise[i], 33);
        if (!failed)
            rf_mlkem_binomial(noise, i, bytes);
    }
    return failed ? RINGFORGE_ERR_HASH : 0;
}

/*
 * Key generation: what a row of A needs is hashed first, and the key's hash goes on beside the next rows.
 */
void RF_NS(mlkem_rows_begin)(rf_mlkem_rows *rows, const rf_digest *key, int16_t (*matrix)[256], int k, const uint8_t *seed,
                             const rf_noise *noise)
{
    rows->key = *key;
    rows->matrix = matrix;
    rows->k = k;
    rows->noise = *noise;
    rows->ready = 0;
    rows->row = rows->error = 0;
    rf_mlkem_messages_of(&rows->messages, k * k, k, 0, seed, noise);
#if RF_HAVE_FOUR
    if (rf_has_four()) {
        const int count = k * (k + 2);
        int i;
        rows->ended = 0;
        for (i = 0; i < count && i < RF_MLKEM_STRINGS; i++) {
            /* s; then each row of A and its e */
            const int row = (i - k) / (k + 1), column = (i - k) % (k + 1);
            const int drawn = i < k ? i : column == k ? k + row : -1, entry = k * row + column;
            const rf_sponge of_noise = {rows->messages.noise[drawn < 0 ? 0 : drawn], 33,
                                        RF_MLKEM_NOISE_BYTES(noise, drawn), RF_SHAKE256_RATE, 0x1f, NULL};
            const rf_sponge of_entry = {rows->messages.entry[drawn < 0 ? entry : 0], 34, RF_MLKEM_BLOCKS,
                                        RF_SHAKE128_RATE, 0x1f, NULL};
            rows->what[i] = (uint8_t)(drawn < 0 ? entry : 16 + drawn);
            rows->sponges[i] = drawn < 0 ? of_entry : of_noise;
        }
        {
            const rf_sponge of_key = {key->in, key->len, 32, RF_SHA3_256_RATE, 0x06, &rows->ready};
            rows->sponges[count] = of_key;
        }
        RF_NS(four_begin)(&rows->four, rows->sponges, count, 1);
        return;
    }
#endif
    rows->error = RF_NS(mlkem_hash)(NULL, 0, matrix, k, 0, seed, noise);
}

int RF_NS(mlkem_rows_next)(rf_mlkem_rows *rows)
{
    const int k = rows->k;
#if RF_HAVE_FOUR
    if (rf_has_four()) {
        for (;;) {
            const uint8_t *bytes;
            int done, what;
            /* All up to this row's e: they do not end in order. */
            const uint32_t wanted = ((uint32_t)1 << (k + (rows->row + 1) * (k + 1))) - 1;
            if (rows->row < k && (rows->ended & wanted) == wanted)
                return rows->error == 0 ? rows->row++ : -1;
            done = RF_NS(four_next)(&rows->four, &bytes);
            if (done < 0)
                return -1;
            if (done == k * (k + 2)) {
                memcpy(rows->key.out, bytes, 32);
                continue;
            }
            what = rows->what[done];
            if (what >= 16)
                rf_mlkem_binomial(&rows->noise, what - 16, bytes);
            else if (rows->error == 0)
                rows->error = rf_mlkem_uniform(rows->matrix[what], rows->messages.entry[what], bytes);
            rows->ended |= (uint32_t)1 << done;
        }
    }
#endif
    if (rows->error == 0 && rows->row < k)
        return rows->row++;
    if (rows->error == 0 && RF_HASH(sha3_256)(rows->key.out, rows->key.in, rows->key.len) != 0)
        rows->error = RINGFORGE_ERR_HASH;
    return -1;
}
#endif

#undef RF_MLKEM_NOISE_BYTES
#undef RF_MLKEM_CALL
#undef RF_MLKEM_LOOP
#undef RF_MLKEM_BLOCKS
#undef RF_MLKEM_MORE_BLOCKS

#endif /* RF_NEED_MLKEM */
