# SPDX-License-Identifier: Apache-2.0 OR MIT
# A sum is checked for overflow, as -ftrapv and UBSan do, which no input in range makes. There are too many inputs to look
# at all. So it is not decided that the branch is never taken, and no violation of constant time is refuted.
#
# contract: z17.toml
# with: argument.a.range = [-200, 200]
# with: argument.b.range = [-200, 200]
# expect:
#   unknown
#   unmodelled (disjoint): not constant time: the branch depends on an input at 0x_ (mul+0x_): `jo short 0x_`; it checks for overflow, and it is not decided whether that can happen for inputs in range

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
    vmovd ecx, xmm0
    movzx edx, word ptr [rsi]
    add eax, edx                        # two words of 16 bits: no overflow
    jo 9f
    mov word ptr [rdi], cx
    ret
9:  ud2
    .size mul, .-mul
    .section .rodata
    .align 32
v:  .fill 16, 2, 1928
q:  .fill 16, 2, 17
    .section .note.GNU-stack, "", @progbits
