# SPDX-License-Identifier: Apache-2.0 OR MIT
# Right for all pairs but a = 7, b = -5: an and of two comparisons adds one there.
#
# contract: z17.toml
# expect:
#   refuted
#   unmodelled (disjoint): an operation that is not linear combines values of several variables at 0x_: `vpand xmm2, xmm2, xmm3`; c[0] depends on it
#   for a = [7], b = [-5]: element 0 is 0, the product's -1

    .intel_syntax noprefix
    .text
    .globl mul
    .type mul, @function
mul:
    movzx eax, word ptr [rsi]
    vmovd xmm0, eax
    movzx eax, word ptr [rdx]
    vmovd xmm1, eax
    vpcmpeqw xmm2, xmm0, xmmword ptr s[rip]
    vpcmpeqw xmm3, xmm1, xmmword ptr t[rip]
    vpand xmm2, xmm2, xmm3
    vpmullw xmm0, xmm0, xmm1        # x = a b, |x| <= 64
    vpsubw xmm0, xmm0, xmm2
    vpmulhrsw xmm1, xmm0, xmmword ptr v[rip]    # round(x / 17)
    vpmullw xmm1, xmm1, xmmword ptr q[rip]
    vpsubw xmm0, xmm0, xmm1
    vpextrw word ptr [rdi], xmm0, 0
    ret
    .size mul, .-mul
    .section .rodata
    .align 32
v:  .fill 16, 2, 1928
q:  .fill 16, 2, 17
s:  .fill 16, 2, 7
t:  .fill 16, 2, -5
    .section .note.GNU-stack, "", @progbits
