# SPDX-License-Identifier: Apache-2.0 OR MIT
# What is added to must be read.
#
# contract: z17_accumulate.toml
# with: argument.c.role = "output"
# expect:
#   contract error: contract, line 15, column 1: an accumulation has one argument of role "inout" and two inputs; this contract has 0 and 2, and one output

    .intel_syntax noprefix
    .text
    .globl f
    .type f, @function
f:
    ret
    .size f, .-f
    .section .note.GNU-stack, "", @progbits
