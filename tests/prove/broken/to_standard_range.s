# SPDX-License-Identifier: Apache-2.0 OR MIT
# Elements are copied, and copies are as wide.
#
# contract: z17_to_standard.toml
# with: argument.c.range = [-8, 7]
# expect:
#   refuted
#   range (disjoint): c[0] may lie anywhere in [-8, 8] as far as ranges show; the contract allows [-8, 7]
#   for a = [0, 8, 0, 0]: element 0 is 8, the product's 8

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
