# SPDX-License-Identifier: Apache-2.0 OR MIT
# x87 instructions are outside the whitelist.
#
# contract: z17.toml
# expect:
#   unknown
#   unmodelled (disjoint): unsupported: this instruction is not on the whitelist at 0x_ (mul): `fild st, word ptr [rsi]`, bytes df 06

    .intel_syntax noprefix
    .text
    .globl mul
    .type mul, @function
mul:
    fild word ptr [rsi]
    fimul word ptr [rdx]
    fistp word ptr [rdi]
    ret
    .size mul, .-mul
    .section .note.GNU-stack, "", @progbits
