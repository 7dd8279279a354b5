# SPDX-License-Identifier: Apache-2.0 OR MIT
# The contract's output range forgets the residue 8, which the code rightly returns.
#
# contract: z17_narrow.toml
# expect:
#   refuted
#   range (disjoint): c[0] may lie anywhere in [-8, 8] as far as ranges show; the contract allows [-8, 7]
#   for a = [-7], b = [-6]: element 0 is 8, the product's 8

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
