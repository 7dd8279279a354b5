# SPDX-License-Identifier: Apache-2.0 OR MIT
# The result comes from a table at an address that depends on a coefficient.
#
# contract: z17.toml
# expect:
#   refuted
#   constant-time (disjoint): not constant time: the memory address depends on an input at 0x_ (mul+0x_): `movzx eax, word ptr [rcx+rax*2]`; the value depends on a[0], b[0]; it is not the same for a[0] = 0, b[0] = 0 as for a[0] = -8, b[0] = -8

    .intel_syntax noprefix
    .text
    .globl mul
    .type mul, @function
mul:
    movsx eax, word ptr [rsi]
    movsx ecx, word ptr [rdx]
    imul eax, ecx                   # x = a b, |x| <= 64
    add eax, 64
    lea rcx, t[rip]
    movzx eax, word ptr [rcx + 2*rax]
    mov word ptr [rdi], ax
    ret
    .size mul, .-mul
    .section .rodata
    .align 2
t:
    .short 4
    .short 5
    .short 6
    .short 7
    .short 8
    .short -8
    .short -7
    .short -6
    .short -5
    .short -4
    .short -3
    .short -2
    .short -1
    .short 0
    .short 1
    .short 2
    .short 3
    .short 4
    .short 5
    .short 6
    .short 7
    .short 8
    .short -8
    .short -7
    .short -6
    .short -5
    .short -4
    .short -3
    .short -2
    .short -1
    .short 0
    .short 1
    .short 2
    .short 3
    .short 4
    .short 5
    .short 6
    .short 7
    .short 8
    .short -8
    .short -7
    .short -6
    .short -5
    .short -4
    .short -3
    .short -2
    .short -1
    .short 0
    .short 1
    .short 2
    .short 3
    .short 4
    .short 5
    .short 6
    .short 7
    .short 8
    .short -8
    .short -7
    .short -6
    .short -5
    .short -4
    .short -3
    .short -2
    .short -1
    .short 0
    .short 1
    .short 2
    .short 3
    .short 4
    .short 5
    .short 6
    .short 7
    .short 8
    .short -8
    .short -7
    .short -6
    .short -5
    .short -4
    .short -3
    .short -2
    .short -1
    .short 0
    .short 1
    .short 2
    .short 3
    .short 4
    .short 5
    .short 6
    .short 7
    .short 8
    .short -8
    .short -7
    .short -6
    .short -5
    .short -4
    .short -3
    .short -2
    .short -1
    .short 0
    .short 1
    .short 2
    .short 3
    .short 4
    .short 5
    .short 6
    .short 7
    .short 8
    .short -8
    .short -7
    .short -6
    .short -5
    .short -4
    .short -3
    .short -2
    .short -1
    .short 0
    .short 1
    .short 2
    .short 3
    .short 4
    .short 5
    .short 6
    .short 7
    .short 8
    .short -8
    .short -7
    .short -6
    .short -5
    .short -4
    .section .note.GNU-stack, "", @progbits
