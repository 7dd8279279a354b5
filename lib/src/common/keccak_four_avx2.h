/* keccak_four_avx2.h: four sponges side by side, with AVX2. Part of hash_builtin_sha3.c. */
#ifndef RINGFORGE_KECCAK_FOUR_AVX2_H
#define RINGFORGE_KECCAK_FOUR_AVX2_H

#include <immintrin.h>

#define WORD __m256i
#define XOR(a, b) _mm256_xor_si256(a, b)
#define CHI(a, b, c) _mm256_xor_si256(a, _mm256_andnot_si256(b, c))
/* Turns by whole bytes are one shuffle. */
#define TURN(a, t)                                                                                 \
    ((t) == 0    ? (a)                                                                             \
     : (t) == 8  ? _mm256_shuffle_epi8(a, by8)                                                     \
     : (t) == 56 ? _mm256_shuffle_epi8(a, by56)                                                    \
                 : _mm256_or_si256(_mm256_slli_epi64(a, t), _mm256_srli_epi64(a, (64 - (t)) & 63)))

/* The permutation on four states: lane i of state s is word s of state[i]. */
RF_AVX2 static void rf_keccak_four(uint64_t state[25][4])
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
#undef CHI
#undef TURN

void RF_NS(four_begin)(rf_four *four, const rf_sponge *sponges, int count)
{
    int s;
    four->sponges = sponges;
    four->count = count;
    four->next = 0;
    for (s = 0; s < 4; s++)
        four->busy[s] = -1;
}

/* A lane takes the next sponge. */
static void rf_four_take(rf_four *four, int s)
{
    const rf_sponge *sponge = four->sponges + four->next;
    int i;
    four->busy[s] = four->next++;
    four->in[s] = sponge->in;
    four->left[s] = sponge->len;
    four->squeezed[s] = 0;
    four->padded[s] = 0;
    for (i = 0; i < 25; i++)
        four->state[i][s] = 0;
}

/* The next block of a lane's message, the padding with the last one. x86 is little-endian: words are copied as they are. */
static void rf_four_absorb(rf_four *four, int s, const rf_sponge *sponge)
{
    const size_t rate = sponge->rate;
    uint64_t block[RF_SHAKE128_RATE / 8];
    size_t i;
    if (four->left[s] >= rate) {
        memcpy(block, four->in[s], rate);
        four->in[s] += rate;
        four->left[s] -= rate;
    } else {
        uint8_t *const bytes = (uint8_t *)block;
        memset(bytes, 0, rate);
        memcpy(bytes, four->in[s], four->left[s]);
        bytes[four->left[s]] ^= sponge->suffix;
        bytes[rate - 1] ^= 0x80;
        four->padded[s] = 1;
    }
    for (i = 0; i < rate / 8; i++)
        four->state[i][s] ^= block[i];
}

int RF_NS(four_next)(rf_four *four, const uint8_t **out)
{
    for (;;) {
        int s, idle = 1;
        for (s = 0; s < 4; s++) {
            const int done = four->busy[s];
            if (done >= 0 && four->squeezed[s] == four->sponges[done].out_len) {
                four->busy[s] = -1;
                *out = (const uint8_t *)four->out[s];
                return done;
            }
        }
        for (s = 0; s < 4; s++) {
            if (four->busy[s] < 0 && four->next < four->count)
                rf_four_take(four, s);
            if (four->busy[s] >= 0) {
                idle = 0;
                if (!four->padded[s])
                    rf_four_absorb(four, s, four->sponges + four->busy[s]);
            }
        }
        if (idle)
            return -1;
        rf_keccak_four(four->state);
        for (s = 0; s < 4; s++) {
            if (four->busy[s] >= 0 && four->padded[s]) {
                const rf_sponge *sponge = four->sponges + four->busy[s];
                size_t words = (sponge->out_len - four->squeezed[s]) / 8, i;
                uint64_t *out_words = four->out[s] + four->squeezed[s] / 8;
                if (words > (size_t)sponge->rate / 8)
                    words = (size_t)sponge->rate / 8;
                for (i = 0; i < words; i++)
                    out_words[i] = four->state[i][s];
                four->squeezed[s] += 8 * words;
            }
        }
    }
}

#endif /* RINGFORGE_KECCAK_FOUR_AVX2_H */
