# SPDX-License-Identifier: Apache-2.0 OR MIT
# Four bytes of a two-byte array are read; the upper two are not even used.
#
# contract: z17.toml
# expect:
#   refuted
#   memory (disjoint): memory: access outside its 2 bytes, 4 bytes at a+0 by 0x_ (mul): `movd xmm0, [rsi]`

    .intel_syntax noprefix
    .text
    .globl mul
    .type mul, @function
mul:
    movd xmm0, dword ptr [rsi]          # two bytes too many
    movzx eax, word ptr [rdx]
    movd xmm1, eax
    vpmullw xmm0, xmm0, xmm1        # x = a b, |x| <= 64
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
