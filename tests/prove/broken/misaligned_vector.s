# SPDX-License-Identifier: Apache-2.0 OR MIT
# Eight coefficients, 16 bytes, aligned to 2: vmovdqu would be right, vmovdqa is not.
#
# contract: z4591_eight.toml
# expect:
#   refuted
#   memory (disjoint): memory: the instruction needs an address that is a multiple of 16, and the caller guarantees 2 only, 16 bytes at a+0 by 0x_ (mul): `vmovdqa xmm0, [rsi]`

    .intel_syntax noprefix
    .text
    .globl mul
    .type mul, @function
mul:
    vmovdqa xmm0, xmmword ptr [rsi]
    vmovdqu xmmword ptr [rdi], xmm0
    ret
    .size mul, .-mul
    .section .note.GNU-stack, "", @progbits
