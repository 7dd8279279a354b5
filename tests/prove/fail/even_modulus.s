# A composite, even modulus: products are still defined there.
#
# contract: z17_four.toml
# with: ring = "Z16[x]/(x^4 - x - 1)"
# with: argument.c.range = [-8, 7]
# expect:

    .intel_syntax noprefix
    .text
    .globl mul
    .type mul, @function
mul:
    ret
    .size mul, .-mul
    .section .note.GNU-stack, "", @progbits
