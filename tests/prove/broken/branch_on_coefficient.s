# SPDX-License-Identifier: Apache-2.0 OR MIT
# Skipping the product when a is zero gives the right result and tells how often a is zero.
#
# contract: z17.toml
# expect:
#   refuted
#   constant-time (disjoint): not constant time: the branch depends on an input at 0x_ (mul+0x_): `je short 0x_`; the value depends on a[0]; it is not the same for a[0] = 0 as for a[0] = -8

    .intel_syntax noprefix
    .text
    .globl mul
    .type mul, @function
mul:
    movzx eax, word ptr [rsi]
    test eax, eax
    jz 1f
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
1:
    mov word ptr [rdi], 0
    ret
    .size mul, .-mul
    .section .rodata
    .align 32
v:  .fill 16, 2, 1928
q:  .fill 16, 2, 17
    .section .note.GNU-stack, "", @progbits
