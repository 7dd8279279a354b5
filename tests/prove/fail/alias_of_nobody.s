# SPDX-License-Identifier: Apache-2.0 OR MIT
# The alias names an argument that does not exist.
#
# contract: z17_four.toml
# with: alias = [["c", "d"]]
# expect:
#   contract error: contract, line 7, column 10: no argument is called `d`; there are c, a, b

    .intel_syntax noprefix
    .text
    .globl mul
    .type mul, @function
mul:
    ret
    .size mul, .-mul
    .section .note.GNU-stack, "", @progbits
