/* SPDX-License-Identifier: Apache-2.0 OR MIT OR ISC OR CC0-1.0 */
/* sort.h: internal. */
#ifndef RINGFORGE_SORT_H
#define RINGFORGE_SORT_H

#include "common.h"

/* Sorts n words in ascending order, in constant time. */
void RF_NS(sort_u32)(uint32_t *x, int n);

#endif /* RINGFORGE_SORT_H */
