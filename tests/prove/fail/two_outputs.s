# A product has one result.
#
# contract: z17_four.toml
# with: argument.a.role = "output"
# expect:

    .intel_syntax noprefix
    .text
    .globl mul
    .type mul, @function
mul:
    ret
    .size mul, .-mul
    .section .note.GNU-stack, "", @progbits
