# SPDX-License-Identifier: Apache-2.0 OR MIT
# The frame is aligned to 16 bytes at best, vmovdqa on ymm needs 32.
#
# contract: z17.toml
# expect:
#   refuted
#   memory (disjoint): memory: the instruction needs an address that is a multiple of 32, 32 bytes at stack-72 by 0x_ (mul+0x_): `vmovdqa [rsp], ymm0`

    .intel_syntax noprefix
    .text
    .globl mul
    .type mul, @function
mul:
    sub rsp, 72
    movzx eax, word ptr [rsi]
    vmovd xmm0, eax
    movzx eax, word ptr [rdx]
    vmovd xmm1, eax
    vpmullw xmm0, xmm0, xmm1        # x = a b, |x| <= 64
    vmovdqa ymmword ptr [rsp], ymm0
    vmovdqa ymm0, ymmword ptr [rsp]
    vpmulhrsw xmm1, xmm0, xmmword ptr v[rip]    # round(x / 17)
    vpmullw xmm1, xmm1, xmmword ptr q[rip]
    vpsubw xmm0, xmm0, xmm1
    vpextrw word ptr [rdi], xmm0, 0
    add rsp, 72
    ret
    .size mul, .-mul
    .section .rodata
    .align 32
v:  .fill 16, 2, 1928
q:  .fill 16, 2, 17
    .section .note.GNU-stack, "", @progbits
