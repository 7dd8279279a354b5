/* SPDX-License-Identifier: Apache-2.0 OR MIT OR ISC OR CC0-1.0 */
/* What every KEM must do, on both kinds of code: kem_test [NAME…]. */
#include "test.h"

extern int NS(test_portable);
static uint8_t seed[48];

static void reseed(int k)
{
    memset(seed, k, sizeof seed);
    nist_seed(seed);
}

static int all_zero(const uint8_t *p, size_t n)
{
    size_t i;
    for (i = 0; i < n; i++)
        if (p[i])
            return 0;
    return 1;
}

static int all_same(const uint8_t *p, size_t n, uint8_t value)
{
    size_t i;
    for (i = 0; i < n; i++)
        if (p[i] != value)
            return 0;
    return 1;
}

#define KEYS 5
static uint8_t pk[KEYS * MAX_PK], sk[KEYS * MAX_SK], pk2[KEYS * MAX_PK], sk2[KEYS * MAX_SK];
static uint8_t ct[MAX_CT + 1], ct2[MAX_CT], ss[65], ss2[65], coins[MAX_COINS];
static uint64_t prepared[MAX_PREPARED / 8];

static void round_trips(const struct kem *kem)
{
    int k;
    for (k = 0; k < 20; k++) {
        reseed(k);
        CHECK(kem->keypair(pk, sk) == 0);
        CHECK(kem->enc(ct, ss, pk) == 0);
        CHECK(kem->dec(ss2, ct, sk) == 0);
        CHECK(memcmp(ss, ss2, kem->ss) == 0);
    }
}

/* A source of random bytes: what its context points to, moving on, or failure where that is NULL. */
static int source(void *context, uint8_t *out, size_t len)
{
    const uint8_t **bytes = context;
    if (*bytes == NULL)
        return 1;
    memcpy(out, *bytes, len);
    *bytes += len;
    return 0;
}

/* Random bytes of a source with a context are coins, and where it fails nothing is written but zeros. */
static void sources(const struct kem *kem)
{
    const uint8_t *bytes = coins;
    int error;
    reseed(3);
    do {
        nist_bytes(coins, sizeof coins);
        error = kem->keypair_derand(pk, sk, coins);
    } while (error == RINGFORGE_ERR_COINS);
    CHECK(error == 0);
    CHECK(kem->keypair_with(pk2, sk2, source, &bytes) == 0);
    CHECK(bytes == coins + kem->keypair_coins);
    CHECK(memcmp(pk, pk2, kem->pk) == 0 && memcmp(sk, sk2, kem->sk) == 0);
    bytes = coins;
    CHECK(kem->enc_with(ct, ss, pk, source, &bytes) == 0);
    CHECK(bytes == coins + kem->enc_coins);
    CHECK(kem->enc_derand(ct2, ss2, pk, coins) == 0);
    CHECK(memcmp(ct, ct2, kem->ct) == 0 && memcmp(ss, ss2, kem->ss) == 0);
    bytes = NULL;
    memset(pk2, 1, sizeof pk2);
    memset(sk2, 1, sizeof sk2);
    CHECK(kem->keypair_with(pk2, sk2, source, &bytes) == RINGFORGE_ERR_RANDOM);
    CHECK(all_zero(pk2, kem->pk) && all_zero(sk2, kem->sk));
    CHECK(kem->enc_with(ct, ss, pk, source, &bytes) == RINGFORGE_ERR_RANDOM);
    CHECK(all_zero(ct, kem->ct) && all_zero(ss, kem->ss));
}

