# SPDX-License-Identifier: Apache-2.0 OR MIT
# c = (a1, a2, a0, a3).
#
# contract: z17_to_standard.toml
# expect:
#   proved

    .intel_syntax noprefix
    .text
    .globl f
    .type f, @function
f:
    vmovq xmm0, qword ptr [rsi]
    vpshuflw xmm0, xmm0, 0xc9
    vmovq qword ptr [rdi], xmm0
    ret
    .size f, .-f
    .section .note.GNU-stack, "", @progbits
