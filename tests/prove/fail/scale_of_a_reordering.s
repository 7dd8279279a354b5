# SPDX-License-Identifier: Apache-2.0 OR MIT
# Reorderings copy.
#
# contract: z17_to_standard.toml
# with: scale = 2
# expect:
#   contract error: contract, line 3, column 9: "to-standard" has no `scale`: leave it out

    .intel_syntax noprefix
    .text
    .globl f
    .type f, @function
f:
    ret
    .size f, .-f
    .section .note.GNU-stack, "", @progbits
