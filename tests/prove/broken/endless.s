# SPDX-License-Identifier: Apache-2.0 OR MIT
# It never returns.
#
# contract: z17.toml
# expect:
#   unknown
#   stopped (disjoint): stopped after 100000 steps (instructions, and bytes of copies) without return at 0x_ (mul): `jmp short 0`; raise the step limit if the function is long

    .intel_syntax noprefix
    .text
    .globl mul
    .type mul, @function
mul:
1:
    jmp 1b
    ret
    .size mul, .-mul
    .section .note.GNU-stack, "", @progbits
