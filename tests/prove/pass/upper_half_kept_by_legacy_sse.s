# SPDX-License-Identifier: Apache-2.0 OR MIT
# A legacy SSE instruction keeps the upper half of the register: the product parked there
# survives `pxor xmm0, xmm0`.
#
# contract: z17.toml
# expect:
#   proved

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
    vinserti128 ymm0, ymm0, xmm0, 1     # x parked in the upper half
    pxor xmm0, xmm0                     # legacy: the upper half stays
    vextracti128 xmm0, ymm0, 1
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
