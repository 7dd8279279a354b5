# SPDX-License-Identifier: Apache-2.0 OR MIT
# A checked copy that is longer than the size it is given: the C library stops the program.
#
# contract: z17.toml
# expect:
#   unknown
#   unmodelled (disjoint): unsupported: `__memcpy_chk` stops the program: 2 bytes for an object of 1 at 0x_ (mul+0x_): `call 0x_`, bytes e8 00 00 00 00

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
    mov ecx, 1
    call __memcpy_chk
    add rsp, 24
    ret
    .size mul, .-mul

    .section .rodata
    .align 32
v:  .fill 16, 2, 1928
q:  .fill 16, 2, 17
    .section .note.GNU-stack, "", @progbits
