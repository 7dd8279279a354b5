/* SPDX-License-Identifier: Apache-2.0 OR MIT OR ISC OR CC0-1.0 */
/* keccak_four_avx2.h: four sponges side by side, with AVX2. Part of hash_builtin_sha3.c. */
#ifndef RINGFORGE_KECCAK_FOUR_AVX2_H
#define RINGFORGE_KECCAK_FOUR_AVX2_H

#include <immintrin.h>

#define WORD __m256i
#define XOR(a, b) _mm256_xor_si256(a, b)
#define XOR3(a, b, c) XOR(XOR(a, b), c)
#define CHI(a, b, c) _mm256_xor_si256(a, _mm256_andnot_si256(b, c))
/* Turns by whole bytes are one shuffle. */
#define TURN(a, t)                                                                                 \
    ((t) == 0    ? (a)                                                                             \
     : (t) == 8  ? _mm256_shuffle_epi8(a, by8)                                                     \
     : (t) == 56 ? _mm256_shuffle_epi8(a, by56)                                                    \
                 : _mm256_or_si256(_mm256_slli_epi64(a, t), _mm256_srli_epi64(a, (64 - (t)) & 63)))

/* The permutation on four states: lane i of state s is word s of state[i]. */
RF_AVX2 static void rf_keccak_four_avx2(uint64_t state[25][4])
{
    const __m256i by8 = _mm256_setr_epi8(7, 0, 1, 2, 3, 4, 5, 6, 15, 8, 9, 10, 11, 12, 13, 14, 7, 0,
                                         1, 2, 3, 4, 5, 6, 15, 8, 9, 10, 11, 12, 13, 14);
    const __m256i by56 = _mm256_setr_epi8(1, 2, 3, 4, 5, 6, 7, 0, 9, 10, 11, 12, 13, 14, 15, 8, 1,
                                          2, 3, 4, 5, 6, 7, 0, 9, 10, 11, 12, 13, 14, 15, 8);
    __m256i a[25], e[25];
    int i;
    for (i = 0; i < 25; i++)
        a[i] = _mm256_loadu_si256((const __m256i *)(const void *)state[i]);
    for (i = 0; i < 24; i += 2) {
        RF_KECCAK_ROUND(e, a, _mm256_set1_epi64x((long long)rf_keccak_constants[i]));
        RF_KECCAK_ROUND(a, e, _mm256_set1_epi64x((long long)rf_keccak_constants[i + 1]));
    }
    for (i = 0; i < 25; i++)
        _mm256_storeu_si256((__m256i *)(void *)state[i], a[i]);
}

#undef WORD
#undef XOR
#undef XOR3
#undef CHI
#undef TURN

static void rf_keccak_four(uint64_t state[25][4])
{
    if (rf_avx512vl())
        rf_keccak_four_avx512vl(state);
    else
        rf_keccak_four_avx2(state);
}

void RF_NS(four_begin)(rf_four *four, const rf_sponge *sponges, int count, int late)
{
    int s;
    four->waits = -1;
    if (late) {
        four->waits = count;
        four->kept_in = sponges[count].in;
        four->kept_left = sponges[count].len;
        memset(four->kept, 0, sizeof four->kept);
    }
    four->sponges = sponges;
    four->count = count;
    four->next = 0;
    for (s = 0; s < 4; s++)
        four->busy[s] = -1;
}

/* Whether a sponge with so much of its message left has its next block. */
static int rf_four_ready(const rf_sponge *sponge, size_t left)
{
    return sponge->ready == NULL || *sponge->ready >= sponge->len - left + (left < sponge->rate ? left : sponge->rate);
}

/*
 * The sponge that waited goes on in a lane, and one that is to wait leaves it. Its state goes by an array of its own: where
 * both stand in one structure, gcc writes the one's addresses as four times the other's less three times where that begins,
 * and an address is no number to the prover.
 */
static void rf_four_resume(rf_four *four, int s)
{
    uint64_t state[25];
    int i;
    memcpy(state, four->kept, sizeof state);
    four->busy[s] = four->waits;
    four->in[s] = four->kept_in;
    four->left[s] = four->kept_left;
    four->squeezed[s] = 0;
    four->padded[s] = 0;
    for (i = 0; i < 25; i++)
        four->state[i][s] = state[i];
    four->waits = -1;
}

static void rf_four_park(rf_four *four, int s)
{
    uint64_t state[25];
    int i;
    four->waits = four->busy[s];
    four->kept_in = four->in[s];
    four->kept_left = four->left[s];
    for (i = 0; i < 25; i++)
        state[i] = four->state[i][s];
    memcpy(four->kept, state, sizeof state);
    four->busy[s] = -1;
}

/* A lane takes the next sponge; its state is to be set to zero. */
static void rf_four_take(rf_four *four, int s)
{
    const rf_sponge *sponge = four->sponges + four->next;
    four->busy[s] = four->next++;
    four->in[s] = sponge->in;
    four->left[s] = sponge->len;
    four->squeezed[s] = 0;
    four->padded[s] = 0;
}

/* Keeps the states whose mask is all ones, and sets those to zero whose mask is. */
RF_AVX2 static void rf_four_keep(uint64_t state[25][4], const uint64_t mask[4])
{
    const __m256i keep = _mm256_loadu_si256((const __m256i *)(const void *)mask);
    int i;
    for (i = 0; i < 25; i++) {
        __m256i *const at = (__m256i *)(void *)state[i];
        _mm256_storeu_si256(at, _mm256_and_si256(_mm256_loadu_si256(at), keep));
    }
}

