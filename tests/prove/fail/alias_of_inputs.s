# SPDX-License-Identifier: Apache-2.0 OR MIT
# Two inputs as one alias pair: an output must be first.
#
# contract: z17_four.toml
# with: alias = [["a", "b"]]
# expect:
#   contract error: contract, line 7, column 10: an alias pairs an output with an input (two inputs may always be equal)

    .intel_syntax noprefix
    .text
    .globl mul
    .type mul, @function
mul:
    ret
    .size mul, .-mul
    .section .note.GNU-stack, "", @progbits
