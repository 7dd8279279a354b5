# SPDX-License-Identifier: Apache-2.0 OR MIT
# A product is one of the ring's elements.
#
# contract: z17_to_standard.toml
# with: computes = "product"
# expect:
#   contract error: contract, line 9, column 1: a product takes no [transform]: its operands are the ring's elements in the standard order

    .intel_syntax noprefix
    .text
    .globl f
    .type f, @function
f:
    ret
    .size f, .-f
    .section .note.GNU-stack, "", @progbits
