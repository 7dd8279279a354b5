# SPDX-License-Identifier: Apache-2.0 OR MIT
# More positions than elements.
#
# contract: z17_forward.toml
# with: order = [0, 1, 2, 3, 4]
# expect:
#   contract error: contract, line 13, column 9: `order` has 5 entries, 4 are expected

    .intel_syntax noprefix
    .text
    .globl f
    .type f, @function
f:
    ret
    .size f, .-f
    .section .note.GNU-stack, "", @progbits
