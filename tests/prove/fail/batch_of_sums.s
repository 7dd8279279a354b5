# SPDX-License-Identifier: Apache-2.0 OR MIT
# Sums of several products are not made in batches.
#
# contract: z17_base.toml
# with: batch = 2
# with: pairs = 2
# expect:
#   contract error: contract, line 4, column 9: `pairs` and `batch` together leave the order of elements open: keep one of them

    .intel_syntax noprefix
    .text
    .globl mul
    .type mul, @function
mul:
    ret
    .size mul, .-mul
    .section .note.GNU-stack, "", @progbits
