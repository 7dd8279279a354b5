# SPDX-License-Identifier: Apache-2.0 OR MIT
# The result depends on where the caller's buffers lie; that a term has an address is no proof that its value does.
#
# contract: z17.toml
# expect:
#   unknown
#   unmodelled (disjoint): output: element 0 of c depends on an address

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
    vpmulhrsw xmm1, xmm0, xmmword ptr v[rip]    # round(x / 17)
    vpmullw xmm1, xmm1, xmmword ptr q[rip]
    vpsubw xmm0, xmm0, xmm1
    vmovd eax, xmm0
    xor eax, edi
    mov word ptr [rdi], ax
    ret
    .size mul, .-mul
    .section .rodata
    .align 32
v:  .fill 16, 2, 1928
q:  .fill 16, 2, 17
    .section .note.GNU-stack, "", @progbits
