/* SPDX-License-Identifier: Apache-2.0 OR MIT OR ISC OR CC0-1.0 */
/*
 * Hybrids: both sides agree, the curves' parts pass known-answer tests, and malformed input is refused with zeroed outputs.
 * hybrid
 */
#include "ringforge_hybrid.h"
#include "test.h"

/* The first vectors of NIST's ECC CDH Primitive tests (CAVS 14.1), and the answer of RFC 7748, section 6.1: the other side's
 * point, our scalar, our point, the shared secret. */
static const struct {
    int curve;
    const char *hex[4];
} published[] = {
    {256,
     {"04700c48f77f56584c5cc632ca65640db91b6bacce3a4df6b42ce7cc838833d287"
      "db71e509e3fd9b060ddb20ba5c51dcc5948d46fbf640dfe0441782cab85fa4ac",
      "7d7dc5f71eb29ddaf80d6214632eeae03d9058af1fb6d22ed80badb62bc1a534",
      "04ead218590119e8876b29146ff89ca61770c4edbbf97d38ce385ed281d8a6b230"
      "28af61281fd35e2fa7002523acc85a429cb06ee6648325389f59edfce1405141",
      "46fc62106420ff012e54a434fbdd2d25ccc5852060561e68040dd7778997bd7b"}},
    {384,
     {"04a7c76b970c3b5fe8b05d2838ae04ab47697b9eaf52e764592efda27fe7513272734466b400091adbf2d68c58e0c50066"
      "ac68f19f2e1cb879aed43a9969b91a0839c4c38a49749b661efedf243451915ed0905a32b060992b468c64766fc8437a",
      "3cc3122a68f0d95027ad38c067916ba0eb8c38894d22e1b15618b6818a661774ad463b205da88cf699ab4d43c9cf98a1",
      "049803807f2f6d2fd966cdd0290bd410c0190352fbec7ff6247de1302df86f25d34fe4a97bef60cff548355c015dbb3e5f"
      "ba26ca69ec2f5b5d9dad20cc9da711383a9dbe34ea3fa5a2af75b46502629ad54dd8b7d73a8abb06a3a3be47d650cc99",
      "5f9d29dc5e31a163060356213669c8ce132e22f57c9a04f40ba7fcead493b457e5621e766c40a2e3d4d6a04b25e533f1"}},
    {25519,
     {"de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f",
      "77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a",
      "8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a",
      "4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742"}},
};
static uint8_t theirs[97], scalar[48], ours[97], shared[48];

static void from_hex(uint8_t *out, const char *hex)
{
    unsigned byte;
    for (; sscanf(hex, "%2x", &byte) == 1; hex += 2)
        *out++ = (uint8_t)byte;
}

/* Random bytes: for so many calls those of the script, then the tests' generator's. */
static const uint8_t *script;
static size_t script_calls;

int NS(randombytes)(uint8_t *out, size_t len)
{
    if (script_calls > 0) {
        memcpy(out, script, len);
        script += len;
        script_calls--;
    } else {
        nist_bytes(out, len);
    }
    return 0;
}

