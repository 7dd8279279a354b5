# Something else is computed.
#
# contract: z17_four.toml
# with: computes = "inverse"
# expect:

    .intel_syntax noprefix
    .text
    .globl mul
    .type mul, @function
mul:
    ret
    .size mul, .-mul
    .section .note.GNU-stack, "", @progbits
