# A composite, even modulus: products are still defined there.
#
# contract: z17_four.toml
# with: ring = "Z16[x]/(x^4 - x - 1)"
# with: argument.c.range = [-8, 7]
# expect:
#   contract error: contract, line 5, column 8: q = 16: proofs are for odd primes below 2^31 so far (rings modulo a power of two, and several primes, are not modelled)

    .intel_syntax noprefix
    .text
    .globl mul
    .type mul, @function
mul:
    ret
    .size mul, .-mul
    .section .note.GNU-stack, "", @progbits
