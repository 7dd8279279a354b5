# SPDX-License-Identifier: Apache-2.0 OR MIT
# A selection by cmov is constant time (compare broken/branch_on_coefficient.s).
#
# contract: z17.toml
# expect:
#   proved

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
    vpmulhrsw xmm1, xmm0, xmmword ptr v[rip]    # 1/34 only: round(x / 34)
    vpmullw xmm1, xmm1, xmmword ptr q2[rip]
    vpsubw xmm0, xmm0, xmm1                     # |x| <= 17
    vmovd ecx, xmm0
    movsx ecx, cx
    mov r8d, ecx
    sub r8d, 17
    cmp ecx, 8
    cmovg ecx, r8d
    mov r8d, ecx
    add r8d, 17
    cmp ecx, -8
    cmovl ecx, r8d
    mov word ptr [rdi], cx
    ret
    .size mul, .-mul
    .section .rodata
    .align 32
v:  .fill 16, 2, 964
q:  .fill 16, 2, 17
q2: .fill 16, 2, 34
h:  .fill 16, 2, 8
m:  .fill 16, 2, -8
    .section .note.GNU-stack, "", @progbits
