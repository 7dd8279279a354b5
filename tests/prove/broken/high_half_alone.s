# SPDX-License-Identifier: Apache-2.0 OR MIT
# An unreduced high half is not linear: the high half of 4096 a b is a b / 16 rounded down.
#
# contract: z17.toml
# expect:
#   refuted
#   function (disjoint): a function of one value is added to other values, and it is not linear modulo q at 0x_: `vpmulhw xmm0, xmm0, xmm1`; c[0] depends on it
#   for a = [-8], b = [8]: element 0 is -4, the product's 4

    .intel_syntax noprefix
    .text
    .globl mul
    .type mul, @function
mul:
    movzx eax, word ptr [rsi]
    vmovd xmm0, eax
    movzx eax, word ptr [rdx]
    vmovd xmm1, eax
    vpmullw xmm0, xmm0, xmmword ptr r[rip]
    vpmulhw xmm0, xmm0, xmm1
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
r:  .fill 16, 2, 4096
    .section .note.GNU-stack, "", @progbits
