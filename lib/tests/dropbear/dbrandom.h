/* SPDX-License-Identifier: Apache-2.0 OR MIT OR ISC OR CC0-1.0 */
/* dbrandom.h: a stand-in for Dropbear's. The bytes come from dropbear.c. */
#ifndef STAND_IN_DBRANDOM_H
#define STAND_IN_DBRANDOM_H

void genrandom(unsigned char *buf, unsigned int len);

#endif /* STAND_IN_DBRANDOM_H */
