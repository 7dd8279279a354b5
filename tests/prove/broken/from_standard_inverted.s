# SPDX-License-Identifier: Apache-2.0 OR MIT
# The way to the standard order is no way from it.
#
# contract: z17_from_standard.toml
# expect:
#   refuted
#   function (disjoint): the coefficient of a[1] in c[0] is 1 modulo 17, but should be 0
#   for a = [0, 1, 0, 0]: element 0 is 1, the product's 0

    .intel_syntax noprefix
    .text
    .globl f
    .type f, @function
f:
    vmovq xmm0, qword ptr [rsi]
    vpshuflw xmm0, xmm0, 0xc9
    vmovq qword ptr [rdi], xmm0
    ret
    .size f, .-f
    .section .note.GNU-stack, "", @progbits
