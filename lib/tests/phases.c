/* Cycles of single phases; includes the sources, since they are static. phases [portable] */
#include "../src/prime/prime761.c"

#include "cycles.h"
#include "test.h"

int main(int argc, char **argv)
{
    static int16_t a[761], b[761], c[761];
    static uint8_t bytes[4 * 761], out[2048], pk[1158];
    static uint32_t list[761];
    double min, median;
    int i;
    NS(test_portable) = argc > 1 && strcmp(argv[1], "portable") == 0;
    for (i = 0; i < 4 * 761; i++)
        bytes[i] = (uint8_t)(i * i * 37 >> 3 ^ i);
#define PHASE(name, statement)                                                                     \
    do {                                                                                           \
        CYCLES(min, median, statement);                                                            \
        printf("%-28s %9.0f / %9.0f\n", name, min, median);                                        \
    } while (0)
    rf_prime761_short_of(a, bytes, 286);
    rf_prime761_small_of(b, bytes);
    PHASE("recip mod q", rf_prime761_recip3(c, a));
    PHASE("recip mod 3", rf_prime761_recip_mod3(b, b));
    rf_prime761_recip3(c, a);
    PHASE("product mod q", rf_prime761_mul(c, c, a));
    PHASE("product mod 3", rf_prime761_mul3(b, b, a));
    PHASE("sort", memcpy(list, bytes, sizeof list); RF_NS(sort_u32)(list, 761));
    PHASE("short_of", rf_prime761_short_of(a, bytes, 286));
    PHASE("small_of", rf_prime761_small_of(b, bytes));
    PHASE("small_encode", rf_prime761_small_encode(out, a));
    PHASE("small_decode", rf_prime761_small_decode(b, out));
    PHASE("rq_encode", rf_prime761_rq_encode(pk, c));
    PHASE("rq_decode", rf_prime761_rq_decode(c, pk));
    PHASE("rounded_encode", rf_prime761_round(b, c); rf_prime761_rounded_encode(out, b));
    PHASE("rounded_decode", rf_prime761_rounded_decode(b, out));
    PHASE("hash of pk", rf_prime761_hash(out, 4, pk, sizeof pk, NULL, 0));
    return 0;
}
int NS(randombytes)(uint8_t *out, size_t len)
{
    memset(out, 1, len);
    return 0;
}
