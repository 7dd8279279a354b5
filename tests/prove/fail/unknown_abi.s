# Another calling convention.
#
# contract: z17_four.toml
# with: abi = "win64"
# expect:

    .intel_syntax noprefix
    .text
    .globl mul
    .type mul, @function
mul:
    ret
    .size mul, .-mul
    .section .note.GNU-stack, "", @progbits
