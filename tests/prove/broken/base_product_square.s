# SPDX-License-Identifier: Apache-2.0 OR MIT
# a times a.
#
# contract: z17_base.toml
# expect:
#   refuted
#   function (disjoint): a function of one value is added to other values, and it is not linear modulo q at 0x_: `vpsubw xmm0, xmm0, xmm1`; c[0] depends on it
#   for a = [8, 8, 8, 8], b = [-8, -8, -8, -8]: element 0 is -6, the product's 6

    .intel_syntax noprefix
    .text
    .globl f
    .type f, @function
f:
    vmovq xmm0, qword ptr [rsi]                 # a0 a0' a1 a1'
    vmovq xmm1, qword ptr [rsi]
    vpshuflw xmm2, xmm0, 0x44                   # a0 a0' a0 a0'
    vpmullw xmm2, xmm2, xmm1                    # a0 b0, a0 b1
    vpshuflw xmm0, xmm0, 0xee                   # a1 a1' a1 a1'
    vpshuflw xmm1, xmm1, 0x4e                   # b1 b1' b0 b0'
    vpmullw xmm0, xmm0, xmm1                    # a1 b1, a1 b0
    vpmullw xmm0, xmm0, xmmword ptr w[rip]      # a1 b1 by w
    vpaddw xmm0, xmm0, xmm2                     # at most 320
    vpaddw xmm0, xmm0, xmm0
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
w:  .short 4, -4, 1, 1, 0, 0, 0, 0
    .section .note.GNU-stack, "", @progbits
