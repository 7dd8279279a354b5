# SPDX-License-Identifier: Apache-2.0 OR MIT
# idiv takes longer for some operands than for others.
#
# contract: z17.toml
# expect:
#   refuted
#   constant-time (disjoint): not constant time: the operand of a variable-time instruction depends on an input at 0x_ (mul+0x_): `idiv ecx`; the value depends on a[0], b[0]; it is not the same for a[0] = 0, b[0] = 0 as for a[0] = -8, b[0] = -8

    .intel_syntax noprefix
    .text
    .globl mul
    .type mul, @function
mul:
    movsx eax, word ptr [rsi]
    movsx ecx, word ptr [rdx]
    imul eax, ecx                   # x = a b, |x| <= 64
    add eax, 8 + 17*8
    cdq
    mov ecx, 17
    idiv ecx
    sub edx, 8
    mov word ptr [rdi], dx
    ret
    .size mul, .-mul
    .section .note.GNU-stack, "", @progbits
