# SPDX-License-Identifier: Apache-2.0 OR MIT
# vpmaddwd of four times -2^15 is 2^31, which is no 32-bit number: a sum of two products of
# full words needs a bound.
#
# contract: z17_any.toml
# expect:
#   refuted
#   unmodelled (disjoint): an output is not linear modulo q; c[0] depends on it
#   for a = [32767, 32767], b = [32767, 32767]: element 0 is 9, the product's -8

    .intel_syntax noprefix
    .text
    .globl mul
    .type mul, @function
mul:
    vmovd xmm0, dword ptr [rsi]
    vmovd xmm1, dword ptr [rdx]
    vpmaddwd xmm2, xmm0, xmm1           # a0 b0 + a1 b1
    vpshuflw xmm3, xmm1, 0xe1
    vpmaddwd xmm3, xmm0, xmm3           # a0 b1 + a1 b0
    vpsrld xmm0, xmm0, 16
    vpsrld xmm1, xmm1, 16
    vpmaddwd xmm0, xmm0, xmm1           # a1 b1
    vpaddd xmm3, xmm3, xmm0
    vmovd eax, xmm2
    vmovd ecx, xmm3
    movsxd r8, eax
    imul r8, r8, 252645135              # 2^32 / 17
    sar r8, 32
    imul r8d, r8d, 17
    sub eax, r8d
    mov word ptr [rdi], ax
    movsxd r8, ecx
    imul r8, r8, 252645135
    sar r8, 32
    imul r8d, r8d, 17
    sub ecx, r8d
    mov word ptr [rdi + 2], cx
    ret
    .size mul, .-mul
    .section .rodata
    .align 32
v:  .fill 16, 2, 1928
q:  .fill 16, 2, 17
    .section .note.GNU-stack, "", @progbits
