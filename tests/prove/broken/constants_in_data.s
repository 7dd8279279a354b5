# SPDX-License-Identifier: Apache-2.0 OR MIT
# The constants lie in .data, which anybody may have changed since.
#
# contract: z17.toml
# expect:
#   unknown
#   unmodelled (disjoint): unsupported: data is read from .data: .data is a section that can be written: its content at entry is not known (make the table const, or the buffer automatic) at 0x_ (mul+0x_): `vpmulhrsw xmm1, xmm0, [rip]`, bytes c4 e2 79 0b 0d 00 00 00 00

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
    .data
    .align 32
v:  .fill 16, 2, 1928
q:  .fill 16, 2, 17
    .section .note.GNU-stack, "", @progbits
