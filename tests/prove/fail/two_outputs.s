# SPDX-License-Identifier: Apache-2.0 OR MIT
# A product has one result.
#
# contract: z17_four.toml
# with: argument.a.role = "output"
# expect:
#   contract error: contract, line 9, column 1: a product has one output and two inputs; this contract has 2 and 1

    .intel_syntax noprefix
    .text
    .globl mul
    .type mul, @function
mul:
    ret
    .size mul, .-mul
    .section .note.GNU-stack, "", @progbits
