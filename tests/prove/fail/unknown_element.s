# A float is no coefficient.
#
# contract: z17_four.toml
# with: argument.a.element = "f32"
# expect:

    .intel_syntax noprefix
    .text
    .globl mul
    .type mul, @function
mul:
    ret
    .size mul, .-mul
    .section .note.GNU-stack, "", @progbits
