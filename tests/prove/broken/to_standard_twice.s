# SPDX-License-Identifier: Apache-2.0 OR MIT
# One element is copied to two places, another to none.
#
# contract: z17_to_standard.toml
# expect:
#   refuted
#   function (disjoint): the coefficient of a[0] in c[3] is 1 modulo 17, but should be 0
#   for a = [1, 0, 0, 0]: element 3 is 1, the product's 0

    .intel_syntax noprefix
    .text
    .globl f
    .type f, @function
f:
    vmovq xmm0, qword ptr [rsi]
    vpshuflw xmm0, xmm0, 0x9
    vmovq qword ptr [rdi], xmm0
    ret
    .size f, .-f
    .section .note.GNU-stack, "", @progbits
