# SPDX-License-Identifier: Apache-2.0 OR MIT
# A transform that no table describes.
#
# contract: z17_four.toml
# with: computes = "forward"
# expect:
#   contract error: contract, line 6, column 12: "forward" needs a table [transform] with `degree` and `weights`

    .intel_syntax noprefix
    .text
    .globl f
    .type f, @function
f:
    ret
    .size f, .-f
    .section .note.GNU-stack, "", @progbits
