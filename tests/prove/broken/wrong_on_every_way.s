# SPDX-License-Identifier: Apache-2.0 OR MIT
# Wrong after either answer to a comparison of addresses: one of the two is some call's.
#
# contract: z17.toml
# expect:
#   refuted
#   function (disjoint, the condition on addresses at 0x_ does not hold): for a = x^0 and b = x^0 coefficient 0 is 0 modulo 17, but the product's is 1
#   for a = [1], b = [1]: element 0 is 0, the product's 1

    .intel_syntax noprefix
    .text
    .globl mul
    .type mul, @function
mul:
    mov rax, rdi
    sub rax, rsi
    test al, 64
    je 1f
    nop
1:
    mov word ptr [rdi], 0
    ret
    .size mul, .-mul
    .section .note.GNU-stack, "", @progbits
