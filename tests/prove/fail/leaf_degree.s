# SPDX-License-Identifier: Apache-2.0 OR MIT
# 3 does not divide 4.
#
# contract: z17_forward.toml
# with: degree = 3
# expect:
#   contract error: contract, line 11, column 10: degree = 3: a divisor of the ring's degree 4 is expected

    .intel_syntax noprefix
    .text
    .globl f
    .type f, @function
f:
    ret
    .size f, .-f
    .section .note.GNU-stack, "", @progbits
