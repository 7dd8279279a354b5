# SPDX-License-Identifier: Apache-2.0 OR MIT
# A frame aligned to 32 bytes, whatever the stack pointer was.
#
# contract: z17.toml
# expect:
#   proved

    .intel_syntax noprefix
    .text
    .globl mul
    .type mul, @function
mul:
    push rbp
    mov rbp, rsp
    and rsp, -32
    sub rsp, 64
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
    leave
    vzeroupper
    ret
    .size mul, .-mul
    .section .rodata
    .align 32
v:  .fill 16, 2, 1928
q:  .fill 16, 2, 17
    .section .note.GNU-stack, "", @progbits
