# SPDX-License-Identifier: Apache-2.0 OR MIT
# So is floating point, even if the numbers are small.
#
# contract: z17.toml
# expect:
#   unknown
#   unmodelled (disjoint): unsupported: this instruction is not on the whitelist at 0x_ (mul+0x_): `cvtsi2sd xmm0, eax`, bytes f2 0f 2a c0

    .intel_syntax noprefix
    .text
    .globl mul
    .type mul, @function
mul:
    movsx eax, word ptr [rsi]
    movsx ecx, word ptr [rdx]
    imul eax, ecx                   # x = a b, |x| <= 64
    cvtsi2sd xmm0, eax
    cvttsd2si eax, xmm0
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
