# SPDX-License-Identifier: Apache-2.0 OR MIT
# Leaves of degree 2 in a ring of degree 4 are two.
#
# contract: z17_forward.toml
# with: weights = [4]
# expect:
#   contract error: contract, line 12, column 11: `weights` has length 1: a ring of degree 4 has 2 leaves of degree 2

    .intel_syntax noprefix
    .text
    .globl f
    .type f, @function
f:
    ret
    .size f, .-f
    .section .note.GNU-stack, "", @progbits
