# SPDX-License-Identifier: Apache-2.0 OR MIT
# No value lies in the range.
#
# contract: z17_four.toml
# with: argument.a.range = [8, -8]
# expect:
#   contract error: contract, line 23, column 9: the range [8, -8] is empty

    .intel_syntax noprefix
    .text
    .globl mul
    .type mul, @function
mul:
    ret
    .size mul, .-mul
    .section .note.GNU-stack, "", @progbits
