/* SPDX-License-Identifier: Apache-2.0 OR MIT OR ISC OR CC0-1.0 */
/* includes.h: a stand-in for OpenSSH's, whose configuration comes with it. For tests. */
#ifndef STAND_IN_INCLUDES_H
#define STAND_IN_INCLUDES_H

#define HAVE_STDINT_H 1
#define USE_SNTRUP761X25519 1
#define USE_MLKEM768X25519 1

#endif /* STAND_IN_INCLUDES_H */
