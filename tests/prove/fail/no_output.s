# SPDX-License-Identifier: Apache-2.0 OR MIT
# Nothing would be proved.
#
# contract: z17_four.toml
# with: argument.c.role = "input"
# expect:
#   contract error: contract, line 9, column 1: a product has one output and two inputs; this contract has 0 and 3

    .intel_syntax noprefix
    .text
    .globl mul
    .type mul, @function
mul:
    ret
    .size mul, .-mul
    .section .note.GNU-stack, "", @progbits