/* One hybrid. */
struct hybrid {
    const char *name;
    int curve, kem_first;
    size_t offer_len, answer_len, key_len, point;
    int (*offer)(uint8_t *, uint8_t *);
    int (*answer)(uint8_t *, uint8_t *, const uint8_t *);
    int (*agree)(uint8_t *, const uint8_t *, const uint8_t *);
};
#define HYBRID(name, SIZE, curve, kem_first, point)                                                \
    {#name, curve, kem_first, SIZE##_OFFERBYTES, SIZE##_ANSWERBYTES, SIZE##_KEYBYTES, point,       \
     NS(hybrid_##name##_offer), NS(hybrid_##name##_answer), NS(hybrid_##name##_agree)}
static const struct hybrid hybrids[] = {
    HYBRID(sntrup761x25519, RINGFORGE_SNTRUP761X25519, 25519, 1, 32),
    HYBRID(x25519mlkem768, RINGFORGE_X25519MLKEM768, 25519, 1, 32),
    HYBRID(mlkem768nistp256, RINGFORGE_MLKEM768NISTP256, 256, 1, 65),
    HYBRID(secp256r1mlkem768, RINGFORGE_SECP256R1MLKEM768, 256, 0, 65),
    HYBRID(secp384r1mlkem1024, RINGFORGE_SECP384R1MLKEM1024, 384, 0, 97),
};

static uint8_t offer[2048], answer[2048], secret[4096], key[80], agreed[80];

static int is_zero(const uint8_t *bytes, size_t len)
{
    size_t i;
    for (i = 0; i < len && bytes[i] == 0; i++)
        ;
    return i == len;
}

/* Both sides refuse this point. */
static void refused(const struct hybrid *h, const uint8_t *point)
{
    static uint8_t wrong_offer[2048], wrong_answer[2048], out[2048];
    memcpy(wrong_offer, offer, h->offer_len);
    memcpy(wrong_answer, answer, h->answer_len);
    memcpy(wrong_offer + (h->kem_first ? h->offer_len - h->point : 0), point, h->point);
    memcpy(wrong_answer + (h->kem_first ? h->answer_len - h->point : 0), point, h->point);
    memset(out, 1, sizeof out);
    memset(agreed, 1, sizeof agreed);
    CHECK(h->answer(out, agreed, wrong_offer) == RINGFORGE_ERR_KEY);
    CHECK(is_zero(out, h->answer_len) && is_zero(agreed, h->key_len));
    memset(agreed, 1, sizeof agreed);
    CHECK(h->agree(agreed, wrong_answer, secret) == RINGFORGE_ERR_KEY);
    CHECK(is_zero(agreed, h->key_len));
}

static void round_trip(const struct hybrid *h)
{
    static const uint8_t tags[] = {0, 2, 3, 5, 6, 7};
    uint8_t point[97];
    const size_t at = h->kem_first ? h->offer_len - h->point : 0, kem_at = h->kem_first ? 0 : h->point;
    size_t i;
    CHECK(h->offer(offer, secret) == 0);
    CHECK(h->answer(answer, key, offer) == 0);
    CHECK(h->agree(agreed, answer, secret) == 0);
    CHECK(memcmp(key, agreed, h->key_len) == 0 && !is_zero(key, h->key_len));
    /* A damaged ciphertext gives another key. */
    answer[kem_at] ^= 1;
    CHECK(h->agree(agreed, answer, secret) == 0);
    CHECK(memcmp(key, agreed, h->key_len) != 0);
    answer[kem_at] ^= 1;

    memset(point, 0, sizeof point);
    refused(h, point); /* of small order, or how infinity begins */
    for (i = 0; h->curve != 25519 && i < sizeof tags; i++) {
        memcpy(point, offer + at, h->point);
        point[0] = tags[i];
        refused(h, point);
    }
    if (h->curve != 25519) {
        memcpy(point, offer + at, h->point);
        point[h->point - 1] ^= 1; /* not on the curve */
        refused(h, point);
        memset(point + 1, 0xff, h->point - 1); /* above the field's order */
        refused(h, point);
    }
    if (strstr(h->name, "mlkem") != NULL) {
        memset(offer + kem_at, 0xff, 3); /* coefficients of 4095 */
        CHECK(h->answer(answer, agreed, offer) == RINGFORGE_ERR_KEY);
        CHECK(is_zero(answer, h->answer_len) && is_zero(agreed, h->key_len));
    }
}

/* The answer to the published point, from the published scalar. Numbers that are no scalars are drawn again. */
static void known_answer(const struct hybrid *h)
{
    static const uint8_t zeros[100 * 48];
    static uint8_t drawn[3 * 48];
    const size_t len = h->curve == 384 ? 48 : 32;
    const size_t skipped = h->curve == 25519 ? 0 : 2;
    size_t i;
    for (i = 0; published[i].curve != h->curve; i++)
        ;
    from_hex(theirs, published[i].hex[0]);
    from_hex(scalar, published[i].hex[1]);
    from_hex(ours, published[i].hex[2]);
    from_hex(shared, published[i].hex[3]);
    CHECK(h->offer(offer, secret) == 0);
    memcpy(offer + (h->kem_first ? h->offer_len - h->point : 0), theirs, h->point);
    memset(drawn, 0, len);
    memset(drawn + len, 0xff, len);
    memcpy(drawn + skipped * len, scalar, len);
    script = drawn;
    script_calls = skipped + 1;
    CHECK(h->answer(answer, key, offer) == 0 && script_calls == 0);
    CHECK(memcmp(answer + (h->kem_first ? h->answer_len - h->point : 0), ours, h->point) == 0);
    CHECK(memcmp(key + (h->kem_first ? 32 : 0), shared, len) == 0);
    /* A generator that gives only zeros is stuck. */
    if (h->curve != 25519) {
        script = zeros;
        script_calls = 100;
        CHECK(h->answer(answer, key, offer) == RINGFORGE_ERR_RANDOM && script_calls == 0);
        CHECK(is_zero(answer, h->answer_len) && is_zero(key, h->key_len));
    }
}

int main(void)
{
    static const uint8_t seed[48] = {3};
    size_t i;
    nist_seed(seed);
    for (i = 0; i < sizeof hybrids / sizeof *hybrids; i++) {
        round_trip(&hybrids[i]);
        known_answer(&hybrids[i]);
        printf("%s\n", hybrids[i].name);
    }
    return 0;
}
