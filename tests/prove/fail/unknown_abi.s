# SPDX-License-Identifier: Apache-2.0 OR MIT
# Another calling convention.
#
# contract: z17_four.toml
# with: abi = "win64"
# expect:
#   contract error: contract, line 4, column 7: unknown variant `win64`, expected one of `sysv-x86-64`, `aapcs64`, `aapcs`

    .intel_syntax noprefix
    .text
    .globl mul
    .type mul, @function
mul:
    ret
    .size mul, .-mul
    .section .note.GNU-stack, "", @progbits
