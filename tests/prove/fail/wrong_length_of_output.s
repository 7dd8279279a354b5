# SPDX-License-Identifier: Apache-2.0 OR MIT
# The output is longer than the ring's degree.
#
# contract: z17_four.toml
# with: argument.c.length = 8
# expect:
#   contract error: contract, line 13, column 10: `c` has 8 elements, but the ring's elements have 4

    .intel_syntax noprefix
    .text
    .globl mul
    .type mul, @function
mul:
    ret
    .size mul, .-mul
    .section .note.GNU-stack, "", @progbits
