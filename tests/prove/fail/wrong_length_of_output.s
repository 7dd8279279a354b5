# The output is longer than the ring's degree.
#
# contract: z17_four.toml
# with: argument.c.length = 8
# expect:

    .intel_syntax noprefix
    .text
    .globl mul
    .type mul, @function
mul:
    ret
    .size mul, .-mul
    .section .note.GNU-stack, "", @progbits
