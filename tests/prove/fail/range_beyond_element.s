# SPDX-License-Identifier: Apache-2.0 OR MIT
# The range does not fit the element.
#
# contract: z17_four.toml
# with: argument.a.range = [-40000, 40000]
# expect:
#   contract error: contract, line 23, column 9: the range [-40000, 40000] exceeds the element's [-32768, 32767]

    .intel_syntax noprefix
    .text
    .globl mul
    .type mul, @function
mul:
    ret
    .size mul, .-mul
    .section .note.GNU-stack, "", @progbits
