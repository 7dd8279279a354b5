# SPDX-License-Identifier: Apache-2.0 OR MIT
# Each array holds all elements of the batch.
#
# contract: z17_batch.toml
# with: batch = 3
# expect:
#   contract error: X

    .intel_syntax noprefix
    .text
    .globl mul
    .type mul, @function
mul:
    ret
    .size mul, .-mul
    .section .note.GNU-stack, "", @progbits
