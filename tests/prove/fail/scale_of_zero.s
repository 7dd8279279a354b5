# SPDX-License-Identifier: Apache-2.0 OR MIT
# Zero times anything is no transform.
#
# contract: z17_forward.toml
# with: scale = 0
# expect:
#   contract error: contract, line 7, column 9: scale = 0: a residue from 1 to 16 is expected

    .intel_syntax noprefix
    .text
    .globl f
    .type f, @function
f:
    ret
    .size f, .-f
    .section .note.GNU-stack, "", @progbits
