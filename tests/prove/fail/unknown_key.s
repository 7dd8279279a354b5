# SPDX-License-Identifier: Apache-2.0 OR MIT
# A key that nobody reads must not be passed over.
#
# contract: z17_four.toml
# with: aliases = [["c", "a"]]
# expect:
#   contract error: contract, line 3, column 1: unknown field `aliases`, expected one of `contract`, `symbol`, `abi`, `ring`, `computes`, `scale`, `pairs`, `batch`, `transform`, `alias`, `argument`, `given`

    .intel_syntax noprefix
    .text
    .globl mul
    .type mul, @function
mul:
    ret
    .size mul, .-mul
    .section .note.GNU-stack, "", @progbits
