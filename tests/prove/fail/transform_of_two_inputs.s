# SPDX-License-Identifier: Apache-2.0 OR MIT
# A transform takes one input.
#
# contract: z17_base.toml
# with: computes = "forward"
# expect:
#   contract error: contract, line 15, column 1: "forward" has one output and one input; this contract has 1 and 2

    .intel_syntax noprefix
    .text
    .globl f
    .type f, @function
f:
    ret
    .size f, .-f
    .section .note.GNU-stack, "", @progbits
