# SPDX-License-Identifier: Apache-2.0 OR MIT
# Not TOML.
#
# contract: z17_four.toml
# with: contract =
# expect:
#   contract error: contract, line 2, column 11: string values must be quoted, expected literal string

    .intel_syntax noprefix
    .text
    .globl mul
    .type mul, @function
mul:
    ret
    .size mul, .-mul
    .section .note.GNU-stack, "", @progbits
