# SPDX-License-Identifier: Apache-2.0 OR MIT
# A power of two beyond words of 16 bits.
#
# contract: z17_four.toml
# with: ring = "Z131072[x]/(x^4 - x - 1)"
# expect:
#   contract error: contract, line 5, column 8: q = 131072: proofs are for q below 2^31, powers of two up to 2^16 among them, and for odd primes where the function computes anything but `product`

    .intel_syntax noprefix
    .text
    .globl mul
    .type mul, @function
mul:
    ret
    .size mul, .-mul
    .section .note.GNU-stack, "", @progbits
