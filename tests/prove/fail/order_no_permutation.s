# SPDX-License-Identifier: Apache-2.0 OR MIT
# A position is missing.
#
# contract: z17_forward.toml
# with: order = [0, 2, 2, 3]
# expect:
#   contract error: contract, line 13, column 16: `order` holds 2 twice

    .intel_syntax noprefix
    .text
    .globl f
    .type f, @function
f:
    ret
    .size f, .-f
    .section .note.GNU-stack, "", @progbits