/* The first 24 words of each state, to where each goes: four times four words are transposed at a time. */
RF_AVX2 static void rf_four_words(uint64_t *const to[4], uint64_t state[25][4])
{
    int i;
    for (i = 0; i < 24; i += 4) {
        const __m256i *const at = (const __m256i *)(const void *)state[i];
        const __m256i a = _mm256_loadu_si256(at), b = _mm256_loadu_si256(at + 1);
        const __m256i c = _mm256_loadu_si256(at + 2), d = _mm256_loadu_si256(at + 3);
        const __m256i even0 = _mm256_unpacklo_epi64(a, b), odd0 = _mm256_unpackhi_epi64(a, b);
        const __m256i even1 = _mm256_unpacklo_epi64(c, d), odd1 = _mm256_unpackhi_epi64(c, d);
        _mm256_storeu_si256((__m256i *)(void *)(to[0] + i), _mm256_permute2x128_si256(even0, even1, 0x20));
        _mm256_storeu_si256((__m256i *)(void *)(to[1] + i), _mm256_permute2x128_si256(odd0, odd1, 0x20));
        _mm256_storeu_si256((__m256i *)(void *)(to[2] + i), _mm256_permute2x128_si256(even0, even1, 0x31));
        _mm256_storeu_si256((__m256i *)(void *)(to[3] + i), _mm256_permute2x128_si256(odd0, odd1, 0x31));
    }
}

/* The next block of a lane's message, the padding with the last one. x86 is little-endian: words are copied as they are. */
static void rf_four_absorb(rf_four *four, int s, const rf_sponge *sponge)
{
    const size_t rate = sponge->rate;
    const uint8_t *in = four->in[s];
    uint64_t word;
    size_t i;
    if (four->left[s] >= rate) {
        for (i = 0; i < rate / 8; i++) {
            memcpy(&word, in + 8 * i, 8);
            four->state[i][s] ^= word;
        }
        four->in[s] += rate;
        four->left[s] -= rate;
        return;
    }
    for (i = 0; i < four->left[s] / 8; i++) {
        memcpy(&word, in + 8 * i, 8);
        four->state[i][s] ^= word;
    }
    word = sponge->suffix;
    for (i = four->left[s]; i-- > four->left[s] / 8 * 8;)
        word = word << 8 | in[i];
    four->state[four->left[s] / 8][s] ^= word;
    four->state[rate / 8 - 1][s] ^= (uint64_t)1 << 63;
    four->padded[s] = 1;
}

/* The permutation on lane s alone, which takes less than on all. */
static void rf_four_one(rf_four *four, int s)
{
    uint64_t state[25];
    int i;
    for (i = 0; i < 25; i++)
        state[i] = four->state[i][s];
    rf_keccak(state);
    for (i = 0; i < 25; i++)
        four->state[i][s] = state[i];
}

int RF_NS(four_next)(rf_four *four, const uint8_t **out)
{
    uint64_t nowhere[24], *to[4], mask[4];
    for (;;) {
        uint64_t keep = ~(uint64_t)0;
        int s, busy = 0, last = 0;
        for (s = 0; s < 4; s++) {
            const int done = four->busy[s];
            if (done >= 0 && four->squeezed[s] == four->sponges[done].out_len) {
                four->busy[s] = -1;
                *out = (const uint8_t *)four->out[s];
                return done;
            }
        }
        for (s = 0; s < 4; s++) {
            mask[s] = ~(uint64_t)0;
            if (four->busy[s] < 0 && four->waits >= 0 &&
                rf_four_ready(four->sponges + four->waits, four->kept_left)) {
                rf_four_resume(four, s);
            } else if (four->busy[s] < 0 && four->next < four->count) {
                rf_four_take(four, s);
                mask[s] = 0;
            }
            keep &= mask[s];
        }
        if (keep == 0)
            rf_four_keep(four->state, mask);
        for (s = 0; s < 4; s++) {
            if (four->busy[s] >= 0) {
                busy++;
                last = s;
                if (!four->padded[s])
                    rf_four_absorb(four, s, four->sponges + four->busy[s]);
            }
        }
        if (busy == 0)
            return -1;
        if (busy == 1)
            rf_four_one(four, last);
        else
            rf_keccak_four(four->state);
        for (s = 0, busy = 0; s < 4; s++) {
            to[s] = nowhere;
            if (four->busy[s] >= 0 && four->padded[s]) {
                const rf_sponge *sponge = four->sponges + four->busy[s];
                size_t bytes = sponge->out_len - four->squeezed[s];
                to[s] = four->out[s] + four->squeezed[s] / 8;
                four->squeezed[s] += bytes < sponge->rate ? bytes : sponge->rate;
                busy++;
            }
        }
        if (busy > 0)
            rf_four_words(to, four->state);
        for (s = 0; s < 4; s++)
            if (four->busy[s] >= 0 && !four->padded[s] &&
                !rf_four_ready(four->sponges + four->busy[s], four->left[s]))
                rf_four_park(four, s);
    }
}

#endif /* RINGFORGE_KECCAK_FOUR_AVX2_H */
