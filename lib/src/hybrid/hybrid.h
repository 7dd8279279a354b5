/* SPDX-License-Identifier: Apache-2.0 OR MIT OR ISC OR CC0-1.0 */
/* hybrid.h: what the sources of hybrids share. Internal. */
#ifndef RINGFORGE_HYBRID_INTERNAL_H
#define RINGFORGE_HYBRID_INTERNAL_H

#include "../common/wipe.h"

#include "../../include/ringforge_hybrid.h"

/* A curve's functions: the user's, or those that the library brings, under a name that no user defines by chance. */
#if RINGFORGE_ECDH == 2
#define RF_ECDH(name) RF_NS(RF_CAT(ecdh_, name))
#else
#define RF_ECDH(name) RF_NS(RF_CAT(library_ecdh_, name))
int RF_ECDH(point)(int curve, uint8_t *point, const uint8_t *scalar);
int RF_ECDH(agree)(int curve, uint8_t *shared, const uint8_t *scalar, const uint8_t *point);
#endif

#endif /* RINGFORGE_HYBRID_INTERNAL_H */
