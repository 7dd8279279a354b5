# SPDX-License-Identifier: Apache-2.0 OR MIT
# The factor 1/2 is left out, and the contract knows it.
#
# contract: z17_inverse.toml
# with: scale = 2
# expect:
#   proved

    .intel_syntax noprefix
    .text
    .globl f
    .type f, @function
f:
    vmovq xmm0, qword ptr [rsi]                 # u0 v0 u1 v1
    vpshuflw xmm1, xmm0, 0xdd                   # v0 v1 v0 v1
    vpshuflw xmm0, xmm0, 0x88                   # u0 u1 u0 u1
    vpmullw xmm1, xmm1, xmmword ptr s[rip]
    vpaddw xmm0, xmm0, xmm1                     # sums, then differences
    vpmullw xmm0, xmm0, xmmword ptr w[rip]      # by 1/2, 1/8: at most 128
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
s:  .short 1, 1, -1, -1, 0, 0, 0, 0
w:  .short 1, 1, -4, -4, 0, 0, 0, 0
    .section .note.GNU-stack, "", @progbits
