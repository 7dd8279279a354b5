# SPDX-License-Identifier: Apache-2.0 OR MIT
# Something else is computed.
#
# contract: z17_four.toml
# with: computes = "quotient"
# expect:
#   contract error: contract, line 6, column 12: `computes = "quotient"`: known are "product", "forward", "inverse", "base-product", "accumulate", "to-standard", "from-standard", "scale", "map", "equal", "sort"

    .intel_syntax noprefix
    .text
    .globl mul
    .type mul, @function
mul:
    ret
    .size mul, .-mul
    .section .note.GNU-stack, "", @progbits
