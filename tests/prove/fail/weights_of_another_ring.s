# SPDX-License-Identifier: Apache-2.0 OR MIT
# The leaves make x^4 + another constant, not x^4 + 1.
#
# contract: z17_forward.toml
# with: weights = [4, 12]
# expect:
#   contract error: contract, line 12, column 11: the product of all x^2 - w is not the ring's f: its coefficient of x^0 is 14, that of f is 1 modulo 17

    .intel_syntax noprefix
    .text
    .globl f
    .type f, @function
f:
    ret
    .size f, .-f
    .section .note.GNU-stack, "", @progbits
