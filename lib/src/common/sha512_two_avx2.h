/*
 * sha512_two_avx2.h: one block each of two messages. Included by hash_builtin_sha2.c.
 *
 * A round of one message waits for its own sums; two messages in the halves of registers share them. Schedules have
 * the words t and t + 1 of both messages in one register of four: first's t, second's t, first's t + 1, second's t + 1.
 */
#define RF_TWO_XOR _mm_xor_si128
#define RF_TWO_TURN(x, n) _mm_xor_si128(_mm_srli_epi64(x, n), _mm_slli_epi64(x, 64 - (n)))
#define RF_TWO_TURNS(x, k, m, n) RF_TWO_XOR(RF_TWO_XOR(RF_TWO_TURN(x, k), RF_TWO_TURN(x, m)), RF_TWO_TURN(x, n))
/* One round of both; `both` as in RF_SHA512_ROUND. */
#define RF_TWO_ROUND(a, b, c, d, e, f, g, h, i)                                                    \
    do {                                                                                           \
        __m128i t_ = RF_TWO_XOR(a, b), s_ = _mm_add_epi64(h, _mm_load_si128(words + (i)));         \
        s_ = _mm_add_epi64(s_, RF_TWO_XOR(g, _mm_and_si128(e, RF_TWO_XOR(f, g))));                 \
        s_ = _mm_add_epi64(s_, RF_TWO_TURNS(e, 14, 18, 41));                                       \
        d = _mm_add_epi64(d, s_);                                                                  \
        both = _mm_and_si128(both, t_);                                                            \
        h = _mm_add_epi64(s_, _mm_add_epi64(RF_TWO_XOR(both, b), RF_TWO_TURNS(a, 28, 34, 39)));    \
        both = t_;                                                                                 \
    } while (0)
/* Words t and t + 1, plus constants: where rounds take them from, in the place of those 16 before. */
#define RF_TWO_PUT(t, y)                                                                           \
    _mm256_store_si256((__m256i *)(void *)(words + (t) % 16),                                      \
                       _mm256_add_epi64(y, _mm256_permute4x64_epi64(                               \
                                               _mm256_castsi128_si256(_mm_loadu_si128(             \
                                                   (const __m128i *)(const void *)(rf_sha512_k + (t)))), 0x50)))
/* Two rounds, and the words 16 later. */
#define RF_TWO_STEP(a, b, c, d, e, f, g, h, j)                                                     \
    do {                                                                                           \
        __m256i u_ = _mm256_permute2x128_si256(x[j], x[((j) + 1) % 8], 0x21), v_ = x[((j) + 7) % 8]; \
        x[j] = _mm256_add_epi64(x[j], _mm256_permute2x128_si256(x[((j) + 4) % 8], x[((j) + 5) % 8], 0x21)); \
        u_ = RF_XOR3(RF_TURN(u_, 1), _mm256_shuffle_epi8(u_, turn8), _mm256_srli_epi64(u_, 7));    \
        v_ = RF_XOR3(RF_TURN(v_, 19), RF_TURN(v_, 61), _mm256_srli_epi64(v_, 6));                  \
        x[j] = _mm256_add_epi64(x[j], _mm256_add_epi64(u_, v_));                                   \
        RF_TWO_ROUND(a, b, c, d, e, f, g, h, 2 * (j));                                             \
        RF_TWO_ROUND(h, a, b, c, d, e, f, g, 2 * (j) + 1);                                         \
        RF_TWO_PUT(n + 2 * (j), x[j]);                                                             \
    } while (0)

/* `state` has word i of the first message's in its low half i, of the second's in the high one. */
RF_AVX2 static void rf_sha512_block_two(__m128i state[8], __m128i words[16], const uint8_t *first, const uint8_t *second)
{
    const __m256i swap = _mm256_setr_epi8(7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2,
                                          1, 0, 15, 14, 13, 12, 11, 10, 9, 8);
    const __m256i turn8 = _mm256_setr_epi8(1, 2, 3, 4, 5, 6, 7, 0, 9, 10, 11, 12, 13, 14, 15, 8, 1, 2, 3, 4, 5, 6,
                                           7, 0, 9, 10, 11, 12, 13, 14, 15, 8);
    __m128i a = state[0], b = state[1], c = state[2], d = state[3];
    __m128i e = state[4], f = state[5], g = state[6], h = state[7], both = RF_TWO_XOR(b, c);
    __m256i x[8];
    int n;
    for (n = 0; n < 4; n++) {
        __m256i u = _mm256_loadu_si256((const __m256i *)(const void *)(first + 32 * n));
        __m256i v = _mm256_loadu_si256((const __m256i *)(const void *)(second + 32 * n));
        __m256i even, odd;
        u = _mm256_shuffle_epi8(u, swap);
        v = _mm256_shuffle_epi8(v, swap);
        even = _mm256_unpacklo_epi64(u, v);
        odd = _mm256_unpackhi_epi64(u, v);
        x[2 * n] = _mm256_permute2x128_si256(even, odd, 0x20);
        x[2 * n + 1] = _mm256_permute2x128_si256(even, odd, 0x31);
        RF_TWO_PUT(4 * n, x[2 * n]);
        RF_TWO_PUT(4 * n + 2, x[2 * n + 1]);
    }
    for (n = 16; n < 80; n += 16) {
        RF_TWO_STEP(a, b, c, d, e, f, g, h, 0);
        RF_TWO_STEP(g, h, a, b, c, d, e, f, 1);
        RF_TWO_STEP(e, f, g, h, a, b, c, d, 2);
        RF_TWO_STEP(c, d, e, f, g, h, a, b, 3);
        RF_TWO_STEP(a, b, c, d, e, f, g, h, 4);
        RF_TWO_STEP(g, h, a, b, c, d, e, f, 5);
        RF_TWO_STEP(e, f, g, h, a, b, c, d, 6);
        RF_TWO_STEP(c, d, e, f, g, h, a, b, 7);
    }
    RF_SHA512_ROUNDS(RF_TWO_ROUND, 0);
    RF_SHA512_ROUNDS(RF_TWO_ROUND, 8);
    state[0] = _mm_add_epi64(state[0], a);
    state[1] = _mm_add_epi64(state[1], b);
    state[2] = _mm_add_epi64(state[2], c);
    state[3] = _mm_add_epi64(state[3], d);
    state[4] = _mm_add_epi64(state[4], e);
    state[5] = _mm_add_epi64(state[5], f);
    state[6] = _mm_add_epi64(state[6], g);
    state[7] = _mm_add_epi64(state[7], h);
}

RF_AVX2 static void rf_sha512_blocks_two_avx2(uint64_t first[8], const uint8_t *in_first, uint64_t second[8],
                                              const uint8_t *in_second, size_t blocks)
{
    __m256i room[8]; /* words of 128 bits in pairs, aligned like them */
    __m128i state[8];
    int i;
    for (i = 0; i < 8; i++)
        state[i] = _mm_set_epi64x((int64_t)second[i], (int64_t)first[i]);
    for (; blocks > 0; blocks--, in_first += RF_SHA512_BLOCK, in_second += RF_SHA512_BLOCK)
        rf_sha512_block_two(state, (__m128i *)(void *)room, in_first, in_second);
    for (i = 0; i < 8; i++) {
        first[i] = (uint64_t)_mm_cvtsi128_si64(state[i]);
        second[i] = (uint64_t)_mm_extract_epi64(state[i], 1);
    }
}

#undef RF_TWO_XOR
#undef RF_TWO_TURN
#undef RF_TWO_TURNS
#undef RF_TWO_ROUND
#undef RF_TWO_PUT
#undef RF_TWO_STEP
