/* SPDX-License-Identifier: Apache-2.0 OR MIT OR ISC OR CC0-1.0 */
/*
 * ringforge_config.h: everything about the library that its user may choose.
 *
 * Each choice is a macro. Define it on the compiler's command line, or name a header of your own
 * in RINGFORGE_CONFIG_FILE (with its quotes), or edit this file. Users of the library must see the
 * same values as the library itself.
 */
#ifndef RINGFORGE_CONFIG_H
#define RINGFORGE_CONFIG_H

#ifdef RINGFORGE_CONFIG_FILE
#include RINGFORGE_CONFIG_FILE
#endif

/* Every external symbol starts with this. */
#ifndef RINGFORGE_PREFIX
#define RINGFORGE_PREFIX ringforge_
#endif

/* Machine code: 0 chooses at run time, 1 is portable C only, 2 needs a processor with AVX2. */
#ifndef RINGFORGE_TARGET
#define RINGFORGE_TARGET 0
#endif

/* 1 takes little code and stack instead of little time, for firmware: one rolled loop of each kind,
 * arrays that are used again, portable C alone. */
#ifndef RINGFORGE_SMALL
#define RINGFORGE_SMALL 0
#endif

/* Hashing: 0 is built in, 1 is OpenSSL's libcrypto, 2 is yours (the five functions of
 * ringforge_kem.h under "hooks"). What is built in, no function of a program's replaces. */
#ifndef RINGFORGE_HASH
#define RINGFORGE_HASH 0
#endif

/* Random bytes: 0 is the operating system, 1 is OpenSSL's libcrypto, 2 is yours (see the same
 * place). */
#ifndef RINGFORGE_RANDOM
#define RINGFORGE_RANDOM 0
#endif

/* 1 tries each new key pair before it is given out: what is encapsulated to it, it opens (the pairwise consistency test of
 * FIPS 140-3). It costs an encapsulation and a decapsulation; no random bytes are drawn. */
#ifndef RINGFORGE_CHECK_PAIRS
#define RINGFORGE_CHECK_PAIRS 0
#endif

/* Windows: 1 where the library is compiled as a DLL, 2 where a program links one. */
#ifndef RINGFORGE_DLL
#define RINGFORGE_DLL 0
#endif

/* Without optimization secrets stay on the stack, and gcc and clang stop with an error. Defined, RINGFORGE_UNOPTIMIZED
 * accepts that, for a debugger. */

/* Which KEMs are compiled: 1 or 0 each. */
#ifndef RINGFORGE_ENABLE_ALL
#define RINGFORGE_ENABLE_ALL 1
#endif
#ifndef RINGFORGE_ENABLE_SNTRUP653
#define RINGFORGE_ENABLE_SNTRUP653 RINGFORGE_ENABLE_ALL
#endif
#ifndef RINGFORGE_ENABLE_SNTRUP761
#define RINGFORGE_ENABLE_SNTRUP761 RINGFORGE_ENABLE_ALL
#endif
#ifndef RINGFORGE_ENABLE_SNTRUP857
#define RINGFORGE_ENABLE_SNTRUP857 RINGFORGE_ENABLE_ALL
#endif
#ifndef RINGFORGE_ENABLE_SNTRUP953
#define RINGFORGE_ENABLE_SNTRUP953 RINGFORGE_ENABLE_ALL
#endif
#ifndef RINGFORGE_ENABLE_SNTRUP1013
#define RINGFORGE_ENABLE_SNTRUP1013 RINGFORGE_ENABLE_ALL
#endif
#ifndef RINGFORGE_ENABLE_SNTRUP1277
#define RINGFORGE_ENABLE_SNTRUP1277 RINGFORGE_ENABLE_ALL
#endif
#ifndef RINGFORGE_ENABLE_NTRULPR653
#define RINGFORGE_ENABLE_NTRULPR653 RINGFORGE_ENABLE_ALL
#endif
#ifndef RINGFORGE_ENABLE_NTRULPR761
#define RINGFORGE_ENABLE_NTRULPR761 RINGFORGE_ENABLE_ALL
#endif
#ifndef RINGFORGE_ENABLE_NTRULPR857
#define RINGFORGE_ENABLE_NTRULPR857 RINGFORGE_ENABLE_ALL
#endif
#ifndef RINGFORGE_ENABLE_NTRULPR953
#define RINGFORGE_ENABLE_NTRULPR953 RINGFORGE_ENABLE_ALL
#endif
#ifndef RINGFORGE_ENABLE_NTRULPR1013
#define RINGFORGE_ENABLE_NTRULPR1013 RINGFORGE_ENABLE_ALL
#endif
#ifndef RINGFORGE_ENABLE_NTRULPR1277
#define RINGFORGE_ENABLE_NTRULPR1277 RINGFORGE_ENABLE_ALL
#endif
#ifndef RINGFORGE_ENABLE_NTRUHPS2048509
#define RINGFORGE_ENABLE_NTRUHPS2048509 RINGFORGE_ENABLE_ALL
#endif
#ifndef RINGFORGE_ENABLE_NTRUHPS2048677
#define RINGFORGE_ENABLE_NTRUHPS2048677 RINGFORGE_ENABLE_ALL
#endif
#ifndef RINGFORGE_ENABLE_NTRUHPS4096821
#define RINGFORGE_ENABLE_NTRUHPS4096821 RINGFORGE_ENABLE_ALL
#endif
#ifndef RINGFORGE_ENABLE_NTRUHPS40961229
#define RINGFORGE_ENABLE_NTRUHPS40961229 RINGFORGE_ENABLE_ALL
#endif
#ifndef RINGFORGE_ENABLE_NTRUHRSS701
#define RINGFORGE_ENABLE_NTRUHRSS701 RINGFORGE_ENABLE_ALL
#endif
#ifndef RINGFORGE_ENABLE_NTRUHRSS1373
#define RINGFORGE_ENABLE_NTRUHRSS1373 RINGFORGE_ENABLE_ALL
#endif
#ifndef RINGFORGE_ENABLE_MLKEM512
#define RINGFORGE_ENABLE_MLKEM512 RINGFORGE_ENABLE_ALL
#endif
#ifndef RINGFORGE_ENABLE_MLKEM768
#define RINGFORGE_ENABLE_MLKEM768 RINGFORGE_ENABLE_ALL
#endif
#ifndef RINGFORGE_ENABLE_MLKEM1024
#define RINGFORGE_ENABLE_MLKEM1024 RINGFORGE_ENABLE_ALL
#endif

/* Hybrids of KEMs and curves, ringforge_hybrid.h: 0 leaves them out, 1 has the curves of OpenSSL's libcrypto, 2 those that
 * you link (the two functions under "hooks" there). */
#ifndef RINGFORGE_ECDH
#define RINGFORGE_ECDH 0
#endif

#endif /* RINGFORGE_CONFIG_H */
