# SPDX-License-Identifier: Apache-2.0 OR MIT
# Five coefficients where the ring has degree four.
#
# contract: z17_four.toml
# with: argument.a.length = 5
# expect:
#   contract error: contract, line 21, column 10: `a` has 5 elements, but the ring's elements have 4

    .intel_syntax noprefix
    .text
    .globl mul
    .type mul, @function
mul:
    ret
    .size mul, .-mul
    .section .note.GNU-stack, "", @progbits
