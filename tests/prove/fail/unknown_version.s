# A contract of a later version.
#
# contract: z17_four.toml
# with: contract = 2
# expect:

    .intel_syntax noprefix
    .text
    .globl mul
    .type mul, @function
mul:
    ret
    .size mul, .-mul
    .section .note.GNU-stack, "", @progbits
