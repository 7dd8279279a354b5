# SPDX-License-Identifier: Apache-2.0 OR MIT
# The same without VEX: legacy encodings, destination equal to the first source.
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
    movd xmm0, eax
    movzx eax, word ptr [rdx]
    movd xmm1, eax
    pmullw xmm0, xmm1
    movdqa xmm1, xmm0
    pmulhrsw xmm1, xmmword ptr v[rip]
    pmullw xmm1, xmmword ptr q[rip]
    psubw xmm0, xmm1
    movd eax, xmm0
    mov word ptr [rdi], ax
    ret
    .size mul, .-mul
    .section .rodata
    .align 32
v:  .fill 16, 2, 1928
q:  .fill 16, 2, 17
    .section .note.GNU-stack, "", @progbits
