# SPDX-License-Identifier: Apache-2.0 OR MIT
# packssdw saturates where truncation was meant: 1024 a b reaches 65536, and shifting back
# does not undo it.
#
# contract: z17.toml
# expect:
#   refuted
#   unmodelled (disjoint): an output is not linear modulo q at 0x_: `vpsubw xmm0, xmm0, xmm1`; c[0] depends on it
#   for a = [8], b = [8]: element 0 is -3, the product's -4

    .intel_syntax noprefix
    .text
    .globl mul
    .type mul, @function
mul:
    movsx eax, word ptr [rsi]
    movsx ecx, word ptr [rdx]
    imul eax, ecx                   # x = a b, |x| <= 64
    shl eax, 10
    vmovd xmm0, eax
    vpackssdw xmm0, xmm0, xmm0          # 1024 x does not fit
    vpsraw xmm0, xmm0, 10
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
