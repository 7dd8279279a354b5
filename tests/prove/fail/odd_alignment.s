# Three is no power of two.
#
# contract: z17_four.toml
# with: argument.a.align = 3
# expect:

    .intel_syntax noprefix
    .text
    .globl mul
    .type mul, @function
mul:
    ret
    .size mul, .-mul
    .section .note.GNU-stack, "", @progbits
