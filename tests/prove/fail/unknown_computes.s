# Something else is computed.
#
# contract: z17_four.toml
# with: computes = "inverse"
# expect:
#   contract error: contract, line 6, column 12: `computes = "inverse"`: only "product" is known

    .intel_syntax noprefix
    .text
    .globl mul
    .type mul, @function
mul:
    ret
    .size mul, .-mul
    .section .note.GNU-stack, "", @progbits
