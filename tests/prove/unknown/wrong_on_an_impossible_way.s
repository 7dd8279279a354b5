# SPDX-License-Identifier: Apache-2.0 OR MIT
# Wrong if c lies 3 bytes above a, which no two arrays do that are aligned to 2: the prover does not know that.
#
# contract: z17.toml
# expect:
#   unknown
#   function (disjoint, c lies above a, the condition on addresses at 0x_ holds): for a = x^0 and b = x^0 coefficient 0 is 0 modulo 17, but the product's is 1
#   unmodelled (disjoint, c lies above a, the condition on addresses at 0x_ holds): the failure lies on a way that may be impossible, since it depends on where the arrays lie
#   for a = [1], b = [1]: element 0 is 0, the product's 1

    .intel_syntax noprefix
    .text
    .globl mul
    .type mul, @function
mul:
    mov rax, rdi
    sub rax, rsi
    cmp rax, 3
    je 1f
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
1:
    mov word ptr [rdi], 0
    ret
    .size mul, .-mul

    .section .rodata
    .align 32
v:  .fill 16, 2, 1928
q:  .fill 16, 2, 17
    .section .note.GNU-stack, "", @progbits
