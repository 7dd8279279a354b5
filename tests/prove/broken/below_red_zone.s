# SPDX-License-Identifier: Apache-2.0 OR MIT
# Further below, a signal handler may write at any time.
#
# contract: z17.toml
# expect:
#   refuted
#   memory (disjoint): memory: write below the stack pointer and its red zone, 16 bytes at stack-144 by 0x_ (mul+0x_): `vmovdqu [rsp-0x_], xmm0`

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
    vmovdqu xmmword ptr [rsp - 144], xmm0
    vpxor xmm0, xmm0, xmm0
    vmovdqu xmm0, xmmword ptr [rsp - 144]
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
