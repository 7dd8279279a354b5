# SPDX-License-Identifier: Apache-2.0 OR MIT
# A branch on what is there.
#
# contract: z17_accumulate.toml
# expect:
#   refuted
#   constant-time (disjoint): not constant time: the branch depends on an input at 0x_ (f+0x_): `je short 6`; the value depends on c[0]; it is not the same for c[0] = 0 as for c[0] = -8

    .intel_syntax noprefix
    .text
    .globl f
    .type f, @function
f:
    cmp word ptr [rdi], 0
    je 1f
1:
    vmovq xmm0, qword ptr [rsi]                 # a0 a0' a1 a1'
    vmovq xmm1, qword ptr [rdx]
    vpshuflw xmm2, xmm0, 0x44                   # a0 a0' a0 a0'
    vpmullw xmm2, xmm2, xmm1                    # a0 b0, a0 b1
    vpshuflw xmm0, xmm0, 0xee                   # a1 a1' a1 a1'
    vpshuflw xmm1, xmm1, 0x4e                   # b1 b1' b0 b0'
    vpmullw xmm0, xmm0, xmm1                    # a1 b1, a1 b0
    vpmullw xmm0, xmm0, xmmword ptr w[rip]      # a1 b1 by w
    vpaddw xmm0, xmm0, xmm2                     # at most 320
    vmovq xmm2, qword ptr [rdi]
    vpaddw xmm0, xmm0, xmm2
    vpmulhrsw xmm1, xmm0, xmmword ptr v[rip]    # round(x / 17)
    vpmullw xmm1, xmm1, xmmword ptr q[rip]
    vpsubw xmm0, xmm0, xmm1
    vmovq qword ptr [rdi], xmm0
    ret
    .size f, .-f
    .section .rodata
    .align 32
v:  .fill 8, 2, 1928
q:  .fill 8, 2, 17
w:  .short 4, -4, 1, 1, 0, 0, 0, 0
    .section .note.GNU-stack, "", @progbits
