# SPDX-License-Identifier: Apache-2.0 OR MIT
# A batch has an element at least.
#
# contract: z17_batch.toml
# with: batch = 0
# expect:
#   contract error: contract, line 7, column 9: batch = 0: a number from 1 to 64 is expected

    .intel_syntax noprefix
    .text
    .globl mul
    .type mul, @function
mul:
    ret
    .size mul, .-mul
    .section .note.GNU-stack, "", @progbits
