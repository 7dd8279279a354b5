# SPDX-License-Identifier: Apache-2.0 OR MIT
# Three is no power of two.
#
# contract: z17_four.toml
# with: argument.a.align = 3
# expect:
#   contract error: contract, line 22, column 9: align = 3: a power of two up to 4096 is expected

    .intel_syntax noprefix
    .text
    .globl mul
    .type mul, @function
mul:
    ret
    .size mul, .-mul
    .section .note.GNU-stack, "", @progbits
