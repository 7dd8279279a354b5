# SPDX-License-Identifier: Apache-2.0 OR MIT
# Half a pointer stands above a value in its register, through a product and a shift: no bit of it comes down.
#
# contract: z17.toml
# expect:
#   proved

    .intel_syntax noprefix
    .text
    .globl mul
    .type mul, @function
mul:
    mov eax, edi
    mov ax, word ptr [rsi]
    movzx ecx, word ptr [rdx]
    imul eax, ecx
    shl eax, 1                      # 2 a b below what is left of the pointer
    vmovd xmm0, eax
    vpmullw xmm0, xmm0, xmmword ptr nine[rip]   # 18 a b, |x| <= 1152
    vpmulhrsw xmm1, xmm0, xmmword ptr v[rip]    # round(x / 17)
    vpmullw xmm1, xmm1, xmmword ptr q[rip]
    vpsubw xmm0, xmm0, xmm1
    vmovd eax, xmm0
    mov word ptr [rdi], ax
    ret
    .size mul, .-mul
    .section .rodata
    .align 32
nine: .fill 16, 2, 9
v:  .fill 16, 2, 1928
q:  .fill 16, 2, 17
    .section .note.GNU-stack, "", @progbits
