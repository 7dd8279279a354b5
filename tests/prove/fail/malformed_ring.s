# SPDX-License-Identifier: Apache-2.0 OR MIT
# The ring is not closed.
#
# contract: z17_four.toml
# with: ring = "Z17[x]/(x^4 - x - 1"
# expect:
#   contract error: contract, line 5, column 28: the ring: expected `)`, `+` or `-` after a term of f

    .intel_syntax noprefix
    .text
    .globl mul
    .type mul, @function
mul:
    ret
    .size mul, .-mul
    .section .note.GNU-stack, "", @progbits
