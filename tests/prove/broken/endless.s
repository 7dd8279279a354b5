# It never returns.
#
# contract: z17.toml
# expect:

    .intel_syntax noprefix
    .text
    .globl mul
    .type mul, @function
mul:
1:
    jmp 1b
    ret
    .size mul, .-mul
    .section .note.GNU-stack, "", @progbits
