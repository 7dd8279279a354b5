# SPDX-License-Identifier: Apache-2.0 OR MIT
# A product in a buffer of its own, copied as `_FORTIFY_SOURCE` has it: the last argument is the target's size.
#
# contract: z17.toml
# expect:
#   proved

    .intel_syntax noprefix
    .text
    .globl mul
    .type mul, @function
mul:
    sub rsp, 24
    movzx eax, word ptr [rsi]
    vmovd xmm0, eax
    movzx eax, word ptr [rdx]
    vmovd xmm1, eax
    vpmullw xmm0, xmm0, xmm1                    # x = a b, |x| <= 64
    vpmulhrsw xmm1, xmm0, xmmword ptr v[rip]    # round(x / 17)
    vpmullw xmm1, xmm1, xmmword ptr q[rip]
    vpsubw xmm0, xmm0, xmm1
    vpextrw word ptr [rsp], xmm0, 0
    mov rsi, rsp
    mov edx, 2
    mov ecx, 2
    call __memcpy_chk
    add rsp, 24
    ret
    .size mul, .-mul

    .section .rodata
    .align 32
v:  .fill 16, 2, 1928
q:  .fill 16, 2, 17
    .section .note.GNU-stack, "", @progbits
