# SPDX-License-Identifier: Apache-2.0 OR MIT
# Another calling convention.
#
# contract: z17_four.toml
# with: abi = "win32"
# expect:
#   contract error: contract, line 4, column 7: unknown variant `win32`, expected one of `sysv-x86-64`, `win64`, `aapcs64`, `aapcs`

    .intel_syntax noprefix
    .text
    .globl mul
    .type mul, @function
mul:
    ret
    .size mul, .-mul
    .section .note.GNU-stack, "", @progbits
