# SPDX-License-Identifier: Apache-2.0 OR MIT
# Each array holds all elements of the batch.
#
# contract: z17_batch.toml
# with: batch = 3
# expect:
#   contract error: contract, line 14, column 10: `c` has 4 elements, but the ring's elements have 2, and there are 3 of them

    .intel_syntax noprefix
    .text
    .globl mul
    .type mul, @function
mul:
    ret
    .size mul, .-mul
    .section .note.GNU-stack, "", @progbits
