# The output range does not hold every residue once, so no object can satisfy it... for a
# product, some output has none.
#
# contract: z17_four.toml
# with: argument.c.range = [-3, 3]
# expect:

    .intel_syntax noprefix
    .text
    .globl mul
    .type mul, @function
mul:
    ret
    .size mul, .-mul
    .section .note.GNU-stack, "", @progbits
