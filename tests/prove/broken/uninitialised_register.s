# SPDX-License-Identifier: Apache-2.0 OR MIT
# The upper half of eax is the caller's: a 16-bit load keeps it.
#
# contract: z17.toml
# expect:
#   refuted
#   undefined (disjoint): output: element 0 of c is undefined at return (byte 0)

    .intel_syntax noprefix
    .text
    .globl mul
    .type mul, @function
mul:
    mov ax, word ptr [rsi]              # bits 16.. of eax are undefined
    movsx ecx, word ptr [rdx]
    imul eax, ecx
    sar eax, 1
    add eax, eax
    vmovd xmm0, eax
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