/* Coins are the bytes that randombytes would have given. */
static void coins_are_draws(const struct kem *kem)
{
    reseed(1);
    nist_bytes(coins, sizeof coins);
    CHECK(kem->keypair_coins <= sizeof coins && kem->enc_coins <= sizeof coins);
    /* The generator's bytes depend on where calls end, so draws are recorded and not predicted. */
    reseed(2);
    random_record = coins;
    CHECK(kem->keypair(pk, sk) == 0);
    CHECK(random_record == coins + kem->keypair_coins);
    CHECK(kem->keypair_derand(pk2, sk2, coins) == 0);
    CHECK(memcmp(pk, pk2, kem->pk) == 0 && memcmp(sk, sk2, kem->sk) == 0);
    random_record = coins;
    CHECK(kem->enc(ct, ss, pk) == 0);
    CHECK(random_record == coins + kem->enc_coins);
    random_record = NULL;
    CHECK(kem->enc_derand(ct2, ss2, pk, coins) == 0);
    CHECK(memcmp(ct, ct2, kem->ct) == 0 && memcmp(ss, ss2, kem->ss) == 0);
    if (kem->prepare) {
        CHECK(kem->prepared <= sizeof prepared);
        CHECK(kem->prepare(prepared, pk) == 0);
        memset(ct2, 0, sizeof ct2);
        memset(ss2, 0, sizeof ss2);
        CHECK(kem->enc_prepared_derand(ct2, ss2, prepared, coins) == 0);
        CHECK(memcmp(ct, ct2, kem->ct) == 0 && memcmp(ss, ss2, kem->ss) == 0);
        CHECK(kem->enc_prepared(ct2, ss2, prepared) == 0);
        CHECK(memcmp(ct, ct2, kem->ct) != 0);
        CHECK(kem->dec(ss, ct2, sk) == 0);
        CHECK(memcmp(ss, ss2, kem->ss) == 0);
    }
}

/* A batch is the same keys as one after the other. */
static void batches(const struct kem *kem)
{
    size_t k, count;
    if (!kem->keypair_batch)
        return;
    CHECK(kem->keypair_batch(pk, sk, 0) == 0);
    for (count = 1; count <= KEYS; count += 2) {
        reseed((int)count);
        CHECK(kem->keypair_batch(pk, sk, count) == 0);
        reseed((int)count);
        for (k = 0; k < count; k++)
            CHECK(kem->keypair(pk2 + k * kem->pk, sk2 + k * kem->sk) == 0);
        CHECK(memcmp(pk, pk2, count * kem->pk) == 0);
        CHECK(memcmp(sk, sk2, count * kem->sk) == 0);
    }
}

/* A damaged ciphertext gives a key of its own that is the same each time, and not an error. */
static void damaged(const struct kem *kem)
{
    uint8_t twice[64];
    size_t at;
    reseed(3);
    CHECK(kem->keypair(pk, sk) == 0);
    CHECK(kem->enc(ct, ss, pk) == 0);
    for (at = 0; at < kem->ct; at += at % 64 == 0 ? 1 : 17) {
        uint8_t bit = (uint8_t)(1 << at % 8);
        ct[at] ^= bit;
        CHECK(kem->dec(ss2, ct, sk) == 0);
        CHECK(memcmp(ss, ss2, kem->ss) != 0);
        CHECK(kem->dec(twice, ct, sk) == 0);
        CHECK(memcmp(twice, ss2, kem->ss) == 0);
        ct[at] ^= bit;
    }
    memset(ct, 0xff, kem->ct);
    CHECK(kem->dec(ss2, ct, sk) == 0);
    memset(ct2, 0, kem->ct);
    CHECK(kem->dec(twice, ct2, sk) == 0);
    CHECK(memcmp(twice, ss2, kem->ss) != 0);
}

/* All code that runs here, portable, AVX2 and AVX-512, does the same on good and on bad input. */
static void targets_agree(const struct kem *kem)
{
    static uint8_t out[TEST_TARGETS][4][MAX_SK];
    static const uint8_t fill[3] = {0xff, 0x80, 0x5a};
    int target, k;
    for (k = 0; k < 6; k++) {
        memset(out, 0, sizeof out);
        for (target = 0; target < TEST_TARGETS; target++) {
            NS(test_portable) = target;
            reseed(10 + k);
            CHECK(kem->keypair(pk, sk) == 0);
            memcpy(out[target][0], pk, kem->pk);
            memcpy(out[target][1], sk, kem->sk);
            if (k >= 3)
                memset(pk, fill[k - 3], kem->pk); /* no canonical key */
            if (kem->enc(ct, ss, pk) == 0 || k < 3) {
                CHECK(kem->dec(ss2, ct, sk) == 0);
                CHECK(k >= 3 || memcmp(ss, ss2, kem->ss) == 0);
            }
            memcpy(out[target][2], ct, kem->ct);
            memcpy(out[target][3], ss2, kem->ss);
        }
        CHECK(memcmp(out[0], out[1], sizeof out[0]) == 0 && memcmp(out[0], out[2], sizeof out[0]) == 0);
    }
}

