# SPDX-License-Identifier: Apache-2.0 OR MIT
# a + b.
#
# contract: z17.toml
# expect:
#   refuted
#   function (disjoint): for a = 0 and b = x^0 coefficient 0 is 1 modulo 17, but the product's is 0
#   for a = [0], b = [1]: element 0 is 1, the product's 0

    .intel_syntax noprefix
    .text
    .globl mul
    .type mul, @function
mul:
    movzx eax, word ptr [rsi]
    vmovd xmm0, eax
    movzx eax, word ptr [rdx]
    vmovd xmm1, eax
    vpaddw xmm0, xmm0, xmm1
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
    .section .note.GNU-stack, "", @progbits
