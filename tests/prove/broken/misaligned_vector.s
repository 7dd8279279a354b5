# Eight coefficients, 16 bytes, aligned to 2: vmovdqu would be right, vmovdqa is not.
#
# contract: z4591_eight.toml
# expect:

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
