/* SPDX-License-Identifier: Apache-2.0 OR MIT OR ISC OR CC0-1.0 */
/* Random bytes of the operating system (RINGFORGE_RANDOM 0). */
#if (defined(__linux__) || defined(__wasi__)) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* getrandom, getentropy */
#endif
#include "common.h"

#if RINGFORGE_RANDOM == 0

#if defined(_WIN32)
#include <windows.h>
/* after windows.h */
#include <bcrypt.h>

int RF_RANDOM(randombytes)(uint8_t *out, size_t len)
{
    while (len > 0) {
        ULONG part = len < 65536 ? (ULONG)len : 65536;
        if (BCryptGenRandom(NULL, out, part, BCRYPT_USE_SYSTEM_PREFERRED_RNG) != 0)
            return -1;
        out += part;
        len -= part;
    }
    return 0;
}

#elif defined(__linux__)
#include <errno.h>
#include <sys/random.h>

int RF_RANDOM(randombytes)(uint8_t *out, size_t len)
{
    while (len > 0) {
        ssize_t got = getrandom(out, len, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return -1;
        out += got;
        len -= (size_t)got;
    }
    return 0;
}

#elif defined(__APPLE__) || defined(__FreeBSD__) || defined(__OpenBSD__) || defined(__NetBSD__)
#include <stdlib.h>

int RF_RANDOM(randombytes)(uint8_t *out, size_t len)
{
    arc4random_buf(out, len);
    return 0;
}

#elif defined(__wasi__)
#include <unistd.h>

int RF_RANDOM(randombytes)(uint8_t *out, size_t len)
{
    while (len > 0) {
        size_t part = len < 256 ? len : 256; /* as many as it gives at once */
        if (getentropy(out, part) != 0)
            return -1;
        out += part;
        len -= part;
    }
    return 0;
}

#else
#error "No source of random bytes is known here: define RINGFORGE_RANDOM as 2 and link one of yours"
#endif

#else
typedef int rf_no_system_random; /* C has no empty sources */
#endif
