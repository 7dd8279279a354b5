/*
 * sha512_four_avx2.h: one block each of four messages, one in each lane of the registers. Included by
 * hash_builtin_sha2.c.
 */
#define RF_FOUR_TURNS(x, k, m, n) RF_XOR3(RF_TURN(x, k), RF_TURN(x, m), RF_TURN(x, n))
/* Round n + i of all, its word in w[i]. */
#define RF_FOUR_ROUND(a, b, c, d, e, f, g, h, i)                                                   \
    do {                                                                                           \
        __m256i t_ = _mm256_xor_si256(a, b);                                                       \
        __m256i s_ = _mm256_add_epi64(w[i], _mm256_set1_epi64x((int64_t)rf_sha512_k[n + (i)]));    \
        s_ = _mm256_add_epi64(_mm256_add_epi64(s_, h),                                             \
                              _mm256_xor_si256(g, _mm256_and_si256(e, _mm256_xor_si256(f, g))));   \
        s_ = _mm256_add_epi64(s_, RF_FOUR_TURNS(e, 14, 18, 41));                                   \
        d = _mm256_add_epi64(d, s_);                                                               \
        both = _mm256_and_si256(both, t_);                                                         \
        h = _mm256_add_epi64(s_, _mm256_add_epi64(_mm256_xor_si256(both, b), RF_FOUR_TURNS(a, 28, 34, 39))); \
        both = t_;                                                                                 \
    } while (0)

/* Four registers of four words, rows to columns. */
RF_AVX2 static inline void rf_sha512_turn_four(__m256i x[4])
{
    __m256i a = _mm256_unpacklo_epi64(x[0], x[1]), b = _mm256_unpackhi_epi64(x[0], x[1]);
    __m256i c = _mm256_unpacklo_epi64(x[2], x[3]), d = _mm256_unpackhi_epi64(x[2], x[3]);
    x[0] = _mm256_permute2x128_si256(a, c, 0x20);
    x[1] = _mm256_permute2x128_si256(b, d, 0x20);
    x[2] = _mm256_permute2x128_si256(a, c, 0x31);
    x[3] = _mm256_permute2x128_si256(b, d, 0x31);
}

/* state[i] has word i of the four, w is room for words. */
RF_AVX2 static void rf_sha512_block_four(__m256i state[8], __m256i w[16], const uint8_t *const in[4], size_t at)
{
    const __m256i swap = _mm256_setr_epi8(7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2,
                                          1, 0, 15, 14, 13, 12, 11, 10, 9, 8);
    __m256i a = state[0], b = state[1], c = state[2], d = state[3];
    __m256i e = state[4], f = state[5], g = state[6], h = state[7], both = _mm256_xor_si256(b, c);
    int n, i;
    for (n = 0; n < 4; n++) {
        for (i = 0; i < 4; i++)
            w[4 * n + i] = _mm256_shuffle_epi8(_mm256_loadu_si256((const __m256i *)(const void *)(in[i] + at + 32 * n)), swap);
        rf_sha512_turn_four(w + 4 * n);
    }
    for (n = 0; n < 64; n += 16) {
        RF_SHA512_ROUNDS(RF_FOUR_ROUND, 0);
        RF_SHA512_ROUNDS(RF_FOUR_ROUND, 8);
        for (i = 0; i < 16; i++) { /* the words 16 later */
            __m256i x = w[(i + 1) & 15], y = w[(i + 14) & 15];
            x = RF_XOR3(RF_TURN(x, 1), RF_TURN(x, 8), _mm256_srli_epi64(x, 7));
            y = RF_XOR3(RF_TURN(y, 19), RF_TURN(y, 61), _mm256_srli_epi64(y, 6));
            w[i] = _mm256_add_epi64(_mm256_add_epi64(w[i], w[(i + 9) & 15]), _mm256_add_epi64(x, y));
        }
    }
    RF_SHA512_ROUNDS(RF_FOUR_ROUND, 0);
    RF_SHA512_ROUNDS(RF_FOUR_ROUND, 8);
    state[0] = _mm256_add_epi64(state[0], a);
    state[1] = _mm256_add_epi64(state[1], b);
    state[2] = _mm256_add_epi64(state[2], c);
    state[3] = _mm256_add_epi64(state[3], d);
    state[4] = _mm256_add_epi64(state[4], e);
    state[5] = _mm256_add_epi64(state[5], f);
    state[6] = _mm256_add_epi64(state[6], g);
    state[7] = _mm256_add_epi64(state[7], h);
}

RF_AVX2 static void rf_sha512_blocks_four_avx2(uint64_t states[4][8], const uint8_t *const in[4], size_t blocks)
{
    __m256i state[8], w[16];
    size_t k;
    int i;
    for (i = 0; i < 4; i++) {
        state[i] = _mm256_loadu_si256((const __m256i *)(const void *)states[i]);
        state[4 + i] = _mm256_loadu_si256((const __m256i *)(const void *)(states[i] + 4));
    }
    rf_sha512_turn_four(state);
    rf_sha512_turn_four(state + 4);
    for (k = 0; k < blocks; k++)
        rf_sha512_block_four(state, w, in, RF_SHA512_BLOCK * k);
    rf_sha512_turn_four(state);
    rf_sha512_turn_four(state + 4);
    for (i = 0; i < 4; i++) {
        _mm256_storeu_si256((__m256i *)(void *)states[i], state[i]);
        _mm256_storeu_si256((__m256i *)(void *)(states[i] + 4), state[4 + i]);
    }
}

#undef RF_FOUR_TURNS
#undef RF_FOUR_ROUND
