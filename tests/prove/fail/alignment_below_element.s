# An i16 aligned to one byte: C gives no such pointer, but the object may allow it.
#
# contract: z17_four.toml
# with: argument.a.align = 1
# expect:

    .intel_syntax noprefix
    .text
    .globl mul
    .type mul, @function
mul:
    ret
    .size mul, .-mul
    .section .note.GNU-stack, "", @progbits
