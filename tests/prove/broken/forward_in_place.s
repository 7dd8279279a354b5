# SPDX-License-Identifier: Apache-2.0 OR MIT
# Each output is computed from the start, the first one stored before: wrong where c is a.
#
# contract: z17_forward.toml
# expect:
#   refuted
#   function (c = a): the coefficient of a[2] in c[1] is 0 modulo 17, but should be 13
#   for a = [0, 0, 1, 0]: element 1 is 0, the product's -4

    .intel_syntax noprefix
    .text
    .globl f
    .type f, @function
f:
    vmovq xmm0, qword ptr [rsi]
    vpshuflw xmm1, xmm0, 0xfa          # a2 a2 a3 a3
    vpshuflw xmm0, xmm0, 0x50          # a0 a0 a1 a1
    vpmullw xmm1, xmm1, xmmword ptr w[rip]
    vpaddw xmm0, xmm0, xmm1             # at most 40
    vpmulhrsw xmm1, xmm0, xmmword ptr v[rip]    # round(x / 17)
    vpmullw xmm1, xmm1, xmmword ptr q[rip]
    vpsubw xmm0, xmm0, xmm1
    vpextrw word ptr [rdi], xmm0, 0             # a0 is read again below
    vmovq xmm0, qword ptr [rsi]
    vpshuflw xmm1, xmm0, 0xfa          # a2 a2 a3 a3
    vpshuflw xmm0, xmm0, 0x50          # a0 a0 a1 a1
    vpmullw xmm1, xmm1, xmmword ptr w[rip]
    vpaddw xmm0, xmm0, xmm1             # at most 40
    vpmulhrsw xmm1, xmm0, xmmword ptr v[rip]    # round(x / 17)
    vpmullw xmm1, xmm1, xmmword ptr q[rip]
    vpsubw xmm0, xmm0, xmm1
    vpextrw word ptr [rdi + 2], xmm0, 1
    vpextrd dword ptr [rdi + 4], xmm0, 1
    ret
    .size f, .-f
    .section .rodata
    .align 32
v:  .fill 8, 2, 1928
q:  .fill 8, 2, 17
w:  .short 4, -4, 4, -4, 0, 0, 0, 0
    .section .note.GNU-stack, "", @progbits