/* What a key pair is made of is accepted; what is not a key's is not, wherever it lies in what the checks look at. */
static void checks(const struct kem *kem)
{
    const int is_ntru = strncmp(kem->name, "ntruh", 5) == 0;
    size_t at, refused = 0, tried = 0;
    int k;
    for (k = 0; k < 4; k++) {
        reseed(20 + k);
        CHECK(kem->keypair(pk, sk) == 0);
        CHECK(kem->check_pk(pk) == 0 && kem->check_sk(sk) == 0 && kem->check_pair(pk, sk) == 0);
        CHECK(kem->keypair(pk2, sk2) == 0);
        CHECK(kem->check_pair(pk2, sk) == RINGFORGE_ERR_KEY && kem->check_pair(pk, sk2) == RINGFORGE_ERR_KEY);
    }
    for (at = 0; at < kem->sk; at += 7) {
        uint8_t was = sk[at];
        sk[at] ^= (uint8_t)(1 << (at % 3));
        k = kem->check_sk(sk);
        CHECK(k == 0 || k == RINGFORGE_ERR_KEY);
        tried++;
        refused += k != 0;
        sk[at] = was;
    }
    /* But for what may be any bytes: what rejection is made of, and in NTRU the quotient; f of ML-KEM is checked by pairs. */
    CHECK(refused * 100 >= tried * (is_ntru ? 15 : kem->dec_seed ? 45 : 80));
    memset(sk2, 0xff, kem->sk);
    CHECK(kem->check_sk(sk2) == RINGFORGE_ERR_KEY);
    memset(pk2, 0xff, kem->pk);
    /* n - 1 words of 12 or 14 bits that fill bytes to the end: all words are coefficients */
    CHECK(kem->check_pk(pk2) == RINGFORGE_ERR_KEY || strcmp(kem->name, "ntruhps4096821") == 0 ||
          strcmp(kem->name, "ntruhps40961229") == 0 || strcmp(kem->name, "ntruhrss1373") == 0);
    /* ML-KEM makes the checks of FIPS 203 by itself; the others take any bytes as a key. A public key of zeros passes. */
    k = kem->dec_seed ? RINGFORGE_ERR_KEY : 0;
    CHECK(kem->enc(ct, ss, pk2) == k);
    memset(pk2, 0, kem->pk);
    memset(sk2, 0, kem->sk);
    CHECK(kem->check_pk(pk2) == 0 && kem->enc(ct, ss, pk2) == 0);
    CHECK(kem->check_sk(sk2) == RINGFORGE_ERR_KEY && kem->dec(ss, ct, sk2) == k);
}

/* A secret key may be kept as its coins. */
static void seeds(const struct kem *kem)
{
    int k;
    for (k = 0; kem->dec_seed && k < 4; k++) {
        reseed(30 + k);
        nist_bytes(coins, kem->keypair_coins);
        CHECK(kem->keypair_derand(pk, sk, coins) == 0 && kem->enc(ct, ss, pk) == 0);
        ct[5] = (uint8_t)(ct[5] ^ (k & 1)); /* rejected as by the key itself */
        CHECK(kem->dec(ss, ct, sk) == 0 && kem->dec_seed(ss2, ct, coins) == 0);
        CHECK(memcmp(ss, ss2, kem->ss) == 0);
    }
}

/* The library's own table has the same functions and sizes. */
static void table(const struct kem *kem)
{
    const NS(kem) *found = NS(kem_find)(kem->name);
    size_t i = 0;
    CHECK(found != NULL && strcmp(found->name, kem->name) == 0);
    CHECK(found->pk == kem->pk && found->sk == kem->sk && found->ct == kem->ct && found->ss == kem->ss);
    CHECK(found->keypair_coins == kem->keypair_coins && found->enc_coins == kem->enc_coins);
    CHECK(found->keypair == kem->keypair && found->keypair_derand == kem->keypair_derand);
    CHECK(found->enc == kem->enc && found->enc_derand == kem->enc_derand && found->dec == kem->dec);
    CHECK(found->check_pk == kem->check_pk && found->check_sk == kem->check_sk && found->check_pair == kem->check_pair);
    CHECK(NS(kem_find)("no such KEM") == NULL && NS(kem_find)("") == NULL);
    while (NS(kem_at)(i) != NULL)
        i++;
    CHECK(i == kem_count && NS(kem_at)(i + 1) == NULL);
}

