# Five coefficients where the ring has degree four.
#
# contract: z17_four.toml
# with: argument.a.length = 5
# expect:

    .intel_syntax noprefix
    .text
    .globl mul
    .type mul, @function
mul:
    ret
    .size mul, .-mul
    .section .note.GNU-stack, "", @progbits
