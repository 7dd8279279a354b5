# SPDX-License-Identifier: Apache-2.0 OR MIT
# Only accumulations add to something.
#
# contract: z17_forward.toml
# with: argument.c.role = "inout"
# expect:
#   contract error: contract, line 15, column 1: `c` has the role "inout": "forward" in place has one argument of that role, no output and no input; this contract has 0 and 1

    .intel_syntax noprefix
    .text
    .globl f
    .type f, @function
f:
    ret
    .size f, .-f
    .section .note.GNU-stack, "", @progbits
