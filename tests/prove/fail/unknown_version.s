# SPDX-License-Identifier: Apache-2.0 OR MIT
# A contract of a later version.
#
# contract: z17_four.toml
# with: contract = 2
# expect:
#   contract error: contract, line 2, column 12: this tool reads `contract = 1`

    .intel_syntax noprefix
    .text
    .globl mul
    .type mul, @function
mul:
    ret
    .size mul, .-mul
    .section .note.GNU-stack, "", @progbits
