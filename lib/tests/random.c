/* SPDX-License-Identifier: Apache-2.0 OR MIT OR ISC OR CC0-1.0 */
/* The hook for random bytes of the tests: NIST's generator, which can be made to fail. */
#include "test.h"

int random_calls_left = -1;
uint8_t *random_record = NULL;
int random_draws_of_zero = 0;

int NS(randombytes)(uint8_t *out, size_t len)
{
    size_t i;
    if (random_calls_left == 0)
        return -1;
    if (random_calls_left > 0)
        random_calls_left--;
    nist_bytes(out, len);
    if (random_draws_of_zero > 0) {
        random_draws_of_zero--;
        for (i = 0; i < len; i++)
            out[i] = (uint8_t)(0x15555556 >> (8 * (i % 4)));
    }
    if (random_record) {
        memcpy(random_record, out, len);
        random_record += len;
    }
    return 0;
}
