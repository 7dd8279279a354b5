# SPDX-License-Identifier: Apache-2.0 OR MIT
# Comparisons with 7 and -9 where 8 and -8 were meant: 8 becomes -9 and stays.
#
# contract: z17.toml
# expect:
#   refuted
#   range (disjoint): c[0] may lie anywhere in [-9, 7] as far as ranges show; the contract allows [-8, 8]
#   for a = [-7], b = [-6]: element 0 is -9, the product's 8

    .intel_syntax noprefix
    .text
    .globl mul
    .type mul, @function
mul:
    movzx eax, word ptr [rsi]
    vmovd xmm0, eax
    movzx eax, word ptr [rdx]
    vmovd xmm1, eax
    vpmullw xmm0, xmm0, xmm1        # x = a b, |x| <= 64
    vpmulhrsw xmm1, xmm0, xmmword ptr v[rip]    # 1/34 only: round(x / 34)
    vpmullw xmm1, xmm1, xmmword ptr q2[rip]
    vpsubw xmm0, xmm0, xmm1                     # |x| <= 17
    vpcmpgtw xmm1, xmm0, xmmword ptr h[rip]     # x > 8?
    vpand xmm1, xmm1, xmmword ptr q[rip]
    vpsubw xmm0, xmm0, xmm1
    vmovdqa xmm1, xmmword ptr m[rip]
    vpcmpgtw xmm1, xmm1, xmm0                   # -8 > x?
    vpand xmm1, xmm1, xmmword ptr q[rip]
    vpaddw xmm0, xmm0, xmm1
    vpextrw word ptr [rdi], xmm0, 0
    ret
    .size mul, .-mul
    .section .rodata
    .align 32
v:  .fill 16, 2, 964
q:  .fill 16, 2, 17
q2: .fill 16, 2, 34
h:  .fill 16, 2, 7
m:  .fill 16, 2, -9
    .section .note.GNU-stack, "", @progbits
