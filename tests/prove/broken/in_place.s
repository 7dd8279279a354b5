# SPDX-License-Identifier: Apache-2.0 OR MIT
# The first coefficient is written before the inputs are read for the last time: wrong when
# the output is an input (right otherwise, see pass/written_early.s).
#
# contract: z17_in_place.toml
# expect:
#   refuted
#   function (c = a): an output contains a product of two values that depend on the same operand
#   for a = [8, 8], b = [8, 8]: element 1 is -4, the product's 5

    .intel_syntax noprefix
    .text
    .globl mul
    .type mul, @function
mul:
    movsx eax, word ptr [rsi]           # a0
    movsx r8d, word ptr [rdx]           # b0
    mov r10d, eax
    imul r10d, r8d                      # a0 b0
    movsx ecx, word ptr [rsi + 2]       # a1
    movsx r9d, word ptr [rdx + 2]       # b1
    imul r9d, ecx                       # a1 b1
    add r10d, r9d                       # c0
    vmovd xmm0, r10d
    vpmulhrsw xmm1, xmm0, xmmword ptr v[rip]    # round(x / 17)
    vpmullw xmm1, xmm1, xmmword ptr q[rip]
    vpsubw xmm0, xmm0, xmm1
    vpextrw word ptr [rdi], xmm0, 0     # c0 written; a0 and b0 are read again below
    movsx eax, word ptr [rsi]
    movsx r8d, word ptr [rdx]
    movsx r11d, word ptr [rdx + 2]
    imul eax, r11d                      # a0 b1
    imul ecx, r8d                       # a1 b0
    add eax, ecx
    add eax, r9d                        # c1
    vmovd xmm0, eax
    vpmulhrsw xmm1, xmm0, xmmword ptr v[rip]    # round(x / 17)
    vpmullw xmm1, xmm1, xmmword ptr q[rip]
    vpsubw xmm0, xmm0, xmm1
    vpextrw word ptr [rdi + 2], xmm0, 0
    ret
    .size mul, .-mul
    .section .rodata
    .align 32
v:  .fill 16, 2, 1928
q:  .fill 16, 2, 17
    .section .note.GNU-stack, "", @progbits
