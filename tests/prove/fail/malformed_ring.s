# The ring is not closed.
#
# contract: z17_four.toml
# with: ring = "Z17[x]/(x^4 - x - 1"
# expect:

    .intel_syntax noprefix
    .text
    .globl mul
    .type mul, @function
mul:
    ret
    .size mul, .-mul
    .section .note.GNU-stack, "", @progbits