/* Another length than the KEM's is an error, and nothing is written. */
static void lengths(const struct kem *kem)
{
    size_t off;
    reseed(4);
    CHECK(kem->keypair_checked(pk, kem->pk, sk, kem->sk) == 0);
    CHECK(kem->enc_checked(ct, kem->ct, ss, kem->ss, pk, kem->pk) == 0);
    CHECK(kem->dec_checked(ss2, kem->ss, ct, kem->ct, sk, kem->sk) == 0);
    CHECK(memcmp(ss, ss2, kem->ss) == 0);
    memset(ct2, 0xaa, kem->ct);
    memset(ss2, 0xaa, kem->ss);
    memset(pk2, 0xaa, kem->pk);
    memset(sk2, 0xaa, kem->sk);
    for (off = (size_t)-1; off != 3; off += 2) {
        CHECK(kem->keypair_checked(pk2, kem->pk + off, sk2, kem->sk) == RINGFORGE_ERR_LENGTH);
        CHECK(kem->keypair_checked(pk2, kem->pk, sk2, kem->sk + off) == RINGFORGE_ERR_LENGTH);
        CHECK(kem->enc_checked(ct2, kem->ct + off, ss2, kem->ss, pk, kem->pk) == RINGFORGE_ERR_LENGTH);
        CHECK(kem->enc_checked(ct2, kem->ct, ss2, kem->ss + off, pk, kem->pk) == RINGFORGE_ERR_LENGTH);
        CHECK(kem->enc_checked(ct2, kem->ct, ss2, kem->ss, pk, kem->pk + off) == RINGFORGE_ERR_LENGTH);
        CHECK(kem->dec_checked(ss2, kem->ss + off, ct, kem->ct, sk, kem->sk) == RINGFORGE_ERR_LENGTH);
        CHECK(kem->dec_checked(ss2, kem->ss, ct, kem->ct + off, sk, kem->sk) == RINGFORGE_ERR_LENGTH);
        CHECK(kem->dec_checked(ss2, kem->ss, ct, kem->ct, sk, kem->sk + off) == RINGFORGE_ERR_LENGTH);
    }
    CHECK(all_same(ct2, kem->ct, 0xaa) && all_same(ss2, kem->ss, 0xaa));
    CHECK(all_same(pk2, kem->pk, 0xaa) && all_same(sk2, kem->sk, 0xaa));
}

/* Whichever call of randombytes fails, outputs are zero. */
static void failing_random(const struct kem *kem)
{
    int calls, error;
    reseed(5);
    for (calls = 0;; calls++) {
        memset(pk, 0xaa, kem->pk);
        memset(sk, 0xaa, kem->sk);
        random_calls_left = calls;
        error = kem->keypair(pk, sk);
        random_calls_left = -1;
        if (error == 0)
            break;
        CHECK(error == RINGFORGE_ERR_RANDOM);
        CHECK(all_zero(pk, kem->pk) && all_zero(sk, kem->sk));
    }
    CHECK(calls >= 1);
    for (calls = 0;; calls++) {
        memset(ct, 0xaa, kem->ct);
        memset(ss, 0xaa, kem->ss);
        random_calls_left = calls;
        error = kem->enc(ct, ss, pk);
        random_calls_left = -1;
        if (error == 0)
            break;
        CHECK(error == RINGFORGE_ERR_RANDOM);
        CHECK(all_zero(ct, kem->ct) && all_zero(ss, kem->ss));
    }
    CHECK(calls >= 1);
    for (calls = 0; kem->keypair_batch; calls++) {
        memset(pk, 0xaa, KEYS * kem->pk);
        memset(sk, 0xaa, KEYS * kem->sk);
        random_calls_left = calls;
        error = kem->keypair_batch(pk, sk, KEYS);
        random_calls_left = -1;
        if (error == 0)
            break;
        CHECK(error == RINGFORGE_ERR_RANDOM);
        CHECK(all_zero(pk, KEYS * kem->pk) && all_zero(sk, KEYS * kem->sk));
    }
}

#ifdef TEST_FAILING_HASH
/*
 * The linker's --wrap puts these before the library's hash functions: the one after `hash_calls_left` calls
 * fails, unless that is negative; and the result of the one after `hash_calls_right` calls has a wrong bit.
 */
#define WRAPPED_(prefix, name) prefix##name
#define WRAPPED(prefix, name) WRAPPED_(prefix, name)
#if RINGFORGE_HASH == 2
#define HASH(name) NS(name)
#else
#define HASH(name) NS(library_##name)
#endif
#define REAL(name) WRAPPED(__real_, HASH(name))
#define WRAP(name, with_length, without)                                                           \
    int REAL(name) with_length __attribute__((weak)); /* not there if no KEM calls it */           \
    int WRAPPED(__wrap_, HASH(name)) with_length;                                                  \
    int WRAPPED(__wrap_, HASH(name)) with_length                                                   \
    {                                                                                              \
        int error_ = hash_fails() ? -1 : REAL(name) without;                                       \
        if (hash_calls_right >= 0 && hash_calls_right-- == 0)                                      \
            out[0] ^= 1;                                                                           \
        return error_;                                                                             \
    }
