# SPDX-License-Identifier: Apache-2.0 OR MIT
# The result is congruent but not reduced: up to 64.
#
# contract: z17.toml
# expect:
#   refuted
#   range (disjoint): c[0] may lie anywhere in [-64, 64] as far as ranges show; the contract allows [-8, 8]
#   for a = [8], b = [8]: element 0 is 64, the product's -4

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
    vpextrw word ptr [rdi], xmm0, 0
    ret
    .size mul, .-mul
    .section .rodata
    .align 32
v:  .fill 16, 2, 1928
q:  .fill 16, 2, 17
    .section .note.GNU-stack, "", @progbits
