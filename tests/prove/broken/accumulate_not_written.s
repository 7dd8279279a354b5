# SPDX-License-Identifier: Apache-2.0 OR MIT
# Nothing is done: c keeps its value.
#
# contract: z17_accumulate.toml
# expect:
#   refuted
#   function (disjoint): the coefficient of a[0]*b[0] in c[0] is 0 modulo 17, but should be 1
#   for c = [0, 0, 0, 0], a = [1, 0, 0, 0], b = [1, 0, 0, 0]: element 0 is 0, the product's 1

    .intel_syntax noprefix
    .text
    .globl f
    .type f, @function
f:
    ret
    .size f, .-f
    .section .note.GNU-stack, "", @progbits