static int hash_calls_left = -1, hash_calls_right = -1;

static int hash_fails(void)
{
    return hash_calls_left == 0 || (hash_calls_left > 0 && hash_calls_left-- < 0);
}

WRAP(sha512, (uint8_t out[64], const uint8_t *in, size_t len), (out, in, len))
WRAP(sha3_256, (uint8_t out[32], const uint8_t *in, size_t len), (out, in, len))
WRAP(sha3_512, (uint8_t out[64], const uint8_t *in, size_t len), (out, in, len))
WRAP(shake128, (uint8_t *out, size_t out_len, const uint8_t *in, size_t len), (out, out_len, in, len))
WRAP(shake256, (uint8_t *out, size_t out_len, const uint8_t *in, size_t len), (out, out_len, in, len))

/* Whichever call of a hash function fails, outputs are zero; returns how many calls there were. */
#define FAIL_EACH(call, a, a_len, b, b_len)                                                        \
    do {                                                                                           \
        int calls_, error_;                                                                        \
        for (calls_ = 0;; calls_++) {                                                              \
            memset(a, 0xaa, a_len);                                                                \
            memset(b, 0xaa, b_len);                                                                \
            hash_calls_left = calls_;                                                              \
            error_ = call;                                                                         \
            hash_calls_left = -1;                                                                  \
            if (error_ == 0)                                                                       \
                break;                                                                             \
            CHECK(error_ == RINGFORGE_ERR_HASH);                                                   \
            CHECK(all_zero(a, a_len) && all_zero(b, b_len));                                       \
        }                                                                                          \
        failed += calls_;                                                                          \
    } while (0)

static void failing_hash(const struct kem *kem)
{
    const size_t none = 0;
    int failed = 0;
    reseed(8);
    FAIL_EACH(kem->keypair(pk, sk), pk, kem->pk, sk, kem->sk);
    FAIL_EACH(kem->enc(ct, ss, pk), ct, kem->ct, ss, kem->ss);
    CHECK(failed > 0);
    failed = 0;
    FAIL_EACH(kem->dec(ss2, ct, sk), ss2, kem->ss, ss, none);
    CHECK(failed > 0 && memcmp(ss, ss2, kem->ss) == 0);
    if (kem->prepare) {
        failed = 0;
        FAIL_EACH(kem->prepare(prepared, pk), (uint8_t *)prepared, kem->prepared, ss, none);
        FAIL_EACH(kem->enc_prepared(ct, ss, prepared), ct, kem->ct, ss, kem->ss);
        CHECK(failed > 0);
    }
    if (kem->keypair_batch)
        FAIL_EACH(kem->keypair_batch(pk, sk, KEYS), pk, KEYS * kem->pk, sk, KEYS * kem->sk);
}

#if RINGFORGE_CHECK_PAIRS
/* A key pair that a fault has spoiled is not given out: of Streamlined NTRU Prime the first hash is that of the public key,
 * which lies in the secret one. */
static void spoiled_pairs(const struct kem *kem)
{
    reseed(9);
    if (strncmp(kem->name, "sntrup", 6) != 0)
        return;
    hash_calls_right = 0;
    CHECK(kem->keypair(pk, sk) == RINGFORGE_ERR_PAIR);
    CHECK(hash_calls_right < 0 && all_zero(pk, kem->pk) && all_zero(sk, kem->sk));
    hash_calls_right = 2;
    CHECK(kem->keypair_batch(pk, sk, KEYS) == RINGFORGE_ERR_PAIR);
    CHECK(all_zero(pk, KEYS * kem->pk) && all_zero(sk, KEYS * kem->sk));
    hash_calls_right = -1;
    CHECK(kem->keypair(pk, sk) == 0 && kem->keypair_batch(pk, sk, KEYS) == 0);
}
#endif
#endif

