# SPDX-License-Identifier: Apache-2.0 OR MIT
# Right for |a|, |b| <= 8, but the contract promises only |a|, |b| <= 300: a b does not fit 16
# bits.
#
# contract: z17_wide.toml
# expect:
#   refuted
#   range (disjoint): a sum of 2 terms may lie anywhere in [-122776, 122776] and need not fit 16 bits ([-32768, 32767]) at 0x_: `vpsubw xmm0, xmm0, xmm1`; c[0] depends on it
#   for a = [300], b = [300]: element 0 is 1, the product's 2

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
