# SPDX-License-Identifier: Apache-2.0 OR MIT
# A 16-byte load of which the last two bytes lie behind the section.
#
# contract: z17.toml
# expect:
#   refuted
#   memory (disjoint): memory: access outside its 30 bytes, 16 bytes at .rodata+16 by 0x_ (mul+0x_): `vpmullw xmm1, xmm1, [rip]`

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
    vpextrw word ptr [rdi], xmm0, 0
    ret
    .size mul, .-mul
    .section .rodata
    .align 2
v:  .fill 8, 2, 1928
q:  .fill 7, 2, 17
    .section .note.GNU-stack, "", @progbits
