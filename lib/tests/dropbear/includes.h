/* SPDX-License-Identifier: Apache-2.0 OR MIT OR ISC OR CC0-1.0 */
/* includes.h: a stand-in for Dropbear's, whose options come with it. For tests. */
#ifndef STAND_IN_INCLUDES_H
#define STAND_IN_INCLUDES_H

#define DROPBEAR_SNTRUP761 1
#define DROPBEAR_MLKEM768 1

#endif /* STAND_IN_INCLUDES_H */
