# SPDX-License-Identifier: Apache-2.0 OR MIT
# The stack pointer is not where it was: `ret` would jump to a saved register.
#
# contract: z17.toml
# expect:
#   unknown
#   unmodelled (disjoint): unsupported: a jump into memory that is no code at 0x_ (mul+0x_): `ret`, bytes c3

    .intel_syntax noprefix
    .text
    .globl mul
    .type mul, @function
mul:
    push rbx
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
    .section .rodata
    .align 32
v:  .fill 16, 2, 1928
q:  .fill 16, 2, 17
    .section .note.GNU-stack, "", @progbits
