# SPDX-License-Identifier: Apache-2.0 OR MIT
# A vector gather is a table look-up too.
#
# contract: z17.toml
# expect:
#   unknown
#   unmodelled (disjoint): unsupported: this instruction is not on the whitelist at 0x_ (mul+0x_): `vpgatherdd xmm0, [rcx+xmm1*4], xmm2`, bytes c4 e2 69 90 04 89

    .intel_syntax noprefix
    .text
    .globl mul
    .type mul, @function
mul:
    movsx eax, word ptr [rsi]
    movsx ecx, word ptr [rdx]
    imul eax, ecx                   # x = a b, |x| <= 64
    add eax, 64
    vmovd xmm1, eax
    lea rcx, t[rip]
    vpcmpeqd xmm2, xmm2, xmm2
    vpgatherdd xmm0, dword ptr [rcx + xmm1*4], xmm2
    vpextrw word ptr [rdi], xmm0, 0
    ret
    .size mul, .-mul
    .section .rodata
    .align 4
t:
    .long 4
    .long 5
    .long 6
    .long 7
    .long 8
    .long -8
    .long -7
    .long -6
    .long -5
    .long -4
    .long -3
    .long -2
    .long -1
    .long 0
    .long 1
    .long 2
    .long 3
    .long 4
    .long 5
    .long 6
    .long 7
    .long 8
    .long -8
    .long -7
    .long -6
    .long -5
    .long -4
    .long -3
    .long -2
    .long -1
    .long 0
    .long 1
    .long 2
    .long 3
    .long 4
    .long 5
    .long 6
    .long 7
    .long 8
    .long -8
    .long -7
    .long -6
    .long -5
    .long -4
    .long -3
    .long -2
    .long -1
    .long 0
    .long 1
    .long 2
    .long 3
    .long 4
    .long 5
    .long 6
    .long 7
    .long 8
    .long -8
    .long -7
    .long -6
    .long -5
    .long -4
    .long -3
    .long -2
    .long -1
    .long 0
    .long 1
    .long 2
    .long 3
    .long 4
    .long 5
    .long 6
    .long 7
    .long 8
    .long -8
    .long -7
    .long -6
    .long -5
    .long -4
    .long -3
    .long -2
    .long -1
    .long 0
    .long 1
    .long 2
    .long 3
    .long 4
    .long 5
    .long 6
    .long 7
    .long 8
    .long -8
    .long -7
    .long -6
    .long -5
    .long -4
    .long -3
    .long -2
    .long -1
    .long 0
    .long 1
    .long 2
    .long 3
    .long 4
    .long 5
    .long 6
    .long 7
    .long 8
    .long -8
    .long -7
    .long -6
    .long -5
    .long -4
    .long -3
    .long -2
    .long -1
    .long 0
    .long 1
    .long 2
    .long 3
    .long 4
    .long 5
    .long 6
    .long 7
    .long 8
    .long -8
    .long -7
    .long -6
    .long -5
    .long -4
    .section .note.GNU-stack, "", @progbits
