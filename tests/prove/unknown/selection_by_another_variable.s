# SPDX-License-Identifier: Apache-2.0 OR MIT
# Right and constant time, but left open: whether b is zero selects the product or zero, so a
# mask of one variable meets another; enumeration takes one variable at a time.
#
# contract: z17.toml
# expect:
#   unknown
#   unmodelled (disjoint): an operation that is not linear combines values of several variables at 0x_: `cmove ecx, r8d`; c[0] depends on it

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
    xor r8d, r8d
    test eax, eax                       # b == 0: the product is 0 anyway
    cmovz ecx, r8d
    mov word ptr [rdi], cx
    ret
    .size mul, .-mul
    .section .rodata
    .align 32
v:  .fill 16, 2, 1928
q:  .fill 16, 2, 17
    .section .note.GNU-stack, "", @progbits