/* Streamlined NTRU Prime draws g again where it has no inverse mod 3, such as g = 0. */
static void rejected_draws(const struct kem *kem)
{
    int k;
    if (strncmp(kem->name, "sntrup", 6) != 0)
        return;
    for (k = 1; k < 4; k++) {
        reseed(6);
        random_draws_of_zero = k;
        CHECK(kem->keypair(pk, sk) == 0);
        CHECK(random_draws_of_zero == 0);
        CHECK(kem->enc(ct, ss, pk) == 0 && kem->dec(ss2, ct, sk) == 0);
        CHECK(memcmp(ss, ss2, kem->ss) == 0);
    }
    random_draws_of_zero = 1;
    reseed(7);
    random_record = coins;
    CHECK(kem->keypair(pk, sk) == 0);
    random_record = NULL;
    memset(pk, 0xaa, kem->pk);
    memset(sk, 0xaa, kem->sk);
    CHECK(kem->keypair_derand(pk, sk, coins) == RINGFORGE_ERR_COINS);
    CHECK(all_zero(pk, kem->pk) && all_zero(sk, kem->sk));
    random_draws_of_zero = 1;
    CHECK(kem->keypair_batch(pk, sk, KEYS) == 0);
    for (k = 0; k < KEYS; k++) {
        CHECK(kem->enc(ct, ss, pk + (size_t)k * kem->pk) == 0);
        CHECK(kem->dec(ss2, ct, sk + (size_t)k * kem->sk) == 0);
        CHECK(memcmp(ss, ss2, kem->ss) == 0);
    }
}

/* A generator that gives the same bytes for ever ends in an error where no key can be made of them. */
static void stuck_generator(const struct kem *kem)
{
    int error;
    if (strncmp(kem->name, "sntrup", 6) != 0)
        return;
    random_draws_of_zero = 1 << 30;
    memset(pk, 0xaa, KEYS * kem->pk);
    memset(sk, 0xaa, KEYS * kem->sk);
    CHECK(kem->keypair(pk, sk) == RINGFORGE_ERR_RANDOM);
    CHECK(all_zero(pk, kem->pk) && all_zero(sk, kem->sk));
    memset(pk, 0xaa, kem->pk);
    memset(sk, 0xaa, kem->sk);
    error = kem->keypair_batch(pk, sk, KEYS);
    CHECK(error == RINGFORGE_ERR_RANDOM);
    CHECK(all_zero(pk, KEYS * kem->pk) && all_zero(sk, KEYS * kem->sk));
    random_draws_of_zero = 0;
}

/* Coins that are all zero give a key that works, or the error for coins: in NTRU f is 0 then. */
static void coins_of_zero(const struct kem *kem)
{
    const int is_ntru = strncmp(kem->name, "ntruh", 5) == 0;
    int error;
    memset(coins, 0, sizeof coins);
    memset(pk, 0xaa, kem->pk);
    memset(sk, 0xaa, kem->sk);
    error = kem->keypair_derand(pk, sk, coins);
    CHECK(error == 0 || error == RINGFORGE_ERR_COINS);
    CHECK((error != 0) == is_ntru || strncmp(kem->name, "sntrup", 6) == 0);
    if (error != 0) {
        CHECK(all_zero(pk, kem->pk) && all_zero(sk, kem->sk));
        CHECK(kem->keypair(pk, sk) == 0);
    }
    CHECK(kem->enc_derand(ct, ss, pk, coins) == 0);
    CHECK(kem->dec(ss2, ct, sk) == 0 && memcmp(ss, ss2, kem->ss) == 0);
}

int main(int argc, char **argv)
{
    size_t i;
    int k;
    CHECK(strcmp(NS(version)(), RINGFORGE_VERSION) == 0 && NS(version_number)() == RINGFORGE_VERSION_NUMBER);
    for (i = 0; i < kem_count; i++) {
        const struct kem *kem = kems + i;
        int wanted = argc == 1;
        for (k = 1; k < argc; k++)
            wanted |= strcmp(argv[k], kem->name) == 0;
        if (!wanted)
            continue;
        CHECK(kem->pk <= MAX_PK && kem->sk <= MAX_SK && kem->ct <= MAX_CT && kem->ss <= 64);
        for (k = 0; k < 2; k++) {
            NS(test_portable) = k;
            round_trips(kem);
            coins_are_draws(kem);
            sources(kem);
            batches(kem);
            damaged(kem);
            checks(kem);
            seeds(kem);
            table(kem);
            lengths(kem);
            failing_random(kem);
#ifdef TEST_FAILING_HASH
            failing_hash(kem);
#if RINGFORGE_CHECK_PAIRS
            spoiled_pairs(kem);
#endif
#endif
            rejected_draws(kem);
            stuck_generator(kem);
            coins_of_zero(kem);
        }
        targets_agree(kem);
        printf("%s ok\n", kem->name);
    }
    return 0;
}
