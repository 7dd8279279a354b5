# SPDX-License-Identifier: Apache-2.0 OR MIT
# The second remainder of the odd coefficients is the first again.
#
# contract: z17_forward.toml
# expect:
#   refuted
#   function (disjoint): the coefficient of a[3] in c[3] is 4 modulo 17, but should be 13
#   for a = [0, 0, 0, 1]: element 3 is 4, the product's -4

    .intel_syntax noprefix
    .text
    .globl f
    .type f, @function
f:
    vmovq xmm0, qword ptr [rsi]
    vpshuflw xmm1, xmm0, 0xfa          # a2 a2 a3 a3
    vpshuflw xmm0, xmm0, 0x50          # a0 a0 a1 a1
    vpmullw xmm1, xmm1, xmmword ptr w[rip]
    vpaddw xmm0, xmm0, xmm1             # at most 40
    vpmulhrsw xmm1, xmm0, xmmword ptr v[rip]    # round(x / 17)
    vpmullw xmm1, xmm1, xmmword ptr q[rip]
    vpsubw xmm0, xmm0, xmm1
    vmovq qword ptr [rdi], xmm0
    ret
    .size f, .-f
    .section .rodata
    .align 32
v:  .fill 8, 2, 1928
q:  .fill 8, 2, 17
w:  .short 4, -4, 4, 4, 0, 0, 0, 0
    .section .note.GNU-stack, "", @progbits
