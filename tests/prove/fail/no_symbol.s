# SPDX-License-Identifier: Apache-2.0 OR MIT
# The object defines `mul`, not what is asked for.
#
# contract: z17_four.toml
# with: symbol = "product"
# expect:
#   unknown
#   unmodelled (disjoint): the object defines no function `product`; it defines: mul

    .intel_syntax noprefix
    .text
    .globl mul
    .type mul, @function
mul:
    ret
    .size mul, .-mul
    .section .note.GNU-stack, "", @progbits
