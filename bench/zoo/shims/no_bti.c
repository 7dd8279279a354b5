/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* aws-lc's headers promise BTI for every object that is assembled with them, but these functions do not begin with the
 * instruction that an indirect call has to land on. What is linked with an object that promises nothing promises nothing. */
typedef int zoo_nothing;
